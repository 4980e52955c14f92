//! Paths in the graph of links.

use crate::answer::Handle;
use crate::call::call_with;
use crate::failure::Failure;
use crate::job::tb_job;
use crate::links::{in_graph, known, tb_links};
use crate::pointers::{Input, List, Out, Output, Room};
use crate::status::tb_status;
use crate::structs::{Struct, Structs};
use topobroker_reader::links::{Direction, LinkPath, Measure};

/// What makes a path the best.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum tb_measure {
    /// The greatest bandwidth, then the fewest links. A path with links of unknown bandwidth is
    /// only taken if there is no other, and such a link limits nothing.
    TB_MEASURE_BANDWIDTH = 0,
    /// The fewest links of unknown latency, then the least latency.
    TB_MEASURE_LATENCY = 1,
    /// The fewest links.
    TB_MEASURE_HOPS = 2,
}

/// A path between two vertices.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct tb_link_path {
    /// Whether there is one; if not, the other values mean nothing.
    pub is_there: bool,
    /// Whether it has a link of unknown bandwidth, so that the bandwidth may be less.
    pub has_unknown_bandwidth: bool,
    /// Number of links.
    pub hops: u16,
    /// Bandwidth of the narrowest link in MB/s; -1 if none is known.
    pub bandwidth: i64,
    /// Latency in nanoseconds; -1 if that of a link is unknown.
    pub latency: i64,
}

/// Stores the best path from one vertex to another; `measure` is a tb_measure. Also stores its
/// vertices from the beginning to the end, up to `capacity`, and their number in `count` (may be
/// NULL): 0 if there is no path. Usually takes no memory.
#[unsafe(no_mangle)]
pub extern "C" fn tb_links_path(
    links: Output<'_, tb_links>,
    from: u16,
    to: u16,
    measure: i32,
    path: Struct<'_, tb_link_path>,
    path_size: usize,
    way: Room<'_, u16>,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    call_with(|handles| {
        let links = links.given(handles, "links")?;
        let (from, to) = (in_graph(links, from)?, in_graph(links, to)?);
        let found = links.paths.between(from, to, measure_of(measure)?);
        path.fill(path_of(found), path_size)?;
        let length = links.paths.way(to).count();
        let at = |place: usize| links.paths.way(to).nth(length - 1 - place).unwrap_or(from).0;
        way.fill((0..length).map(at), capacity, count)
    })
}

/// Stores the best path from a vertex to each vertex, in the order of their numbers, up to
/// `capacity`, and their number in `count` (may be NULL). `measure` is a tb_measure. Takes no
/// memory.
#[unsafe(no_mangle)]
pub extern "C" fn tb_links_paths(
    links: Output<'_, tb_links>,
    from: u16,
    measure: i32,
    paths: Structs<'_, tb_link_path>,
    element_size: usize,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    call_with(|handles| {
        let links = links.given(handles, "links")?;
        let from = in_graph(links, from)?;
        let found = links.paths.of(from, Direction::Outgoing, measure_of(measure)?);
        paths.fill(found.iter().map(|it| path_of(*it)), element_size, capacity, count)
    })
}

/// Stores the best paths from a rank of a job to others or, with `incoming`, from them to it, in
/// their order, up to `capacity`, and their number in `count` (may be NULL). A rank is where its
/// first GPU is, otherwise where its memory is. Ranks at the same place have a path of 0 links,
/// with the bandwidth of the memory there. To a rank on another node, it is the path to the first
/// NIC of the rank and one more link of which nothing is known. TB_ERR_NOT_FOUND if `rank` is not
/// on this node. Counterpart: MPI_Group_get_hw_dist_graph of the proposal to the MPI Forum.
#[unsafe(no_mangle)]
pub extern "C" fn tb_links_rank_paths(
    links: Output<'_, tb_links>,
    job: Input<'_, tb_job>,
    rank: u32,
    ranks: List<'_, u32>,
    rank_count: usize,
    incoming: bool,
    measure: i32,
    paths: Structs<'_, tb_link_path>,
    element_size: usize,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    call_with(|handles| {
        let job = job.given(handles, "job")?.means();
        let links = links.given(handles, "links")?;
        let (resources, ranks) = (job.hw_resources(), ranks.get(rank_count, "ranks")?);
        let direction = if incoming { Direction::Incoming } else { Direction::Outgoing };
        let measure = measure_of(measure)?;
        let found = links.paths.of_ranks(&resources, rank, ranks, direction, measure)?;
        paths.fill(found.map(path_of), element_size, capacity, count)
    })
}

fn measure_of(measure: i32) -> Result<Measure, Failure> {
    match measure {
        0 => Ok(Measure::Bandwidth),
        1 => Ok(Measure::Latency),
        2 => Ok(Measure::Hops),
        other => Err(Failure::argument(format_args!("measure {other}"))),
    }
}

fn path_of(path: Option<LinkPath>) -> tb_link_path {
    tb_link_path {
        is_there: path.is_some(),
        has_unknown_bandwidth: path.is_some_and(|it| it.has_unknown_bandwidth),
        hops: path.map_or(0, |it| it.hops),
        bandwidth: known(path.and_then(|it| it.bandwidth)),
        latency: known(path.and_then(|it| it.latency)),
    }
}
