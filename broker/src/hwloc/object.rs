//! One object of a loaded hwloc topology.

use super::bitmap::{self, BitmapTooLarge};
use hwlocality_sys::{
    HWLOC_OBJ_BRIDGE_HOST, HWLOC_OBJ_BRIDGE_PCI, hwloc_info_s, hwloc_obj, hwloc_obj_attr_u,
    hwloc_pcidev_attr_s,
};
use std::ffi::{CStr, c_char};
use topobroker_layout::attributes::{
    Associativity, Attributes, Bridge, Cache, CacheKind, Group, OsDeviceKind, PageType, Pci,
};
use topobroker_layout::description::Sets;
use topobroker_layout::object_type::ObjectType;

/// A bridge is neither a host bridge nor a PCI bridge. hwloc takes any number from XML.
#[derive(Debug)]
pub(crate) struct UnknownBridge {
    /// The type of the bus above.
    pub(crate) upstream_type: u32,
}

/// An object of a loaded topology, which owns it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Object<'t>(&'t hwloc_obj);

impl<'t> Object<'t> {
    /// The object behind a pointer that hwloc returned from the topology that `'t` borrows.
    pub(super) fn from_raw(raw: *const hwloc_obj) -> Option<Self> {
        // SAFETY: hwloc returns null or a pointer to an object of a loaded topology. The object
        // is neither moved nor changed until the topology is modified or destroyed.
        unsafe { raw.as_ref() }.map(Self)
    }

    pub(super) fn as_raw(self) -> *const hwloc_obj {
        self.0
    }

    /// Identifies the object within its topology.
    pub(crate) fn key(self) -> usize {
        std::ptr::from_ref(self.0).addr()
    }

    pub(crate) fn object_type(self) -> Option<ObjectType> {
        ObjectType::from_raw(self.0.ty.into())
    }

    pub(crate) fn raw_type(self) -> u32 {
        self.0.ty
    }

    pub(crate) fn depth(self) -> i32 {
        self.0.depth
    }

    pub(crate) fn logical_index(self) -> u32 {
        self.0.logical_index
    }

    pub(crate) fn os_index(self) -> Option<u32> {
        (self.0.os_index != hwlocality_sys::HWLOC_UNKNOWN_INDEX).then_some(self.0.os_index)
    }

    pub(crate) fn gp_index(self) -> u64 {
        self.0.gp_index
    }

    pub(crate) fn name(self) -> Option<String> {
        text(self.0.name)
    }

    pub(crate) fn subtype(self) -> Option<String> {
        text(self.0.subtype)
    }

    pub(crate) fn is_symmetric_subtree(self) -> bool {
        self.0.symmetric_subtree != 0
    }

    pub(crate) fn infos(self) -> Vec<(String, String)> {
        infos(self.0.infos, self.0.infos_count)
    }

    /// All children: normal, memory, I/O, Misc.
    pub(crate) fn children(self) -> impl Iterator<Item = Object<'t>> {
        let lists = [
            self.0.first_child,
            self.0.memory_first_child,
            self.0.io_first_child,
            self.0.misc_first_child,
        ];
        lists.into_iter().flat_map(|first| {
            std::iter::successors(Self::from_raw(first), |child| {
                Self::from_raw(child.0.next_sibling)
            })
        })
    }

    /// The four sets; `None` for I/O and Misc objects, which have no sets.
    pub(crate) fn sets(self) -> Result<Option<Sets>, BitmapTooLarge> {
        if self.0.cpuset.is_null() {
            return Ok(None);
        }
        Ok(Some(Sets {
            cpuset: bitmap::read(self.0.cpuset)?,
            complete_cpuset: bitmap::read(self.0.complete_cpuset)?,
            nodeset: bitmap::read(self.0.nodeset)?,
            complete_nodeset: bitmap::read(self.0.complete_nodeset)?,
        }))
    }

    fn attr(self) -> Option<&'t hwloc_obj_attr_u> {
        // SAFETY: `attr` is null or points to a union that lives as long as the object. Making
        // the reference reads no member of it.
        unsafe { self.0.attr.as_ref() }
    }

    pub(crate) fn attributes(self) -> Result<Attributes, UnknownBridge> {
        let (Some(attr), Some(kind)) = (self.attr(), self.object_type()) else {
            return Ok(Attributes::None);
        };
        Ok(match kind {
            ObjectType::NUMANode => {
                // SAFETY: hwloc fills the member `numa` for a NUMA node.
                let numa = unsafe { attr.numa };
                Attributes::NumaNode { local_memory: numa.local_memory }
            }
            ObjectType::Group => {
                // SAFETY: hwloc fills the member `group` for a group.
                let group = unsafe { attr.group };
                Attributes::Group(Group {
                    depth: group.depth,
                    kind: group.kind,
                    subkind: group.subkind,
                    dont_merge: group.dont_merge != 0,
                })
            }
            // SAFETY: hwloc fills the member `pcidev` for a PCI device.
            ObjectType::PCIDevice => Attributes::Pci(pci(unsafe { &attr.pcidev })),
            ObjectType::Bridge => Attributes::Bridge(bridge(attr)?),
            ObjectType::OSDevice => {
                // SAFETY: hwloc fills the member `osdev` for an OS device.
                let os_device = unsafe { attr.osdev };
                Attributes::OsDevice { kind: OsDeviceKind::from_raw(os_device.ty) }
            }
            kind if kind.is_cache() || kind == ObjectType::MemCache => {
                // SAFETY: hwloc fills the member `cache` for CPU caches and memory-side caches.
                let cache = unsafe { attr.cache };
                Attributes::Cache(Cache {
                    size: cache.size,
                    depth: cache.depth,
                    linesize: cache.linesize,
                    associativity: Associativity::from_raw(cache.associativity),
                    kind: CacheKind::from_raw(cache.ty),
                })
            }
            _ => Attributes::None,
        })
    }

    /// Page types of a NUMA node; empty for other objects.
    pub(crate) fn page_types(self) -> Vec<PageType> {
        let (Some(attr), Some(ObjectType::NUMANode)) = (self.attr(), self.object_type()) else {
            return Vec::new();
        };
        // SAFETY: hwloc fills the member `numa` for a NUMA node.
        let numa = unsafe { attr.numa };
        if numa.page_types.is_null() {
            return Vec::new();
        }
        // SAFETY: `page_types` is not null and points to `page_types_len` entries, which live as
        // long as the object.
        let pages =
            unsafe { std::slice::from_raw_parts(numa.page_types, numa.page_types_len as usize) };
        pages.iter().map(|page| PageType { size: page.size, count: page.count }).collect()
    }
}

fn pci(pci: &hwloc_pcidev_attr_s) -> Pci {
    Pci {
        domain: pci.domain.into(),
        bus: pci.bus,
        dev: pci.dev,
        func: pci.func,
        class_id: pci.class_id,
        vendor_id: pci.vendor_id,
        device_id: pci.device_id,
        subvendor_id: pci.subvendor_id,
        subdevice_id: pci.subdevice_id,
        revision: pci.revision,
        linkspeed: pci.linkspeed,
    }
}

fn bridge(attr: &hwloc_obj_attr_u) -> Result<Bridge, UnknownBridge> {
    // SAFETY: callers pass the attributes of a bridge, for which hwloc fills the member `bridge`.
    // The two unions inside have one member each.
    let (bridge, upstream, downstream) = unsafe {
        let bridge = &attr.bridge;
        (bridge, &bridge.upstream.pci, &bridge.downstream.pci)
    };
    let upstream = match bridge.upstream_type {
        HWLOC_OBJ_BRIDGE_HOST => None,
        HWLOC_OBJ_BRIDGE_PCI => Some(pci(upstream)),
        upstream_type => return Err(UnknownBridge { upstream_type }),
    };
    Ok(Bridge {
        upstream,
        downstream_type: bridge.downstream_type,
        downstream_domain: downstream.domain.into(),
        secondary_bus: downstream.secondary_bus,
        subordinate_bus: downstream.subordinate_bus,
        depth: bridge.depth,
    })
}

/// Copies a C string of hwloc; bytes that are not UTF-8 are replaced.
pub(super) fn text(raw: *const c_char) -> Option<String> {
    // SAFETY: callers pass null or a zero-terminated string of hwloc, which stays valid during
    // the call.
    let text = (!raw.is_null()).then(|| unsafe { CStr::from_ptr(raw) });
    text.map(|text| text.to_string_lossy().into_owned())
}

pub(super) fn infos(raw: *const hwloc_info_s, count: u32) -> Vec<(String, String)> {
    if raw.is_null() {
        return Vec::new();
    }
    // SAFETY: `raw` is not null; callers pass an array of a live topology and its length.
    let infos = unsafe { std::slice::from_raw_parts(raw, count as usize) };
    let infos = infos
        .iter()
        .map(|info| (text(info.name).unwrap_or_default(), text(info.value).unwrap_or_default()));
    infos.collect()
}
