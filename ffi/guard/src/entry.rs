//! The functions of hwloc that this library replaces. Each one passes its arguments on, and behind
//! them the address that it was called from, because a process may have several hwloc libraries,
//! and the caller decides which one is meant.

use crate::{cpu_kinds, load, modify, obj_info, set_source, sharing};

/// Defines functions of hwloc. `call to: arguments` says where a function goes, and how many
/// arguments it has.
macro_rules! replaced {
    ($($name:ident($count:tt) => $to:path;)*) => { $(
        /// Replaces hwloc's function.
        ///
        /// # Safety
        ///
        /// The arguments must be valid for hwloc's function.
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name() {
            core::arch::naked_asm!(with_caller!($count), to = sym $to)
        }
    )* };
}

/// Jumps to `to` with the return address as one more argument.
#[cfg(target_arch = "x86_64")]
macro_rules! with_caller {
    (1) => {
        "mov rsi, [rsp]\njmp {to}"
    };
    (2) => {
        "mov rdx, [rsp]\njmp {to}"
    };
    (3) => {
        "mov rcx, [rsp]\njmp {to}"
    };
    (4) => {
        "mov r8, [rsp]\njmp {to}"
    };
    (5) => {
        "mov r9, [rsp]\njmp {to}"
    };
    // The seventh argument is on the stack.
    (6) => {
        "push [rsp]\ncall {to}\nadd rsp, 8\nret"
    };
}

/// Jumps to `to` with the return address as one more argument.
#[cfg(target_arch = "aarch64")]
macro_rules! with_caller {
    ($count:tt) => {
        concat!("mov x", $count, ", x30\nb {to}")
    };
}

replaced! {
    hwloc_topology_init(1) => set_source::init;
    hwloc_topology_set_xml(2) => set_source::set_xml;
    hwloc_topology_set_xmlbuffer(3) => set_source::set_xmlbuffer;
    hwloc_topology_set_synthetic(2) => set_source::set_synthetic;
    hwloc_topology_set_pid(2) => set_source::set_pid;
    hwloc_topology_set_components(3) => set_source::set_components;
    hwloc_topology_set_userdata_import_callback(2) => set_source::set_userdata_import_callback;
    hwloc_topology_set_userdata_export_callback(2) => set_source::set_userdata_export_callback;
    hwloc_topology_load(1) => load::load;
    hwloc_topology_dup(2) => sharing::dup;
    hwloc_topology_destroy(1) => sharing::destroy;
    hwloc_shmem_topology_adopt(6) => sharing::adopt;
    hwloc_shmem_topology_write(6) => sharing::write;
    hwloc_topology_restrict(3) => modify::restrict;
    hwloc_topology_allow(4) => modify::allow;
    hwloc_topology_refresh(1) => modify::refresh;
    hwloc_topology_diff_apply(3) => modify::diff_apply;
    hwloc_topology_insert_misc_object(3) => modify::insert_misc_object;
    hwloc_topology_alloc_group_object(1) => modify::alloc_group_object;
    hwloc_topology_insert_group_object(2) => modify::insert_group_object;
    hwloc_distances_add(6) => modify::distances_add;
    hwloc_distances_add_create(4) => modify::distances_add_create;
    hwloc_distances_add_values(6) => modify::distances_add_values;
    hwloc_distances_remove(1) => modify::distances_remove;
    hwloc_distances_remove_by_depth(2) => modify::distances_remove_by_depth;
    hwloc_distances_release_remove(2) => modify::distances_release_remove;
    hwloc_memattr_register(4) => modify::memattr_register;
    hwloc_memattr_set_value(6) => modify::memattr_set_value;
    hwloc_cpukinds_register(6) => cpu_kinds::register;
    hwloc_obj_set_subtype(3) => modify::obj_set_subtype;
    hwloc_obj_add_info(3) => obj_info::add_info;
}
