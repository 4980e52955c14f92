//! Communicators of GPUs that reach each other by NVLink, also over nodes.

use crate::communicators::of_system;
use std::process::Command;
use topobroker_embedding::{prefix, succeed};
use topobroker_samples::nvidia_driver::install;
use topobroker_samples::shared_folder;

/// What eight ranks write, four on each of two nodes, which are both this machine with a topology
/// each: that of a file, where the driver reports the NVLinks of their GPUs.
fn printed(machine: &str, nvlinks: [&str; 2]) -> Option<String> {
    let mpi = of_system("mpicc.mpich", &["mpirun.mpich"])?;
    let folder = tempfile::tempdir().unwrap();
    install(folder.path());
    mpi.compile(folder.path(), "mpi_nvlink.c");
    let script = "set -a; node() { unset NVLINKS; [ -z \"$2\" ] || NVLINKS=$2; \
            HWLOC_THISSYSTEM=1 $T publish -i \"$M\" --folder . > $1.keys && . ./$1.keys && \
            first=$3; for pu in 0 1 2 3; do echo $((first + pu)) $pu; done > $1.ranks; \
            $T job add j --ranks $1.ranks > $1.job || exit; }; \
        node a \"$A\" 0; node b \"$B\" 4; \
        exec timeout 60 mpirun.mpich -launcher fork -hosts n1:4,n2:4 -n 8 sh -c \
            'set -a; case $((PMI_RANK / 4)) in 0) node=a ;; *) node=b ;; esac; \
             . ./$node.keys; . ./$node.job; exec ./program'";
    let mut command = Command::new("sh");
    command.args(["-c", script]).current_dir(folder.path());
    command.env("T", prefix().join("bin/topobroker")).env("LD_LIBRARY_PATH", folder.path());
    command.env("M", machine).env("A", nvlinks[0]).env("B", nvlinks[1]);
    Some(succeed(&mut command))
}

#[test]
fn ranks_of_an_nvlink_domain_over_nodes_are_one_communicator() {
    let Some(text) = printed("node.xml", ["7.1 7.2", "7.1 7.1"]) else { return };
    let (own, others) = ("1 0", "7 6 5 4 3 2");
    let lines = (0..8).map(|rank| format!("{rank}: {}\n", if rank < 2 { own } else { others }));
    assert_eq!(text, lines.collect::<String>());
    // Without a driver that says so, GPUs are in no domain.
    let text = printed("node.xml", ["", ""]).unwrap();
    assert_eq!(text, (0..8).map(|rank| format!("{rank}:\n")).collect::<String>());
}

#[test]
fn nvlinks_that_only_hwloc_reports_stay_on_their_node() {
    let Some(shared) = shared_folder() else { return };
    let machine = shared.join("topologies/flux-core__ipa20.xml").display().to_string();
    let Some(text) = printed(&machine, ["", ""]) else { return };
    let lines =
        (0..8).map(|rank| format!("{rank}: {}\n", if rank < 4 { "3 2 1 0" } else { "7 6 5 4" }));
    assert_eq!(text, lines.collect::<String>());
}
