//! More queries that are measured: close objects, memory, devices and sets.

use super::{Case, Pair, Sets, case, other, own};
use std::ffi::CString;
use topobroker_layout::set::Format;
use topobroker_reader::{Attributes, Distribution, Initiator, LocalNumaNodes, ObjectType, Set};
use topobroker_rival::bitmap::Bitmap;
use topobroker_rival::queries::From;

pub(super) fn near<'a>(pair: Pair<'a>, cases: &mut Vec<Case<'a>>) {
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
            ours.distribute_into(&[ours.root()], Distribution::default(), &mut parts);
            parts.len() as u64
        },
        move || {
            theirs.distribute_and_free(root, &mut raw);
            raw.len() as u64
        },
    ));
}

pub(super) fn memory<'a>(pair: Pair<'a>, cases: &mut Vec<Case<'a>>) {
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
    let (mut found_here, mut found) = (Set::new(), Bitmap::new(&Set::new()));
    cases.push(case(
        "nodeset of a cpuset",
        1,
        move || {
            found_here.clear();
            ours.add_nodes_of(&set, &mut found_here);
            u64::from(found_here.weight().unwrap_or(0))
        },
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

pub(super) fn devices<'a>(pair: Pair<'a>, cases: &mut Vec<Case<'a>>) {
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
            move || own(ours.pci_device(pci.bus_id())),
            move || other(theirs.pci_device(id)),
        ));
    }
}

pub(super) fn sets<'a>(pair: Pair<'a>, cases: &mut Vec<Case<'a>>) {
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
            and.assign_and(&one, &two);
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
            rival.copy_cpuset(&mut copy);
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
