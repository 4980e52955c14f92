//! Regular levels: all objects have the same number of PUs, so an object is found by division.

use core::ops::Range;
use topobroker_layout::tree::TreeRows;

/// Index of the block of `size` PUs that `pu` is in.
#[inline]
pub(crate) fn block_of(pu: u32, size: u32) -> u32 {
    pu / size
}

/// Number of PUs of each NUMA node, if all nodes have the same number: the first node has the first
/// PUs, the next node has the PUs after them, and so on.
pub(super) fn pus_of_each_node(tree: &TreeRows<'_>, nodes: Range<u32>, pus: u32) -> Option<u32> {
    let each = pus.checked_div(nodes.end - nodes.start).filter(|each| *each != 0)?;
    let is_block = |(node, position): (u32, u32)| {
        let member = tree.member(node);
        member.pu_first == position * each && member.pu_count == each
    };
    (each * (nodes.end - nodes.start) == pus && nodes.zip(0..).all(is_block)).then_some(each)
}
