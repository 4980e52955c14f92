//! Encodes a description as the bytes of an archive.

mod attributes;
mod builder;
mod error;
mod intern;
mod levels;
mod numbering;
mod objects;
mod pus;
mod tables;

pub use error::EncodeError;
pub use rkyv::util::AlignedVec;

use crate::archive::{self, INDEX_LIMIT, TopologyColumns};
use crate::column::Column;
use crate::description::{Description, Object};
use crate::levels::Levels;
use crate::object_type::ObjectType;
use crate::set::{Format, Set};
use alloc::vec::Vec;
use builder::Builder;

/// Archives `description`. The bytes are valid at any address that is a multiple of 16, on every
/// architecture.
///
/// # Errors
///
/// [`EncodeError`] if the description is not a tree in levels, as every topology of hwloc is, or
/// exceeds a limit of archives.
pub fn to_bytes(description: &Description) -> Result<AlignedVec, EncodeError> {
    rkyv::to_bytes::<rkyv::rancor::Error>(&topology(description)?)
        .map_err(|error| EncodeError::Serialize(error.into()))
}

pub(crate) fn topology(description: &Description) -> Result<TopologyColumns, EncodeError> {
    numbered(description)?.build()
}

/// A builder that knows the numbers of all objects, and their PUs.
fn numbered(description: &Description) -> Result<Builder<'_>, EncodeError> {
    if description.objects.is_empty() {
        return Err(EncodeError::Empty);
    }
    let mut builder = Builder::new(description);
    builder.number_objects()?;
    builder.find_pus()?;
    check_indexes(&builder)?;
    let pus = builder.by_id.iter().filter(|object| object.object_type == ObjectType::PU);
    builder.pu_os_indexes = pus.map(|pu| pu.os_index).collect();
    builder.find_pus_of_memory();
    Ok(builder)
}

/// Checks the OS indexes of PUs and NUMA nodes, because sets are made of them. hwloc loads XML that
/// breaks these rules, but `hwloc_topology_check` aborts on it.
fn check_indexes(builder: &Builder<'_>) -> Result<(), EncodeError> {
    for object_type in [ObjectType::PU, ObjectType::NUMANode] {
        let name = object_type.name();
        let mut seen = Set::new();
        for object in builder.by_id.iter().filter(|it| it.object_type == object_type) {
            let Some(index) = object.os_index else { continue };
            if index >= INDEX_LIMIT {
                let limit = INDEX_LIMIT as usize;
                return Err(EncodeError::SetTooLarge { found: index as usize, limit });
            }
            if seen.contains(index) {
                return Err(EncodeError::SameIndex { object_type: name, index });
            }
            seen.insert(index);
            if let Some((which, found)) = other_set(object, index) {
                let found = found.to_text(Format::List);
                return Err(EncodeError::OwnSet { object_type: name, index, which, found });
            }
        }
    }
    Ok(())
}

/// A set of a PU or NUMA node that should have just its OS index, but does not. One that may not be
/// used and is kept because of devices has an empty set, next to its complete one.
fn other_set(object: &Object, index: u32) -> Option<(&'static str, &Set)> {
    let sets = object.sets.as_ref()?;
    let [set, complete] = match object.object_type {
        ObjectType::PU => [("cpuset", &sets.cpuset), ("complete cpuset", &sets.complete_cpuset)],
        _ => [("nodeset", &sets.nodeset), ("complete nodeset", &sets.complete_nodeset)],
    };
    let is_own = |(_, set): (_, &Set)| (set.first(), set.last()) == (Some(index), Some(index));
    if !is_own(complete) {
        return Some(complete);
    }
    (!set.1.is_empty() && !is_own(set)).then_some(set)
}

/// Checks that the allowed PUs are PUs of the machine. hwloc loads XML that says otherwise.
fn check_allowed(builder: &Builder<'_>) -> Result<(), EncodeError> {
    let allowed = &builder.description.allowed_cpuset;
    let root = builder.by_id.first().and_then(|root| root.sets.as_ref());
    match root.map(|sets| &sets.complete_cpuset) {
        Some(complete) if !allowed.is_included_in(complete) => Err(EncodeError::Allowed {
            found: allowed.to_text(Format::List),
            complete: complete.to_text(Format::List),
        }),
        _ => Ok(()),
    }
}

impl Builder<'_> {
    fn build(mut self) -> Result<TopologyColumns, EncodeError> {
        let mut topology = TopologyColumns::default();
        let attributes = attributes::pack(&self.by_id, &self.level_first);
        topology.levels = Levels {
            attribute_first: attributes.first,
            attribute_stride: attributes.stride,
            ..self.levels()
        };
        topology.caches = attributes.caches;
        topology.numa_nodes = attributes.numa_nodes;
        topology.groups = attributes.groups;
        topology.bridge_upstream = attributes.bridge_upstream;
        topology.bridges = attributes.bridges;
        topology.pci = attributes.pci;
        topology.os_device_kind = attributes.os_device_kind;
        topology.tree = self.tree()?;
        topology.objects = self.objects(&mut topology.sets);
        topology.names = self.strings_of_objects(|object| object.name.as_deref());
        topology.subtypes = self.strings_of_objects(|object| object.subtype.as_deref());
        topology.infos = self.infos();
        topology.facts = self.facts();
        topology.total_memory = self.total_memory();
        topology.distances = self.distances()?;
        topology.memory_attributes = self.memory_attributes()?;
        topology.cpu_kinds = self.cpu_kinds();
        topology.pu_runs = self.pu_runs();
        topology.numa_by_os_index = self.numa_by_os_index();
        let filters = self.description.type_filters.iter();
        let type_filters: Vec<u64> = filters.map(|filter| u64::from(filter.raw())).collect();
        topology.machine = archive::Machine {
            flags: self.description.flags,
            is_this_system: u32::from(self.description.is_this_system),
            allowed_cpuset: self.sets.intern(&self.description.allowed_cpuset),
            allowed_nodeset: self.sets.intern(&self.description.allowed_nodeset),
            type_filters: Column::pack(&type_filters),
            support: Column::pack(&self.support()),
        };
        self.sets.finish(&mut topology.sets)?;
        check_allowed(&self)?;
        topology.strings =
            self.strings.finish().map_err(|found| EncodeError::ZeroInString { found })?;
        Ok(topology)
    }

    /// A value for each support bit, 0 for the bits that the description leaves out.
    fn support(&self) -> Vec<u64> {
        let known = self.description.support.iter().map(|&bit| u64::from(bit));
        known.chain(core::iter::repeat(0)).take(crate::support::COUNT).collect()
    }
}
