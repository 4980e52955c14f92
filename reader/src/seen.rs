//! What the handles of a topology point to: the archive, what is seen of it, and what every query asks of both, looked
//! up once.

use crate::blocks::Common;
use crate::nodes::pus_of_each;
use crate::numbering::Numbering;
use std::ops::Range;
use topobroker_layout::archive::{ArchivedPuRun, ArchivedTopology};
use topobroker_layout::levels::{ArchivedLevel, AttributeRows};
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::overlay::ArchivedOverlay;
use topobroker_layout::tree::TreeRows;

/// A topology as it is seen: all of an archive, or what an overlay shows.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'a> {
    pub(crate) archive: &'a ArchivedTopology,
    pub(crate) overlay: Option<&'a ArchivedOverlay>,
    /// All of it, where this is a part.
    whole: Option<&'a Seen<'a>>,
    /// Whether objects follow each other as in the topology itself.
    pub(crate) is_in_order: bool,
    /// Whether the cpuset of every normal and memory object is its run of PUs, as nearly always. Then
    /// sets can be compared as intervals of PUs.
    pub(crate) has_runs: bool,
    /// Numbers of the PUs in logical order, shown or not.
    first_pu: u32,
    end_of_pus: u32,
    /// The PUs that are shown, by their logical indexes in the topology, if they follow each other.
    pub(crate) solid: Option<(u32, u32)>,
    /// Whether all objects of each depth of the tree have as many PUs, none has moved, and `solid` is known: then what
    /// is below an object whose PUs are all shown is shown too, and depths can be counted through.
    pub(crate) is_regular: bool,
    pub(crate) numbering: Option<Numbering>,
    /// Runs of OS indexes of PUs.
    pub(crate) runs: &'a [ArchivedPuRun],
    /// Number of the first object, shown or not, that is not in the tree of CPUs.
    pub(crate) first_special: u32,
    /// Number of the first object behind the NUMA nodes, which are the first special ones.
    pub(crate) end_of_nodes: u32,
    /// PUs of each NUMA node, shown or not, where all have as many: the first node the first ones, and so on.
    pub(crate) pus_of_node: Option<u32>,
    pub(crate) rows_of_nodes: AttributeRows,
    pub(crate) tree: TreeRows<'a>,
    /// The levels of the topology.
    pub(crate) base_levels: &'a [ArchivedLevel],
    /// The levels of what is shown, and how many of them are of the tree of CPUs.
    pub(crate) levels: &'a [ArchivedLevel],
    pub(crate) normal: usize,
    pub(crate) common: Common,
}

impl<'a> Seen<'a> {
    /// All of an archive.
    pub(crate) fn all(archive: &'a ArchivedTopology) -> Self {
        let levels = &archive.levels;
        let plus_one = levels.depth_of_type.get(usize::from(ObjectType::PU.raw())).copied();
        let pu_level = usize::from(plus_one.unwrap_or(0)).checked_sub(1);
        let normal = levels.normal.to_native() as usize;
        let first_special = levels.first(normal);
        let is_regular = levels.normal_rows().iter().all(|row| row.pus() != 0);
        // Where there are none they would be the last of the tree.
        let none = first_special..first_special;
        let pus = pu_level.map_or(none, |level| levels.first(level)..levels.first(level + 1));
        let has_runs = levels.row(0).is_some_and(|root| root.pus() != 0);
        let (tree, end_of_nodes) = (archive.tree.rows(), levels.first(normal + 1));
        let pus_of_node = || pus_of_each(&tree, first_special..end_of_nodes, pus.end - pus.start);
        Self {
            archive,
            overlay: None,
            whole: None,
            is_in_order: true,
            has_runs,
            first_pu: pus.start,
            end_of_pus: pus.end,
            solid: Some((0, pus.end - pus.start)),
            is_regular,
            numbering: Numbering::new(archive.pu_runs.as_slice(), pus.end - pus.start),
            runs: archive.pu_runs.as_slice(),
            first_special,
            end_of_nodes,
            pus_of_node: if has_runs { pus_of_node() } else { None },
            rows_of_nodes: levels.attribute_rows(normal),
            tree,
            base_levels: levels.rows.as_slice(),
            levels: levels.rows.as_slice(),
            normal,
            common: Common::new(levels, 0, (pus.end - pus.start).saturating_sub(1)),
        }
    }

    /// What an overlay, which must be one of this topology, shows of it.
    pub(crate) fn through(&'a self, overlay: &'a ArchivedOverlay) -> Self {
        let levels = overlay.levels.rows.as_slice();
        let is_in_order = !overlay.has_moved();
        let logical = |ids: Range<u32>| (ids.start - self.first_pu, ids.end - self.first_pu);
        let solid = overlay.solid_pus().map(logical);
        let common = match solid {
            Some((start, end)) if start < end => {
                self.common.of_run(&self.archive.levels, start, end - 1)
            }
            _ => self.common,
        };
        let normal = overlay.levels.normal.to_native() as usize;
        let is_regular = self.is_regular && is_in_order && solid.is_some();
        Self {
            overlay: Some(overlay),
            levels,
            normal,
            is_in_order,
            solid,
            is_regular,
            common,
            ..self.part()
        }
    }

    /// The same, as a part of the whole.
    pub(crate) fn part(&'a self) -> Self {
        Self { whole: Some(self.whole()), ..*self }
    }

    /// All of it, also where this is a part.
    pub(crate) fn whole(&'a self) -> &'a Self {
        self.whole.unwrap_or(self)
    }

    /// Numbers of the PUs in logical order, shown or not: the last of the tree of CPUs.
    #[inline]
    pub(crate) fn pus(&self) -> Range<u32> {
        self.first_pu..self.end_of_pus
    }
}
