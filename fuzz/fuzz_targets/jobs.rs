//! Any segment of a job is refused or can be read: bytes -> new checksum -> open -> validate ->
//! every rank, its hardware groups, and the view.
#![no_main]

use libfuzzer_sys::fuzz_target;
use topobroker_reader::{ObjectType, groups::Uri, jobs::Job};

fuzz_target!(|data: &[u8]| {
    let (base, sealed) = topobroker_fuzz::job(data);
    let base = base.topology();
    // First the raw bytes, with a header and a checksum from the fuzzer.
    let _ = Job::from_segment(base, data);
    let Ok(job) = Job::from_segment(base, &sealed) else { return };
    assert!(!job.name().is_empty());
    for rank in job.ranks().take(1000) {
        assert!(job.rank(rank.rank).is_some());
        assert!(job.locality(rank.rank, rank.rank).is_some());
        let devices = job.nics(rank.rank).chain(job.gpus(rank.rank)).take(100);
        assert!(devices.filter(|it| it.object_type() != ObjectType::OSDevice).count() == 0);
    }
    let ranks: Vec<u32> = job.ranks().take(8).map(|rank| rank.rank).collect();
    for (one, other) in ranks.iter().flat_map(|one| ranks.iter().map(move |other| (*one, *other))) {
        assert_eq!(job.locality(one, other), job.locality(other, one));
    }
    let resources = job.hw_resources();
    for resource in resources.types() {
        let instances = resources.instances(Uri::of(resource)).expect("a type of the topology");
        assert_eq!(instances.iter().count(), job.rank_count());
    }
    if job.rank_count() <= 64 {
        let groups = resources.groups(1);
        assert!(groups.iter().all(|group| group.ranks.len() <= job.rank_count()));
        let split = resources.unguided(&ranks).expect("ranks of the job");
        for part in ranks.iter().filter_map(|rank| split.part(*rank)) {
            let is_in = |rank: &&u32| split.part(**rank) == Some(part);
            assert!(ranks.iter().filter(is_in).count() < ranks.len());
        }
    }
    let view = job.view();
    let shown = view.topology().objects().count();
    assert_eq!(shown, view.topology().object_count());
});
