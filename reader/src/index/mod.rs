//! The index: an archive and an overlay, with the values that every query needs looked up once. Its
//! methods are arithmetic on numbers of objects and ranges of PUs; they know no
//! [`Object`](crate::Object).

mod common_ancestor;
mod extent;
mod levels;
mod neighbours;
mod numa_nodes;
mod objects_of_pus;
mod pu_numbering;
mod pus;
mod regular;
mod sets;
mod stored_set;
mod strings;
mod tree;
mod visibility;
mod visible_part;
mod walks;
mod words;

pub(crate) use extent::Extent;
pub(crate) use neighbours::{LogicalPus, PusOfSet, neighbours};
pub(crate) use objects_of_pus::{is_within, overlap};
pub(crate) use pu_numbering::PuNumbering;
pub(crate) use regular::block_of;
pub(crate) use stored_set::StoredSet;
pub(crate) use visible_part::VisiblePart;
pub(crate) use words::Words;

use common_ancestor::CommonAncestor;
use core::ops::Range;
use regular::pus_of_each_node;
use topobroker_layout::archive::{ArchivedPuRun, ArchivedTopology};
use topobroker_layout::cluster::delta::NodeValues;
use topobroker_layout::levels::{ArchivedLevel, AttributeRows};
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::overlay::ArchivedOverlay;
use topobroker_layout::tree::TreeRows;
use walks::Walks;

/// A topology or a view: the archive, the overlay, and the values that queries need most.
#[derive(Clone)]
pub(crate) struct Index<'a> {
    pub(crate) archive: &'a ArchivedTopology,
    /// Says which objects are visible; `None` if all are.
    pub(crate) overlay: Option<&'a ArchivedOverlay>,
    /// Values that this node of a cluster has in place of those of the archive, which is that of
    /// its class.
    pub(crate) values: Option<&'a NodeValues>,
    /// The index of the whole topology, if this is a view's.
    whole: Option<&'a Index<'a>>,
    /// Whether visible objects have the order and the parents that they have in the topology.
    pub(crate) is_in_order: bool,
    /// Whether the tree can be walked.
    walks: Walks,
    /// Whether the cpuset of every normal and memory object is its run of PUs. It nearly always is.
    /// Then sets can be compared as intervals of PUs.
    pub(crate) has_runs: bool,
    /// Number of the first PU, visible or hidden.
    first_pu: u32,
    /// Number of the first object after the PUs.
    end_of_pus: u32,
    /// Visible PUs by their logical indexes in the topology, if they are contiguous: the first one,
    /// and the end.
    pub(crate) contiguous: Option<(u32, u32)>,
    /// Whether all depths are regular, no object has moved, and the visible PUs are contiguous.
    /// Then everything below an object is visible if its PUs are, and objects can be counted
    /// instead of read from the tree.
    pub(crate) is_regular: bool,
    pub(crate) numbering: Option<PuNumbering>,
    /// The PUs as runs of OS indexes.
    pub(crate) runs: &'a [ArchivedPuRun],
    /// Number of the first object, visible or hidden, that is not in the tree of CPUs: the first
    /// NUMA node.
    pub(crate) first_special: u32,
    /// Number of the first object after the NUMA nodes.
    pub(crate) end_of_nodes: u32,
    /// Number of PUs of each NUMA node, visible or hidden, if every node has the same number and
    /// the nodes are in the order of their PUs.
    pub(crate) pus_of_node: Option<u32>,
    pub(crate) rows_of_nodes: AttributeRows,
    pub(crate) tree: TreeRows<'a>,
    /// The levels of the topology.
    pub(crate) base_levels: &'a [ArchivedLevel],
    /// The levels of the visible objects.
    pub(crate) levels: &'a [ArchivedLevel],
    /// Number of `levels` that belong to the tree of CPUs.
    pub(crate) normal: usize,
    pub(crate) common_ancestor: CommonAncestor,
}

impl<'a> Index<'a> {
    /// The index of a whole topology.
    pub(crate) fn new(archive: &'a ArchivedTopology) -> Self {
        let levels = &archive.levels;
        let plus_one = levels.depth_of_type.get(usize::from(ObjectType::PU.raw())).copied();
        let pu_level = usize::from(plus_one.unwrap_or(0)).checked_sub(1);
        let normal = levels.normal.to_native() as usize;
        let first_special = levels.first(normal);
        let is_regular = levels.normal_rows().iter().all(|row| row.pus() != 0);
        // Without PUs, this is an empty range at the end of the tree of CPUs.
        let none = first_special..first_special;
        let pus = pu_level.map_or(none, |level| levels.first(level)..levels.first(level + 1));
        let count = pus.end - pus.start;
        let has_runs = levels.row(0).is_some_and(|root| root.pus() != 0);
        let (tree, end_of_nodes) = (archive.tree.rows(), levels.first(normal + 1));
        let pus_of_node = || pus_of_each_node(&tree, first_special..end_of_nodes, count);
        Self {
            archive,
            overlay: None,
            values: None,
            whole: None,
            is_in_order: true,
            walks: Walks::in_tree(),
            has_runs,
            first_pu: pus.start,
            end_of_pus: pus.end,
            contiguous: Some((0, count)),
            is_regular,
            // Fast path: up to 5.3 times as fast.
            numbering: PuNumbering::new(archive.pu_runs.as_slice(), count),
            runs: archive.pu_runs.as_slice(),
            first_special,
            end_of_nodes,
            // Fast path: up to 15 times as fast.
            pus_of_node: if has_runs { pus_of_node() } else { None },
            rows_of_nodes: levels.attribute_rows(normal),
            tree,
            base_levels: levels.rows.as_slice(),
            levels: levels.rows.as_slice(),
            normal,
            common_ancestor: CommonAncestor::new(levels, 0, count.saturating_sub(1)),
        }
    }

    /// The index of an archive whose tree has not been checked.
    pub(crate) fn of_certified(archive: &'a ArchivedTopology) -> Self {
        Self { walks: Walks::unchecked(), ..Self::new(archive) }
    }

    /// The index of a node of a cluster: the archive of its class, and its own values.
    pub(crate) fn with_values(&self, values: &'a NodeValues) -> Self {
        Self { values: Some(values).filter(|it| !it.is_empty()), ..self.clone() }
    }

    /// The index of a view. `overlay` must be an overlay of this topology.
    pub(crate) fn of_view(&'a self, overlay: &'a ArchivedOverlay) -> Self {
        let levels = overlay.levels.rows.as_slice();
        let is_in_order = !overlay.has_moved();
        let logical = |ids: Range<u32>| (ids.start - self.first_pu, ids.end - self.first_pu);
        // Fast path: up to 8 times as fast.
        let contiguous = overlay.contiguous_pus().map(logical);
        let common_ancestor = match contiguous {
            Some((start, end)) if start < end => {
                self.common_ancestor.of_run(&self.archive.levels, start, end - 1)
            }
            _ => self.common_ancestor,
        };
        let normal = overlay.levels.normal.to_native() as usize;
        // Fast path: up to 25 times as fast.
        let is_regular = self.is_regular && is_in_order && contiguous.is_some();
        Self {
            overlay: Some(overlay),
            levels,
            normal,
            is_in_order,
            walks: if is_in_order { self.walks.clone() } else { Walks::elsewhere() },
            contiguous,
            is_regular,
            common_ancestor,
            ..self.of_same()
        }
    }

    /// The index of a view with the same visible objects.
    pub(crate) fn of_same(&'a self) -> Self {
        Self { whole: Some(self.whole()), ..self.clone() }
    }

    /// The index of the whole topology. If this is not the index of a view, this index itself.
    pub(crate) fn whole(&'a self) -> &'a Self {
        self.whole.unwrap_or(self)
    }

    /// Whether the cpuset of every normal and memory object is its run of PUs, and the order of
    /// objects is that of their runs. Then objects are found by their PUs.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.has_runs && self.is_in_order
    }

    /// Numbers of the PUs in logical order, visible or hidden. PUs are the last objects of the tree
    /// of CPUs.
    #[inline]
    pub(crate) fn pu_ids(&self) -> Range<u32> {
        self.first_pu..self.end_of_pus
    }

    /// OS index of a PU or NUMA node.
    #[inline]
    pub(crate) fn os_index_of(&self, id: u32) -> Option<u32> {
        let plus_two = self.archive.objects.os_index.get(id as usize);
        u32::try_from(plus_two.checked_sub(2)?).ok()
    }
}
