//! Jobs to measure.

use topobroker_layout::encode::AlignedVec;
use topobroker_layout::header::{
    Header, Kind, VERSION_MAJOR, VERSION_MINOR, mark_ready, segment_len,
};
use topobroker_layout::job::{Job, Rank};
use topobroker_reader::jobs::runs_of_pus;
use topobroker_reader::{ObjectType, Scope, Set, Source, Topology, View};

/// The segment of a job whose ranks have `each` PUs, in turn. It is over no published segment.
pub fn job_segment(topology: Topology<'_>, ranks: u32, each: u32) -> anyhow::Result<AlignedVec> {
    let pus: Vec<u32> =
        topology.objects_with_type(ObjectType::PU).filter_map(|pu| pu.os_index()).collect();
    let mut next = pus.iter().copied().cycle();
    let mut set = || -> Set { next.by_ref().take(each as usize).collect() };
    let ranks: Vec<Rank> = (0..ranks).map(|rank| (rank, runs_of_pus(topology, &set()))).collect();
    segment_of_ranks(&View::whole(topology), &ranks)
}

/// The segment of a job that sees a view and has these ranks. It is over no published segment.
pub fn segment_of_ranks(view: &View<'_>, ranks: &[Rank]) -> anyhow::Result<AlignedVec> {
    segment_of_job(&Job::new([0; 16], "peers", view.to_overlay()?, ranks))
}

/// The segment of a job. It is over no published segment.
pub fn segment_of_job(job: &Job) -> anyhow::Result<AlignedVec> {
    let archive = job.to_bytes()?;
    let mut segment = AlignedVec::new();
    segment.resize(segment_len(archive.len()), 0);
    let header = Header {
        version: (VERSION_MAJOR, VERSION_MINOR),
        kind: Kind::Job,
        scope: Scope::Job,
        source: Source::Loaded,
        size: segment.len() as u64,
        ..Header::default()
    };
    header.write(&archive, &mut segment)?;
    mark_ready(&mut segment);
    Ok(segment)
}
