//! Encodes the columns of objects: the tree, indexes and sets.

use super::builder::Builder;
use super::error::EncodeError;
use super::intern::DistinctRows;
use crate::archive::{self, CPUSET_OF_PUS, SAME_SET};
use crate::attributes::BusId;
use crate::column::Column;
use crate::depth::Depth;
use crate::description::Object;
use crate::object_type::{ChildKind, ObjectType};
use crate::set::Set;
use crate::tree::{Member, Tree};
use alloc::vec;
use alloc::vec::Vec;

impl<'d> Builder<'d> {
    pub(super) fn tree(&self) -> Result<Tree, EncodeError> {
        let mut members: Vec<Member> = self
            .pus_by_id
            .iter()
            .map(|&(pu_first, pu_count)| Member { pu_first, pu_count, ..Member::default() })
            .collect();
        let mut child_start = vec![0];
        let mut children = Vec::with_capacity(members.len());
        for (parent, object) in (0..).zip(&self.by_id) {
            let mut sibling_rank = 0;
            let mut kind = ChildKind::Normal;
            for &place in &object.children {
                let child = self.id(place, "a child list")?;
                let child_kind = self.object(place, "a child list")?.child_kind();
                if child_kind != kind {
                    (kind, sibling_rank) = (child_kind, 0);
                }
                let member = usize::try_from(child).ok().and_then(|id| members.get_mut(id));
                if let Some(member) = member {
                    (member.parent, member.sibling_rank) = (parent, sibling_rank);
                }
                children.push(u32::try_from(child).unwrap_or(u32::MAX));
                sibling_rank += 1;
            }
            child_start.push(u32::try_from(children.len()).unwrap_or(u32::MAX));
        }
        let with_pus = self.first_of(Depth::Bridge);
        let tree = Tree::new(members.len(), with_pus);
        let (with_pus, others) = members.split_at_checked(with_pus).unwrap_or_default();
        Ok(Tree {
            members: tree.pack(with_pus.iter().flat_map(|member| {
                [member.parent, member.sibling_rank, member.pu_first, member.pu_count]
            })),
            attached: tree
                .pack(others.iter().flat_map(|member| [member.parent, member.sibling_rank])),
            child_start: tree.pack(child_start),
            children: tree.pack(children),
            ..tree
        })
    }

    pub(super) fn objects(&mut self, table: &mut archive::SetTable) -> archive::Objects {
        let by_id = self.by_id.clone();
        let os_index = by_id.iter().map(|object| os_index(object));
        let gp_index = by_id.iter().map(|object| object.gp_index);
        // Only normal objects can be symmetric, and I/O and Misc objects have no sets. So these
        // columns have no rows for the objects after them.
        let in_tree = by_id.get(..self.first_of(Depth::NumaNode)).unwrap_or_default();
        let with_sets = self.first_of(Depth::Bridge);
        let symmetric = in_tree.iter().map(|object| u64::from(object.symmetric_subtree));
        let mut sets = self.set_rows(table);
        sets.truncate(with_sets);
        archive::Objects {
            os_index: Column::pack(&os_index.collect::<Vec<_>>()),
            gp_index: Column::pack(&gp_index.collect::<Vec<_>>()),
            sets: Column::pack(&sets),
            symmetric: Column::pack(&symmetric.collect::<Vec<_>>()),
        }
    }

    /// The row of sets of each object plus one, 0 for an object without sets. Equal rows are stored
    /// once.
    fn set_rows(&mut self, table: &mut archive::SetTable) -> Vec<u64> {
        let mut rows = DistinctRows::default();
        let mut of_objects = Vec::with_capacity(self.by_id.len());
        for (object, pus) in self.by_id.clone().iter().zip(self.pus_by_id.clone()) {
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

    fn complete(&mut self, complete: &'d Set, set: &Set) -> u32 {
        if complete == set { SAME_SET } else { self.sets.intern(complete) }
    }

    /// Logical indexes of the NUMA nodes in the order of their OS indexes.
    pub(super) fn numa_by_os_index(&self) -> Column {
        let level = self.by_id.iter().filter(|object| object.object_type == ObjectType::NUMANode);
        let mut order: Vec<(u32, u64)> = level
            .filter_map(|object| Some((object.os_index?, u64::from(object.logical_index))))
            .collect();
        order.sort_unstable();
        Column::pack(&order.iter().map(|entry| entry.1).collect::<Vec<_>>())
    }
}

/// The stored form of an OS index: 0 for none, 1 for the bus id of the PCI device or bridge,
/// otherwise the index plus two.
fn os_index(object: &Object) -> u64 {
    let bus_id = object.attributes.bus_id().map(BusId::os_index);
    match object.os_index {
        None => 0,
        Some(os_index) if bus_id == Some(os_index) => 1,
        Some(os_index) => u64::from(os_index) + 2,
    }
}
