//! Adopts a topology, and answers questions about a topology as a whole.

use crate::answer::{Handle, answer};
use crate::call::{adopting, call_with, value};
use crate::failure::Failure;
use crate::given::{Found, Given};
use crate::keys::tb_keys;
use crate::pointers::{Out, Output, Returned, Text};
use crate::set::tb_set;
use crate::status::tb_status;
use crate::structs::{Asked, Struct};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use topobroker_process::Global;
use topobroker_reader::{
    Adopted, ObjectType, OsError, Placement, Topology, View, adopt, adopt_keys, adopted,
};

/// A topology: the adopted topology of this process, or the visible part of it in a view. Every
/// query takes either. Any number of threads may use a handle at once.
pub struct tb_topology {
    view: View<'static>,
    /// The adopted topology; `None` for a node of a cluster.
    adopted: Option<&'static Adopted>,
    /// Whether this is the handle of the adopted topology or of a node, which is never freed. The
    /// handle that another copy of this library made for it has this flag too.
    is_whole: bool,
}

/// The handle of the adopted topology. It is never freed.
static WHOLE: Global<tb_topology> = Global::new();

impl tb_topology {
    /// The handle of the adopted topology. Every caller gets the same one.
    pub(crate) fn whole(adopted: &'static Adopted) -> &'static Self {
        WHOLE.get().unwrap_or_else(|| {
            let view = View::whole(adopted.topology());
            WHOLE.set(Self { view, adopted: Some(adopted), is_whole: true })
        })
    }

    /// The handle of a node of a cluster. It is never freed.
    pub(crate) fn of_node(node: Topology<'static>) -> Self {
        Self { view: View::whole(node), adopted: None, is_whole: true }
    }

    /// Makes a handle of a view.
    pub(crate) fn part(adopted: Option<&'static Adopted>, view: View<'static>) -> Box<Self> {
        Box::new(Self { view, adopted, is_whole: false })
    }

    /// Makes a handle of a view of the topology that this is or is a part of.
    pub(crate) fn part_like(&self, view: View<'static>) -> Box<Self> {
        Self::part(self.adopted, view)
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole
    }

    pub(crate) fn get(&self) -> Topology<'_> {
        self.view.topology()
    }

    pub(crate) fn view(&self) -> &View<'static> {
        &self.view
    }

    /// The adopted topology that this is or is a part of, `None` for a node of a cluster.
    pub(crate) fn of_adopted(&self) -> Option<&'static Adopted> {
        self.adopted
    }

    /// The adopted topology that this is or is a part of.
    pub(crate) fn adopted(&self) -> Result<&'static Adopted, Failure> {
        self.adopted.ok_or_else(|| {
            Failure::argument(format_args!(
                "topology is a node of a cluster; expected the adopted topology"
            ))
        })
    }
}

impl Handle for tb_topology {
    type Means<'h> = Topology<'h>;

    fn means(&self) -> Topology<'_> {
        self.get()
    }
}

/// Adopts the segment whose keys tb_keys_find finds, and stores its topology.
///
/// The first call in a process maps and checks the segment; every later call, from any thread,
/// stores the same pointer. If a process has several copies of this library, each has a handle of
/// its own, for the same mapping. The handle stays valid for the life of the process; freeing it
/// does nothing. A failed adoption can be tried again. Counterparts: PMIx_Load_topology,
/// hwloc_shmem_topology_adopt.
///
/// The topology is that of the whole node. tb_view_effective stores a view of the part that this
/// process may use:
///
///     tb_topology *mine;
///     if (tb_view_effective(&mine) == TB_OK) {
///         ...
///         tb_topology_free(mine);
///     }
#[unsafe(no_mangle)]
pub extern "C" fn tb_adopt(topology: Out<'_, &'static tb_topology>) -> tb_status {
    adopting(|| {
        let topology = topology.given("topology")?;
        topology.write(tb_topology::whole(adopt()?));
        Ok(())
    })
}

/// Adopts a segment as tb_adopt does, but by `keys`, which the program got by other means, and
/// stores its topology. TB_ERR_DIFFERENT if this process has adopted another topology.
#[unsafe(no_mangle)]
pub extern "C" fn tb_adopt_keys(
    keys: Asked<'_, tb_keys>,
    keys_size: usize,
    topology: Out<'_, &'static tb_topology>,
) -> tb_status {
    adopting(|| {
        let topology = topology.given("topology")?;
        let keys = keys.given(keys_size)?.to_keys()?;
        topology.write(tb_topology::whole(adopt_keys(keys)?));
        Ok(())
    })
}

/// Stores the topology that this process has adopted. TB_ERR_NOT_FOUND if it has adopted none; this
/// function never adopts one.
#[unsafe(no_mangle)]
pub extern "C" fn tb_adopted(topology: Out<'_, &'static tb_topology>) -> tb_status {
    answer!(topology, || {
        let adopted = adopted().found(|| "this process has adopted no topology".to_owned())?;
        tb_topology::whole(adopted)
    })
}

/// Frees a view. If `topology` is the adopted topology or NULL, nothing happens.
#[unsafe(no_mangle)]
pub extern "C" fn tb_topology_free(topology: Returned<tb_topology>) {
    topology.free_unless(tb_topology::is_whole);
}

/// Which objects of a type were kept at capture. Counterpart: enum hwloc_type_filter_e.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum tb_type_filter {
    /// All.
    TB_FILTER_ALL = 0,
    /// None.
    TB_FILTER_NONE = 1,
    /// Objects that add to the structure of the tree.
    TB_FILTER_STRUCTURE = 2,
    /// Of I/O devices, the important ones; of other types, all objects.
    TB_FILTER_IMPORTANT = 3,
}

/// Properties of the segment of a topology.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct tb_segment {
    /// Random id of the segment. No other segment has it.
    pub id: [u8; 16],
    /// Number of times that the node's topology was published before.
    pub generation: u64,
    /// Address at which the segment, header and archive, is mapped in this process.
    pub start: *const core::ffi::c_void,
    /// Size of the segment in bytes.
    pub size: u64,
    /// Preferred address; 0 means anywhere.
    pub address: u64,
    /// Whether the segment is mapped at its preferred address. Pointers into it are the same in
    /// every process for which this is true.
    pub at_address: bool,
    /// Whose resources the segment describes: a tb_segment_scope.
    pub scope: i32,
    /// Source of the topology: a tb_segment_source.
    pub source: i32,
    /// Version of the hwloc that captured the topology: 0x00020900 is 2.9.0.
    pub hwloc_version: u32,
    /// Pid of the publisher; 0 if the segment stays until it is unpublished.
    pub publisher_pid: u32,
    /// Why the kernel did not map the segment at its preferred address, an errno: EEXIST if another
    /// mapping is there; ENOMEM, EPERM or EINVAL if this process cannot map that address. 0 if it
    /// was not asked to, or did not refuse.
    pub address_errno: i32,
}

/// Stores the properties of the segment of a topology. For a view, this is the segment of the
/// topology that the view is a part of. TB_ERR_ARGUMENT for a node of a cluster.
#[unsafe(no_mangle)]
pub extern "C" fn tb_topology_segment(
    topology: Option<&tb_topology>,
    segment: Struct<'_, tb_segment>,
    segment_size: usize,
) -> tb_status {
    answer!(segment(segment_size), || {
        let adopted = topology.given("topology")?.adopted()?;
        let header = adopted.header();
        tb_segment {
            id: header.segment_id,
            generation: header.generation,
            start: adopted.bytes().as_ptr().cast(),
            size: header.size,
            address: header.address,
            at_address: adopted.placement() == Placement::Preferred,
            scope: header.scope.raw().cast_signed(),
            source: header.source.raw().cast_signed(),
            hwloc_version: header.hwloc_version,
            publisher_pid: header.publisher_pid,
            address_errno: adopted.address_error().map_or(0, OsError::raw_os_error),
        }
    })
}

/// Stores the keys by which this process found the segment of a topology. They can be handed to
/// other processes.
#[unsafe(no_mangle)]
pub extern "C" fn tb_topology_keys(
    topology: Option<&tb_topology>,
    keys: Struct<'_, tb_keys>,
    keys_size: usize,
) -> tb_status {
    answer!(keys(keys_size), || tb_keys::of(topology.given("topology")?.adopted()?.keys())?)
}

/// Number of objects of a topology, of all kinds; 0 if `topology` is NULL.
#[unsafe(no_mangle)]
pub extern "C" fn tb_topology_object_count(topology: Option<&tb_topology>) -> usize {
    value(0, || topology.map_or(0, |topology| topology.get().object_count()))
}

/// Whether the publisher's hwloc considered the topology to be that of its own machine. False if
/// `topology` is NULL. Counterpart: hwloc_topology_is_thissystem.
#[unsafe(no_mangle)]
pub extern "C" fn tb_topology_is_this_system(topology: Option<&tb_topology>) -> bool {
    value(false, || topology.is_some_and(|topology| topology.get().is_this_system()))
}

/// Stores the type filter that was used at capture for a type: a tb_type_filter. Counterpart:
/// hwloc_topology_get_type_filter.
#[unsafe(no_mangle)]
pub extern "C" fn tb_topology_type_filter(
    topology: Option<&tb_topology>,
    r#type: i32,
    filter: Out<'_, i32>,
) -> tb_status {
    answer!(filter, |topology| topology.type_filter(object_type(r#type)?).raw().into())
}

/// Stores the value of a support bit. `name` is its name in hwloc's XML, such as
/// cpubind.set_thisthread_cpubind. TB_ERR_NOT_FOUND if there is no such bit. Counterpart:
/// hwloc_topology_get_support.
#[unsafe(no_mangle)]
pub extern "C" fn tb_topology_support(
    topology: Option<&tb_topology>,
    name: Text<'_>,
    value: Out<'_, u64>,
) -> tb_status {
    answer!(value, |topology, name| {
        let found = topology.support().find(|(known, _)| *known == name);
        found.found(|| format!("no support bit {name:?}"))?.1
    })
}

/// Makes `cpuset` the PUs and `nodeset` the NUMA nodes that may be used. Each of the two sets may
/// be NULL. Counterparts: hwloc_topology_get_allowed_cpuset, hwloc_topology_get_allowed_nodeset.
#[unsafe(no_mangle)]
pub extern "C" fn tb_topology_allowed(
    topology: Option<&tb_topology>,
    cpuset: Output<'_, tb_set>,
    nodeset: Output<'_, tb_set>,
) -> tb_status {
    call_with(|handles| {
        let topology = topology.given("topology")?.get();
        if let Some(cpuset) = cpuset.optional(handles) {
            cpuset.0 = topology.allowed_cpuset();
        }
        if let Some(nodeset) = nodeset.optional(handles) {
            nodeset.0 = topology.allowed_nodeset();
        }
        Ok(())
    })
}

/// The type with hwloc's number.
pub(crate) fn object_type(number: i32) -> Result<ObjectType, Failure> {
    let found = ObjectType::ALL.into_iter().find(|known| i32::from(known.raw()) == number);
    found.ok_or_else(|| Failure::argument(format_args!("object type {number}, expected 0 to 19")))
}

#[cfg(test)]
mod tests {
    use topobroker_layout::links::{LinkClass, LinkOrigin, VertexKind};
    use topobroker_reader::cluster::GroupKind;
    use topobroker_reader::{ObjectType, Scope, Source};

    /// What `ffi/headers` writes into the header.
    #[test]
    fn enums_of_the_libraries_are_numbered_in_their_order() {
        let ascend = |numbers: &[u32], first: u32| {
            numbers.iter().zip(first..).all(|(number, place)| *number == place)
        };
        assert!(ascend(&Scope::ALL.map(Scope::raw), 1) && ascend(&Source::ALL.map(Source::raw), 1));
        assert!(ascend(&ObjectType::ALL.map(|it| it.raw().into()), 0));
        assert!(ascend(&GroupKind::ALL.map(|it| it.raw().into()), 0));
        assert!(ascend(&VertexKind::ALL.map(|it| it as u32), 0));
        assert!(ascend(&LinkClass::ALL.map(|it| it as u32), 0));
        assert!(ascend(&LinkOrigin::ALL.map(|it| it as u32), 0));
    }
}
