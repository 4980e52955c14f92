//! Random choices of the test cases: machines, sets, objects.

use proptest::prelude::*;
use proptest::sample::Index;
use topobroker_reader::{Object, Set, Topology};

/// Random choices of a test case.
#[derive(Debug, Clone)]
pub(crate) struct Picks {
    pub(crate) bits: Vec<u64>,
    pub(crate) density: u8,
    pub(crate) objects: [Index; 4],
    pub(crate) count: usize,
    pub(crate) reverse: bool,
    pub(crate) until: i32,
}

pub(crate) fn picks() -> impl Strategy<Value = Picks> {
    let bits = proptest::collection::vec(any::<u64>(), 1..6);
    let objects = any::<[Index; 4]>();
    (bits, 0u8..10, objects, 0usize..40, any::<bool>(), -1i32..9).prop_map(
        |(bits, density, objects, count, reverse, until)| Picks {
            bits,
            density,
            objects,
            count,
            reverse,
            until,
        },
    )
}

impl Picks {
    /// A set made from the random choices: empty, single PUs, whole objects, noise, or PUs that the
    /// machine does not have.
    pub(crate) fn set(&self, topology: Topology<'_>, [one, two]: [Object<'_>; 2]) -> Set {
        let noise = || {
            let root = topology.root().cpuset().unwrap();
            let words = self.bits.iter().cycle().take(root.words().len());
            &Set::from_words(words.copied(), false) & &root
        };
        let cpuset = |object: Object<'_>| object.non_io_ancestor().cpuset().unwrap();
        match self.density {
            0 => cpuset(one),
            1 => &cpuset(one) | &cpuset(two),
            2 => cpuset(one).singlify(),
            3 => noise(),
            4 => &noise() | &cpuset(one),
            5 => &noise() & &cpuset(one),
            6 => cpuset(one).and_not(&cpuset(two)),
            7 => &cpuset(one).singlify() | &cpuset(two).last().into_iter().collect(),
            8 => Set::from_words(self.bits.iter().copied(), self.reverse),
            _ => Set::new(),
        }
    }
}

/// Random synthetic descriptions: some levels in hwloc's order, NUMA nodes attached to any of them,
/// and one of several OS numberings of the PUs.
pub(crate) fn synthetic() -> impl Strategy<Value = String> {
    let level = |name: &'static str| (Just(name), 0u32..4, any::<bool>());
    let levels = ["Package", "Die", "Group", "L3Cache", "L2Cache", "L1dCache", "Core"].map(level);
    let order = prop_oneof![
        Just(""),
        Just("(indexes=core:pu)"),
        Just("(indexes=pu:core)"),
        Just("(indexes=package:core:pu)"),
    ];
    (levels, 1u32..5, order).prop_map(|(levels, pus, order)| {
        let mut text = String::new();
        let mut objects = 1;
        let mut has = Vec::new();
        for (name, count, node) in levels {
            if count == 0 || objects * count * pus > 300 {
                continue;
            }
            objects *= count;
            has.push(name);
            text += &format!("{name}:{count} ");
            if node {
                text += "[NUMANode] ";
            }
        }
        let usable = ["Package", "Core"].map(|name| has.contains(&name));
        let order = match (order, usable) {
            (order, [package, core]) if core && (package || !order.contains("package")) => order,
            _ => "",
        };
        format!("{text}PU:{pus}{order}")
    })
}
