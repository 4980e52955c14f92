//! Depths and levels. A level is a row of a table: the depths of the tree of CPUs from the top,
//! then one level for each special type. A view may have fewer depths than its topology; the levels
//! of the topology are its *base levels*.

use super::Index;
use core::ops::Range;
use topobroker_layout::archive::ArchivedTopology;
use topobroker_layout::depth::Depth;
use topobroker_layout::levels::{ArchivedLevel, ArchivedLevels};
use topobroker_layout::object_type::ObjectType;

impl<'a> Index<'a> {
    /// The levels of the visible objects.
    #[inline]
    pub(crate) fn visible_levels(&self) -> &'a ArchivedLevels {
        let archive: &'a ArchivedTopology = self.archive;
        self.overlay.map_or(&archive.levels, |overlay| &overlay.levels)
    }

    /// The level of a depth, `None` if the topology has no such depth.
    #[inline]
    pub(crate) fn level_of_depth(&self, depth: Depth) -> Option<usize> {
        depth.level(self.normal)
    }

    /// Depth of a visible object.
    pub(crate) fn depth_of(&self, id: u32) -> Depth {
        Depth::of_level(self.level_of(id), self.normal).unwrap_or(Depth::ROOT)
    }

    /// Ordinals of the visible objects of a level.
    #[inline]
    pub(crate) fn level_ordinals(&self, level: usize) -> Range<u32> {
        let first = |level: usize| self.levels.get(level).map_or(0, ArchivedLevel::first);
        first(level)..first(level + 1)
    }

    /// Number of the first object of a level, if the numbers of its objects are contiguous.
    #[inline]
    pub(crate) fn first_of_contiguous(&self, level: usize) -> Option<u32> {
        match self.overlay {
            None => Some(self.level_ordinals(level).start),
            // Fast path: up to 19 times as fast.
            Some(overlay) => overlay.first_of_contiguous(level),
        }
    }

    /// The object with a logical index in a level.
    #[inline]
    pub(crate) fn id_at(&self, level: usize, logical_index: u32) -> u32 {
        match self.first_of_contiguous(level) {
            Some(first) => first + logical_index,
            None => self.id_of_ordinal(self.level_ordinals(level).start + logical_index),
        }
    }

    fn id_of_ordinal(&self, ordinal: u32) -> u32 {
        self.overlay.and_then(|overlay| overlay.object_at(ordinal)).unwrap_or(0)
    }

    /// Level of a visible object.
    #[inline]
    pub(crate) fn level_of(&self, id: u32) -> usize {
        self.visible_levels().level_of(self.ordinal_of(id))
    }

    /// Base level of an object.
    #[inline]
    pub(crate) fn base_level_of(&self, id: u32) -> usize {
        self.archive.levels.level_of(id)
    }

    /// Base level of a level. If its objects come from several base levels, this is 255, and no
    /// base level has that number.
    #[inline]
    pub(crate) fn base_level(&self, level: usize) -> usize {
        match self.overlay {
            None => level,
            Some(overlay) => overlay.base_level.get(level).map_or(level, |base| usize::from(*base)),
        }
    }

    /// Base level of a depth; [`Index::base_level`] of its level.
    #[inline]
    pub(crate) fn base_level_of_depth(&self, depth: Depth) -> Option<usize> {
        self.level_of_depth(depth).map(|level| self.base_level(level))
    }

    /// Numbers of the objects of a base level, visible or hidden.
    #[inline]
    pub(crate) fn base_ids(&self, base_level: usize) -> Range<u32> {
        let first = |level: usize| self.base_levels.get(level).map_or(0, ArchivedLevel::first);
        first(base_level)..first(base_level + 1)
    }

    /// Number of PUs, visible or hidden, of each object of a base level; 0 if the level is not
    /// regular.
    #[inline]
    pub(crate) fn pus_of_level(&self, base_level: usize) -> u32 {
        self.base_levels.get(base_level).map_or(0, ArchivedLevel::pus)
    }

    /// Type of an object.
    #[inline]
    pub(crate) fn object_type(&self, id: u32) -> ObjectType {
        let levels = &self.archive.levels;
        levels.object_type(self.base_level_of(id)).unwrap_or(ObjectType::Machine)
    }
}
