//! PMIx: a server that embeds the broker, clients that use our library, and clients that do not.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use topobroker_embedding::{
    assert_gone, assert_one_address, compile, has, has_package, is_root, prefix, said,
};
use topobroker_reader::{Locality, Set};
use topobroker_samples::topology_of;

const SERVER: &str = "../../ffi/examples/pmix_server.c";
const UNMODIFIED: &str = "pmix_client.c";
const WITH_US: &str = "pmix_client.c with us";
/// An Open MPI program.
const SPLITS: &str = "splits.c";

/// Lines that clients of a user print under a server that registers its keys in one of its ways.
/// `None` if PMIx is not installed.
fn clients(way: &str, user: u32, client: &str, count: u32) -> Option<Vec<String>> {
    clients_on("Package:2 Core:4 PU:2", way, user, client, count)
}

/// [`clients`] on a machine.
fn clients_on(
    machine: &str,
    way: &str,
    user: u32,
    client: &str,
    count: u32,
) -> Option<Vec<String>> {
    if !has_package("pmix") || !has("mpirun.openmpi") {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    // Other users must be able to run the program.
    std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let server =
        compile(folder.path(), "cc", SERVER, "server", &["topobroker", "pmix", "hwloc"], &[]);
    let archive = prefix().join("lib/libtopobroker-reader.a");
    let include = format!("-I{}", prefix().join("include").display());
    let with_us = ["-DWITH_READER", &include, archive.to_str().unwrap(), "-lgcc_s"];
    let (source, flags) = match client.strip_suffix(" with us") {
        Some(source) => (source, with_us.as_slice()),
        None => (client, [].as_slice()),
    };
    let mut command = Command::new(server);
    command.args([way, machine, &user.to_string(), &count.to_string()]);
    if client == SPLITS {
        if !has("mpicc.openmpi") {
            return None;
        }
        command.arg(compile(folder.path(), "mpicc.openmpi", source, "client", &[], flags));
        // Open MPI 4 takes itself for a single process unless Slurm says otherwise.
        command.envs([("SLURM_NODELIST", "here"), ("SLURM_JOBID", "1")]);
        command.envs([("SLURM_STEPID", "0"), ("SLURM_STEP_ID", "0")]);
        command.envs([("OMPI_MCA_btl", "self,vader"), ("OMPI_MCA_pml", "ob1")]);
        command.env("OMPI_MCA_pmix", "ext3x");
    } else {
        let packages = ["pmix", "hwloc"];
        command.arg(compile(folder.path(), "cc", source, "client", &packages, flags));
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_gone(&text);
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    Some(lines)
}

fn count(lines: &[String], part: &str) -> usize {
    lines.iter().filter(|line| line.contains(part)).count()
}

fn unmodified(user: u32) {
    let Some(lines) = clients("nspace", user, UNMODIFIED, 2) else { return };
    assert_eq!(count(&lines, "loaded 16 PUs from hwloc:"), 2, "{lines:?}");
    assert_eq!(count(&lines, "map 552000000000-"), 2, "{lines:?}");
    assert_eq!(count(&lines, "+hwloc"), 2, "{lines:?}");
}

fn ours(user: u32) {
    let Some(lines) = clients("nspace", user, WITH_US, 2) else { return };
    assert_eq!(count(&lines, "adopted 16 PUs"), 2, "{lines:?}");
    let (theirs, ours): (Vec<&String>, Vec<&String>) =
        lines.iter().filter(|line| line.starts_with("map ")).partition(|it| it.contains("+hwloc"));
    assert_eq!((theirs.len(), ours.len()), (2, 2), "{lines:?}");
    assert_one_address(ours.iter().map(|line| line[4..].split('-').next().unwrap()));
}

/// User id without rights.
const ANOTHER: u32 = 65534;

#[test]
fn an_unmodified_pmix_client_maps_the_hwloc_segment_that_the_server_publishes() {
    unmodified(rustix::process::geteuid().as_raw());
}

#[test]
fn an_unmodified_pmix_client_of_another_user_maps_it_too() {
    if is_root("starting a process of another user") {
        unmodified(ANOTHER);
    }
}

#[test]
fn a_pmix_client_finds_our_keys_by_itself_and_adopts() {
    ours(rustix::process::geteuid().as_raw());
}

#[test]
fn a_pmix_client_of_another_user_finds_our_keys_and_adopts() {
    if is_root("starting a process of another user") {
        ours(ANOTHER);
    }
}

#[test]
fn keys_may_be_registered_as_resources_of_the_node_too() {
    let user = rustix::process::geteuid().as_raw();
    let Some(lines) = clients("resources", user, WITH_US, 2) else { return };
    assert_eq!(count(&lines, "adopted 16 PUs"), 2, "{lines:?}");
    assert_eq!(count(&lines, "loaded 16 PUs from hwloc:"), 2, "{lines:?}");
    assert_eq!(count(&lines, "map "), 4, "{lines:?}");
}

#[test]
fn processes_of_a_job_see_only_its_part_with_and_without_our_library() {
    let user = rustix::process::geteuid().as_raw();
    let Some(lines) = clients("job", user, WITH_US, 2) else { return };
    assert_eq!(count(&lines, "adopted 16 PUs"), 2, "{lines:?}");
    assert_eq!(count(&lines, "sees 8 PUs"), 2, "{lines:?}");
    assert_eq!(count(&lines, "loaded 8 PUs from hwloc:"), 2, "{lines:?}");
    assert_eq!(count(&lines, ".job-half+hwloc"), 2, "{lines:?}");
}

#[test]
fn unmodified_pmix_clients_get_our_locality_strings_and_compare_them() {
    let user = rustix::process::geteuid().as_raw();
    let Some(lines) = clients("ranks", user, "pmix_peers.c", 4) else { return };
    let of_first: Vec<&String> = lines.iter().filter(|it| it.starts_with("rank 0:")).collect();
    let expected = [
        "rank 0: rank 0 on 0 is at SK0:CR0:HT0:NM0, shares 4063",
        "rank 0: rank 1 on 1 is at SK0:CR0:HT1:NM0, shares 4062",
        "rank 0: rank 2 on 2 is at SK0:CR1:HT2:NM0, shares 4060",
        "rank 0: rank 3 on - is at -, shares 0",
    ];
    assert_eq!(of_first, expected, "{lines:?}");
}

#[test]
fn unmodified_pmix_clients_get_the_distances_of_their_devices() {
    let Some(shared) = topobroker_samples::shared() else { return };
    let xml = shared.join("topologies/flux-core__ipa20.xml").display().to_string();
    let user = rustix::process::geteuid().as_raw();
    let Some(lines) = clients_on(&xml, "ranks", user, "pmix_peers.c", 3) else { return };
    let devices =
        |of: &str| lines.iter().filter(|it| it.starts_with(of) && it.contains("://")).count();
    // Those of rank 0 are on the package of PU 0, and those of rank 1 on the other package.
    assert!(lines.contains(&"rank 0: nvml0 6 6 gpu://host::nvml0".to_owned()), "{lines:?}");
    assert_eq!(
        (devices("rank 0:"), devices("rank 1:"), devices("rank 2:")),
        (14, 14, 0),
        "{lines:?}"
    );
}

#[test]
fn open_mpi_splits_ranks_by_our_locality_strings_as_we_do() {
    const MACHINE: &str = "Package:2 NUMANode:1 L3:2 L2:1 L1:1 Core:1 PU:2";
    const RANKS: u32 = 8;
    let user = rustix::process::geteuid().as_raw();
    let Some(mut lines) = clients_on(MACHINE, "ranks", user, SPLITS, RANKS) else { return };
    let topology = topology_of(&topobroker_samples::synthetic(MACHINE));
    // The last rank is not bound.
    let set =
        |rank: u32| -> Option<Set> { (rank + 1 < RANKS).then(|| [rank].into_iter().collect()) };
    let shared = |one, other| match (set(one), set(other)) {
        (Some(one), Some(other)) => topology.relative_locality(&one, &other),
        _ => Locality::NODE,
    };
    let kinds = [
        ("PU", Locality::HWTHREAD),
        ("core", Locality::CORE),
        ("L1", Locality::L1CACHE),
        ("L2", Locality::L2CACHE),
        ("L3", Locality::L3CACHE),
        ("package", Locality::PACKAGE),
        ("NUMA", Locality::NUMA),
        ("node", Locality::NODE),
    ];
    let mut expected = Vec::new();
    for (rank, (name, level)) in (0..RANKS).flat_map(|rank| kinds.map(|kind| (rank, kind))) {
        let with = (0..RANKS).filter(|it| *it == rank || shared(rank, *it).shares(level));
        let with: Vec<String> = with.map(|rank| rank.to_string()).collect();
        expected.push(format!("{rank} {name} {}", with.join(" ")));
    }
    lines.retain(|line| line.starts_with(|it: char| it.is_ascii_digit()));
    lines.sort();
    expected.sort();
    assert_eq!(lines, expected);
}
