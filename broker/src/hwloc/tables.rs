//! Tables of a topology, apart from its objects: distances, memory attributes, CPU kinds.

use super::bitmap::{self, BitmapTooLarge};
use super::object::Object;
use super::object::{infos, text};
use super::topology::HwlocTopology;
use hwlocality_sys as sys;
use std::ptr;
use topobroker_layout::set::Set;

/// A distance matrix. Counterpart: `struct hwloc_distances_s`.
pub(crate) struct Distances<'t> {
    pub(crate) name: Option<String>,
    pub(crate) kind: u64,
    pub(crate) objects: Vec<Object<'t>>,
    pub(crate) values: Vec<u64>,
}

/// A memory attribute with its stored values.
pub(crate) struct MemoryAttribute<'t> {
    pub(crate) name: String,
    pub(crate) flags: u64,
    pub(crate) values: Vec<MemoryValue<'t>>,
}

/// Target, initiator and value.
type MemoryValue<'t> = (Object<'t>, Location<'t>, u64);

/// The initiator of a value of a memory attribute. Counterpart: `struct hwloc_location`.
pub(crate) enum Location<'t> {
    None,
    Cpuset(Set),
    Object(Object<'t>),
}

/// A CPU kind.
pub(crate) struct CpuKind {
    pub(crate) cpuset: Set,
    pub(crate) efficiency: Option<u32>,
    pub(crate) infos: Vec<(String, String)>,
}

/// Ids of the attributes that hwloc derives from the objects and does not store.
const DERIVED: std::ops::RangeInclusive<u32> = 0..=1;

impl HwlocTopology<'_> {
    pub(crate) fn distances(&self) -> Vec<Distances<'_>> {
        let mut count = 0;
        // SAFETY: `self.raw` is a loaded topology. With a count of 0 and a null pointer hwloc only
        // stores the number of matrices in `count`.
        let error =
            unsafe { sys::hwloc_distances_get(self.raw, &raw mut count, ptr::null_mut(), 0, 0) };
        let mut found = vec![ptr::null_mut(); count as usize];
        if error != 0 || count == 0 {
            return Vec::new();
        }
        // SAFETY: `self.raw` is a loaded topology, and `found` has room for `count` pointers.
        let error =
            unsafe { sys::hwloc_distances_get(self.raw, &raw mut count, found.as_mut_ptr(), 0, 0) };
        if error != 0 {
            return Vec::new();
        }
        let read = found.into_iter().take(count as usize).filter_map(|matrix| {
            // SAFETY: hwloc stored `count` pointers to matrices; this one is released after it is
            // read.
            let read = unsafe { matrix.as_ref() }.map(|matrix| self.matrix(matrix));
            // SAFETY: `matrix` came from `hwloc_distances_get` and is released once.
            unsafe { sys::hwloc_distances_release(self.raw, matrix) };
            read
        });
        read.collect()
    }

    fn matrix(&self, matrix: &sys::hwloc_distances_s) -> Distances<'_> {
        let count = matrix.nbobj as usize;
        // SAFETY: a matrix of hwloc has `nbobj` objects and `nbobj` * `nbobj` values.
        let (objects, values) = unsafe {
            (
                std::slice::from_raw_parts(matrix.objs, count),
                std::slice::from_raw_parts(matrix.values, count * count),
            )
        };
        // SAFETY: `self.raw` is a loaded topology, and `matrix` is one of its matrices.
        let name = text(unsafe { sys::hwloc_distances_get_name(self.raw, matrix) });
        Distances {
            name,
            kind: matrix.kind,
            objects: objects.iter().filter_map(|object| Object::from_raw(*object)).collect(),
            values: values.to_vec(),
        }
    }

    pub(crate) fn memory_attributes(&self) -> Result<Vec<MemoryAttribute<'_>>, BitmapTooLarge> {
        (0..).map_while(|id| self.memory_attribute(id).transpose()).collect()
    }

    fn memory_attribute(&self, id: u32) -> Result<Option<MemoryAttribute<'_>>, BitmapTooLarge> {
        let (mut name, mut flags) = (ptr::null(), 0);
        // SAFETY: `self.raw` is a loaded topology; `name` and `flags` are outputs. hwloc refuses an
        // id that does not exist.
        let error = unsafe {
            sys::hwloc_memattr_get_name(self.raw, id, &raw mut name)
                + sys::hwloc_memattr_get_flags(self.raw, id, &raw mut flags)
        };
        if error != 0 {
            return Ok(None);
        }
        let values =
            if DERIVED.contains(&id) { Vec::new() } else { self.memory_values(id, flags)? };
        Ok(text(name).map(|name| MemoryAttribute { name, flags, values }))
    }

    fn memory_values(&self, id: u32, flags: u64) -> Result<Vec<MemoryValue<'_>>, BitmapTooLarge> {
        let mut count = 0;
        // SAFETY: `self.raw` is a loaded topology. With a count of 0 and null pointers hwloc only
        // stores the number of targets in `count`.
        let error = unsafe {
            let (targets, values) = (ptr::null_mut(), ptr::null_mut());
            sys::hwloc_memattr_get_targets(
                self.raw,
                id,
                ptr::null(),
                0,
                &raw mut count,
                targets,
                values,
            )
        };
        let mut targets = vec![ptr::null(); count as usize];
        let mut values = vec![0; count as usize];
        if error != 0 || count == 0 {
            return Ok(Vec::new());
        }
        // SAFETY: `self.raw` is a loaded topology; `targets` and `values` have room for `count`
        // elements each.
        let error = unsafe {
            let (targets, values) = (targets.as_mut_ptr(), values.as_mut_ptr());
            sys::hwloc_memattr_get_targets(
                self.raw,
                id,
                ptr::null(),
                0,
                &raw mut count,
                targets,
                values,
            )
        };
        if error != 0 {
            return Ok(Vec::new());
        }
        let targets = targets.into_iter().filter_map(Object::from_raw).zip(values);
        if flags & sys::HWLOC_MEMATTR_FLAG_NEED_INITIATOR == 0 {
            let values = targets.map(|(target, value)| (target, Location::None, value));
            return Ok(values.collect());
        }
        let values: Result<Vec<_>, _> =
            targets.map(|(target, _)| self.initiators(id, target)).collect();
        Ok(values?.into_iter().flatten().collect())
    }

    fn initiators<'t>(
        &'t self,
        id: u32,
        target: Object<'t>,
    ) -> Result<Vec<MemoryValue<'t>>, BitmapTooLarge> {
        let mut count = 0;
        let object = target.as_raw();
        // SAFETY: `self.raw` is a loaded topology, and `object` is one of its objects. With a count
        // of 0 and null pointers hwloc only stores the number of initiators in `count`.
        let error = unsafe {
            let (initiators, values) = (ptr::null_mut(), ptr::null_mut());
            sys::hwloc_memattr_get_initiators(
                self.raw,
                id,
                object,
                0,
                &raw mut count,
                initiators,
                values,
            )
        };
        if error != 0 || count == 0 {
            return Ok(Vec::new());
        }
        let empty = sys::hwloc_location {
            ty: sys::HWLOC_LOCATION_TYPE_OBJECT,
            location: sys::hwloc_location_u { object: ptr::null() },
        };
        let mut initiators = vec![empty; count as usize];
        let mut values = vec![0; count as usize];
        // SAFETY: `self.raw` is a loaded topology, and `object` is one of its objects. `initiators`
        // and `values` have room for `count` elements each.
        let error = unsafe {
            let (initiators, values) = (initiators.as_mut_ptr(), values.as_mut_ptr());
            sys::hwloc_memattr_get_initiators(
                self.raw,
                id,
                object,
                0,
                &raw mut count,
                initiators,
                values,
            )
        };
        if error != 0 {
            return Ok(Vec::new());
        }
        let rows = initiators.into_iter().zip(values).take(count as usize);
        rows.map(|(initiator, value)| Ok((target, location(&initiator)?, value))).collect()
    }

    pub(crate) fn cpu_kinds(&self) -> Result<Vec<CpuKind>, BitmapTooLarge> {
        // SAFETY: `self.raw` is a loaded topology.
        let count = unsafe { sys::hwloc_cpukinds_get_nr(self.raw, 0) };
        let indexes = 0..u32::try_from(count).unwrap_or(0);
        indexes.filter_map(|index| self.cpu_kind(index).transpose()).collect()
    }

    fn cpu_kind(&self, index: u32) -> Result<Option<CpuKind>, BitmapTooLarge> {
        // SAFETY: the function takes no argument. It returns a bitmap, which is freed below, or
        // null if there is no memory.
        let cpuset = unsafe { sys::hwloc_bitmap_alloc() };
        if cpuset.is_null() {
            return Ok(None);
        }
        let (mut efficiency, mut count, mut raw_infos) = (-1, 0, ptr::null_mut());
        // SAFETY: `self.raw` is a loaded topology, and `cpuset` is a bitmap; the other pointers are
        // outputs. hwloc refuses an index that does not exist.
        let error = unsafe {
            sys::hwloc_cpukinds_get_info(
                self.raw,
                index,
                cpuset,
                &raw mut efficiency,
                &raw mut count,
                &raw mut raw_infos,
                0,
            )
        };
        let kind = (error == 0).then(|| {
            Ok(CpuKind {
                cpuset: bitmap::read(cpuset)?,
                efficiency: u32::try_from(efficiency).ok(),
                infos: infos(raw_infos, count),
            })
        });
        // SAFETY: `cpuset` came from `hwloc_bitmap_alloc` and is not used again.
        unsafe { sys::hwloc_bitmap_free(cpuset) };
        kind.transpose()
    }

    /// The topology as XML, exported by hwloc; `None` if hwloc cannot export it.
    pub(crate) fn export_xml(&self) -> Option<String> {
        let (mut buffer, mut length) = (ptr::null_mut(), 0);
        // SAFETY: `self.raw` is a loaded topology; `buffer` and `length` are outputs.
        let error = unsafe {
            sys::hwloc_topology_export_xmlbuffer(self.raw, &raw mut buffer, &raw mut length, 0)
        };
        if error != 0 || buffer.is_null() {
            return None;
        }
        let xml = text(buffer);
        // SAFETY: `buffer` is hwloc's, and nothing refers to it after the copy.
        unsafe { sys::hwloc_free_xmlbuffer(self.raw, buffer) };
        xml
    }
}

fn location<'t>(location: &sys::hwloc_location) -> Result<Location<'t>, BitmapTooLarge> {
    Ok(match location.ty {
        sys::HWLOC_LOCATION_TYPE_CPUSET => {
            // SAFETY: for this type hwloc fills the member `cpuset`; the topology owns the set.
            Location::Cpuset(bitmap::read(unsafe { location.location.cpuset })?)
        }
        // SAFETY: the only other type is an object, for which hwloc fills the member `object`; the
        // topology owns it.
        _ => Object::from_raw(unsafe { location.location.object })
            .map_or(Location::None, Location::Object),
    })
}
