//! The four sets of an object, built on demand.

use super::Object;
use crate::index::Words;
use topobroker_layout::set::Set;

impl Object<'_> {
    /// PUs of the object that are in the topology; `None` for I/O and Misc objects. Counterpart:
    /// `cpuset`.
    #[must_use]
    pub fn cpuset(self) -> Option<Set> {
        made(|set| self.copy_cpuset(set))
    }

    /// All PUs of the object, also those that are not in the topology. Counterpart:
    /// `complete_cpuset`.
    #[must_use]
    pub fn complete_cpuset(self) -> Option<Set> {
        made(|set| self.copy_complete_cpuset(set))
    }

    /// NUMA nodes near the object that are in the topology. Counterpart: `nodeset`.
    #[must_use]
    pub fn nodeset(self) -> Option<Set> {
        made(|set| self.copy_nodeset(set))
    }

    /// All NUMA nodes near the object, also those that are not in the topology. Counterpart:
    /// `complete_nodeset`.
    #[must_use]
    pub fn complete_nodeset(self) -> Option<Set> {
        made(|set| self.copy_complete_nodeset(set))
    }

    /// Replaces `set` with [`Object::cpuset`] and reuses its memory. For an object without sets,
    /// empties `set` and returns false.
    ///
    /// ```
    /// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documentation/example_machine.rs"));
    /// let mut set = topobroker_reader::Set::new();
    /// for object in topology.objects() {
    ///     if object.copy_cpuset(&mut set) {
    ///         println!("{object:?}: {set}");
    ///     }
    /// }
    /// # Ok::<(), topobroker_reader::AdoptError>(())
    /// ```
    #[inline]
    pub fn copy_cpuset(self, set: &mut Set) -> bool {
        // Fast path: without it, the cpuset of an object takes twice as long as hwloc's.
        if let Some((numbering, pus)) = self.index.numbered_pus(self.id()) {
            numbering.copy(pus, set);
            return true;
        }
        set.clear();
        self.index.add_cpuset(self.id(), set)
    }

    /// Replaces `set` with [`Object::complete_cpuset`], as [`Object::copy_cpuset`] does.
    pub fn copy_complete_cpuset(self, set: &mut Set) -> bool {
        match self.index.stored_complete_cpuset(self.id()) {
            Some(stored) => stored.copy_to(set),
            None => return self.copy_cpuset(set),
        }
        true
    }

    /// Replaces `set` with [`Object::nodeset`], as [`Object::copy_cpuset`] does.
    pub fn copy_nodeset(self, set: &mut Set) -> bool {
        copy(self.index.nodeset(self.id()), set)
    }

    /// Replaces `set` with [`Object::complete_nodeset`], as [`Object::copy_cpuset`] does.
    pub fn copy_complete_nodeset(self, set: &mut Set) -> bool {
        copy(self.index.complete_nodeset(self.id()), set)
    }
}

/// Replaces `set` with a stored set. If there is none, empties `set` and returns false.
fn copy(stored: Option<impl Words>, set: &mut Set) -> bool {
    let Some(stored) = stored else {
        set.clear();
        return false;
    };
    stored.copy_to(set);
    true
}

/// A new set, if `fill` returns true.
fn made(fill: impl FnOnce(&mut Set) -> bool) -> Option<Set> {
    let mut set = Set::new();
    fill(&mut set).then_some(set)
}
