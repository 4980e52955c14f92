//! Texts from the environment, from files and from command lines: each is read or is an error. Sets
//! and keys that were read are written and read again, and stay the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;
use topobroker::hwloc::capture;
use topobroker::hwloc::{Input, LoadOptions, load};
use topobroker::location::{Location, Reading};
use topobroker::placement::{Policy, RankList, Room, place};
use topobroker_layout::encode::{self, AlignedVec};
use topobroker_reader::{
    Archive, Format, Keys, Locality, Set, Topology, TypeName,
    groups::Uri,
    jobs::{
        CpuList, Numbering, gomp_cpu_affinity, kmp_affinity, omp_places, pmix_cpu_list,
        pmix_cpuset, slurm_cpu_bind,
    },
};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let topology = topology();
    for format in [Format::Hwloc, Format::List, Format::Taskset] {
        if let Ok(set) = Set::parse(text, format) {
            assert_eq!(Set::parse(&set.to_text(format), format).as_ref(), Ok(&set));
        }
    }
    if let Ok(keys) = Keys::from_lines(text) {
        // Keys from lines have no line feed in a value, so they can be written as lines.
        assert_eq!(Keys::from_lines(&keys.to_string()).ok().as_ref(), Some(&keys));
    }
    let mut lines = text.lines();
    let mut next = || lines.next().unwrap_or_default();
    let _ = Keys::parse(next(), next(), next());
    for numbering in [Numbering::Logical, Numbering::Os] {
        if let Ok(list) = CpuList::parse(topology, text, numbering) {
            assert!(
                list.iter().all(|pu| pu.os_index().is_some_and(|os| list.to_set().contains(os)))
            );
        }
    }
    let mut parts = text.splitn(2, '\n');
    let (one, other) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let shared = Locality::from_strings(one, other).ok();
    assert_eq!(shared, Locality::from_strings(other, one).ok(), "{one:?} {other:?}");
    let pus = topology.root().cpuset().unwrap_or_default();
    let places = omp_places(topology, text).unwrap_or_default();
    for set in places.iter().chain(&kmp_affinity(topology, text).unwrap_or_default()) {
        assert!(set.is_included_in(&pus));
    }
    if let Ok(list) = gomp_cpu_affinity(topology, text) {
        assert!(list.to_set().is_included_in(&pus));
    }
    let lists = [
        RankList::rankfile(text),
        RankList::sequence(text),
        RankList::lsf(text),
        RankList::hydra(text, Some(4)),
    ];
    let plain = Policy::parse("slot", None).expect("a policy");
    for list in lists.into_iter().flatten() {
        let here = |host: &str| (host != "elsewhere").then_some(0);
        let room = Room { topology, slots: None };
        for (_, rank) in list.place(&[room], here, &plain, None).unwrap_or_default() {
            assert!(rank.cpuset.is_none_or(|set| set.is_included_in(&pus)));
        }
    }
    let _ = pmix_cpu_list(topology, text);
    if let Ok(set) = pmix_cpuset(topology, text) {
        assert!(!set.is_empty() && set.is_included_in(&pus));
    }
    let _ = slurm_cpu_bind(topology, text, data.len() % 8);
    let _ = TypeName::parse(text);
    if let Ok(uri) = Uri::parse(text) {
        let shown = uri.to_string();
        assert_eq!(Uri::parse(&shown), Ok(uri), "{shown}");
        let _ = topology.resource_objects(uri).count();
    }
    if let Ok(location) = Location::parse(text) {
        for physical in [false, true] {
            let _ = location.objects(topology, Reading { physical, ..Reading::default() });
        }
    }
    let (map_by, bind_to) = text.split_once(' ').unwrap_or((text, "core"));
    if let Ok(policy) = Policy::parse(map_by, Some(bind_to)) {
        for set in place(topology, &policy, Some(4), &[]).unwrap_or_default() {
            assert!(set.cpuset.is_none_or(|set| set.is_included_in(&pus)));
        }
    }
});

/// A machine with packages, NUMA nodes, caches, cores and PUs for locations to name.
fn topology() -> Topology<'static> {
    static BYTES: OnceLock<AlignedVec> = OnceLock::new();
    static ARCHIVE: OnceLock<Archive<'_>> = OnceLock::new();
    let bytes = BYTES.get_or_init(|| {
        let text = "Package:2 NUMANode:1 L3:2 Core:2 PU:2(indexes=core:pu)";
        let input = Input::Synthetic(text.to_owned());
        let loaded = load(&input, &LoadOptions::default()).expect("a machine");
        encode::to_bytes(&capture(&loaded).expect("its description")).expect("its archive")
    });
    ARCHIVE.get_or_init(|| Archive::open(bytes).expect("a sound archive")).topology()
}
