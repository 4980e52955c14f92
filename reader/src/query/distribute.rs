//! Distribution of PUs over a number of parts, along the tree.

use crate::index::PuNumbering;
use crate::object::{Children, Object};
use crate::topology::Topology;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use topobroker_layout::archive::INDEX_LIMIT;
use topobroker_layout::depth::Depth;
use topobroker_layout::set::Set;

/// How PUs are distributed. Counterpart: the arguments and flags of `hwloc_distrib`.
///
/// ```
/// use topobroker_reader::{Depth, Distribution};
/// let over_packages = Distribution { until: Some(Depth::Normal(1)), ..Distribution::default() };
/// assert!(!over_packages.reverse);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Distribution {
    /// Depth from which on objects are not divided; `None` divides them down to PUs.
    pub until: Option<Depth>,
    /// Whether the last objects come first. Counterpart: `HWLOC_DISTRIB_FLAG_REVERSE`.
    pub reverse: bool,
}

impl Distribution {
    /// The children into which an object is divided, `None` if it is not.
    fn children_of(self, object: Object<'_>) -> Option<Children<'_>> {
        let is_divided = self.until.is_none_or(|until| object.depth().raw() < until.raw());
        is_divided.then(|| object.children()).filter(|children| children.clone().next().is_some())
    }
}

impl<'a> Topology<'a> {
    /// Distributes the PUs of `roots`, which are objects of this topology, over `count` sets. Each
    /// root and each child gets a share of the sets in proportion to its PUs. Software threads that
    /// are bound to the sets are far from each other. Counterpart: `hwloc_distrib`.
    ///
    /// ```
    /// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documentation/example_machine.rs"));
    /// use topobroker_reader::Distribution;
    /// for part in topology.distribute(&[topology.root()], 4, Distribution::default()) {
    ///     println!("{part}");
    /// }
    /// # Ok::<(), topobroker_reader::AdoptError>(())
    /// ```
    #[doc(alias = "hwloc_distrib")]
    #[must_use]
    pub fn distribute(self, roots: &[Object<'a>], count: usize, how: Distribution) -> Vec<Set> {
        let mut sets = vec![Set::new(); count];
        self.distribute_into(roots, how, &mut sets);
        sets
    }

    /// Most sets that the PUs of this topology may be distributed over when a user says how many:
    /// as many as an archive may have PUs, and fewer if OS indexes are high, so that all of them
    /// have 128 MiB at most.
    #[must_use]
    pub fn most_parts(self) -> usize {
        const MOST_WORDS: usize = 1 << 24;
        let words = self.root().cpuset().map_or(1, |all| all.words().len().max(1));
        (MOST_WORDS / words).min(INDEX_LIMIT as usize)
    }

    /// Replaces `sets` with the parts of [`Topology::distribute`]. If no root has a PU, they are
    /// empty.
    pub fn distribute_into(self, roots: &[Object<'a>], how: Distribution, sets: &mut [Set]) {
        sets.iter_mut().for_each(Set::clear);
        let count = sets.len();
        share(roots.iter().copied(), None, how, count, &mut Parts { sets, given: 0 });
    }
}

/// Gives the next `count` parts to `roots`. `total` is the number of their PUs, if it is known.
fn share<'a>(
    roots: impl DoubleEndedIterator<Item = Object<'a>> + Clone,
    total: Option<u64>,
    how: Distribution,
    count: usize,
    parts: &mut Parts<'_>,
) {
    match how.reverse {
        false => share_among(roots, total, how, count, parts),
        true => share_among(roots.rev(), total, how, count, parts),
    }
}

/// [`share`] in the order of `roots`.
fn share_among<'a>(
    roots: impl Iterator<Item = Object<'a>> + Clone,
    total: Option<u64>,
    how: Distribution,
    count: usize,
    parts: &mut Parts<'_>,
) {
    let total = total.unwrap_or_else(|| roots.clone().map(|root| Pus::of(root).count()).sum());
    let (first, mut weight_before) = (parts.given, 0);
    for root in roots {
        let pus = Pus::of(root);
        let weight = pus.count();
        if weight == 0 {
            continue;
        }
        // Rounding up gives earlier roots more and later roots less.
        weight_before += weight;
        let upto = weight_before.saturating_mul(count as u64).div_ceil(total);
        let end = first + usize::try_from(upto).unwrap_or(count).min(count);
        let chunk = end.saturating_sub(parts.given);
        if chunk > 1
            && let top = root.normal_part()
            && let Some(children) = how.children_of(top)
        {
            // Fast path: without it, a distribution in a view takes 2.6 times as long as in the whole.
            // In a plain index, the children of an object of the tree of CPUs have exactly its PUs.
            let has_theirs = top == root && root.index.is_plain();
            share(children, has_theirs.then_some(weight), how, chunk, parts);
            // If no child has a PU, the parts of this object stay empty.
            parts.given = end;
        } else if chunk > 0 {
            parts.give(chunk, &pus);
        } else {
            parts.add(&pus);
        }
    }
}

/// The sets of the parts, which are filled one after the other.
struct Parts<'s> {
    sets: &'s mut [Set],
    /// Number of parts given out.
    given: usize,
}

impl Parts<'_> {
    /// Gives the next `count` parts to some PUs: each part has all of them.
    #[inline]
    fn give(&mut self, count: usize, pus: &Pus<'_>) {
        let end = self.given + count;
        self.sets.get_mut(self.given..end).into_iter().flatten().for_each(|set| pus.copy_to(set));
        self.given = end;
    }

    /// Adds PUs to the last part given out, because there is no part for them.
    #[inline]
    fn add(&mut self, pus: &Pus<'_>) {
        if let Some(set) = self.sets.get_mut(self.given.wrapping_sub(1)) {
            pus.add_to(set);
        }
    }
}

/// The PUs of an object. If they are contiguous, they are looked up once.
enum Pus<'a> {
    Run(&'a PuNumbering, Range<u32>),
    Any(Object<'a>),
}

impl<'a> Pus<'a> {
    #[inline]
    fn of(object: Object<'a>) -> Self {
        // Fast path: without it, a distribution in a view takes 1.2 times as long as hwloc's.
        match object.index.numbered_pus(object.id()) {
            Some((numbering, pus)) => Self::Run(numbering, pus),
            None => Self::Any(object),
        }
    }

    #[inline]
    fn count(&self) -> u64 {
        match self {
            Self::Run(_, pus) => u64::from(pus.end - pus.start),
            Self::Any(object) => u64::from(object.cpuset_weight().unwrap_or(0)),
        }
    }

    #[inline]
    fn copy_to(&self, set: &mut Set) {
        match self {
            Self::Run(numbering, pus) => numbering.copy(pus.clone(), set),
            Self::Any(object) => _ = object.copy_cpuset(set),
        }
    }

    #[inline]
    fn add_to(&self, set: &mut Set) {
        match self {
            Self::Run(numbering, pus) => numbering.add(pus.clone(), set),
            Self::Any(object) => _ = object.index.add_cpuset(object.id(), set),
        }
    }
}
