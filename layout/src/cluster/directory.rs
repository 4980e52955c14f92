//! What is above the nodes: groups, and the switches, ports and links of a fabric.

use crate::column::Column;
use crate::encode::{AlignedVec, EncodeError};
use alloc::vec::Vec;
use rkyv::{Archive, Serialize};

/// Number of kinds of groups.
pub const GROUP_KINDS: u64 = 7;

/// Highest number of groups above a node.
pub const MAX_GROUP_DEPTH: usize = 64;

/// Highest number of ports of a node: far more than any has.
pub const MAX_PORTS: u64 = 1024;

/// Groups and fabric of a cluster. Group 0 is the cluster itself. The groups in a group follow it,
/// up to its `end`, and the nodes of a group and of all groups in it are a run of `members`.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct Directory {
    pub groups: Groups,
    pub fabric: Fabric,
}

/// Groups of nodes: switches, blocks, racks.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct Groups {
    pub parent: Column,
    pub end: Column,
    pub kind: Column,
    pub speed: Column,
    pub name_end: Column,
    pub names: Vec<u8>,
    pub sizes_end: Column,
    pub sizes: Vec<u8>,
    pub member_first: Column,
    pub member_end: Column,
    pub members: Column,
    pub missing_end: Column,
    pub missing: Vec<u8>,
}

/// Switches and host ports, together the *vertices*: first all switches, then all ports. And the
/// links between them, sorted by their first vertex; each is there once in each direction.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct Fabric {
    pub guid: Column,
    pub switches: u32,
    pub name_end: Column,
    pub names: Vec<u8>,
    pub ports: Column,
    pub lid: Column,
    pub node: Column,
    pub plane: Column,
    pub link_first: Column,
    pub peer: Column,
    pub port: Column,
    pub peer_port: Column,
    pub rate: Column,
    pub leaf: Column,
    /// By node: the first of its ports, counted from the first port; then what is behind the last.
    /// Empty if there are no ports. Ports are in the order of their nodes.
    pub port_first: Column,
    pub row_of: Column,
    pub hops: Column,
}

impl ArchivedFabric {
    /// Links between switches of two rows plus one, 0 if there is no way.
    #[must_use]
    #[inline]
    pub fn hops_between(&self, row: u32, other: u32) -> u32 {
        let cell = cells_before(row.max(other).into()) + u64::from(row.min(other));
        self.hops.get_u32(usize::try_from(cell).unwrap_or(usize::MAX))
    }
}

/// Cells of the table of hops before a row: each row has one for each row up to itself.
#[inline]
pub(super) fn cells_before(row: u64) -> u64 {
    row * (row + 1) / 2
}

impl Directory {
    /// Archives the directory. The bytes are valid at any address that is a multiple of 16.
    ///
    /// # Errors
    ///
    /// [`EncodeError::Serialize`].
    pub fn to_bytes(&self) -> Result<AlignedVec, EncodeError> {
        rkyv::to_bytes::<rkyv::rancor::Error>(self)
            .map_err(|error| EncodeError::Serialize(error.into()))
    }
}

impl ArchivedGroups {
    /// The group that each node is directly in: the lowest one that has it as a member.
    #[must_use]
    pub fn of_nodes(&self) -> Vec<u32> {
        let mut of_members = alloc::vec![0; self.members.len()];
        for (row, group) in (0..self.parent.len()).zip(0_u32..) {
            let run =
                self.member_first.get_u32(row) as usize..self.member_end.get_u32(row) as usize;
            of_members.get_mut(run).into_iter().flatten().for_each(|it| *it = group);
        }
        let mut of_nodes = alloc::vec![0; of_members.len()];
        for (row, group) in of_members.into_iter().enumerate() {
            let node = of_nodes.get_mut(self.members.get_u32(row) as usize);
            node.into_iter().for_each(|node| *node = group);
        }
        of_nodes
    }
}
