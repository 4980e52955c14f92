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
fn slurm_gets_gpus_of_nodes_with_their_files_cores_and_links() {
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

/// Builds a cluster of nodes with Slurm's topology, and writes it in a format of Slurm's.
fn converted(folder: &Path, nodes: &str, topology: &str, to: &str) -> String {
    let script = format!(
        "$T export -i 'core:2 pu:1' >n.xml; rm -f c; \
         $T cluster build c $(for n in {nodes}; do echo $n=n.xml; done) --slurm {topology} && \
         $T cluster convert c --to {to}"
    );
    run(folder, &script)
}

#[test]
fn topologies_are_read_as_slurmctld_reads_them_and_written_back_whole() {
    let Some(shared) = shared() else { return };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let case = |nodes: &str, file: &str, to: &str| {
        let file = shared.join("cases/slurm").join(file);
        converted(folder, nodes, &file.display().to_string(), to)
    };
    let tree =
        "SwitchName=top Switches=l[1-2]\nSwitchName=l1 Nodes=n[1-2]\nSwitchName=l2 Nodes=n[3-4]\n";
    for file in ["quoted.conf", "spaced.conf", "include.conf"] {
        assert_eq!(case("n1 n2 n3 n4", file, "slurm-conf"), tree, "{file}");
    }
    let text = "\u{feff}SWITCHNAME=l1 nodes=n[1-2]\r\nswitchname = l2 Nodes=\"n[3-4]\" \\\r\n\r\nSwitchName=top Switches=l1,l2\r\n";
    std::fs::write(folder.join("dos.conf"), text).unwrap();
    assert_eq!(converted(folder, "n1 n2 n3 n4", "dos.conf", "slurm-conf"), tree);
    let nodes: Vec<String> = (1..=32).map(|node| format!("node{node:02}")).collect();
    for file in ["torus3d.yaml", "torus3d.show"] {
        let yaml = case(&nodes.join(" "), file, "slurm-yaml");
        let expected = "      - name: \"pod1\"\n        dims: {x: 4, y: 4, z: 2}\n        placements:\n          - dims: {x: 2, y: 2, z: 1}\n          - dims: {x: 2, y: 2, z: 2}\n        nodes: \"node[01-32]\"\n";
        assert!(yaml.ends_with(expected), "{yaml}");
        let conf = case(&nodes.join(" "), file, "slurm-conf");
        assert!(conf.contains("toruses, which Slurm reads from topology.yaml alone"), "{conf}");
    }
    let few = case("w01 w02 w03 w04 w05 w06", "torus3d-too-few-nodes.yaml", "slurm-yaml");
    assert!(few.contains("slab with 6 nodes, expected as many as 2x2x2 has, which are 8"), "{few}");
    let nodes: Vec<String> = (1..=12).map(|node| format!("c{node:03}")).collect();
    let kept = case(&nodes.join(" "), "empty-leaf-in-the-middle.conf", "slurm-conf");
    assert!(kept.contains("Switches=t[1-3]\n") && kept.contains("\nSwitchName=t2\n"), "{kept}");
    // A leaf without nodes of the cluster is left out.
    let without = case(&nodes[..4].join(" "), "empty-leaf-in-the-middle.conf", "slurm-conf");
    assert!(!without.contains("t3") && !without.contains("rowB"), "{without}");
    let circle = case("a1", "cycle-of-three.conf", "slurm-conf");
    assert!(circle.contains("line 2: \"x1\" is below itself"), "{circle}");
}

#[test]
fn files_that_include_themselves_or_others_that_are_not_there_are_refused_with_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("own.conf"), "Include own.conf\n").unwrap();
    let own = converted(folder, "n1", "own.conf", "slurm-conf");
    assert!(own.contains("own.conf, line 1: found \"Include own.conf\", expected at most 1000 included files, 8 deep"), "{own}");
    std::fs::write(folder.join("lost.conf"), "include lost/more.conf\n").unwrap();
    let lost = converted(folder, "n1", "lost.conf", "slurm-conf");
    assert!(lost.contains("lost/more.conf: cannot be read"), "{lost}");
}
