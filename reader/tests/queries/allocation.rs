//! Checks that no query takes memory from the heap on a machine of 1024 PUs, whose sets are stored
//! inline.

use super::every_query::{ask_object, ask_topology, ask_with_set};
use super::{machines, room, sets, views};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use topobroker_layout::encode::AlignedVec;
use topobroker_layout::header::HEADER_LEN;
use topobroker_reader::{
    Archive, Locality,
    groups::Uri,
    jobs::Job,
    links::{Direction, Measure, Paths, SwitchModel, VertexId},
};

/// The system allocator, with a count of allocations for each thread.
struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

fn count() {
    COUNT.with(|count| count.set(count.get() + 1));
}

// SAFETY: every call goes to the system allocator, and counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller promises that `layout` is not of size 0.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller promises that `pointer` came from this allocator, and so from
        // `System`, with this layout, and that `size` is valid.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller promises that `pointer` came from this allocator, and so from
        // `System`, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Number of allocations of this thread while `run` runs.
fn allocations(run: impl FnOnce()) -> usize {
    let before = COUNT.with(Cell::get);
    run();
    COUNT.with(Cell::get) - before
}

#[test]
fn the_counting_allocator_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(vec![1u8; 100]))), 1);
}

#[test]
#[cfg_attr(miri, ignore = "a thousand PUs take Miri an hour; the small machines are for it")]
fn no_query_takes_memory_from_the_heap() {
    let archives = [machines::small(), machines::regular(16, 32)];
    let opened = archives.each_ref().map(|archive| Archive::open(archive).unwrap());
    for view in opened.iter().flat_map(|archive| views(archive.topology())) {
        let topology = view.topology();
        let (sets, mut room) = (sets(topology), room());
        assert_eq!(allocations(|| ask_topology(topology)), 0);
        for set in &sets {
            assert_eq!(allocations(|| _ = ask_with_set(topology, set, &mut room)), 0, "{set}");
            for object in topology.objects().step_by(29) {
                let other = topology.object(object.id() / 2).unwrap_or(object);
                let asked = allocations(|| ask_object(object, other, set, &mut room));
                assert_eq!(asked, 0, "{object:?} with {set}");
            }
        }
    }
}

#[test]
fn what_ranks_of_a_job_share_and_are_on_takes_no_memory_from_the_heap() {
    let aligned = |bytes: &[u8]| {
        let mut aligned = AlignedVec::<16>::new();
        aligned.extend_from_slice(bytes);
        aligned
    };
    let base = aligned(include_bytes!("../../../tests/fixtures/topology-1.0"));
    let segment = aligned(include_bytes!("../../../tests/fixtures/job-1.0"));
    let opened = Archive::open(&base[HEADER_LEN..]).unwrap();
    let job = Job::from_segment(opened.topology(), &segment).unwrap();
    let asked = allocations(|| {
        for rank in 0..3 {
            assert!(job.locality(0, rank).is_some_and(|it| it.shares(Locality::NODE)));
            assert_eq!(job.localities(rank).unwrap().count(), 3);
            assert!(job.sharing(rank, Locality::NODE).eq(0..3));
        }
        let resources = job.hw_resources();
        for resource in resources.types() {
            let instances = resources.instances(Uri::of(resource)).unwrap();
            assert_eq!(instances.iter().count(), 3);
        }
        for rank in 0..3 {
            assert!(resources.groups_of(rank, 1).unwrap().any(|it| it.size == 3));
            assert!(resources.info(rank).unwrap().any(|(_, is_restricted)| is_restricted));
            assert!(
                resources.unguided(&[0, 1, 2]).unwrap().part(rank).is_none_or(|it| it.id() > 0)
            );
        }
    });
    assert_eq!(asked, 0);
}

#[test]
#[cfg_attr(miri, ignore = "a thousand PUs take Miri an hour")]
fn searches_of_paths_take_no_memory_from_the_heap() {
    let archives = [machines::small(), machines::regular(16, 32)];
    for archive in &archives {
        let opened = Archive::open(archive).unwrap();
        let graph = opened.topology().links(SwitchModel::One).unwrap();
        let count = graph.vertices().len();
        let mut paths = Paths::new(&graph, true);
        let asked = allocations(|| {
            for measure in [Measure::Bandwidth, Measure::Latency, Measure::Hops] {
                for vertex in graph.vertex_ids() {
                    let all = paths.of(vertex, Direction::Incoming, measure);
                    assert!(all.iter().flatten().count() < count);
                    let path = paths.between(VertexId(0), vertex, measure);
                    let way = paths.way(vertex).count();
                    assert_eq!(way, path.map_or(0, |path| usize::from(path.hops) + 1));
                }
            }
        });
        assert!(count > 4 && asked == 0, "{count} vertices, {asked} allocations");
    }
}
