//! What the program says of clusters to Slurm: nodes, GPUs, and topologies that are not the fabric.

use std::path::Path;
use std::process::Command;
use topobroker_samples::{shared, skip};
use topobroker_tests::segments::topobroker_file;

fn run(folder: &Path, script: &str) -> String {
    let mut command = Command::new("sh");
    command.args(["-c", script]).current_dir(folder);
    command.env("T", topobroker_file());
    let output = command.output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

#[test]
fn a_node_is_described_to_slurm_as_its_own_daemon_describes_it() {
    let folder = tempfile::tempdir().unwrap();
    let Ok(output) = Command::new("slurmd").arg("-C").output() else {
        skip(format_args!("there is no slurmd; scripts/test installs it"));
        return;
    };
    let theirs = String::from_utf8(output.stdout).unwrap();
    let ours = run(
        folder.path(),
        "$T export -i machine > n.xml && $T cluster build c n1=n.xml && $T cluster convert c --to slurm-nodes",
    );
    // Of memory, hwloc says what the NUMA nodes have, and slurmd what the kernel has.
    let words = |text: &str| -> Vec<String> {
        let words = text.split_whitespace().filter(|word| {
            ["CPUs=", "Boards=", "SocketsPerBoard=", "CoresPerSocket=", "ThreadsPerCore="]
                .iter()
                .any(|key| word.starts_with(key))
        });
        words.map(str::to_owned).collect()
    };
    assert_eq!(words(&ours), words(&theirs), "{ours}{theirs}");
    assert!(ours.starts_with("NodeName=n1 ") && ours.contains(" RealMemory="), "{ours}");
}

#[test]
fn gpus_of_nodes_are_told_to_slurm_with_their_files_cores_and_links() {
    let Some(shared) = shared() else { return };
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "X={}/topologies; $T cluster build c a1=$X/flux-core__ipa20.xml a2=$X/flux-core__ipa20.xml \
         b=$X/flux-core__tuo.SPX.xml && $T cluster convert c --to slurm-nodes && \
         $T cluster convert c --to slurm-gres",
        shared.display()
    );
    let text = run(folder.path(), &script);
    for expected in [
        "GresTypes=gpu\n",
        "NodeName=a[1-2] CPUs=224 Boards=1 SocketsPerBoard=2 CoresPerSocket=56 ThreadsPerCore=2 RealMemory=4127775 Gres=gpu:nvidia_h100_80gb_hbm3:4\n",
        "NodeName=a[1-2] Name=gpu Type=nvidia_h100_80gb_hbm3 File=/dev/nvidia0 Cores=42-55 Links=-1,6,6,6\n\
         NodeName=a[1-2] Name=gpu Type=nvidia_h100_80gb_hbm3 File=/dev/nvidia1 Cores=14-27 Links=6,-1,6,6\n",
        "NodeName=b Name=gpu Type=aqua_vanjaram__instinct_mi300a_ File=/dev/dri/renderD128 Cores=0-23\n",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert_eq!(text.matches("NodeName=a[1-2] Name=gpu").count(), 4, "{text}");
}

#[test]
fn a_topology_that_is_not_the_fabric_is_found() {
    let Some(shared) = shared() else { return };
    let folder = tempfile::tempdir().unwrap();
    let build = format!(
        "$T export -i 'Core:2 PU:1' > n.xml; \
         $T cluster build c n1=n.xml n2=n.xml --fabric {}/cases/fabric/rails.ib && \
         $T cluster check c --slurm f; echo $?",
        shared.display()
    );
    let check = |conf: &str| {
        std::fs::write(folder.path().join("f"), conf).unwrap();
        run(folder.path(), &format!("rm -f c; {build}"))
    };
    let without_rails = |text: String| -> String {
        text.lines()
            .filter(|line| !line.starts_with("rail: "))
            .map(|it| it.to_owned() + "\n")
            .collect()
    };
    assert_eq!(without_rails(check("SwitchName=a Nodes=n[1-2]\n")), "0\n");
    let text = check("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2,n9\n");
    for expected in [
        "topology: n9 of Slurm's topology: the cluster has no such nodes\n",
        "topology: a and b of Slurm's topology are the same switches: leaf-rail1 leaf-rail2\n",
        "\n1\n",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}
