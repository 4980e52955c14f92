//! A topology that hwloc has loaded.

use super::bitmap::{self, BitmapTooLarge};
use super::object::Object;
use hwlocality_sys::hwloc_topology_t;
use std::marker::PhantomData;
use topobroker_layout::depth::Depth;
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::set::Set;
use topobroker_layout::type_filter::TypeFilter;

/// A loaded hwloc topology, owned or lent.
#[derive(Debug)]
pub struct HwlocTopology<'t> {
    pub(super) raw: hwloc_topology_t,
    owned: bool,
    lent: PhantomData<&'t ()>,
}

impl HwlocTopology<'static> {
    /// Takes over a topology that was initialised here.
    pub(super) fn owned(raw: hwloc_topology_t) -> Self {
        Self { raw, owned: true, lent: PhantomData }
    }
}

impl HwlocTopology<'_> {
    /// Wraps the topology of a program that has loaded one itself, such as a launcher.
    ///
    /// # Safety
    ///
    /// `raw` must be a loaded `hwloc_topology_t` of the hwloc that this library is linked to; for
    /// the lifetime that the caller chooses it must not be destroyed or modified.
    #[must_use]
    pub unsafe fn borrow_raw(raw: *mut std::ffi::c_void) -> Self {
        Self { raw: raw.cast(), owned: false, lent: PhantomData }
    }

    /// The raw `hwloc_topology_t`, for what this library does not wrap. It is valid as long as
    /// `self` and must not be modified or destroyed.
    #[must_use]
    pub fn as_raw(&self) -> *mut std::ffi::c_void {
        self.raw.cast()
    }

    pub(crate) fn root(&self) -> Option<Object<'_>> {
        // SAFETY: `raw` is a loaded topology for as long as `self` lives.
        Object::from_raw(unsafe { hwlocality_sys::hwloc_get_obj_by_depth(self.raw, 0, 0) })
    }

    /// Number of objects of all kinds.
    pub(crate) fn object_count(&self) -> usize {
        // SAFETY: as in `root`.
        let normal = unsafe { hwlocality_sys::hwloc_topology_get_depth(self.raw) };
        let special = Depth::SPECIAL.into_iter().map(Depth::raw);
        let count = |depth| {
            // SAFETY: as in `root`; 0 at depths that there are not.
            let count = unsafe { hwlocality_sys::hwloc_get_nbobjs_by_depth(self.raw, depth) };
            count as usize
        };
        (0..normal).chain(special).map(count).sum()
    }

    /// Whether this was loaded here, and not handed over.
    pub(crate) fn is_owned(&self) -> bool {
        self.owned
    }

    pub(crate) fn flags(&self) -> u64 {
        // SAFETY: as in `root`.
        unsafe { hwlocality_sys::hwloc_topology_get_flags(self.raw) }
    }

    pub(crate) fn is_this_system(&self) -> bool {
        // SAFETY: as in `root`.
        unsafe { hwlocality_sys::hwloc_topology_is_thissystem(self.raw) != 0 }
    }

    pub(crate) fn allowed_cpuset(&self) -> Result<Set, BitmapTooLarge> {
        // SAFETY: as in `root`; the set belongs to the topology.
        bitmap::read(unsafe { hwlocality_sys::hwloc_topology_get_allowed_cpuset(self.raw) })
    }

    pub(crate) fn allowed_nodeset(&self) -> Result<Set, BitmapTooLarge> {
        // SAFETY: as in `root`; the set belongs to the topology.
        bitmap::read(unsafe { hwlocality_sys::hwloc_topology_get_allowed_nodeset(self.raw) })
    }

    /// The filter of a type; none of a type that this hwloc does not know.
    pub(crate) fn type_filter(&self, object_type: ObjectType) -> TypeFilter {
        let mut filter = hwlocality_sys::HWLOC_TYPE_FILTER_KEEP_NONE;
        // SAFETY: as in `root`; an unknown type is refused, and the filter then left alone.
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

    /// The support bits in the order of [`topobroker_layout::support::NAMES`].
    pub(crate) fn support(&self) -> Vec<u8> {
        // The four structures are nothing but bytes, in the order of the names.
        const LENGTHS: [usize; 4] = [6, 11, 15, 1];
        // SAFETY: as in `root`; the structure belongs to the topology, and the program of another
        // hwloc version would have failed to link.
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
            // SAFETY: each is a structure of `length` unsigned chars since hwloc 2.5, which the
            // bindings require (checked below against their definitions).
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
            // SAFETY: initialised by `load`, and nothing that refers to it outlives `self`.
            unsafe { hwlocality_sys::hwloc_topology_destroy(self.raw) }
        }
    }
}
