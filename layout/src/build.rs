//! From a description to archive bytes.

mod attributes;
mod intern;
mod levels;
mod numbering;
mod objects;
mod pus;
mod tables;

use crate::archive::{self, INDEX_LIMIT, Topology};
use crate::column::Column;
use crate::description::{Description, Object};
use crate::levels::Levels;
use crate::object_type::ObjectType;
use intern::{Sets, Strings};
pub use rkyv::util::AlignedVec;

/// Number of special levels.
pub(crate) const SPECIAL_LEVELS: usize = ObjectType::SPECIAL.len();

/// Why a description cannot be archived.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// There is no root.
    #[error("the topology has no objects; expected at least a Machine")]
    Empty,
    /// An object, child or target is named that is not there.
    #[error("{what} names object {found}, but the topology has {count} objects")]
    NoSuchObject {
        /// What names it.
        what: &'static str,
        /// The place named.
        found: usize,
        /// Number of objects.
        count: usize,
    },
    /// The normal depths are not 0, 1, 2, ... or a logical index is missing or twice.
    #[error(
        "depth {depth} has no object of logical index {logical_index}; levels must be complete"
    )]
    Level {
        /// The depth with the gap.
        depth: i32,
        /// The index expected there.
        logical_index: u32,
    },
    /// Objects of one level have different types.
    #[error("depth {depth} has objects of type {found} and {expected}; a level has one type")]
    MixedLevel {
        /// The depth.
        depth: i32,
        /// The type met.
        found: &'static str,
        /// The type of its first object.
        expected: &'static str,
    },
    /// PUs are not numbered as the tree lists them.
    #[error("PU L#{found} comes where the tree has PU L#{expected}")]
    PuOrder {
        /// The logical index met.
        found: u32,
        /// The logical index expected.
        expected: u32,
    },
    /// A set, a PU or a NUMA node has a higher OS index than an archive holds.
    #[error("a set, a PU or a NUMA node has index {found}; archives hold indexes below {limit}")]
    SetTooLarge {
        /// The highest index.
        found: usize,
        /// First index that is too high.
        limit: usize,
    },
    /// A string has a zero inside, where C would end it.
    #[error("the string {found:?} has a zero byte inside; hwloc's strings end there")]
    ZeroInString {
        /// The string.
        found: String,
    },
    /// Objects below objects below objects: deeper than any machine, or in a circle.
    #[error("object {found} is nested more than {limit} deep, or below itself")]
    TooDeep {
        /// Its place in the list.
        found: usize,
        /// Most that archives hold.
        limit: usize,
    },
    /// Serialising failed.
    #[error("the archive cannot be written: {0}")]
    Serialize(String),
}

/// Archives `description`. The bytes hold at any address that is a multiple of 16 and on every
/// architecture.
///
/// # Errors
///
/// [`BuildError`] when the description is not a tree in levels, as every topology of hwloc is.
pub fn to_bytes(description: &Description) -> Result<AlignedVec, BuildError> {
    rkyv::to_bytes::<rkyv::rancor::Error>(&topology(description)?)
        .map_err(|error| BuildError::Serialize(error.to_string()))
}

pub(crate) fn topology(description: &Description) -> Result<Topology, BuildError> {
    Builder::new(description)?.build()
}

struct Builder<'d> {
    description: &'d Description,
    /// Objects by their number in the archive.
    by_id: Vec<&'d Object>,
    /// Number in the archive by place in the description.
    id_of: Vec<u64>,
    /// First number of each level, and the number of objects at the end.
    level_first: Vec<u64>,
    normal_levels: usize,
    /// First PU and number of PUs of each object, by its number.
    pus_by_id: Vec<(u32, u32)>,
    /// OS indexes of the PUs by logical index.
    pu_os_indexes: Vec<Option<u32>>,
    strings: Strings,
    sets: Sets<'d>,
}

impl<'d> Builder<'d> {
    fn new(description: &'d Description) -> Result<Self, BuildError> {
        if description.objects.is_empty() {
            return Err(BuildError::Empty);
        }
        let mut builder = Self {
            description,
            by_id: Vec::new(),
            id_of: Vec::new(),
            level_first: Vec::new(),
            normal_levels: 0,
            pus_by_id: vec![(0, 0); description.objects.len()],
            pu_os_indexes: Vec::new(),
            strings: Strings::default(),
            sets: Sets::default(),
        };
        builder.number_objects()?;
        builder.find_pus()?;
        builder.check_indexes()?;
        let pus = builder.by_id.iter().filter(|object| object.object_type == ObjectType::PU);
        builder.pu_os_indexes = pus.map(|pu| pu.os_index).collect();
        builder.find_pus_of_memory();
        Ok(builder)
    }

    /// OS indexes of PUs and NUMA nodes become sets.
    fn check_indexes(&self) -> Result<(), BuildError> {
        let in_sets = self
            .by_id
            .iter()
            .filter(|object| matches!(object.object_type, ObjectType::PU | ObjectType::NUMANode));
        match in_sets.filter_map(|object| object.os_index).find(|index| *index >= INDEX_LIMIT) {
            None => Ok(()),
            Some(found) => {
                Err(BuildError::SetTooLarge { found: found as usize, limit: INDEX_LIMIT as usize })
            }
        }
    }

    fn object(&self, place: usize, what: &'static str) -> Result<&'d Object, BuildError> {
        let count = self.description.objects.len();
        self.description.objects.get(place).ok_or(BuildError::NoSuchObject {
            what,
            found: place,
            count,
        })
    }

    fn id(&self, place: usize, what: &'static str) -> Result<u64, BuildError> {
        self.object(place, what)?;
        Ok(self.id_of.get(place).copied().unwrap_or_default())
    }

    fn level_of(&self, object: &Object) -> usize {
        match object.object_type.special_depth() {
            Some(_) => self.normal_levels + object.object_type.special_rank(),
            None => usize::try_from(object.depth).unwrap_or(usize::MAX),
        }
    }

    fn build(mut self) -> Result<Topology, BuildError> {
        let mut topology = Topology::default();
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
        topology.total_memory = self.total_memory();
        topology.distances = self.distances()?;
        topology.memory_attributes = self.memory_attributes()?;
        topology.cpu_kinds = self.cpu_kinds();
        topology.pu_runs = self.pu_runs();
        topology.numa_by_os_index = self.numa_by_os_index();
        topology.machine = archive::Machine {
            flags: self.description.flags,
            is_this_system: u32::from(self.description.is_this_system),
            allowed_cpuset: self.sets.intern(&self.description.allowed_cpuset),
            allowed_nodeset: self.sets.intern(&self.description.allowed_nodeset),
            type_filters: pack_all(&self.description.type_filters),
            support: Column::pack(&self.support()),
        };
        self.sets.finish(&mut topology.sets)?;
        topology.strings =
            self.strings.finish().map_err(|found| BuildError::ZeroInString { found })?;
        Ok(topology)
    }

    /// A value for each support bit, 0 for those that the description leaves out.
    fn support(&self) -> Vec<u64> {
        let known = self.description.support.iter().map(|&bit| u64::from(bit));
        known.chain(std::iter::repeat(0)).take(crate::support::NAMES.len()).collect()
    }

    /// Number of the first object of the special levels from the one of a rank on.
    fn first_special(&self, rank: usize) -> usize {
        let first = self.level_first.get(self.normal_levels + rank).copied().unwrap_or(0);
        usize::try_from(first).unwrap_or(usize::MAX)
    }
}

fn pack_all<'a, T: Copy + Into<u64> + 'a>(values: impl IntoIterator<Item = &'a T>) -> Column {
    Column::pack(&values.into_iter().map(|&value| value.into()).collect::<Vec<_>>())
}
