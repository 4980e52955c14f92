//! Archives a description: runs all parts of the encoder in their order.

use super::attributes;
use super::builder::Builder;
use super::error::EncodeError;
use crate::archive::{self, INDEX_LIMIT, TopologyColumns};
use crate::column::Column;
use crate::description::Description;
use crate::levels::Levels;
use crate::object_type::ObjectType;
use crate::set::Format;
use alloc::vec::Vec;
use rkyv::util::AlignedVec;

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

/// Checks the OS indexes of PUs and NUMA nodes, because sets are made of them.
fn check_indexes(builder: &Builder<'_>) -> Result<(), EncodeError> {
    let in_sets = builder
        .by_id
        .iter()
        .filter(|object| matches!(object.object_type, ObjectType::PU | ObjectType::NUMANode));
    match in_sets.filter_map(|object| object.os_index).find(|index| *index >= INDEX_LIMIT) {
        None => Ok(()),
        Some(found) => {
            Err(EncodeError::SetTooLarge { found: found as usize, limit: INDEX_LIMIT as usize })
        }
    }
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
