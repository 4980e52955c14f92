//! The queries, on both sides. That both find the same is what `tests/it/queries.rs` is for.

pub(crate) use crate::pair::Pair;
use crate::pair::Sets;
use std::ffi::CString;
use topobroker_benches::rival_queries::{Bitmap, From, RivalObject};
use topobroker_layout::set::Format;
use topobroker_reader::{
    Attributes, Initiator, LocalNumaNodes, Object, ObjectType, Set, TypeDepth,
};

/// A query in both forms.
pub(crate) struct Case<'a> {
    pub(crate) name: &'static str,
    /// Operations in a run of either.
    pub(crate) operations: usize,
    pub(crate) ours: Box<dyn FnMut() -> u64 + 'a>,
    pub(crate) theirs: Box<dyn FnMut() -> u64 + 'a>,
}

fn case<'a>(
    name: &'static str,
    operations: usize,
    ours: impl FnMut() -> u64 + 'a,
    theirs: impl FnMut() -> u64 + 'a,
) -> Case<'a> {
    Case { name, operations, ours: Box::new(ours), theirs: Box::new(theirs) }
}

/// What stands for an object that was found, so that nothing is left out: on each side what costs
/// nothing more.
fn own(object: Option<Object<'_>>) -> u64 {
    object.map_or(0, |object| u64::from(object.id()))
}

fn other(object: Option<RivalObject<'_>>) -> u64 {
    object.map_or(0, |object| object.address() as u64)
}

pub(crate) fn every_query(pair: Pair<'_>) -> Vec<Case<'_>> {
    let mut cases = Vec::new();
    traversal(pair, &mut cases);
    covering(pair, &mut cases);
    inside(pair, &mut cases);
    above(pair, &mut cases);
    by_index(pair, &mut cases);
    near(pair, &mut cases);
    memory(pair, &mut cases);
    devices(pair, &mut cases);
    sets(pair, &mut cases);
    cases
}

fn traversal<'a>(pair: Pair<'a>, cases: &mut Vec<Case<'a>>) {
    let Pair { ours, theirs } = pair;
    let depths = move || {
        let nodes = ObjectType::NUMANode.special_depth();
        (0..i32::try_from(ours.depth()).unwrap_or(0)).chain(nodes)
    };
    let count = depths().map(|depth| ours.objects_at_depth(depth).len()).sum();
    let visit = move |number: fn(Object<'a>) -> u64| -> u64 {
        depths().flat_map(|depth| ours.objects_at_depth(depth)).map(number).sum()
    };
    let weight = |object: Object<'a>| object.cpuset_weight().map_or(0, u64::from);
    let index = |object: Object<'a>| u64::from(object.logical_index());
    cases.extend([
        case(
            "traversal, an object, with weights",
            count,
            move || visit(weight),
            move || theirs.traverse(true),
        ),
        case("traversal, an object", count, move || visit(index), move || theirs.traverse(false)),
    ]);
    fn descend(object: Object<'_>) -> u64 {
        u64::from(object.id()) + object.children().map(descend).sum::<u64>()
    }
    let root = pair.their(ours.root());
    let normal = ours.objects().filter(|object| object.object_type().is_normal()).count();
    cases.push(case(
        "traversal of the tree, an object",
        normal,
        move || descend(ours.root()),
        move || theirs.descend(root),
    ));
}

fn covering<'a>(pair: Pair<'a>, cases: &mut Vec<Case<'a>>) {
    let Pair { ours, theirs } = pair;
    let one = || Sets::new(pair.some_pus(1).into_iter().filter_map(Object::os_index).collect());
    let kinds = [
        ("covering, contiguous", pair.contiguous(50, 60)),
        ("covering, sparse", pair.sparse()),
        ("covering, random half", pair.random_half()),
        ("covering, one PU", one()),
    ];
    for (name, set) in kinds {
        let bitmap = Bitmap::new(&set.ours);
        cases.push(case(
            name,
            1,
            move || own(ours.covering(&set.ours)),
            move || other(theirs.covering(&bitmap)),
        ));
    }
    let Some(depth) = ours.type_depth(ObjectType::Core).depth() else { return };
    let (first, bitmap) = (pair.contiguous(80, 90), pair.contiguous(80, 90).theirs);
    cases.push(case(
        "first core covering",
        1,
        move || own(ours.objects_covering(&first.ours, depth).next()),
        move || other(theirs.objects_covering(&bitmap, depth).next()),
    ));
    let (all, bitmap) = (pair.random_half(), pair.random_half().theirs);
    cases.push(case(
        "all cores covering, random half",
        1,
        move || ours.objects_covering(&all.ours, depth).map(|object| own(Some(object))).sum(),
        move || theirs.objects_covering(&bitmap, depth).map(|object| other(Some(object))).sum(),
    ));
}

fn inside<'a>(pair: Pair<'a>, cases: &mut Vec<Case<'a>>) {
    let Pair { ours, theirs } = pair;
    let core = ours.type_depth(ObjectType::Core).depth().unwrap_or(0);
    let pu = ours.type_depth(ObjectType::PU).depth().unwrap_or(0);
    let counted = [
        ("cores inside counted, contiguous", core, pair.contiguous(10, 60)),
        ("cores inside counted, random half", core, pair.random_half()),
        ("PUs inside counted, random half", pu, pair.random_half()),
    ];
    for (name, depth, Sets { ours: set, theirs: bitmap }) in counted {
        cases.push(case(
            name,
            1,
            move || ours.inside(&set).count_at_depth(depth) as u64,
            move || u64::from(theirs.count_inside(&bitmap, depth)),
        ));
    }
    let listed = [
        ("cores inside, contiguous", core, pair.contiguous(10, 60)),
        ("cores inside, random half", core, pair.random_half()),
        ("PUs inside, random half", pu, pair.random_half()),
    ];
    for (name, depth, Sets { ours: set, theirs: bitmap }) in listed {
        let index = |object: Object<'_>| u64::from(object.id());
        cases.push(case(
            name,
            1,
            move || ours.inside(&set).objects_at_depth(depth).map(index).sum(),
            move || theirs.sum_inside(&bitmap, depth),
        ));
    }
    let Sets { ours: set, theirs: bitmap } = pair.contiguous(50, 90);
    cases.push(case(
        "first core inside",
        1,
        move || own(ours.inside(&set).objects_at_depth(core).next()),
        move || other(theirs.objects_inside(&bitmap, core).next()),
    ));
    let largest = [
        ("largest inside, contiguous", pair.contiguous(10, 60)),
        ("largest inside, random half", pair.random_half()),
    ];
    for (name, Sets { ours: set, theirs: bitmap }) in largest {
        cases.push(case(
            name,
            1,
            move || ours.inside(&set).largest().map(|object| own(Some(object))).sum(),
            move || theirs.sum_largest(&bitmap),
        ));
    }
    let Sets { ours: set, theirs: bitmap } = pair.contiguous(30, 90);
    cases.push(case(
        "first largest inside",
        1,
        move || own(ours.inside(&set).first_largest()),
        move || other(theirs.first_largest(&bitmap)),
    ));
}

/// Pairs and objects that are looked at in turn, so that caches do not know them by heart.
const TURNS: usize = 4096;

fn above<'a>(pair: Pair<'a>, cases: &mut Vec<Case<'a>>) {
    let Pair { theirs, .. } = pair;
    let pus = pair.some_pus(2 * TURNS);
    let rivals: Vec<RivalObject<'a>> = pus.iter().map(|pu| pair.their(*pu)).collect();
    let (pairs, rival_pairs) = (pus.clone(), rivals.clone());
    cases.push(case(
        "common ancestor of PUs",
        TURNS,
        move || {
            let pairs = pairs.as_chunks::<2>().0.iter();
            pairs.map(|[one, two]| own(Some(one.common_ancestor(*two)))).sum()
        },
        move || {
            let pairs = rival_pairs.as_chunks::<2>().0.iter();
            pairs.map(|[one, two]| other(theirs.common_ancestor(*one, *two))).sum()
        },
    ));
    let mut of_each =
        |name, ours: fn(Object<'a>) -> u64, their: fn(Pair<'a>, RivalObject<'a>) -> u64| {
            let (pus, rivals) = (pus.clone(), rivals.clone());
            cases.push(case(
                name,
                pus.len(),
                move || pus.iter().map(|pu| ours(*pu)).sum(),
                move || rivals.iter().map(|pu| their(pair, *pu)).sum(),
            ));
        };
    of_each(
        "ancestor by type",
        |pu| own(pu.ancestor_with_type(ObjectType::Package)),
        |pair, pu| other(pair.theirs.ancestor_with_type(pu, ObjectType::Package)),
    );
    of_each(
        "ancestor by depth",
        |pu| own(pu.ancestor_at_depth(1)),
        |pair, pu| other(pair.theirs.ancestor_at_depth(pu, 1)),
    );
    of_each(
        "shared cache",
        |pu| own(pu.shared_cache()),
        |pair, pu| other(pair.theirs.shared_cache(pu)),
    );
    of_each(
        "in subtree",
        |pu| u64::from(pu.is_in_subtree(pu.topology().root())),
        |pair, pu| {
            let root = pair.theirs.object(0, 0);
            u64::from(root.is_some_and(|root| pair.theirs.is_in_subtree(pu, root)))
        },
    );
    of_each(
        "core with the same locality",
        |pu| own(pu.with_same_locality(ObjectType::Core, None, None)),
        |pair, pu| other(pair.theirs.with_same_locality(pu, ObjectType::Core)),
    );
}

fn by_index<'a>(pair: Pair<'a>, cases: &mut Vec<Case<'a>>) {
    let Pair { ours, theirs } = pair;
    let pus = pair.some_pus(TURNS);
    let (indexes, depth) =
        (pus.iter().map(|pu| pu.logical_index()), pus.first().map(|pu| pu.depth()));
    let (depth, indexes) = (depth.unwrap_or(0), indexes.collect::<Vec<u32>>());
    let again = indexes.clone();
    cases.push(case(
        "object by depth and index",
        TURNS,
        move || indexes.iter().map(|index| own(ours.object_at_depth(depth, *index))).sum(),
        move || again.iter().map(|index| other(theirs.object(depth, *index))).sum(),
    ));
    let indexes: Vec<u32> = pus.iter().filter_map(|pu| pu.os_index()).collect();
    let again = indexes.clone();
    cases.push(case(
        "PU by OS index",
        TURNS,
        move || indexes.iter().map(|index| own(ours.pu_by_os_index(*index))).sum(),
        move || again.iter().map(|index| other(theirs.pu_by_os_index(*index))).sum(),
    ));
    let nodes: Vec<u32> =
        ours.objects_with_type(ObjectType::NUMANode).filter_map(Object::os_index).collect();
    let again = nodes.clone();
    cases.push(case(
        "NUMA node by OS index",
        nodes.len(),
        move || nodes.iter().map(|index| own(ours.numa_node_by_os_index(*index))).sum(),
        move || again.iter().map(|index| other(theirs.numa_node_by_os_index(*index))).sum(),
    ));
    let kinds = [ObjectType::Package, ObjectType::Core, ObjectType::PU, ObjectType::NUMANode];
    let number = |depth: i32| u64::from(depth.unsigned_abs());
    cases.push(case(
        "depth of a type",
        kinds.len(),
        move || {
            let depths = kinds.iter().map(|kind| match ours.type_depth(*kind) {
                TypeDepth::Depth(depth) => depth,
                TypeDepth::Unknown => -1,
                TypeDepth::Multiple => -2,
            });
            depths.map(number).sum()
        },
        move || kinds.iter().map(|kind| number(theirs.type_depth(*kind))).sum(),
    ));
}

fn near<'a>(pair: Pair<'a>, cases: &mut Vec<Case<'a>>) {
    let Pair { ours, theirs } = pair;
    let Some(core) = ours.objects_with_type(ObjectType::Core).nth(1) else { return };
    let rival = pair.their(core);
    for (name, most) in [("closest 8 cores", 8), ("closest cores, all", 4096)] {
        cases.push(case(
            name,
            1,
            move || core.closest().take(most as usize).map(|object| own(Some(object))).sum(),
            move || theirs.sum_closest(rival, most),
        ));
    }
    let mut parts = vec![Set::new(); 16];
    let (root, mut raw) = (pair.their(ours.root()), vec![std::ptr::null_mut(); 16]);
    cases.push(case(
        "distribute 16",
        1,
        move || {
            ours.distribute_into(&[ours.root()], i32::MAX, false, &mut parts);
            parts.len() as u64
        },
        move || {
            theirs.distribute_and_free(root, &mut raw);
            raw.len() as u64
        },
    ));
}

fn memory<'a>(pair: Pair<'a>, cases: &mut Vec<Case<'a>>) {
    let Pair { ours, theirs } = pair;
    let core = ours.objects_with_type(ObjectType::Core).last().unwrap_or(ours.root());
    let rival = pair.their(core);
    let larger = LocalNumaNodes::LARGER_LOCALITY;
    cases.push(case(
        "local NUMA nodes of a core",
        1,
        move || core.local_numa_nodes(larger).map(|node| own(Some(node))).sum(),
        move || theirs.sum_local(From::Object(rival), larger.bits()),
    ));
    let Sets { ours: set, theirs: bitmap } = Sets::new(core.cpuset().unwrap_or_default());
    cases.push(case(
        "local NUMA nodes of a set",
        1,
        move || ours.local_numa_nodes(&set, larger).map(|node| own(Some(node))).sum(),
        move || theirs.sum_local(From::Cpuset(&bitmap), larger.bits()),
    ));
    let Sets { ours: set, theirs: bitmap } = pair.contiguous(10, 60);
    let mut found = Bitmap::new(&Set::new());
    cases.push(case(
        "nodeset of a cpuset",
        1,
        move || u64::from(ours.nodeset_of(&set).weight().unwrap_or(0)),
        move || {
            theirs.nodeset_of(&bitmap, &mut found);
            u64::from(found.weight().unsigned_abs())
        },
    ));
    let Sets { ours: set, theirs: bitmap } = Sets::new([0, 2].into_iter().collect());
    let (mut found_here, mut found) = (Set::new(), Bitmap::new(&Set::new()));
    cases.push(case(
        "cpuset of a nodeset",
        1,
        move || {
            found_here.clear();
            ours.add_cpusets_of_nodes(&set, &mut found_here);
            u64::from(found_here.weight().unwrap_or(0))
        },
        move || {
            theirs.cpuset_of_nodes(&bitmap, &mut found);
            u64::from(found.weight().unsigned_abs())
        },
    ));
    let Some(capacity) = ours.memory_attribute("Capacity") else { return };
    let value = |found: Option<u64>| found.unwrap_or(0);
    cases.push(case(
        "best memory target",
        1,
        move || value(capacity.best_target(&Initiator::None).map(|(_, value)| value)),
        move || value(theirs.best_target(0, From::Anywhere).map(|(_, value)| value)),
    ));
    let Some(node) = ours.objects_with_type(ObjectType::NUMANode).last() else { return };
    let rival = pair.their(node);
    cases.push(case(
        "memory attribute value",
        1,
        move || value(capacity.value(node, &Initiator::None)),
        move || value(theirs.memory_value(0, rival, From::Anywhere)),
    ));
    let Some(matrix) = ours.distances().next() else { return };
    let Some(first) = ours.objects_with_type(ObjectType::NUMANode).next() else { return };
    let rivals = (pair.their(first), rival);
    cases.push(case(
        "distance between NUMA nodes",
        1,
        move || value(matrix.between(first, node)),
        move || value(theirs.distance(rivals.0, rivals.1)),
    ));
}

fn devices<'a>(pair: Pair<'a>, cases: &mut Vec<Case<'a>>) {
    let Pair { ours, theirs } = pair;
    if let Some(device) = ours.objects_with_type(ObjectType::OSDevice).last()
        && let Some(name) = device.name()
        && let Ok(text) = CString::new(name)
    {
        let rival = pair.their(device);
        cases.push(case(
            "OS device by name",
            1,
            move || own(ours.os_device(name)),
            move || other(theirs.os_device(&text)),
        ));
        cases.push(case(
            "non-I/O ancestor",
            1,
            move || own(Some(device.non_io_ancestor())),
            move || other(theirs.non_io_ancestor(rival)),
        ));
    }
    if let Some(device) = ours.objects_with_type(ObjectType::PCIDevice).last()
        && let Attributes::Pci(pci) = device.attributes()
    {
        let id = [pci.domain, pci.bus.into(), pci.dev.into(), pci.func.into()];
        cases.push(case(
            "PCI device by bus id",
            1,
            move || own(ours.pci_device(pci.domain, pci.bus, pci.dev, pci.func)),
            move || other(theirs.pci_device(id)),
        ));
    }
}

fn sets<'a>(pair: Pair<'a>, cases: &mut Vec<Case<'a>>) {
    let Pair { ours, .. } = pair;
    let (half, part) = (pair.random_half(), pair.contiguous(10, 60));
    let (set, bitmap) = (half.ours.clone(), Bitmap::new(&half.ours));
    let bits = set.weight().unwrap_or(1) as usize;
    cases.push(case(
        "set, each index",
        bits,
        move || set.iter().map(u64::from).sum(),
        move || bitmap.sum(),
    ));
    let (set, bitmap) = (half.ours.clone(), Bitmap::new(&half.ours));
    cases.push(case(
        "set, weight",
        1,
        move || set.weight().map_or(0, u64::from),
        move || u64::from(bitmap.weight().unsigned_abs()),
    ));
    let all = Sets::new(ours.root().cpuset().unwrap_or_default());
    let (set, bitmap) = (half.ours.clone(), Bitmap::new(&half.ours));
    cases.push(case(
        "set, is included",
        1,
        move || u64::from(set.is_included_in(&all.ours)),
        move || u64::from(bitmap.is_included_in(&all.theirs)),
    ));
    let (one, two) = (half.ours.clone(), part.ours.clone());
    let (first, second) = (Bitmap::new(&one), Bitmap::new(&two));
    let (mut and, mut both) = (Set::new(), Bitmap::new(&Set::new()));
    cases.push(case(
        "set, and",
        1,
        move || {
            and.clone_from(&one);
            and &= &two;
            1
        },
        move || {
            both.set_to_and(&first, &second);
            1
        },
    ));
    let core = ours.objects_with_type(ObjectType::Core).last().unwrap_or(ours.root());
    let (rival, mut own_copy, mut copy) = (pair.their(core), Set::new(), Bitmap::new(&Set::new()));
    cases.push(case(
        "cpuset of an object, copied",
        1,
        move || u64::from(core.copy_cpuset(&mut own_copy)),
        move || {
            copy.copy_cpuset(rival);
            1
        },
    ));
    let text = half.ours.to_string();
    let raw = CString::new(text.clone()).unwrap_or_default();
    let mut parsed = Bitmap::new(&Set::new());
    cases.push(case(
        "set, parse a mask",
        1,
        move || Set::parse(&text, Format::Hwloc).map_or(0, |_| 1),
        move || {
            parsed.parse(&raw);
            1
        },
    ));
    let (set, bitmap, mut buffer) = (half.ours.clone(), half.theirs, vec![0; 1 << 16]);
    cases.push(case(
        "set, print a list",
        1,
        move || set.to_text(Format::List).len() as u64,
        move || u64::from(bitmap.print_list(&mut buffer).unsigned_abs()),
    ));
}
