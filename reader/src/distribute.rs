//! Sharing PUs out: N parts over the tree.

use crate::numbering::Numbering;
use crate::object::{Children, Object};
use crate::topology::Topology;
use std::ops::Range;
use topobroker_layout::set::Set;

/// How parts are handed out.
#[derive(Clone, Copy)]
struct Rule {
    /// Depth from which objects are not divided any more.
    until: i32,
    /// Whether the last objects come first.
    reverse: bool,
}

impl Rule {
    /// What an object, if it is divided, is divided into.
    fn children_of(self, object: Object<'_>) -> Option<Children<'_>> {
        let is_above = self.until == i32::MAX || object.depth() < self.until;
        is_above.then(|| object.children()).filter(|children| children.clone().next().is_some())
    }
}

impl<'a> Topology<'a> {
    /// Shares the PUs of `roots`, objects of this topology, out into `count` sets, to each root and
    /// child in proportion to its PUs: for threads that are to be far from each other. Objects from
    /// depth `until` on are not divided. Counterpart: `hwloc_distrib`, `reverse` its `HWLOC_DISTRIB_FLAG_REVERSE`.
    ///
    /// ```no_run
    /// # let topology = topobroker_reader::adopt()?.topology();
    /// for part in topology.distribute(&[topology.root()], 4, i32::MAX, false) {
    ///     println!("{part}");
    /// }
    /// # Ok::<(), topobroker_reader::AdoptError>(())
    /// ```
    #[doc(alias = "hwloc_distrib")]
    #[must_use]
    pub fn distribute(
        self,
        roots: &[Object<'a>],
        count: usize,
        until: i32,
        reverse: bool,
    ) -> Vec<Set> {
        let mut sets = vec![Set::new(); count];
        self.distribute_into(roots, until, reverse, &mut sets);
        sets
    }

    /// As [`Topology::distribute`], into the sets of the caller. If no root has a PU, they are empty.
    pub fn distribute_into(
        self,
        roots: &[Object<'a>],
        until: i32,
        reverse: bool,
        sets: &mut [Set],
    ) {
        sets.iter_mut().for_each(Set::clear);
        let (rule, count) = (Rule { until, reverse }, sets.len());
        let mut parts = Parts { sets, given: 0, open: None };
        share(roots.iter().copied(), None, rule, count, &mut parts);
        parts.close();
    }
}

/// Gives `roots` the next `count` parts. `total` is how many PUs they have, if that is known.
fn share<'a>(
    roots: impl DoubleEndedIterator<Item = Object<'a>> + Clone,
    total: Option<u64>,
    rule: Rule,
    count: usize,
    parts: &mut Parts<'_, 'a>,
) {
    match rule.reverse {
        false => share_among(roots, total, rule, count, parts),
        true => share_among(roots.rev(), total, rule, count, parts),
    }
}

fn share_among<'a>(
    roots: impl Iterator<Item = Object<'a>> + Clone,
    total: Option<u64>,
    rule: Rule,
    count: usize,
    parts: &mut Parts<'_, 'a>,
) {
    let total = total.unwrap_or_else(|| roots.clone().map(|root| Pus::of(root).count()).sum());
    let (first, mut weight_before) = (parts.given, 0);
    for root in roots {
        let pus = Pus::of(root);
        let weight = pus.count();
        if weight == 0 {
            continue;
        }
        // What earlier roots got by rounding up, later ones get less.
        weight_before += weight;
        let upto = weight_before.saturating_mul(count as u64).div_ceil(total);
        let end = first + usize::try_from(upto).unwrap_or(count).min(count);
        let chunk = end.saturating_sub(parts.given);
        if chunk > 1
            && let top = root.normal_part()
            && let Some(children) = rule.children_of(top)
        {
            // The children of what is in the tree of CPUs have its PUs, where cpusets are nothing else.
            let has_theirs = top == root && root.topology().is_plain();
            share(children, has_theirs.then_some(weight), rule, chunk, parts);
            parts.skip_to(end);
        } else if chunk > 0 {
            parts.give(chunk, pus);
        } else {
            parts.add(&pus);
        }
    }
}

/// The sets of the parts, which are given out one after the other.
struct Parts<'s, 'a> {
    sets: &'s mut [Set],
    given: usize,
    /// The PUs of the last one given, as long as they are not in its set.
    open: Option<Pus<'a>>,
}

impl<'a> Parts<'_, 'a> {
    /// Gives some PUs the next `count` parts.
    #[inline]
    fn give(&mut self, count: usize, pus: Pus<'a>) {
        self.close();
        for _ in 1..count {
            self.given += 1;
            if let Some(set) = self.last() {
                pus.copy_to(set);
            }
        }
        self.given += 1;
        self.open = Some(pus);
    }

    /// Puts PUs that there is no part for into the last one given.
    #[inline]
    fn add(&mut self, pus: &Pus<'a>) {
        if self.open.as_mut().is_some_and(|open| open.extend(pus)) {
            return;
        }
        self.close();
        if let Some(set) = self.last() {
            pus.add_to(set);
        }
    }

    /// Leaves the parts empty that the children of an object did not get, because none of them has a PU.
    #[inline]
    fn skip_to(&mut self, given: usize) {
        if self.given < given {
            self.close();
            self.given = given;
        }
    }

    #[inline]
    fn close(&mut self) {
        if let Some(pus) = self.open.take()
            && let Some(set) = self.last()
        {
            pus.copy_to(set);
        }
    }

    #[inline]
    fn last(&mut self) -> Option<&mut Set> {
        self.sets.get_mut(self.given.wrapping_sub(1))
    }
}

/// The PUs of an object, looked up once where they follow each other.
enum Pus<'a> {
    Run(&'a Numbering, Range<u32>),
    Any(Object<'a>),
}

impl<'a> Pus<'a> {
    #[inline]
    fn of(object: Object<'a>) -> Self {
        match object.numbered_pus() {
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

    /// Takes others in, if these follow each other too and begin or end where its own end or begin.
    #[inline]
    fn extend(&mut self, more: &Self) -> bool {
        match (self, more) {
            (Self::Run(_, own), Self::Run(_, more)) if own.end == more.start => own.end = more.end,
            (Self::Run(_, own), Self::Run(_, more)) if own.start == more.end => {
                own.start = more.start;
            }
            _ => return false,
        }
        true
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
            Self::Any(object) => _ = object.add_cpuset(set),
        }
    }
}
