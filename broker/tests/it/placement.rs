//! Compares the placement of ranks with Open MPI's: with recorded maps, and with the installed
//! `mpirun`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use topobroker::hwloc::Input;
use topobroker::placement::{
    PlacedRank, PlacementError, Policy, Room, Rules, place, place_on, report,
};
use topobroker_layout::encode::AlignedVec;
use topobroker_reader::{Archive, Object, ObjectType, Set, Topology};
use topobroker_samples::{
    GoldenMap, archived, describe, golden_maps, golden_pus, shared, topology_of,
};

/// The map of the machine with a rank's PUs. Open MPI draws a rank that is not bound as one that is
/// bound to all PUs.
fn drawn(topology: Topology<'_>, set: &Option<Set>) -> Option<String> {
    let all = topology.root().cpuset().unwrap();
    report::locale(topology, set.as_ref().unwrap_or(&all))
}

fn as_mpirun4(policy: Policy) -> Policy {
    Policy { rules: Rules::Mpirun4, ..policy }
}

#[test]
fn ranks_are_mapped_as_open_mpi_4_maps_them() {
    let Some(shared) = shared() else { return };
    let table = std::fs::read_to_string(shared.join("oracles/report-bindings.tsv")).unwrap();
    let mut archives: BTreeMap<&str, AlignedVec> = BTreeMap::new();
    let (mut same, mut different) = (0, Vec::new());
    for line in table.lines().skip(1) {
        let [xml, map_by, rank, locale] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("four columns: {line}");
        };
        let archive =
            archives.entry(xml).or_insert_with(|| archived(shared.join("topologies").join(xml)));
        let opened = Archive::open(archive).unwrap();
        let topology = opened.topology();
        let bind_to = format!("{map_by}:overload-allowed");
        let policy = as_mpirun4(Policy::parse(map_by, Some(&bind_to)).unwrap());
        let rank: usize = rank.parse().unwrap();
        let placed = place(topology, &policy, Some(rank + 1), &[]);
        let placed = placed.map(|ranks| ranks[rank].cpuset.clone());
        let found = match &placed {
            Ok(cpuset) => drawn(topology, cpuset),
            // The reference rows say where ranks are mapped. Binding ranks to objects that the
            // machine does not have is refused, by mpirun too.
            Err(PlacementError::NoObjects { .. }) => {
                let map_by = format!("{map_by}:OVERSUBSCRIBE");
                let unbound = as_mpirun4(Policy::parse(&map_by, Some("none")).unwrap());
                let placed = place(topology, &unbound, Some(rank + 1), &[]).unwrap();
                drawn(topology, &placed[rank].cpuset)
            }
            Err(error) => Some(error.to_string()),
        };
        // On a machine without packages Open MPI draws nothing.
        let found = found.unwrap_or_else(|| "Binding: UNBOUND".to_owned());
        if found == locale {
            same += 1;
        } else {
            different.push(format!("{line}\n  found {found}"));
        }
    }
    different.iter().for_each(|line| println!("{line}"));
    println!("report-bindings.tsv: {same} of {} identical", same + different.len());
    assert!(same * 100 >= (same + different.len()) * 99, "{}", different.join("\n"));
}

/// Outcome of a simulated `mpirun`.
enum Mpirun {
    /// It maps the ranks: the binding of each, as `mpirun` draws it.
    Ranks(Vec<String>),
    Refuses,
    /// It crashes, because it reads uninitialised data of the nodes that it simulates.
    Crashes,
}

fn mpirun(machine: &Path, arguments: &[String]) -> Mpirun {
    let mut command = Command::new("mpirun.openmpi");
    command.args(["--allow-run-as-root", "--mca", "ras", "simulator"]);
    command.args(["--mca", "ras_simulator_num_nodes", "1", "--mca", "ras_simulator_slots", "64"]);
    command.args(["--mca", "ras_simulator_topo_files"]).arg(machine);
    command.args(["--do-not-launch", "--display-devel-map"]).args(arguments).arg("true");
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    let refusals =
        ["cannot be done as specified", "failed to map", "more processes than the ppr", "overload"];
    if refusals.into_iter().any(|refusal| text.contains(refusal)) {
        return Mpirun::Refuses;
    }
    let after = |name: &str| {
        let lines = text.lines().filter_map(|line| line.trim().strip_prefix(name));
        lines.map(|rest| rest.trim().to_owned()).collect::<Vec<_>>()
    };
    let (policies, bindings) = (after("Binding policy:"), after("Binding:"));
    if !output.status.success() || bindings.is_empty() {
        return Mpirun::Crashes;
    }
    let ranks = after("Locale:").into_iter().zip(bindings);
    // A rank that is bound to the object that it is mapped to is drawn as unbound, because its
    // daemon does the binding. Its binding is then its locale.
    let in_place = |(locale, binding): (String, String)| match binding.as_str() {
        "UNBOUND" if !policies[0].starts_with("NONE") => locale,
        "UNBOUND" | "" => "NODE".to_owned(),
        _ => binding,
    };
    Mpirun::Ranks(ranks.map(in_place).collect())
}

/// A random mapping, binding and number of ranks. The latter two are sometimes left out.
fn any_policy(random: &mut fastrand::Rng) -> (String, Option<&'static str>, Option<usize>) {
    const OBJECTS: [&str; 6] = ["socket", "numa", "core", "hwthread", "l2cache", "l3cache"];
    const TARGETS: [&str; 5] = ["core", "hwthread", "socket", "numa", "none"];
    let object = OBJECTS[random.usize(..OBJECTS.len())];
    let several = random.usize(2..4);
    let map_by = match random.usize(..6) {
        0..2 => object.to_owned(),
        2 => "slot".to_owned(),
        3 => format!("slot:PE={several}"),
        4 => format!("socket:PE={several}"),
        _ => format!("ppr:{}:{object}", random.usize(1..4)),
    };
    let bind_to = TARGETS[random.usize(..TARGETS.len())];
    let bind_to = (random.bool() && !map_by.contains("PE=")).then_some(bind_to);
    let count = random.usize(1..9);
    let count = (!map_by.starts_with("ppr") || random.bool()).then_some(count);
    (map_by, bind_to, count)
}

#[test]
fn random_mappings_equal_those_of_the_installed_mpirun() {
    if Command::new("mpirun.openmpi").arg("--version").output().is_err() {
        topobroker_samples::skip(format_args!(
            "there is no mpirun.openmpi; scripts/test installs it"
        ));
        return;
    }
    let machines = [
        "Package:2 NUMANode:1 Core:4 PU:2",
        "Package:4 NUMANode:1 Core:3 PU:1",
        "Package:1 NUMANode:2 L3Cache:1 Core:2 PU:4",
    ];
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("machine.xml");
    let mut random = fastrand::Rng::with_seed(20);
    let (mut same, mut refused, mut uncounted, mut crashed) = (0, 0, 0, 0);
    for machine in machines {
        let topology = topology_of(&describe(&Input::Synthetic(machine.to_owned())));
        std::fs::write(&file, topobroker_reader::text::xml::export(topology)).unwrap();
        let end = same + refused + uncounted + 34;
        while same + refused + uncounted < end {
            let (map_by, bind_to, count) = any_policy(&mut random);
            let mut arguments = vec!["--map-by".to_owned(), map_by.clone()];
            arguments.extend(bind_to.iter().flat_map(|to| ["--bind-to", to].map(str::to_owned)));
            arguments.extend(count.iter().flat_map(|n| ["-np".to_owned(), n.to_string()]));
            let theirs = mpirun(&file, &arguments);
            // The simulated node has 64 slots.
            let policy = Policy::parse(&format!("{map_by}:OVERSUBSCRIBE"), bind_to).unwrap();
            let policy = as_mpirun4(policy);
            let placed = place(topology, &policy, count, &[]).map_err(|error| error.to_string());
            let drawn = |it: &PlacedRank<'_>| drawn(topology, &it.cpuset).unwrap();
            let ours = placed.map(|ranks| ranks.iter().map(drawn).collect::<Vec<_>>());
            match (&ours, &theirs) {
                (_, Mpirun::Crashes) => crashed += 1,
                (Ok(ours), Mpirun::Ranks(theirs)) if ours == theirs => same += 1,
                (Err(_), Mpirun::Refuses) => refused += 1,
                // A simulated mpirun does not count the ranks that its daemons bind. If there are
                // more ranks than objects, a real mpirun refuses them, or leaves them unbound if no
                // binding was asked for.
                (Err(error), Mpirun::Ranks(_)) if error.contains(" is full: ") => {
                    uncounted += 1;
                }
                (Ok(ours), Mpirun::Ranks(_))
                    if bind_to.is_none() && ours.iter().all(|rank| rank == "NODE") =>
                {
                    uncounted += 1;
                }
                (_, Mpirun::Ranks(theirs)) => {
                    panic!("{machine}: {arguments:?}\n  ours {ours:?}\n  theirs {theirs:?}");
                }
                (_, Mpirun::Refuses) => {
                    panic!("{machine}: {arguments:?}\n  ours {ours:?}, theirs refused")
                }
            }
        }
    }
    println!(
        "{same} equal, {refused} refused by both, {uncounted} that a simulation does not count, {crashed} crashes"
    );
    assert!(same > 50 && uncounted < 15);
}

/// The maps of PRRTE's own tests, with the devices of the ranks.
#[test]
fn ranks_are_mapped_bound_and_numbered_as_in_the_golden_maps_of_prrte() {
    let Some(shared) = shared() else { return };
    let maps = golden_maps(&shared);
    let mut archives: BTreeMap<&Path, AlignedVec> = BTreeMap::new();
    for GoldenMap { machine, hosts, map_by, rank_by, bind_to, count, ranks, case } in &maps {
        let archive = archives.entry(machine).or_insert_with(|| archived(machine));
        let opened = Archive::open(archive).unwrap();
        let topology = opened.topology();
        let hosts: Vec<(&str, &str)> =
            hosts.split(',').map(|host| host.split_once(':').unwrap()).collect();
        let room = |(_, slots): &(&str, &str)| Room { topology, slots: slots.parse().ok() };
        let rooms: Vec<Room<'_>> = hosts.iter().map(room).collect();
        let policy = Policy::parse(map_by, Some(bind_to)).unwrap().ranked_by(rank_by).unwrap();
        let placed = place_on(&rooms, &policy, *count);
        let placed = placed.unwrap_or_else(|error| panic!("{case}: {error:?}"));
        let drawn = |(rank, placed): (u32, &PlacedRank<'_>)| {
            let pus = golden_pus(topology, placed.cpuset.as_ref());
            let devices = placed.devices.iter().map(|it| it.device_name().into_owned());
            let devices = devices.collect::<Vec<_>>().join(",");
            let line = format!("{rank} {} {pus} {devices}", hosts[placed.node].0);
            line.trim_end().to_owned()
        };
        let ours: Vec<String> = (0..).zip(&placed).map(drawn).collect();
        assert_eq!(ours, *ranks, "{case}");
    }
    assert!(maps.len() >= 37, "{}", maps.len());
}

/// What prterun 5.0.0rc1 prints on the same machines.
#[test]
fn devices_take_ranks_in_the_order_of_their_bus_ids_as_prterun_5_maps_them() {
    let Some(shared) = shared() else { return };
    let opened = |name: &str| {
        let file = shared.join("topologies").join(name);
        archived(file)
    };
    let placed = |bytes: &[u8], map_by: &str, bind_to: Option<&str>, ranks: usize| {
        let archive = Archive::open(bytes).unwrap();
        let policy = Policy::parse(map_by, bind_to).unwrap();
        let placed = place(archive.topology(), &policy, Some(ranks), &[]);
        placed.map(|sets| {
            let cores = |set: &Set| {
                archive
                    .topology()
                    .objects_with_type(ObjectType::Core)
                    .filter(|core| core.cpuset().unwrap().is_included_in(set))
                    .map(Object::logical_index)
                    .collect::<Vec<u32>>()
            };
            sets.iter()
                .map(|set| {
                    let cores = set.cpuset.as_ref().map(cores).unwrap();
                    (cores[0], *cores.last().unwrap())
                })
                .collect::<Vec<_>>()
        })
    };
    let ipa20 = opened("flux-core__ipa20.xml");
    let numa = [(0, 13), (0, 13), (42, 55), (42, 55), (14, 27), (70, 83)];
    assert_eq!(placed(&ipa20, "device=network", None, 3).unwrap(), numa[..3]);
    assert_eq!(placed(&ipa20, "device=nic:SHARED", None, 12).unwrap(), [numa, numa].concat());
    assert_eq!(
        placed(&ipa20, "device=fabric", Some("core"), 3).unwrap(),
        [(0, 0), (1, 1), (42, 42)]
    );
    assert_eq!(placed(&ipa20, "device=gpu", None, 2).unwrap(), [(42, 42), (14, 14)]);
    assert_eq!(placed(&ipa20, "device=mlx5_0", None, 2).unwrap(), [(42, 42), (43, 43)]);
    assert_eq!(placed(&ipa20, "device=block", None, 2).unwrap(), [(42, 42), (0, 0)]);
    // A device has no turn while the cores near it are taken.
    let dgx2 = opened("hwloc-v2.x__nvidiaDGX2.xml");
    assert_eq!(placed(&dgx2, "device=gpu", None, 3).unwrap(), [(0, 1), (0, 1), (2, 3)]);
    for (map_by, bind_to, ranks, said) in [
        ("device=network", None, 7, "7 ranks: device=network has place for 6"),
        ("device=network", Some("package"), 3, "Package L#0 has PUs that are not near its device"),
        ("device=nope", None, 1, "--map-by nope: there is no such device"),
    ] {
        let error = placed(&ipa20, map_by, bind_to, ranks).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    assert!(Policy::parse("core:SHARED", None).is_err());
}
