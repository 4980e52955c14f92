//! Compares views with duplicates that hwloc has restricted: all their contents, and every query.

use crate::queries::{Both, config};
use crate::random_cases::{Picks, picks, synthetic};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::path::Path;
use topobroker::description::describe;
use topobroker::hwloc::capture;
use topobroker::hwloc::{HwlocTopology as Hwloc, Input};
use topobroker_layout::description::Description;
use topobroker_layout::encode::to_bytes;
use topobroker_layout::overlay;
use topobroker_reader::{Archive, ObjectType, RestrictFlags, Set, Topology, TypeDepth, View};
use topobroker_rival::bitmap::Bitmap;
use topobroker_rival::queries::Rival;
use topobroker_rival::restrict::Restricted;
use topobroker_samples::{describe as describe_input, machines, shared};

/// Valid combinations of restriction flags. One is repeated, so that it is chosen more often.
const FLAGS: [u64; 14] = [0, 1, 1, 1, 2, 4, 6, 3, 5, 7, 8, 24, 30, 14];

/// A restriction.
#[derive(Debug, Clone)]
pub(crate) struct Cut {
    picks: Picks,
    flags: u64,
}

pub(crate) fn cuts() -> impl Strategy<Value = Cut> {
    let flags = proptest::sample::select(&FLAGS[..]);
    (picks(), flags).prop_map(|(picks, flags)| Cut { picks, flags })
}

impl Cut {
    fn set(&self, topology: Topology<'_>) -> Set {
        let count = topology.object_count();
        let mut objects = topology.objects();
        let [one, two, ..] = self.picks.objects.map(|pick| {
            objects.clone().nth(pick.index(count)).unwrap_or_else(|| objects.next().unwrap())
        });
        let set = self.picks.set(topology, [one, two]);
        match self.flags & RestrictFlags::BYNODESET.bits() {
            0 => set,
            _ => topology.nodeset_of(&set),
        }
    }
}

/// Asserts that a view and a topology of hwloc have the same contents. hwloc's is stored in an
/// archive first, so that its objects are in the same order.
fn assert_same(ours: Topology<'_>, theirs: &Hwloc<'_>, what: &str) {
    let theirs = to_bytes(&capture(theirs).unwrap()).unwrap();
    let opened = Archive::open(&theirs).unwrap();
    let theirs = opened.topology();
    assert_same_contents(describe(ours), describe(theirs), what);
    for (one, other) in ours.objects().zip(theirs.objects()) {
        assert_eq!(one.total_memory(), other.total_memory(), "{what} {one:?}");
        assert_eq!(one.sibling_rank(), other.sibling_rank(), "{what} {one:?}");
        assert_eq!(one.cpuset_weight(), other.cpuset_weight(), "{what} {one:?}");
        let contiguous = one.pus().filter(|pus| !pus.is_empty());
        assert!(contiguous.is_none_or(|pus| Some(pus) == other.pus()), "{what} {one:?}");
        let siblings = |it: topobroker_reader::Object<'_>| {
            [it.next_cousin(), it.prev_cousin(), it.next_sibling(), it.prev_sibling()]
                .map(|other| other.map(|other| other.logical_index()))
        };
        assert_eq!(siblings(one), siblings(other), "{what} {one:?}");
    }
}

pub(crate) fn assert_same_contents(left: Description, right: Description, what: &str) {
    for (one, other) in left.objects.iter().zip(&right.objects) {
        assert_eq!(one, other, "{what}");
    }
    assert_eq!(left.objects.len(), right.objects.len(), "{what}");
    assert_eq!(left.distances, right.distances, "{what}");
    assert_eq!(left.memory_attributes, right.memory_attributes, "{what}");
    assert_eq!(left.cpu_kinds, right.cpu_kinds, "{what}");
    assert_eq!(left.allowed_cpuset, right.allowed_cpuset, "{what}");
    assert_eq!(left.allowed_nodeset, right.allowed_nodeset, "{what}");
    let other = |it: Description| Description { objects: Vec::new(), ..it };
    assert!(other(left) == other(right), "{what}");
}

/// Asserts that a view is the same after it was written to an overlay and read again.
fn assert_survives(whole: Topology<'_>, view: &View<'_>, what: &str) {
    let bytes = overlay::to_bytes(&view.to_overlay().unwrap()).unwrap();
    let again = View::from_archive(whole, &bytes).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(again == *view, "{what}: {again:?} {view:?}");
}

/// Whether hwloc may abort, because it removes NUMA nodes without PUs only below objects that lose
/// PUs, and PUs without nodes only below objects that lose nodes.
fn is_beyond_hwloc(topology: Topology<'_>, flags: RestrictFlags) -> bool {
    let nodes = || topology.objects_with_type(ObjectType::NUMANode);
    let pus = || topology.objects_with_type(ObjectType::PU);
    let cpuless = nodes().any(|node| node.cpuset_weight() == Some(0));
    let memless = pus().any(|pu| pu.nodeset().is_some_and(|nodes| nodes.is_empty()));
    (flags.has(RestrictFlags::REMOVE_CPULESS) && cpuless)
        || (flags.has(RestrictFlags::REMOVE_MEMLESS) && memless)
}

pub(crate) fn check(input: &Input, cuts: &[Cut]) {
    let hwloc = topobroker_samples::loaded(input);
    let bytes = to_bytes(&capture(&hwloc).unwrap()).unwrap();
    let opened = Archive::open(&bytes).unwrap();
    let whole = opened.topology();
    let mut view = View::whole(whole);
    let mut copy: Option<Restricted> = None;
    for cut in cuts {
        let (set, flags) = (cut.set(view.topology()), RestrictFlags::from_bits(cut.flags));
        let bitmap = Bitmap::new(&set);
        let what = format!("{input:?} restricted to {set} by {flags:?}");
        if is_beyond_hwloc(view.topology(), flags) {
            continue;
        }
        let restricted = match &mut copy {
            None => Restricted::new(&hwloc, &bitmap, cut.flags).map(|new| copy = Some(new)),
            Some(copy) => copy.restrict(&bitmap, cut.flags),
        };
        match view.restrict(&set, flags) {
            Err(error) => assert!(restricted.is_err(), "{what}: {error}"),
            Ok(next) => {
                restricted.unwrap_or_else(|error| panic!("{what}: hwloc refuses: {error}"));
                let count = |view: &View<'_>| view.topology().object_count();
                let only_sets = count(&view) == count(&next);
                view = next;
                assert_survives(whole, &view, &what);
                if only_sets && !view.is_in_order() {
                    // Only PUs that are not objects were removed, so that only sets have changed.
                    // hwloc then sorts children again, but updates neither levels nor sibling
                    // ranks.
                    return;
                }
            }
        }
        let Some(copy) = &copy else { continue };
        assert_same(view.topology(), &copy.topology(), &what);
        if view.topology().type_depth(ObjectType::PU) == TypeDepth::Unknown {
            // If only allowed PUs that are not objects are left, hwloc crashes in queries.
            return;
        }
        let topology = copy.topology();
        let both = Both { ours: view.topology(), theirs: Rival::new(&topology) };
        both.check(&cut.picks);
    }
}

#[test]
fn views_of_random_machines_equal_topologies_that_hwloc_restricted() {
    let mut runner = TestRunner::new(config(3000));
    let cases = (synthetic(), proptest::collection::vec(cuts(), 1..4usize));
    let result = runner.run(&cases, |(text, cuts)| {
        check(&Input::Synthetic(text), &cuts);
        Ok(())
    });
    result.unwrap();
}

#[test]
fn an_empty_group_stays_in_a_view_if_it_stays_in_hwlocs_copy() {
    let input = Input::Synthetic("Package:2 [NUMANode] Group:2 [NUMANode] Core:2 PU:1".to_owned());
    let hwloc = topobroker_samples::loaded(&input);
    let bytes = to_bytes(&capture(&hwloc).unwrap()).unwrap();
    let opened = Archive::open(&bytes).unwrap();
    let mut view = View::whole(opened.topology());
    let everything: Set = (0..8).collect();
    let mut copy = Restricted::new(&hwloc, &Bitmap::new(&everything), 0).unwrap();
    // First, the second group of each package loses its PUs. Then one of these groups loses its
    // NUMA node too, but not that of its package. Last, the other package loses a PU.
    let cuts = [
        ([0, 1, 4, 5].as_slice(), RestrictFlags::NONE),
        (&[0, 2, 3, 4, 5], RestrictFlags::BYNODESET),
        (&[0, 1, 4], RestrictFlags::NONE),
    ];
    for (left, flags) in cuts {
        let set: Set = left.iter().copied().collect();
        copy.restrict(&Bitmap::new(&set), flags.bits()).unwrap();
        view = view.restrict(&set, flags).unwrap();
        assert_same(view.topology(), &copy.topology(), &format!("{set} {flags:?}"));
        assert_eq!(view.topology().objects_with_type(ObjectType::Group).count(), 4);
    }
}

#[test]
fn an_object_that_stays_for_its_memory_is_not_among_the_closest() {
    for text in ["Package:3 [NUMANode] Core:2 PU:2", "Package:4 [NUMANode] Die:2 Core:2 PU:1"] {
        let hwloc = topobroker_samples::loaded(&Input::Synthetic(text.to_owned()));
        let bytes = to_bytes(&capture(&hwloc).unwrap()).unwrap();
        let opened = Archive::open(&bytes).unwrap();
        let whole = opened.topology();
        let left: Set = (0..8).collect();
        let copy = Restricted::new(&hwloc, &Bitmap::new(&left), 0).unwrap();
        let view = View::new(whole, &left, RestrictFlags::NONE).unwrap();
        let (ours, theirs) = (view.topology(), copy.topology());
        let packages = |it: Topology<'_>| it.objects_with_type(ObjectType::Package).count();
        assert_eq!(packages(ours), packages(whole), "{text}");
        let both = Both { ours, theirs: Rival::new(&theirs) };
        ours.objects()
            .filter(|it| it.object_type().is_normal())
            .for_each(|it| both.check_closest(it));
    }
}

/// Whether PUs are not in the sets of their cores, which no machine has: in netloc's files of
/// nodes.
fn has_pus_outside_their_cores(file: &Path) -> bool {
    let bytes = to_bytes(&describe_input(&Input::Xml(file.to_owned()))).unwrap();
    let opened = Archive::open(&bytes).unwrap();
    let mut pus = opened.topology().objects_with_type(ObjectType::PU);
    pus.any(|pu| {
        let core = pu.parent().and_then(|core| core.cpuset()).unwrap_or_default();
        !pu.cpuset().unwrap_or_default().and_not(&core).is_empty()
    })
}

#[test]
fn views_of_the_reference_machines_equal_topologies_that_hwloc_restricted() {
    let Some(shared) = shared() else { return };
    for machine in machines(&shared) {
        let mut runner = TestRunner::new(config(15));
        // hwloc sorts the children of the caches of such a machine differently when it is
        // restricted a second time.
        let most = if has_pus_outside_their_cores(&machine.path) { 1 } else { 2 };
        let result = runner.run(&proptest::collection::vec(cuts(), 1..=most), |cuts| {
            check(&Input::Xml(machine.path.clone()), &cuts);
            Ok(())
        });
        result.unwrap_or_else(|error| panic!("{}: {error}", machine.name));
    }
}
