//! Compares how GPUs are dealt to ranks with a model that shares no code with it: the assignment
//! problem between ranks and the places that GPUs have for them.

use topobroker_layout::attributes::{Attributes, Bridge, OsDeviceKind, Pci};
use topobroker_layout::depth::Depth;
use topobroker_layout::description::{Description, Distances, Object as Described};
use topobroker_layout::encode::to_bytes;
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::set::Set;
use topobroker_reader::{Archive, Object, Topology, devices::NearTo};
use topobroker_samples::synthetic;

const NODES: usize = 10_000;

#[test]
fn no_gpu_is_idle_while_ranks_share_another_and_no_way_to_deal_them_is_nearer() {
    let machines = [
        "Package:1 Core:4 PU:2",
        "Package:2 NUMANode:1 Core:3 PU:1",
        "Package:2 Group:2 NUMANode:1 Core:2 PU:2",
        "Package:4 NUMANode:1 Core:2 PU:1",
    ];
    let machines = machines.map(synthetic);
    let mut random = fastrand::Rng::with_seed(54);
    let (mut shared, mut apart) = (0, 0);
    for node in 0..NODES {
        let machine = with_gpus(&machines[node % machines.len()], &mut random);
        let archive = to_bytes(&machine).unwrap();
        let archive = Archive::open(&archive).unwrap();
        let topology = archive.topology();
        let gpus: Vec<Object<'_>> = topology.gpus().collect();
        let ranks = any_ranks(topology, &mut random);
        let near: Vec<NearTo<'_, '_>> = ranks.iter().map(NearTo::Pus).collect();
        let given = topology.assign(&gpus, &near, 1);
        assert_eq!(given.len(), ranks.len());
        assert_eq!(topology.assign(&gpus, &near, 1), given);
        let loads = gpus.iter().map(|gpu| {
            let ranks = given.iter().filter(|it| *it == gpu).count();
            ranks / gpu.mig_instances().count().max(1)
        });
        let (least, most) = (loads.clone().min().unwrap(), loads.max().unwrap());
        // A GPU that is full begins its next round.
        assert!(most <= least + 1, "{node}: {least} to {most}");
        let costs: Vec<Vec<i128>> = ranks
            .iter()
            .map(|set| gpus.iter().map(|gpu| cost(topology, set, *gpu)).collect())
            .collect();
        let of = |rank: usize, gpu: &Object<'_>| {
            costs[rank][gpus.iter().position(|it| it == gpu).unwrap()]
        };
        let ours: i128 = given.iter().enumerate().map(|(rank, gpu)| of(rank, gpu)).sum();
        let best = least_cost(&costs, &gpus);
        assert_eq!(ours, best, "{node}: {ranks:?} {given:?}");
        shared += usize::from(most > 1);
        let nearest =
            |(rank, own): (usize, &Object<'_>)| of(rank, own) == *costs[rank].iter().min().unwrap();
        apart += usize::from(!given.iter().enumerate().all(nearest));
        // Several for each rank: different ones, and as evenly.
        let several = topology.assign(&gpus, &near, 2);
        for pair in several.chunks(2.min(gpus.len())) {
            assert!(pair.len() < 2 || pair[0] != pair[1]);
        }
        let unused = gpus.iter().any(|gpu| !several.contains(gpu));
        if unused {
            let is_once =
                |gpu: &Object<'_>| several.iter().filter(|it| *it == gpu).count() <= parts(*gpu);
            assert!(gpus.iter().all(is_once), "{node}: {several:?}");
        }
    }
    assert!(shared > NODES / 10 && apart > NODES / 10, "{shared} {apart}");
}

fn parts(gpu: Object<'_>) -> usize {
    gpu.mig_instances().count().max(1)
}

/// Nearness first, then latency.
fn cost(topology: Topology<'_>, set: &Set, gpu: Object<'_>) -> i128 {
    let path = topology.device_path(set, gpu);
    let latency = path.latency.and_then(|it| u32::try_from(it).ok()).unwrap_or(u32::MAX);
    ((path.nearness as i128) << 56) + i128::from(latency)
}

/// The least cost of all assignments in which no GPU begins its next round while another one is not
/// full: the Hungarian method, with a row for each rank and a column for each place of a GPU.
fn least_cost(costs: &[Vec<i128>], gpus: &[Object<'_>]) -> i128 {
    const ROUND: i128 = 1 << 90;
    let mut columns: Vec<(usize, i128)> = Vec::new();
    let mut round = 0;
    while columns.len() < costs.len() {
        for (place, gpu) in gpus.iter().enumerate() {
            columns.extend(std::iter::repeat_n((place, round), parts(*gpu)));
        }
        round += 1;
    }
    let value = |row: usize, column: usize| {
        let (gpu, round) = columns[column];
        costs[row][gpu] + round * ROUND
    };
    let (rows, count) = (costs.len(), columns.len());
    // Potentials of rows and columns, and the row of each column; 0 stands for none.
    let (mut of_row, mut of_column) = (vec![0_i128; rows + 1], vec![0_i128; count + 1]);
    let mut row_of = vec![0_usize; count + 1];
    for row in 1..=rows {
        row_of[0] = row;
        let (mut least, mut before) = (vec![i128::MAX; count + 1], vec![0; count + 1]);
        let mut is_used = vec![false; count + 1];
        let mut column = 0;
        while row_of[column] != 0 {
            is_used[column] = true;
            let (own, mut step, mut next) = (row_of[column], i128::MAX, 0);
            for other in (1..=count).filter(|it| !is_used[*it]) {
                let reduced = value(own - 1, other - 1) - of_row[own] - of_column[other];
                if reduced < least[other] {
                    (least[other], before[other]) = (reduced, column);
                }
                if least[other] < step {
                    (step, next) = (least[other], other);
                }
            }
            for other in 0..=count {
                if is_used[other] {
                    of_row[row_of[other]] += step;
                    of_column[other] -= step;
                } else if other > 0 {
                    least[other] -= step;
                }
            }
            column = next;
        }
        while column != 0 {
            row_of[column] = row_of[before[column]];
            column = before[column];
        }
    }
    let cost = |column: usize| costs[row_of[column] - 1][columns[column - 1].0];
    (1..=count).filter(|column| row_of[*column] != 0).map(cost).sum()
}

/// The machine with up to eight GPUs below objects of any kind, some of them with MIG instances,
/// and with any latencies between its NUMA nodes.
fn with_gpus(machine: &Description, random: &mut fastrand::Rng) -> Description {
    let mut machine = machine.clone();
    let places = |machine: &Description, kinds: &[ObjectType]| -> Vec<usize> {
        let all = machine.objects.iter().enumerate();
        all.filter(|(_, it)| kinds.contains(&it.object_type)).map(|(place, _)| place).collect()
    };
    let kinds = [ObjectType::Package, ObjectType::Package, ObjectType::Group, ObjectType::Machine];
    let mut above: Vec<usize> = (0..random.usize(1..=8))
        .map(|_| {
            let kind = kinds[random.usize(..kinds.len())];
            random.choice(places(&machine, &[kind])).unwrap_or(0)
        })
        .collect();
    // Devices of a level are in the order of their parents.
    above.sort_by_key(|place| tree_order(&machine, *place));
    for (number, above) in (0_u32..).zip(above) {
        let bus = u8::try_from(number).unwrap();
        let pci = Pci { bus, class_id: 0x0302, vendor_id: 0x10de, ..Pci::default() };
        let instances = random.usize(1..=7);
        let instances: Vec<String> =
            (0..instances).map(|it| format!("MIG-{number}-{it}")).collect();
        let is_parted = random.usize(..6) == 0;
        let mut parent = above;
        for (object_type, depth, attributes) in [
            (ObjectType::Bridge, Depth::Bridge, Attributes::Bridge(Bridge::default())),
            (ObjectType::PCIDevice, Depth::PciDevice, Attributes::Pci(pci)),
            (
                ObjectType::OSDevice,
                Depth::OsDevice,
                Attributes::OsDevice { kind: OsDeviceKind::CoProcessor },
            ),
        ] {
            let place = machine.objects.len();
            let is_os = depth == Depth::OsDevice;
            let facts = (depth == Depth::PciDevice && is_parted)
                .then(|| ("MIGInstances".to_owned(), instances.join(",")));
            machine.objects.push(Described {
                object_type,
                depth,
                logical_index: number,
                gp_index: 1_000_000 + place as u64,
                subtype: is_os.then(|| "CUDA".to_owned()),
                name: is_os.then(|| format!("cuda{number}")),
                facts: facts.into_iter().collect(),
                attributes,
                parent: Some(parent),
                ..Described::default()
            });
            machine.objects[parent].children.push(place);
            parent = place;
        }
    }
    let objects = places(&machine, &[ObjectType::NUMANode]);
    let count = objects.len();
    let mut values = vec![10; count * count];
    for (one, other) in (0..count).flat_map(|one| (0..one).map(move |other| (one, other))) {
        let value = random.u64(11..40);
        (values[one * count + other], values[other * count + one]) = (value, value);
    }
    let name = Some("NUMALatency".to_owned());
    // From the operating system, of latency.
    machine.distances = vec![Distances { name, kind: 5, objects, values }];
    machine
}

/// The places of the children on the way from the root to an object.
fn tree_order(machine: &Description, place: usize) -> Vec<usize> {
    let mut way = Vec::new();
    let mut place = place;
    while let Some(parent) = machine.objects[place].parent {
        way.push(machine.objects[parent].children.iter().position(|it| *it == place).unwrap());
        place = parent;
    }
    way.reverse();
    // Own devices come after those of the children.
    way.push(usize::MAX);
    way
}

/// Up to 24 ranks, bound to objects of one kind in turn, or each to any PUs.
fn any_ranks(topology: Topology<'_>, random: &mut fastrand::Rng) -> Vec<Set> {
    let kinds = [ObjectType::PU, ObjectType::Core, ObjectType::Package, ObjectType::Machine];
    let all: Vec<Set> = topology
        .objects_with_type(kinds[random.usize(..kinds.len())])
        .filter_map(Object::cpuset)
        .collect();
    let pus = topology.root().cpuset_weight().unwrap();
    let is_any = random.usize(..3) == 0;
    let any = |random: &mut fastrand::Rng| {
        (0..random.u32(1..=3)).map(|_| random.u32(..pus)).collect::<Set>()
    };
    (0..random.usize(1..=24))
        .map(|rank| if is_any { any(random) } else { all[rank % all.len()].clone() })
        .collect()
}
