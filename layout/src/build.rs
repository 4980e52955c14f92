//! From a description to archive bytes.

mod attributes;
mod intern;

use crate::archive::{self, CPUSET_OF_PUS, NONE, SAME_SET, Topology};
use crate::attributes::{Attributes, Pci};
use crate::column::Column;
use crate::description::{Description, Initiator, Object};
use crate::object_type::{ChildKind, ObjectType};
use crate::set::Set;
use crate::tree::Tree;
use intern::{Sets, Strings};
use rkyv::util::AlignedVec;

/// Number of special levels: NUMANode, MemCache, Bridge, PCIDevice, OSDevice, Misc.
pub(crate) const SPECIAL_LEVELS: usize = 6;

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
    #[error("depth {depth} has no object of logical index {logical_index}; levels must be complete")]
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
    let topology = Builder::new(description)?.build()?;
    rkyv::to_bytes::<rkyv::rancor::Error>(&topology)
        .map_err(|error| BuildError::Serialize(error.to_string()))
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
    /// First PU and number of PUs by place in the description.
    pus: Vec<(u32, u32)>,
    /// OS indexes of the PUs by logical index.
    pu_os_indexes: Vec<Option<u32>>,
    strings: Strings,
    sets: Sets,
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
            pus: vec![(0, 0); description.objects.len()],
            pu_os_indexes: Vec::new(),
            strings: Strings::default(),
            sets: Sets::default(),
        };
        builder.number_objects()?;
        builder.find_pus()?;
        let pus = builder.by_id.iter().filter(|object| object.object_type == ObjectType::PU);
        builder.pu_os_indexes = pus.map(|pu| pu.os_index).collect();
        Ok(builder)
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

    /// Gives every object its number: level by level, by logical index within.
    fn number_objects(&mut self) -> Result<(), BuildError> {
        let objects = &self.description.objects;
        let normal = objects.iter().filter(|object| object.object_type.is_normal());
        let deepest = normal.map(|object| object.depth).max().unwrap_or(0);
        self.normal_levels = usize::try_from(deepest).unwrap_or(0) + 1;

        let mut order: Vec<(usize, u32, usize)> = objects
            .iter()
            .enumerate()
            .map(|(place, object)| (self.level_of(object), object.logical_index, place))
            .collect();
        order.sort_unstable();

        self.id_of = vec![0; objects.len()];
        let mut rest = order.as_slice();
        for level in 0..self.normal_levels + SPECIAL_LEVELS {
            self.level_first.push(self.by_id.len() as u64);
            let (here, after) = rest.split_at(rest.partition_point(|entry| entry.0 <= level));
            rest = after;
            self.number_level(level, here)?;
        }
        self.level_first.push(self.by_id.len() as u64);
        Ok(())
    }

    fn number_level(
        &mut self,
        level: usize,
        members: &[(usize, u32, usize)],
    ) -> Result<(), BuildError> {
        if members.is_empty() && level < self.normal_levels {
            let depth = i32::try_from(level).unwrap_or(i32::MAX);
            return Err(BuildError::Level { depth, logical_index: 0 });
        }
        let mut first: Option<&Object> = None;
        for (expected, &(_, logical_index, place)) in (0u32..).zip(members) {
            let object = self.object(place, "a level")?;
            if logical_index != expected {
                return Err(BuildError::Level { depth: object.depth, logical_index: expected });
            }
            let kind = first.get_or_insert(object).object_type;
            if object.object_type != kind {
                return Err(BuildError::MixedLevel {
                    depth: object.depth,
                    found: object.object_type.name(),
                    expected: kind.name(),
                });
            }
            if let Some(id) = self.id_of.get_mut(place) {
                *id = self.by_id.len() as u64;
            }
            self.by_id.push(object);
        }
        Ok(())
    }

    /// Finds the PUs below every object by walking the tree as hwloc numbered it. Memory, I/O and
    /// Misc objects are given those of the normal object they hang on.
    fn find_pus(&mut self) -> Result<(), BuildError> {
        let mut next = 0;
        self.find_pus_below(0, &mut next, 0)
    }

    fn find_pus_below(
        &mut self,
        place: usize,
        next: &mut u32,
        steps: usize,
    ) -> Result<(), BuildError> {
        let object = self.object(place, "a child list")?;
        let count = self.description.objects.len();
        if steps > count {
            return Err(BuildError::NoSuchObject { what: "a circle of children", found: place, count });
        }
        let first = *next;
        if object.object_type == ObjectType::PU {
            if object.logical_index != *next {
                return Err(BuildError::PuOrder { found: object.logical_index, expected: *next });
            }
            *next += 1;
        }
        for &child in &object.children {
            if self.object(child, "a child list")?.object_type.is_normal() {
                self.find_pus_below(child, next, steps + 1)?;
            }
        }
        let pus = (first, *next - first);
        self.set_pus(place, pus);
        for &child in &object.children {
            if !self.object(child, "a child list")?.object_type.is_normal() {
                self.inherit_pus(child, pus, steps + 1)?;
            }
        }
        Ok(())
    }

    fn inherit_pus(&mut self, place: usize, pus: (u32, u32), steps: usize) -> Result<(), BuildError> {
        let object = self.object(place, "a child list")?;
        let count = self.description.objects.len();
        if steps > count {
            return Err(BuildError::NoSuchObject { what: "a circle of children", found: place, count });
        }
        self.set_pus(place, pus);
        object.children.iter().try_for_each(|&child| self.inherit_pus(child, pus, steps + 1))
    }

    fn set_pus(&mut self, place: usize, pus: (u32, u32)) {
        if let Some(slot) = self.pus.get_mut(place) {
            *slot = pus;
        }
    }

    /// Whether `set` is exactly the OS indexes of a run of PUs.
    fn is_os_indexes(&self, set: &Set, (first, count): (u32, u32)) -> bool {
        let run = self.pu_os_indexes.get(first as usize..(first + count) as usize);
        set.weight() == Some(count)
            && run.is_some_and(|run| run.iter().all(|os| os.is_some_and(|os| set.contains(os))))
    }

    fn build(mut self) -> Result<Topology, BuildError> {
        let mut topology = Topology::default();
        let attributes = attributes::pack(&self.by_id, &self.level_first);
        topology.levels = archive::Levels {
            normal: u32::try_from(self.normal_levels).unwrap_or(u32::MAX),
            object_type: Column::pack(&self.level_types()),
            first: Column::pack(&self.level_first),
            attribute_first: attributes.first,
            attribute_stride: attributes.stride,
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
        topology.pu_by_os_index = self.by_os_index(ObjectType::PU);
        topology.numa_by_os_index = self.by_os_index(ObjectType::NUMANode);
        topology.machine = archive::Machine {
            flags: self.description.flags,
            is_this_system: u32::from(self.description.is_this_system),
            allowed_cpuset: self.sets.intern(&self.description.allowed_cpuset),
            allowed_nodeset: self.sets.intern(&self.description.allowed_nodeset),
            type_filters: pack_all(&self.description.type_filters),
            support: Column::pack(&self.support()),
        };
        self.sets.finish(&mut topology.sets);
        topology.strings = self.strings.finish();
        Ok(topology)
    }

    /// A value for each support bit, 0 for those that the description leaves out.
    fn support(&self) -> Vec<u64> {
        let known = self.description.support.iter().map(|&bit| u64::from(bit));
        known.chain(std::iter::repeat(0)).take(crate::support::NAMES.len()).collect()
    }

    fn level_types(&self) -> Vec<u64> {
        let normal = self.level_first.iter().take(self.normal_levels);
        let normal = normal.filter_map(|&first| self.by_id.get(usize::try_from(first).ok()?));
        let special = [
            ObjectType::NUMANode,
            ObjectType::MemCache,
            ObjectType::Bridge,
            ObjectType::PCIDevice,
            ObjectType::OSDevice,
            ObjectType::Misc,
        ];
        normal
            .map(|object| object.object_type)
            .chain(special)
            .map(|kind| u64::from(kind.raw()))
            .collect()
    }

    fn tree(&self) -> Result<Tree, BuildError> {
        let count = self.by_id.len();
        let mut parent = vec![0; count];
        let mut sibling_rank = vec![0; count];
        let mut child_start = vec![0];
        let mut children = Vec::with_capacity(count);
        for (id, object) in self.by_id.iter().enumerate() {
            let mut rank = 0;
            let mut kind = ChildKind::Normal;
            for &place in &object.children {
                let child = self.id(place, "a child list")?;
                let child_kind = self.object(place, "a child list")?.child_kind();
                if child_kind != kind {
                    (kind, rank) = (child_kind, 0);
                }
                let slot = usize::try_from(child).unwrap_or(usize::MAX);
                if let (Some(parent), Some(sibling_rank)) =
                    (parent.get_mut(slot), sibling_rank.get_mut(slot))
                {
                    (*parent, *sibling_rank) = (id as u64, rank);
                }
                children.push(child);
                rank += 1;
            }
            child_start.push(children.len() as u64);
        }
        let normal = self.first_special(0);
        let pus = self.pus_by_id();
        let pus = pus.get(..normal).unwrap_or_default();
        let tree = Tree::new(count);
        Ok(Tree {
            parent: tree.pack(&parent),
            child_start: tree.pack(&child_start),
            children: tree.pack(&children),
            sibling_rank: tree.pack(&sibling_rank),
            pu_first: tree.pack(&pus.iter().map(|pus| u64::from(pus.0)).collect::<Vec<_>>()),
            pu_count: tree.pack(&pus.iter().map(|pus| u64::from(pus.1)).collect::<Vec<_>>()),
            ..tree
        })
    }

    fn pus_by_id(&self) -> Vec<(u32, u32)> {
        let mut pus = vec![(0, 0); self.by_id.len()];
        for (id, of_object) in self.id_of.iter().zip(&self.pus) {
            if let Some(slot) = usize::try_from(*id).ok().and_then(|id| pus.get_mut(id)) {
                *slot = *of_object;
            }
        }
        pus
    }

    fn objects(&mut self, table: &mut archive::SetTable) -> archive::Objects {
        let by_id = self.by_id.clone();
        let os_index = by_id.iter().map(|object| os_index(object));
        let gp_index = by_id.iter().map(|object| object.gp_index);
        // Only what is in the tree of CPUs is symmetric or covers PUs of its own, special objects
        // tell their level by their number, and I/O and Misc objects have no sets: those columns
        // end where they would say nothing.
        let in_tree = by_id.get(..self.first_special(0)).unwrap_or_default();
        let with_sets = self.first_special(ObjectType::Bridge.special_rank());
        let levels = in_tree.iter().map(|object| self.level_of(object) as u64).collect::<Vec<_>>();
        let symmetric = in_tree.iter().map(|object| u64::from(object.symmetric_subtree));
        let mut sets = self.set_rows(&self.pus_by_id(), table);
        sets.truncate(with_sets);
        archive::Objects {
            level: Column::pack(&levels),
            os_index: Column::pack(&os_index.collect::<Vec<_>>()),
            gp_index: Column::pack(&gp_index.collect::<Vec<_>>()),
            sets: Column::pack(&sets),
            symmetric: Column::pack(&symmetric.collect::<Vec<_>>()),
        }
    }

    /// Number of the first object of the special levels from the one of a rank on.
    fn first_special(&self, rank: usize) -> usize {
        let first = self.level_first.get(self.normal_levels + rank).copied().unwrap_or(0);
        usize::try_from(first).unwrap_or(usize::MAX)
    }

    /// The row of sets of every object, 0 of an object without; rows are held once each.
    fn set_rows(&mut self, pus: &[(u32, u32)], table: &mut archive::SetTable) -> Vec<u64> {
        let mut rows = intern::Rows::default();
        let mut of_objects = Vec::with_capacity(self.by_id.len());
        for (object, &pus) in self.by_id.clone().iter().zip(pus) {
            let Some(sets) = &object.sets else {
                of_objects.push(0);
                continue;
            };
            let cpuset = match self.is_os_indexes(&sets.cpuset, pus) {
                true => CPUSET_OF_PUS,
                false => self.sets.intern(&sets.cpuset),
            };
            let complete_cpuset = self.complete(&sets.complete_cpuset, &sets.cpuset);
            let nodeset = self.sets.intern(&sets.nodeset);
            let complete_nodeset = self.complete(&sets.complete_nodeset, &sets.nodeset);
            let row = rows.intern([cpuset, complete_cpuset, nodeset, complete_nodeset]);
            of_objects.push(u64::from(row) + 1);
        }
        rows.finish(table);
        of_objects
    }

    fn complete(&mut self, complete: &Set, set: &Set) -> u32 {
        if complete == set { SAME_SET } else { self.sets.intern(complete) }
    }

    fn strings_of_objects(
        &mut self,
        text: impl Fn(&Object) -> Option<&str>,
    ) -> archive::StringsOfObjects {
        let by_id = self.by_id.clone();
        let mut rows = by_id.iter().map(|object| {
            text(object).map_or(0, |text| u64::from(self.strings.intern(text)) + 1)
        });
        let rows: Vec<u64> = rows.by_ref().collect();
        let first = rows.iter().take_while(|row| **row == 0).count();
        let end = rows.iter().rposition(|row| *row != 0).map_or(first, |last| last + 1);
        archive::StringsOfObjects {
            first: u32::try_from(first).unwrap_or(u32::MAX),
            string: Column::pack(rows.get(first..end).unwrap_or_default()),
        }
    }

    fn infos(&mut self) -> archive::InfosOfObjects {
        let (mut start, mut names, mut values) = (vec![0], Vec::new(), Vec::new());
        for owner in &self.by_id {
            for (name, value) in &owner.infos {
                names.push(u64::from(self.strings.intern(name)));
                values.push(u64::from(self.strings.intern(value)));
            }
            start.push(names.len() as u64);
        }
        // Nobody has any: nothing to look up.
        let start = if names.is_empty() { Vec::new() } else { start };
        archive::InfosOfObjects {
            start: Column::pack(&start),
            name: Column::pack(&names),
            value: Column::pack(&values),
        }
    }

    /// Memory of the NUMA nodes below every object that has any.
    fn total_memory(&self) -> archive::TotalMemory {
        let mut total = vec![0u64; self.description.objects.len()];
        for (place, object) in self.description.objects.iter().enumerate() {
            let Attributes::NumaNode { local_memory } = object.attributes else {
                continue;
            };
            let mut above = Some(place);
            // A tree is never deeper than it has objects.
            for _ in 0..self.by_id.len() {
                let Some(place) = above else { break };
                if let Some(sum) = total.get_mut(place) {
                    *sum = sum.saturating_add(local_memory);
                }
                above = self.description.objects.get(place).and_then(|object| object.parent);
            }
        }
        let mut rows: Vec<(u64, u64)> = total
            .iter()
            .zip(&self.id_of)
            .filter(|(bytes, _)| **bytes != 0)
            .map(|(bytes, id)| (*id, *bytes))
            .collect();
        rows.sort_unstable();
        archive::TotalMemory {
            object: Column::pack(&rows.iter().map(|row| row.0).collect::<Vec<_>>()),
            bytes: Column::pack(&rows.iter().map(|row| row.1).collect::<Vec<_>>()),
        }
    }

    fn distances(&mut self) -> Result<Vec<archive::Distances>, BuildError> {
        let description = self.description;
        let matrices = description.distances.iter().map(|matrix| {
            let objects = matrix.objects.iter().map(|&place| self.id(place, "a distance matrix"));
            let objects = objects.collect::<Result<Vec<_>, _>>()?;
            Ok(archive::Distances {
                name: matrix.name.as_ref().map_or(NONE, |name| self.strings.intern(name)),
                kind: matrix.kind,
                objects: Column::pack(&objects),
                values: Column::pack(&matrix.values),
            })
        });
        matrices.collect()
    }

    fn memory_attributes(&mut self) -> Result<archive::MemoryAttributes, BuildError> {
        let what = "a memory attribute";
        let (mut name, mut flags, mut start) = (Vec::new(), Vec::new(), vec![0]);
        let (mut target, mut value) = (Vec::new(), Vec::new());
        let (mut initiator_kind, mut initiator) = (Vec::new(), Vec::new());
        for attribute in &self.description.memory_attributes {
            name.push(u64::from(self.strings.intern(&attribute.name)));
            flags.push(attribute.flags);
            for row in &attribute.values {
                target.push(self.id(row.target, what)?);
                value.push(row.value);
                let (kind, row) = match &row.initiator {
                    Initiator::None => (0, 0),
                    Initiator::Cpuset(set) => (1, u64::from(self.sets.intern(set))),
                    Initiator::Object(place) => (2, self.id(*place, what)?),
                };
                initiator_kind.push(kind);
                initiator.push(row);
            }
            start.push(target.len() as u64);
        }
        Ok(archive::MemoryAttributes {
            name: Column::pack(&name),
            flags: Column::pack(&flags),
            start: Column::pack(&start),
            target: Column::pack(&target),
            initiator_kind: Column::pack(&initiator_kind),
            initiator: Column::pack(&initiator),
            value: Column::pack(&value),
        })
    }

    fn cpu_kinds(&mut self) -> Vec<archive::CpuKind> {
        let plus_one = |value: Option<u32>| value.map_or(0, |value| value.saturating_add(1));
        let description = self.description;
        let kinds = description.cpu_kinds.iter().map(|kind| {
            let mut strings = |text: &String| u64::from(self.strings.intern(text));
            let (names, values): (Vec<u64>, Vec<u64>) =
                kind.infos.iter().map(|(name, value)| (strings(name), strings(value))).unzip();
            archive::CpuKind {
                cpuset: self.sets.intern(&kind.cpuset),
                efficiency: plus_one(kind.efficiency),
                forced_efficiency: plus_one(kind.forced_efficiency),
                info_name: Column::pack(&names),
                info_value: Column::pack(&values),
            }
        });
        kinds.collect()
    }

    /// Logical indexes of the objects of one type in the order of their OS indexes.
    fn by_os_index(&self, kind: ObjectType) -> Column {
        let level = self.by_id.iter().filter(|object| object.object_type == kind);
        let mut order: Vec<(u32, u64)> = level
            .filter_map(|object| Some((object.os_index?, u64::from(object.logical_index))))
            .collect();
        order.sort_unstable();
        Column::pack(&order.iter().map(|entry| entry.1).collect::<Vec<_>>())
    }
}

/// How an OS index is stored: 0 none, 1 the bus id of the PCI device or bridge, else plus two.
fn os_index(object: &Object) -> u64 {
    let bus_id = match &object.attributes {
        Attributes::Pci(pci) => Some(pci.bus_id()),
        Attributes::Bridge(bridge) => bridge.upstream.as_ref().map(Pci::bus_id),
        _ => None,
    };
    match object.os_index {
        None => 0,
        Some(os_index) if bus_id == Some(os_index) => 1,
        Some(os_index) => u64::from(os_index) + 2,
    }
}

fn pack_all<'a, T: Copy + Into<u64> + 'a>(values: impl IntoIterator<Item = &'a T>) -> Column {
    Column::pack(&values.into_iter().map(|&value| value.into()).collect::<Vec<_>>())
}
