//! Compares every query with hwloc's own answer: on random synthetic machines, on the reference
//! machines, and for random sets.

use crate::random_cases::{Picks, picks, synthetic};
use proptest::test_runner::{Config, TestRunner};
use topobroker::hwloc::capture;
use topobroker::hwloc::{HwlocTopology as Hwloc, Input};
use topobroker_layout::encode::to_bytes;
use topobroker_reader::{
    Archive, Attributes, CacheKind, Depth, Distribution, Initiator, LocalNumaNodes, NoCpuKind,
    Object, ObjectType, Set, Topology, TypeDepth,
};
use topobroker_rival::bitmap::Bitmap;
use topobroker_rival::queries::{From, Place, Rival, RivalObject};
use topobroker_samples::{machines, shared};

/// One topology, in our archive and in hwloc.
pub(crate) struct Both<'a> {
    pub(crate) ours: Topology<'a>,
    pub(crate) theirs: Rival<'a>,
}

fn place(object: Object<'_>) -> Place {
    (object.depth().raw(), object.logical_index())
}

fn places<'a>(objects: impl Iterator<Item = Object<'a>>) -> Vec<Place> {
    objects.map(place).collect()
}

/// Collects an object and everything below it in the tree of CPUs by recursion, as users of hwloc
/// do.
fn descend<'a>(object: Object<'a>, below: &mut Vec<Object<'a>>) {
    below.push(object);
    object.children().for_each(|child| descend(child, below));
}

fn depth_of(depth: TypeDepth) -> i32 {
    match depth {
        TypeDepth::Depth(depth) => depth.raw(),
        TypeDepth::Unknown => -1,
        TypeDepth::Multiple => -2,
    }
}

impl<'a> Both<'a> {
    fn with(input: &Input, check: impl FnOnce(&Both<'_>)) {
        let hwloc: Hwloc<'_> = topobroker_samples::loaded(input);
        let bytes = to_bytes(&capture(&hwloc).unwrap()).unwrap();
        let opened = Archive::open(&bytes).unwrap();
        let ours = opened.topology();
        check(&Both { ours, theirs: Rival::new(&hwloc) });
    }

    fn their(&self, object: Object<'_>) -> RivalObject<'a> {
        self.theirs.object(object.depth().raw(), object.logical_index()).unwrap()
    }

    fn objects(&self, picks: &Picks) -> [Object<'a>; 4] {
        let count = self.ours.object_count();
        picks.objects.map(|pick| self.ours.objects().nth(pick.index(count)).unwrap())
    }

    fn same(&self, ours: Option<Object<'_>>, theirs: Option<RivalObject<'_>>, what: &str) {
        assert_eq!(ours.map(place), theirs.map(RivalObject::place), "{what}");
    }

    pub(crate) fn check(&self, picks: &Picks) {
        let [one, two, ..] = self.objects(picks);
        let set = picks.set(self.ours, [one, two]);
        let bitmap = Bitmap::new(&set);
        self.check_whole_machine();
        self.check_set(&set, &bitmap, picks);
        self.check_objects(self.objects(picks), picks);
        self.check_memory(&set, &bitmap, self.objects(picks));
        self.check_distribution(picks);
    }

    pub(crate) fn check_closest(&self, one: Object<'_>) {
        for most in [1, 8, 5000] {
            let closest = self.theirs.closest(self.their(one), most).into_iter();
            let closest: Vec<Place> = closest.map(RivalObject::place).collect();
            assert_eq!(places(one.closest().take(most)), closest, "closest to {one:?}");
        }
    }

    fn check_whole_machine(&self) {
        for kind in ObjectType::ALL {
            let (ours, theirs) = (self.ours, self.theirs);
            assert_eq!(depth_of(ours.type_depth(kind)), theirs.type_depth(kind), "{kind:?}");
            if kind.is_normal() {
                let known = |depth: Option<Depth>| depth.map_or(-2, Depth::raw);
                let below = known(ours.type_or_below_depth(kind));
                assert_eq!(below, theirs.type_or_below_depth(kind), "below {kind:?}");
                let above = known(ours.type_or_above_depth(kind));
                assert_eq!(above, theirs.type_or_above_depth(kind), "above {kind:?}");
            }
        }
        for level in 0..6 {
            let group = self.ours.group_depth(level).map_or(-1, Depth::raw);
            assert_eq!(group, self.theirs.group_depth(level), "Group{level}");
            for kind in [
                None,
                Some(CacheKind::Unified),
                Some(CacheKind::Data),
                Some(CacheKind::Instruction),
            ] {
                let ours = depth_of(self.ours.cache_depth(level, kind));
                let number = kind.map_or(-1, |kind| kind.raw().cast_signed());
                let theirs = self.theirs.cache_depth(level, number);
                // Contrary to its documentation, hwloc 2.9 looks at data caches only.
                match (self.has_instruction_cache(level), kind) {
                    (true, None) => assert_eq!(ours, -2, "L{level}"),
                    (true, Some(CacheKind::Instruction)) => {
                        assert!(ours >= 0 && theirs == -1, "L{level}i")
                    }
                    _ => assert_eq!(ours, theirs, "L{level} {kind:?}"),
                }
            }
        }
        let parents = depth_of(self.ours.memory_parents_depth());
        assert_eq!(parents, self.theirs.memory_parents_depth());
        for index in 0..5000 {
            let pu = self.ours.pu_by_os_index(index);
            self.same(pu, self.theirs.pu_by_os_index(index), "PU by OS index");
            if index > 300 && pu.is_none() {
                break;
            }
            let node = self.ours.numa_node_by_os_index(index);
            self.same(node, self.theirs.numa_node_by_os_index(index), "node by OS index");
        }
    }

    fn has_instruction_cache(&self, level: u32) -> bool {
        let mut caches = self.ours.objects().filter(|it| it.object_type().is_instruction_cache());
        caches.any(|it| matches!(it.attributes(), Attributes::Cache(cache) if cache.depth == level))
    }

    fn check_set(&self, set: &Set, bitmap: &Bitmap, picks: &Picks) {
        let (ours, theirs) = (self.ours, self.theirs);
        self.same(ours.covering(set), theirs.covering(bitmap), "covering");
        self.same(ours.cache_covering(set), theirs.cache_covering(bitmap), "cache covering");
        let inside = ours.inside(set);
        self.same(inside.first_largest(), theirs.first_largest(bitmap), "first largest");
        if set.is_included_in(&ours.root().cpuset().unwrap()) {
            let largest: Vec<Place> =
                theirs.largest(bitmap, 5000).unwrap().into_iter().map(RivalObject::place).collect();
            assert_eq!(places(inside.largest()), largest, "largest inside {set}");
        }
        let depths = (0..ours.depth()).map(Depth::Normal);
        for depth in depths.chain([Depth::NumaNode, Depth::MemCache]) {
            let raw = depth.raw();
            let what = format!("{set} at depth {depth}");
            let found = places(inside.objects_at_depth(depth));
            let expected: Vec<Place> =
                theirs.objects_inside(bitmap, raw).map(RivalObject::place).collect();
            assert_eq!(found, expected, "inside {what}");
            let count = inside.count_at_depth(depth);
            assert_eq!(count, found.len(), "count inside {what}");
            assert_eq!(count, theirs.count_inside(bitmap, raw) as usize, "count inside {what}");
            let nth = inside.object_at_depth(depth, picks.count);
            let index = u32::try_from(picks.count).unwrap();
            self.same(nth, theirs.nth_inside(bitmap, raw, index), &what);
            // The count must be right after one step of the iterator, too.
            let mut rest = inside.objects_at_depth(depth);
            let first = usize::from(rest.next().is_some());
            assert_eq!(first + rest.count(), count, "count after a step inside {what}");
            let covering = places(ours.objects_covering(set, depth));
            let expected: Vec<Place> =
                theirs.objects_covering(bitmap, raw).map(RivalObject::place).collect();
            assert_eq!(covering, expected, "covering {what}");
        }
        for object in self.objects(picks) {
            if !object.object_type().is_io() && object.object_type() != ObjectType::Misc {
                let cpuset = object.cpuset().unwrap();
                assert_eq!(object.covers(set), set.is_included_in(&cpuset));
                assert_eq!(object.intersects(set), set.intersects(&cpuset));
                let within = !cpuset.is_empty() && cpuset.is_included_in(set);
                assert_eq!(object.is_inside(set), within);
                assert_eq!(object.cpuset_weight(), cpuset.weight());
                if within {
                    let index = theirs.index_inside(bitmap, self.their(object));
                    let ours = inside.index_of(object).map(|index| i32::try_from(index).unwrap());
                    assert_eq!(ours, Some(index), "{object:?} in {set}");
                }
            }
            if object.object_type().is_normal() {
                let child = theirs.child_covering(self.their(object), bitmap);
                self.same(object.child_covering(set), child, "child covering");
            }
        }
        let kind = match ours.cpu_kind_of(set) {
            Ok(kind) => {
                let place = ours.cpu_kinds().position(|other| other.cpuset() == kind.cpuset());
                i32::try_from(place.unwrap()).unwrap()
            }
            Err(NoCpuKind::Empty | NoCpuKind::Several | NoCpuKind::Unknown) => -1,
        };
        assert_eq!(kind, theirs.cpu_kind(bitmap), "CPU kind of {set}");
        if !set.is_infinite() {
            let mut found = Bitmap::new(&Set::new());
            theirs.nodeset_of(bitmap, &mut found);
            assert_eq!(ours.nodeset_of(set), found.to_set());
            theirs.cpuset_of_nodes(bitmap, &mut found);
            assert_eq!(ours.cpuset_of_nodes(set), found.to_set());
        }
    }

    fn check_objects(&self, [one, two, ..]: [Object<'a>; 4], picks: &Picks) {
        let theirs = self.theirs;
        let (their_one, their_two) = (self.their(one), self.their(two));
        if one.object_type().is_normal() && two.object_type().is_normal() {
            let common = theirs.common_ancestor(their_one, their_two);
            self.same(Some(one.common_ancestor(two)), common, "common ancestor");
        }
        let pus: Vec<Object<'_>> = self.ours.objects_with_type(ObjectType::PU).collect();
        let pair = [picks.objects[2], picks.objects[3]].map(|pick| pus[pick.index(pus.len())]);
        let common = theirs.common_ancestor(self.their(pair[0]), self.their(pair[1]));
        self.same(Some(pair[0].common_ancestor(pair[1])), common, "common ancestor of PUs");
        let is_below = theirs.is_in_subtree(their_one, their_two);
        assert_eq!(one.is_in_subtree(two), is_below, "{one:?} below {two:?}");
        for depth in (0..self.ours.depth()).map(Depth::Normal) {
            let ancestor = theirs.ancestor_at_depth(their_one, depth.raw());
            self.same(
                one.ancestor_at_depth(depth),
                ancestor,
                &format!("ancestor of {one:?} {} at depth {depth}", one.type_name(true)),
            );
        }
        for kind in ObjectType::ALL {
            let ancestor = theirs.ancestor_with_type(their_one, kind);
            self.same(one.ancestor_with_type(kind), ancestor, "ancestor with type");
            let same_place = theirs.with_same_locality(their_one, kind);
            let ours = one.with_same_locality(kind, None, None);
            self.same(ours, same_place, &format!("{kind:?} at the place of {one:?}"));
            let index = u32::try_from(picks.count % 5).unwrap();
            let above = (one.object_type(), one.logical_index());
            // hwloc crashes on types without sets.
            if (kind.is_normal() || kind.is_memory())
                && one.object_type().is_normal()
                && depth_of(self.ours.type_depth(one.object_type())) >= 0
            {
                let below = theirs.below(above, (kind, index));
                self.same(one.objects_inside(kind).nth(index as usize), below, "object below");
            }
        }
        self.same(
            Some(one.non_io_ancestor()),
            theirs.non_io_ancestor(their_one),
            "non-I/O ancestor",
        );
        let (mut below, mut folded) = (Vec::new(), Vec::new());
        descend(one, &mut below);
        one.subtree().for_each(|object| folded.push(object));
        assert_eq!(folded, below, "below {one:?}");
        assert_eq!(one.subtree().collect::<Vec<_>>(), below, "below {one:?}");
        if one.extent_is_own() {
            self.same(one.shared_cache(), theirs.shared_cache(their_one), "shared cache");
        }
        if one.object_type().is_normal() {
            self.check_closest(one);
        }
        match one.attributes() {
            Attributes::Pci(pci) => {
                let bus_id = [pci.domain, pci.bus.into(), pci.dev.into(), pci.func.into()];
                let ours = self.ours.pci_device(pci.bus_id());
                self.same(ours, theirs.pci_device(bus_id), "PCI device");
                let text = pci.bus_id().to_string();
                self.same(self.ours.pci_device_by_bus_id(&text), theirs.pci_device(bus_id), &text);
            }
            Attributes::OsDevice { .. } => {
                let name = one.name().unwrap();
                let text = std::ffi::CString::new(name).unwrap();
                self.same(self.ours.os_device(name), theirs.os_device(&text), name);
                assert!(self.ours.objects_with_name(name).any(|object| object == one));
            }
            Attributes::Bridge(bridge) => {
                for bus in [0, bridge.secondary_bus, bridge.subordinate_bus, 255] {
                    let domain = bridge.downstream_domain;
                    let covers = theirs.covers_pci_bus(their_one, domain, bus.into());
                    assert_eq!(one.covers_pci_bus(domain, bus), covers);
                }
            }
            _ => {}
        }
        let nodes: Vec<Object<'_>> = self.ours.objects_with_type(ObjectType::NUMANode).collect();
        for node in &nodes {
            for kind in ObjectType::ALL {
                let ancestor = self.theirs.ancestor_with_type(self.their(*node), kind);
                self.same(node.ancestor_with_type(kind), ancestor, "ancestor of a node");
            }
        }
        let matrix = self.ours.distances().next();
        for (from, to) in nodes.iter().zip(nodes.iter().rev()) {
            let ours = matrix.and_then(|matrix| matrix.between(*from, *to));
            assert_eq!(ours, theirs.distance(self.their(*from), self.their(*to)));
        }
    }

    fn check_memory(&self, set: &Set, bitmap: &Bitmap, [one, ..]: [Object<'a>; 4]) {
        let (ours, theirs) = (self.ours, self.theirs);
        let kinds = [
            LocalNumaNodes::SAME_LOCALITY,
            LocalNumaNodes::LARGER_LOCALITY,
            LocalNumaNodes::SMALLER_LOCALITY,
            LocalNumaNodes::LARGER_LOCALITY | LocalNumaNodes::SMALLER_LOCALITY,
            LocalNumaNodes::ALL,
        ];
        // hwloc 2.12.1 and later have a flag for it.
        let meets = |node: &Object<'a>| node.cpuset().unwrap().intersects(set);
        let intersecting: Vec<Object<'a>> = nodes_of(ours).filter(meets).collect();
        let found: Vec<_> =
            ours.local_numa_nodes(set, LocalNumaNodes::INTERSECT_LOCALITY).collect();
        assert!(intersecting.iter().all(|node| found.contains(node)), "{set}: {found:?}");
        let exact =
            |node: &Object<'a>| intersecting.contains(node) || node.cpuset().as_ref() == Some(set);
        assert!(found.iter().all(exact), "{set}: {found:?}");
        for which in kinds {
            let expected = theirs.local_numa_nodes(From::Cpuset(bitmap), which.bits());
            let expected: Vec<Place> = expected.into_iter().map(RivalObject::place).collect();
            let found = places(ours.local_numa_nodes(set, which));
            assert_eq!(found, expected, "{which:?} to {set}");
            let expected = theirs.local_numa_nodes(From::Object(self.their(one)), which.bits());
            let expected: Vec<Place> = expected.into_iter().map(RivalObject::place).collect();
            assert_eq!(places(one.local_numa_nodes(which)), expected, "{which:?} to {one:?}");
        }
        for attribute in ours.memory_attributes() {
            let name = std::ffi::CString::new(attribute.name()).unwrap();
            let id = theirs.memory_attribute(&name);
            assert_eq!(i32::try_from(attribute.id()).unwrap(), id, "{name:?}");
            let initiators = [
                (Initiator::None, From::Anywhere),
                (Initiator::Cpuset(set.clone()), From::Cpuset(bitmap)),
                (Initiator::Object(one), From::Object(self.their(one))),
            ];
            let (initiators, nodes) = (&initiators, ours.objects_with_type(ObjectType::NUMANode));
            for (from, their_from) in initiators {
                for node in nodes_of(ours) {
                    let value = theirs.memory_value(id, self.their(node), *their_from);
                    assert_eq!(attribute.value(node, from), value, "{name:?} from {from:?}");
                }
                let best = attribute.best_target(from).map(|(node, value)| (place(node), value));
                let expected = theirs.best_target(id, *their_from);
                let expected = expected.map(|(node, value)| (node.place(), value));
                assert_eq!(best, expected, "best {name:?} from {from:?}");
            }
            for node in nodes {
                let best = attribute.best_initiator(node).map(|(_, value)| value);
                assert_eq!(best, theirs.best_initiator(id, self.their(node)), "{name:?}");
            }
        }
    }

    fn check_distribution(&self, picks: &Picks) {
        let [one, two, ..] = self.objects(picks).map(Object::non_io_ancestor);
        let until = if picks.until < 0 { i32::MAX } else { picks.until };
        for roots in [vec![self.ours.root()], vec![one], vec![one, two]] {
            let weight: u32 = roots.iter().filter_map(|root| root.cpuset_weight()).sum();
            if weight == 0 || picks.count == 0 {
                continue;
            }
            let how = Distribution { until: Depth::from_raw(picks.until), reverse: picks.reverse };
            let ours = self.ours.distribute(&roots, picks.count, how);
            let roots: Vec<_> = roots.into_iter().map(|root| self.their(root)).collect();
            let theirs = self.theirs.distribute(&roots, picks.count, until, picks.reverse);
            assert_eq!(ours, theirs, "{picks:?}");
        }
    }
}

fn nodes_of(topology: Topology<'_>) -> impl Iterator<Item = Object<'_>> {
    topology.objects_with_type(ObjectType::NUMANode)
}

trait HasExtent {
    /// Whether the object has sets of its own. Only I/O and Misc objects have none.
    fn extent_is_own(self) -> bool;
}

impl HasExtent for Object<'_> {
    fn extent_is_own(self) -> bool {
        self.object_type().is_normal() || self.object_type().is_memory()
    }
}

/// Number of random machines in one run.
const SYNTHETIC: u32 = 3000;

pub(crate) fn config(cases: u32) -> Config {
    Config { cases, failure_persistence: None, ..Config::default() }
}

#[test]
fn every_query_on_random_synthetic_machines_is_answered_as_hwloc_does() {
    let mut runner = TestRunner::new(config(SYNTHETIC));
    let cases = (synthetic(), proptest::collection::vec(picks(), 3));
    let result = runner.run(&cases, |(text, picks)| {
        Both::with(&Input::Synthetic(text), |both| {
            picks.iter().for_each(|picks| both.check(picks))
        });
        Ok(())
    });
    result.unwrap();
}

#[test]
fn every_query_on_the_reference_machines_is_answered_as_hwloc_does() {
    let Some(shared) = shared() else { return };
    for machine in machines(&shared) {
        Both::with(&Input::Xml(machine.path), |both| {
            let mut runner = TestRunner::new(config(20));
            let result = runner.run(&picks(), |picks| {
                both.check(&picks);
                Ok(())
            });
            result.unwrap_or_else(|error| panic!("{}: {error}", machine.name));
        });
    }
}
