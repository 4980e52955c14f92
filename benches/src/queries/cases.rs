//! The queries that are measured. `broker/tests/it/queries.rs` tests that both sides find the same.

use super::{Case, Pair, Sets, case, near_cases, other, own};
use topobroker_reader::{Depth, Object, ObjectType, TypeDepth};
use topobroker_rival::bitmap::Bitmap;
use topobroker_rival::queries::RivalObject;

/// All queries, on this topology.
pub fn every_query(pair: Pair<'_>) -> Vec<Case<'_>> {
    let mut cases = Vec::new();
    traversal(pair, &mut cases);
    covering(pair, &mut cases);
    inside(pair, &mut cases);
    above(pair, &mut cases);
    by_index(pair, &mut cases);
    near_cases::near(pair, &mut cases);
    near_cases::memory(pair, &mut cases);
    near_cases::devices(pair, &mut cases);
    near_cases::sets(pair, &mut cases);
    cases
}

fn traversal<'a>(pair: Pair<'a>, cases: &mut Vec<Case<'a>>) {
    let Pair { ours, theirs } = pair;
    let depths = move || (0..ours.depth()).map(Depth::Normal).chain([Depth::NumaNode]);
    let count = depths().map(|depth| ours.objects_at_depth(depth).len()).sum();
    let objects = move || depths().flat_map(move |depth| ours.objects_at_depth(depth));
    let weight = |object: Object<'a>| object.cpuset_weight().map_or(0, u64::from);
    let index = |object: Object<'a>| u64::from(object.logical_index());
    cases.extend([
        case(
            "traversal, an object, with weights",
            count,
            move || objects().map(weight).sum(),
            move || theirs.traverse(true),
        ),
        case(
            "traversal, an object",
            count,
            move || objects().map(index).sum(),
            move || theirs.traverse(false),
        ),
    ]);
    let root = pair.their(ours.root());
    let normal = ours.objects().filter(|object| object.object_type().is_normal()).count();
    let normal_objects =
        move || (0..ours.depth()).flat_map(move |it| ours.objects_at_depth(Depth::Normal(it)));
    cases.push(case(
        "children, an object",
        normal,
        move || {
            let children = normal_objects().flat_map(Object::children);
            children.map(|child| own(Some(child))).sum()
        },
        move || theirs.sum_children(),
    ));
    cases.push(case(
        "traversal of the tree, an object",
        normal,
        move || ours.root().subtree().map(|object| u64::from(object.id())).sum(),
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
        move || other(theirs.objects_covering(&bitmap, depth.raw()).next()),
    ));
    let (all, bitmap) = (pair.random_half(), pair.random_half().theirs);
    cases.push(case(
        "all cores covering, random half",
        1,
        move || ours.objects_covering(&all.ours, depth).map(|object| own(Some(object))).sum(),
        move || {
            theirs.objects_covering(&bitmap, depth.raw()).map(|object| other(Some(object))).sum()
        },
    ));
}

fn inside<'a>(pair: Pair<'a>, cases: &mut Vec<Case<'a>>) {
    let Pair { ours, theirs } = pair;
    let core = ours.type_depth(ObjectType::Core).depth().unwrap_or(Depth::ROOT);
    let pu = ours.type_depth(ObjectType::PU).depth().unwrap_or(Depth::ROOT);
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
            move || u64::from(theirs.count_inside(&bitmap, depth.raw())),
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
            move || theirs.sum_inside(&bitmap, depth.raw()),
        ));
    }
    let Sets { ours: set, theirs: bitmap } = pair.contiguous(50, 90);
    cases.push(case(
        "first core inside",
        1,
        move || own(ours.inside(&set).objects_at_depth(core).next()),
        move || other(theirs.objects_inside(&bitmap, core.raw()).next()),
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

/// Number of pairs and objects that are asked in turn, so that they are not all in the nearest
/// cache.
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
        |pu| own(pu.ancestor_at_depth(Depth::Normal(1))),
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
    let (depth, indexes) = (depth.unwrap_or(Depth::ROOT), indexes.collect::<Vec<u32>>());
    let again = indexes.clone();
    cases.push(case(
        "object by depth and index",
        TURNS,
        move || indexes.iter().map(|index| own(ours.object_at_depth(depth, *index))).sum(),
        move || again.iter().map(|index| other(theirs.object(depth.raw(), *index))).sum(),
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
                TypeDepth::Depth(depth) => depth.raw(),
                TypeDepth::Unknown => -1,
                TypeDepth::Multiple => -2,
            });
            depths.map(number).sum()
        },
        move || kinds.iter().map(|kind| number(theirs.type_depth(*kind))).sum(),
    ));
}
