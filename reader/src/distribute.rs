//! Sharing PUs out: N parts over the tree.

use crate::object::Object;
use crate::topology::Topology;
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
    fn divides(self, object: Object<'_>) -> bool {
        let is_above = self.until == i32::MAX || object.depth() < self.until;
        is_above && object.children().next().is_some()
    }
}

impl<'a> Topology<'a> {
    /// Shares the PUs of `roots` out into `count` sets, to each root and child in proportion to its
    /// PUs: for threads that are to be far from each other. Objects from depth `until` on are not
    /// divided. Counterpart: `hwloc_distrib`, `reverse` its `HWLOC_DISTRIB_FLAG_REVERSE`.
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
        let rule = Rule { until, reverse };
        let roots = roots.iter().copied();
        match reverse {
            false => share(roots, None, rule, 0..sets.len(), sets),
            true => share(roots.rev(), None, rule, 0..sets.len(), sets),
        }
    }
}

/// Gives `roots` the sets of a range. `total` is how many PUs they have, if that is known.
fn share<'a>(
    roots: impl Iterator<Item = Object<'a>> + Clone,
    total: Option<u64>,
    rule: Rule,
    range: std::ops::Range<usize>,
    sets: &mut [Set],
) {
    let weight_of = |root: Object<'a>| u64::from(root.cpuset_weight().unwrap_or(0));
    let total = total.unwrap_or_else(|| roots.clone().map(weight_of).sum());
    let count = range.len() as u64;
    let (mut next, mut weight_before) = (range.start, 0);
    for root in roots {
        let weight = weight_of(root);
        if weight == 0 {
            continue;
        }
        // What earlier roots got by rounding up, later ones get less.
        let upto = |weight: u64| {
            usize::try_from(weight.saturating_mul(count).div_ceil(total)).unwrap_or(0)
        };
        weight_before += weight;
        let parts = next..range.start + upto(weight_before);
        let chunk = parts.len();
        next = parts.end;
        let top = root.normal_part();
        let divisible = chunk > 1 && rule.divides(top);
        // The children of what is in the tree of CPUs have its PUs, where cpusets are nothing else.
        let total = (top == root && root.topology().is_plain()).then_some(weight);
        match (divisible, rule.reverse) {
            (true, false) => share(top.children(), total, rule, parts, sets),
            (true, true) => share(top.children().rev(), total, rule, parts, sets),
            (false, _) if chunk > 0 => {
                let sets = sets.get_mut(parts).unwrap_or_default();
                sets.iter_mut().for_each(|set| _ = root.copy_cpuset(set));
            }
            // Nothing left for it: its PUs go to the part before.
            (false, _) => {
                let before = parts.start.checked_sub(1).and_then(|before| sets.get_mut(before));
                if let Some(set) = before {
                    root.add_cpuset(set);
                }
            }
        }
    }
}
