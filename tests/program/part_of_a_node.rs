//! A part of a node, as a task of Slurm sees it: the PUs of one NUMA node, and GPUs and NICs at
//! NUMA nodes and packages whose PUs belong to others. Every command that prints facts of devices
//! says where they are.

use std::path::PathBuf;
use topobroker_samples::shared;
use topobroker_tests::segments::topobroker;

fn file() -> Option<PathBuf> {
    Some(shared()?.join("cases/machines/part-of-a-gpu-node.xml"))
}

fn printed(words: &[&str]) -> String {
    let output = topobroker().args(words).output().unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(output.status.success(), "{words:?}: {text}");
    text
}

#[test]
fn devices_at_nodes_without_pus_are_said_to_be_at_these_by_every_command() {
    let Some(file) = file() else { return };
    let file = file.to_str().unwrap();
    let devices = printed(&["devices", "-i", file]);
    for (device, node) in [("cuda1", 1), ("cuda0", 2), ("cuda3", 3), ("mlx5_1", 3), ("cuda2", 4)] {
        let line = devices.lines().find(|line| line.starts_with(device)).unwrap();
        assert!(line.contains(&format!("  NUMA {node}  ")), "{devices}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&printed(&["devices", "-i", file, "--json"])).unwrap();
    let nodes: Vec<u64> = json
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["numa_os_indexes"][0].as_u64().unwrap())
        .collect();
    assert_eq!(nodes, [1, 2, 3, 3, 4]);
    let matrix = printed(&["links", "-i", file, "--of", "matrix"]);
    let last = |device: &str| {
        let line = matrix.lines().find(|line| line.starts_with(device)).unwrap();
        line.split_whitespace().next_back().unwrap().to_owned()
    };
    assert_eq!(["cuda1", "cuda0", "cuda3", "mlx5_1", "cuda2"].map(last), ["1", "2", "3", "3", "4"]);
    let nccl = printed(&["links", "-i", file, "--of", "nccl"]);
    let cpus: Vec<&str> = nccl.split("<cpu numaid=\"").skip(1).collect();
    let found: Vec<(&str, usize)> =
        cpus.iter().map(|cpu| (&cpu[..1], cpu.matches("<pci ").count())).collect();
    assert_eq!(found, [("1", 1), ("2", 1), ("3", 2), ("4", 1)], "{nccl}");
    assert!(cpus.iter().all(|cpu| cpu.contains("affinity=\"00000000\"")), "{nccl}");
}

#[test]
fn other_commands_count_only_what_has_pus_and_lose_no_device() {
    let Some(file) = file() else { return };
    let file = file.to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let cluster = folder.path().join("c");
    let cluster = cluster.to_str().unwrap();
    printed(&["cluster", "build", cluster, &format!("n1={file}")]);
    let nodes = printed(&["cluster", "convert", "--to", "slurm-nodes", cluster]);
    assert!(nodes.contains("SocketsPerBoard=1 CoresPerSocket=4 ThreadsPerCore=1"), "{nodes}");
    assert!(nodes.contains("Gres=gpu:nvidia_h100:4"), "{nodes}");
    assert!(printed(&["networks", "-i", file]).contains("mlx5_1"));
    assert!(printed(&["ports", "-i", file]).contains("mlx5_1"));
    assert_eq!(printed(&["calc", "-i", file, "-N", "pu", "all"]), "4\n");
    assert!(printed(&["info", "-i", file, "os=cuda2"]).contains("subtype = CUDA"));
    for command in ["ls", "export", "draw"] {
        let text = printed(&[command, "-i", file]);
        assert!((0..4).all(|gpu| text.contains(&format!("cuda{gpu}"))), "{command}: {text}");
    }
}
