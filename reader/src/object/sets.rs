//! The four sets of an object, made when they are asked for.

use super::Object;
use crate::topology::TypeDepth;
use topobroker_layout::archive::{CPUSET_OF_PUS, SAME_SET};
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::set::Set;

impl Object<'_> {
    /// PUs of the object that are in the topology; `None` of I/O and Misc objects. Counterpart:
    /// `cpuset`.
    #[must_use]
    pub fn cpuset(self) -> Option<Set> {
        let row = self.set_row()?;
        Some(match self.topology.archive.sets.cpuset.get_u32(row) {
            CPUSET_OF_PUS => self.os_indexes_of_pus(),
            stored => self.topology.set(stored),
        })
    }

    /// PUs of the object, known or not. Counterpart: `complete_cpuset`.
    #[must_use]
    pub fn complete_cpuset(self) -> Option<Set> {
        match self.topology.archive.sets.complete_cpuset.get_u32(self.set_row()?) {
            SAME_SET => self.cpuset(),
            stored => Some(self.topology.set(stored)),
        }
    }

    /// NUMA nodes near the object that are in the topology. Counterpart: `nodeset`.
    #[must_use]
    pub fn nodeset(self) -> Option<Set> {
        let row = self.set_row()?;
        Some(self.topology.set(self.topology.archive.sets.nodeset.get_u32(row)))
    }

    /// NUMA nodes near the object, known or not. Counterpart: `complete_nodeset`.
    #[must_use]
    pub fn complete_nodeset(self) -> Option<Set> {
        match self.topology.archive.sets.complete_nodeset.get_u32(self.set_row()?) {
            SAME_SET => self.nodeset(),
            stored => Some(self.topology.set(stored)),
        }
    }

    /// Whether the object has sets: I/O and Misc objects have none.
    pub(crate) fn has_sets(self) -> bool {
        self.set_row().is_some()
    }

    fn set_row(self) -> Option<usize> {
        let sets = &self.topology.archive.objects.sets;
        (self.at() < sets.len()).then(|| sets.get_u32(self.at()) as usize)?.checked_sub(1)
    }

    fn os_indexes_of_pus(self) -> Set {
        let topology = self.topology;
        let first = match topology.type_depth(ObjectType::PU) {
            TypeDepth::Depth(depth) => topology.first_of_depth(depth),
            _ => 0,
        };
        let pu = |logical: u32| Self::new(topology, first + logical);
        self.pus().filter_map(|logical| pu(logical).os_index()).collect()
    }
}
