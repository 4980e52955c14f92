//! A topology that hwloc has loaded.

use super::bitmap::{self, BitmapTooLarge};
use super::object::Object;
use crate::child::locking;
use crate::linux::Root;
use hwlocality_sys::hwloc_topology_t;
use std::marker::PhantomData;
use topobroker_layout::depth::Depth;
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::set::Set;
use topobroker_layout::type_filter::TypeFilter;

/// A loaded hwloc topology, owned or borrowed.
#[derive(Debug)]
pub struct HwlocTopology<'t> {
    pub(super) raw: hwloc_topology_t,
    owned: bool,
    is_discovered: bool,
    /// The saved file system that hwloc has read.
    saved: Option<Root>,
    lent: PhantomData<&'t ()>,
}

impl HwlocTopology<'static> {
    /// Takes over a topology that this crate initialised.
    pub(super) fn owned(raw: hwloc_topology_t) -> Self {
        Self { raw, owned: true, is_discovered: false, saved: None, lent: PhantomData }
    }

    /// Notes whether hwloc has discovered this machine, and read no description of one, and which
    /// saved file system it has read.
    pub(super) fn note_source(&mut self, is_discovered: bool, saved: Option<Root>) {
        (self.is_discovered, self.saved) = (is_discovered, saved);
    }
}

impl HwlocTopology<'_> {
    /// Wraps a topology that another program, such as a launcher, has loaded itself.
    ///
    /// # Safety
    ///
    /// `raw` must be a loaded `hwloc_topology_t` of the hwloc that this library is linked to. It
    /// must not be destroyed or modified during the lifetime that the caller chooses.
    #[must_use]
    pub unsafe fn borrow_raw(raw: *mut std::ffi::c_void) -> Self {
        Self { raw: raw.cast(), owned: false, is_discovered: false, saved: None, lent: PhantomData }
    }

    /// The raw `hwloc_topology_t`, for calls that this library does not wrap. It is valid as long
    /// as `self`, and must not be modified or destroyed.
    #[must_use]
    pub fn as_raw(&self) -> *mut std::ffi::c_void {
        self.raw.cast()
    }

    pub(crate) fn root(&self) -> Option<Object<'_>> {
        // SAFETY: `self.raw` is a loaded topology as long as `self` lives.
        Object::from_raw(unsafe { hwlocality_sys::hwloc_get_obj_by_depth(self.raw, 0, 0) })
    }

    /// Whether it has a display, which only hwloc's component `gl` finds.
    pub(crate) fn has_display(&self) -> bool {
        fn is_or_has(object: Object<'_>) -> bool {
            object.subtype().as_deref() == Some("Display") || object.children().any(is_or_has)
        }
        self.root().is_some_and(is_or_has)
    }

    /// The types of objects of which some have a name or a subtype: bit N is the Nth type of hwloc.
    pub(crate) fn named_types(&self) -> u32 {
        fn below(object: Object<'_>) -> u32 {
            let is_named = object.name().is_some() || object.subtype().is_some();
            let own = u32::from(is_named).checked_shl(object.raw_type()).unwrap_or(0);
            object.children().fold(own, |types, child| types | below(child))
        }
        self.root().map_or(0, below)
    }

    /// Number of all objects: normal, memory, I/O, Misc.
    pub(crate) fn object_count(&self) -> usize {
        // SAFETY: `self.raw` is a loaded topology as long as `self` lives.
        let normal = unsafe { hwlocality_sys::hwloc_topology_get_depth(self.raw) };
        let special = Depth::SPECIAL.into_iter().map(Depth::raw);
        let count = |depth| {
            // SAFETY: `self.raw` is a loaded topology as long as `self` lives; hwloc returns 0 for
            // a depth that does not exist.
            let count = unsafe { hwlocality_sys::hwloc_get_nbobjs_by_depth(self.raw, depth) };
            count as usize
        };
        (0..normal).chain(special).map(count).sum()
    }

    /// Whether this crate loaded the topology; `false` if the topology was handed over.
    pub(crate) fn is_owned(&self) -> bool {
        self.owned
    }

    /// Whether hwloc has discovered it on this machine, and no other program can have changed it.
    pub(crate) fn is_discovered(&self) -> bool {
        self.is_discovered
    }

    /// The file system of the machine that this is a topology of; `None` if it is of no machine, or
    /// its files are not here.
    pub(crate) fn file_system(&self) -> Option<Root> {
        let own = || self.is_this_system().then(Root::of_this_node);
        self.saved.clone().or_else(own)
    }

    pub(crate) fn flags(&self) -> u64 {
        // SAFETY: `self.raw` is a loaded topology as long as `self` lives.
        unsafe { hwlocality_sys::hwloc_topology_get_flags(self.raw) }
    }

    pub(crate) fn is_this_system(&self) -> bool {
        // SAFETY: `self.raw` is a loaded topology as long as `self` lives.
        unsafe { hwlocality_sys::hwloc_topology_is_thissystem(self.raw) != 0 }
    }

    pub(crate) fn allowed_cpuset(&self) -> Result<Set, BitmapTooLarge> {
        // SAFETY: `self.raw` is a loaded topology as long as `self` lives, and owns the set.
        bitmap::read(unsafe { hwlocality_sys::hwloc_topology_get_allowed_cpuset(self.raw) })
    }

    pub(crate) fn allowed_nodeset(&self) -> Result<Set, BitmapTooLarge> {
        // SAFETY: `self.raw` is a loaded topology as long as `self` lives, and owns the set.
        bitmap::read(unsafe { hwlocality_sys::hwloc_topology_get_allowed_nodeset(self.raw) })
    }

    /// The filter of a type; [`TypeFilter::None`] if this hwloc does not know the type.
    pub(crate) fn type_filter(&self, object_type: ObjectType) -> TypeFilter {
        let mut filter = hwlocality_sys::HWLOC_TYPE_FILTER_KEEP_NONE;
        // SAFETY: `self.raw` is a loaded topology as long as `self` lives, and `filter` is an
        // output. hwloc refuses an unknown type and then leaves `filter` as it is.
        let error = unsafe {
            hwlocality_sys::hwloc_topology_get_type_filter(
                self.raw,
                object_type.raw().into(),
                &raw mut filter,
            )
        };
        let known = u8::try_from(filter).ok().filter(|_| error == 0);
        known.and_then(TypeFilter::from_raw).unwrap_or(TypeFilter::None)
    }

    /// The support bits in the order of [`topobroker_layout::support::names`].
    pub(crate) fn support(&self) -> Vec<u8> {
        // Lengths of the four structures. They consist of bytes, in the order of the names.
        const LENGTHS: [usize; 4] = [6, 11, 15, 1];
        // SAFETY: `self.raw` is a loaded topology as long as `self` lives, and owns the structure.
        // With an hwloc of another layout the program would not have linked.
        let Some(support) =
            (unsafe { hwlocality_sys::hwloc_topology_get_support(self.raw).as_ref() })
        else {
            return Vec::new();
        };
        let parts: [*const u8; 4] = [
            support.discovery.cast(),
            support.cpubind.cast(),
            support.membind.cast(),
            support.misc.cast(),
        ];
        let parts = parts.into_iter().zip(LENGTHS).flat_map(|(part, length)| {
            if part.is_null() {
                return vec![0; length];
            }
            // SAFETY: `part` is not null. Since hwloc 2.5, which the bindings require, it is a
            // structure of `length` unsigned chars; the assertions below check the bindings.
            unsafe { std::slice::from_raw_parts(part, length) }.to_vec()
        });
        parts.collect()
    }
}

const _: () = {
    use hwlocality_sys as sys;
    assert!(size_of::<sys::hwloc_topology_discovery_support>() == 6);
    assert!(size_of::<sys::hwloc_topology_cpubind_support>() == 11);
    assert!(size_of::<sys::hwloc_topology_membind_support>() == 15);
    assert!(size_of::<sys::hwloc_topology_misc_support>() == 1);
};

impl Drop for HwlocTopology<'_> {
    fn drop(&mut self) {
        if self.owned {
            // SAFETY: hwloc initialised the owned topology, and nothing that borrows from it
            // outlives `self`.
            locking(|| unsafe { hwlocality_sys::hwloc_topology_destroy(self.raw) });
        }
    }
}
