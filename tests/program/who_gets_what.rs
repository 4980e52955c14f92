//! Which GPUs and NICs ranks get, on machines that people have asked about.

use std::process::Command;
use topobroker_samples::shared;
use topobroker_tests::segments::{topobroker, topobroker_file};

/// What a script prints over one of the cases; `$T` is the program. Notes of jobs are left out.
fn on(case: &str, script: &str) -> Option<String> {
    let file = shared()?.join("cases/machines").join(case);
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(topobroker_file());
    command.args(["run", "--folder"]).arg(folder.path()).arg("-i").arg(file);
    command.args(["--", "sh", "-c", script]).env("T", topobroker_file()).env("F", folder.path());
    let output = command.output().unwrap();
    Some(String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

/// What `job add` with these options and then another command print.
fn job(case: &str, add: &str, then: &str) -> Option<String> {
    on(case, &format!("$T job add j {add} >$F/out 2>&1 || cat $F/out; $T job {then} 2>/dev/null"))
}

/// The second words of lines.
fn second(lines: &str) -> Vec<&str> {
    lines.lines().filter_map(|line| line.split(' ').nth(1)).collect()
}

#[test]
fn ranks_share_a_gpu_only_if_none_is_free_and_then_evenly() {
    for (add, expected) in [
        ("--map-by core -n 4", vec!["cuda0", "cuda1", "cuda2", "cuda3"]),
        ("--map-by slot -n 2", vec!["cuda0", "cuda1"]),
        ("--map-by gpu", vec!["cuda0", "cuda1", "cuda2", "cuda3"]),
        ("--map-by gpu --bind-to package", vec!["cuda0", "cuda1", "cuda2", "cuda3"]),
        ("--map-by device=0000:83:00.0 -n 2", vec!["cuda2", "cuda2"]),
        ("--map-by device=nvml2 -n 2", vec!["cuda2", "cuda2"]),
        ("--map-by device=cuda2 --bind-to gpu -n 2", vec!["cuda2", "cuda2"]),
        ("--map-by package:OVERSUBSCRIBE --bind-to gpu -n 2", vec!["cuda0", "cuda2"]),
        ("--cpu-set 8-15 --map-by gpu", vec!["cuda2", "cuda3"]),
        ("--map-by device=gpu:interleave", vec!["cuda0", "cuda2", "cuda1", "cuda3"]),
        ("--map-by device=gpu:ndev=2 --bind-to package -n 2", vec!["cuda0,cuda1", "cuda2,cuda3"]),
        ("--map-by package --gpus-per-rank 2", vec!["cuda0,cuda1", "cuda2,cuda3"]),
        ("--map-by core -n 2 --gpus-per-rank 2", vec!["cuda0,cuda1", "cuda2,cuda3"]),
    ] {
        let Some(found) = job("four-gpus.xml", add, "gpus j") else { return };
        assert_eq!(second(&found), expected, "{add}");
    }
    for (add, each) in [
        ("--map-by core -n 8", 2),
        ("--map-by ppr:2:gpu", 2),
        ("--map-by ppr:2:device=gpu", 2),
        ("--map-by gpu:OVERSUBSCRIBE -n 20", 5),
    ] {
        let found = job("four-gpus.xml", add, "gpus j").unwrap();
        for gpu in ["cuda0", "cuda1", "cuda2", "cuda3"] {
            assert_eq!(found.matches(gpu).count(), each, "{add}: {found}");
        }
    }
    for add in ["--map-by device=gpu --bind-to none", "--map-by core -n 4"] {
        let found = job("part-of-a-gpu-node.xml", add, "gpus j").unwrap();
        assert_eq!(second(&found), ["cuda0", "cuda1", "cuda2", "cuda3"], "{add}");
    }
}

#[test]
fn ranks_mapped_to_gpus_are_bound_to_what_is_asked_for() {
    for (bind_to, expected) in [
        ("package", ["0-7", "0-7", "8-15", "8-15"]),
        ("numa", ["0-3", "4-7", "8-11", "12-15"]),
        ("core", ["0", "4", "8", "12"]),
        ("none", ["-"; 4]),
        ("gpu", ["0-3", "4-7", "8-11", "12-15"]),
    ] {
        let add = format!("--map-by gpu --bind-to {bind_to}");
        let Some(found) = job("four-gpus.xml", &add, "show j --style ranks") else { return };
        assert_eq!(second(&found), expected, "{bind_to}");
    }
}

#[test]
fn idle_gpus_while_others_are_shared_are_a_finding() {
    let script = "$T job add j --map-by device=cuda2 -n 2 >$F/out; $T check --job j | grep -c idle-gpu; \
                  $T job add k --map-by gpu >$F/out; $T check --job k | grep -c idle-gpu";
    let Some(found) = on("four-gpus.xml", script) else { return };
    assert!(found.starts_with("1\n0\n"), "{found}");
    assert!(
        found.contains("idle-gpu: ranks 0-1 are on cuda2, and cuda0, cuda1, cuda3 are idle"),
        "{found}"
    );
}

#[test]
fn a_rank_has_a_tile_or_a_partition_and_zeros_are_no_uuid() {
    let mask = |card: u32, tile: u32| {
        format!("ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE ZE_AFFINITY_MASK={card}.{tile}")
    };
    let lines = |values: Vec<String>| {
        let lines = (0..).zip(values).map(|(rank, value): (u32, _)| format!("{rank} {value}\n"));
        lines.collect::<String>()
    };
    let add = "--map-by gpu";
    let Some(tiles) = job("two-tiles-a-card.xml", add, "gpus j --env ze") else { return };
    assert_eq!(tiles, lines(vec![mask(0, 0), mask(0, 1), mask(1, 0), mask(1, 1)]));
    let numbers =
        |count: u32| lines((0..count).map(|it| format!("ROCR_VISIBLE_DEVICES={it}")).collect());
    assert_eq!(job("mi300a-zero-uuid.xml", add, "gpus j --env rocm").unwrap(), numbers(4));
    assert_eq!(job("mi300a-tpx.xml", add, "gpus j --env rocm").unwrap(), numbers(12));
}

#[test]
fn virtual_functions_next_to_their_physical_function_are_not_given_out() {
    let Some(found) = job("virtual-functions.xml", "--map-by gpu", "nics j") else { return };
    assert_eq!(second(&found), ["mlx5_0", "mlx5_0", "mlx5_1", "mlx5_1"]);
    let networks = on("virtual-functions.xml", "$T networks").unwrap();
    assert!(networks.ends_with("together: mlx5_0 mlx5_1\n") && networks.lines().count() == 1);
    // A guest has no physical function; a disk of the same vendor is none.
    let file = shared().unwrap().join("cases/machines/virtual-functions.xml");
    let guest =
        "sed 's/0207 .15b3:1021/0101 [15b3:1021/' $N >$F/guest.xml; $T networks -i $F/guest.xml";
    let networks = on("virtual-functions.xml", &format!("N={}; {guest}", file.display())).unwrap();
    assert!(networks.contains("mlx5_10 mlx5_11"), "{networks}");
}

#[test]
fn the_display_of_a_service_processor_is_no_gpu_of_a_job() {
    let Some(found) = on("display-of-the-service-processor.xml", "$T devices --gpu") else {
        return;
    };
    assert!(found.starts_with("cuda0  gpu") && found.lines().count() == 1, "{found}");
}

#[test]
fn where_there_is_no_network_a_line_says_why() {
    let Some(found) = on("iwarp.xml", "$T ports; $T networks") else { return };
    assert!(
        found.contains("i40iw1:1  active  Ethernet") && !found.contains("InfiniBand"),
        "{found}"
    );
    let script = "sed 's/Port1State\" value=\"4/Port1State\" value=\"1/' $N >$F/down.xml; \
                  $T networks -i $F/down.xml; echo $?; \
                  $T run -i $F/down.xml -- sh -c '$T job add j --map-by core --bind-to core'";
    let file = shared().unwrap().join("cases/machines/iwarp.xml");
    let found = on("iwarp.xml", &format!("N={}; {script}", file.display())).unwrap();
    assert!(found.contains("1\n"), "{found}");
    for line in ["there is no network for jobs: ", "note: no-network: ranks have no NIC: "] {
        let reason = format!("{line}these are not active: i40iw0, i40iw1");
        assert!(found.contains(&reason), "{reason}: {found}");
    }
    let efa = job("iwarp.xml", "--map-by core --network efa", "nics j; cat $F/out").unwrap();
    assert!(efa.contains("ranks have no NIC: the node has RoCE; --network"), "{efa}");
}

#[test]
fn an_interface_over_infiniband_is_of_infiniband_in_pictures_too() {
    let Some(found) = on("ip-over-infiniband.xml", "$T draw") else { return };
    let after = found.split("ib0</text>").nth(1).unwrap();
    let box_of_it = after.split("</g>").next().unwrap();
    assert!(box_of_it.contains("InfiniBand</text>"), "{box_of_it}");
}

#[test]
fn slurm_gets_gpus_with_their_device_files_and_of_cores_that_have_pus() {
    let Some(shared) = shared() else { return };
    let folder = tempfile::tempdir().unwrap();
    let converted = |case: &str, to: &str| {
        let cluster = folder.path().join(format!("{case}.{to}"));
        let node = format!("n1={}", shared.join("cases/machines").join(case).display());
        let built =
            topobroker().args(["cluster", "build"]).arg(&cluster).arg(node).output().unwrap();
        assert!(built.status.success(), "{built:?}");
        let mut command = topobroker();
        let output =
            command.args(["cluster", "convert", "--to", to]).arg(cluster).output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    let tiles = converted("two-tiles-a-card.xml", "slurm-gres");
    let files = |text: &str| {
        let files = text.split("File=").skip(1);
        files.filter_map(|it| it.split(' ').next().map(str::to_owned)).collect::<Vec<_>>()
    };
    assert_eq!(files(&tiles), ["/dev/dri/renderD128", "/dev/dri/renderD129"]);
    let partitions = converted("partitions-without-model.xml", "slurm-nodes");
    assert!(partitions.ends_with(" Gres=gpu:instinct_mi300a:6\n"), "{partitions}");
    let none = converted("cores-without-pus.v1.xml", "slurm-nodes");
    assert!(!none.contains("CPUs=0") && none.contains("note: n1: there are no PUs"), "{none}");
    for (case, cpus, left) in [("hybrid.xml", 12, 4), ("one-thread-offline.xml", 8, 7)] {
        let found = converted(case, "slurm-nodes");
        assert!(found.contains(&format!("CPUs={cpus} ")), "{found}");
        assert!(found.contains(&format!("are alike, so {left} PUs are left out\n")), "{found}");
    }
}

#[test]
fn ports_of_routers_and_of_aggregation_nodes_are_no_ports_of_nodes_and_a_way_has_a_rate() {
    let Some(shared) = shared() else { return };
    let folder = tempfile::tempdir().unwrap();
    let cluster = folder.path().join("c");
    let file = |name: &str| shared.join("cases").join(name).display().to_string();
    let mut command = topobroker();
    command
        .args(["cluster", "build"])
        .arg(&cluster)
        .args(["--fabric", &file("fabric/sharp-and-router.ib")]);
    let node = file("machines/four-gpus.xml");
    command.args([format!("w1={node}"), format!("w2={node}")]);
    let built = command.output().unwrap();
    assert!(built.status.success(), "{built:?}");
    let said = |words: &[&str]| {
        let output = topobroker().args(["cluster", "fabric"]).arg(&cluster).args(words).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    assert!(said(&[]).contains("ports of nodes: 5\n"), "{}", said(&[]));
    let way = said(&["w1", "w2"]);
    assert!(way.ends_with(": 2 links, 400 Gb/s\n"), "{way}");
}

#[test]
fn links_are_declared_as_nccl_reads_files_and_as_nvidia_smi_prints_them() {
    let links = |case: &str, file: &str| {
        let file = shared()?.join("cases").join(file);
        on(case, &format!("$T links --declare {}; $T links --of matrix", file.display()))
    };
    let Some(smi) = links("four-gpus.xml", "files/nvidia-smi-topo.txt") else { return };
    assert_eq!(smi.matches("NV18").count(), 2, "{smi}");
    let itself = links("four-gpus.xml", "nccl/self-link.xml").unwrap();
    assert!(itself.contains("0000:03:00.0: its link to itself is left out"), "{itself}");
    assert!(!itself.contains("NV12"), "{itself}");
    let hidden = links("../nccl/vm.hwloc.xml", "nccl/switch-without-tclass.xml").unwrap();
    assert!(hidden.contains("NV12"), "{hidden}");
    let other = links("four-gpus.xml", "slurm/quoted.conf").unwrap();
    assert!(other.contains("is no form of links that is known"), "{other}");
}

#[test]
fn devices_that_a_virtual_machine_lacks_are_left_out_of_what_a_file_says() {
    let Some(shared) = shared() else { return };
    let nccl = shared.join("cases/nccl");
    let published = tempfile::tempdir().unwrap();
    let output = Command::new(topobroker_file())
        .args(["publish", "--folder"])
        .arg(published.path())
        .arg("-i")
        .arg(nccl.join("vm.hwloc.xml"))
        .arg("--pci-tree")
        .arg(nccl.join("gpu-that-the-vm-lacks.xml"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("left out: the topology has no such PCI device"), "{said}");
}

#[test]
fn parts_and_ranks_are_named_as_openmp_lsf_and_launchers_name_them() {
    let part = |variable: &str, value: &str| {
        let mut command = topobroker();
        command.args(["calc", "-i", "numa:2 core:4 pu:1", "--view", &format!("env:{variable}")]);
        let output = command.arg("all").env(variable, value).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    for (variable, value, expected) in [
        ("OMP_PLACES", "{ 0 : 2 }", "0x00000003\n"),
        ("OMP_PLACES", " { 0 : 2 } : 2 : 4 , {7}", "0x000000b3\n"),
        ("GOMP_CPU_AFFINITY", "0 3 1-2,4-7:2", "0x0000005f\n"),
        ("KMP_AFFINITY", "granularity=fine,proclist=[0,3,{1,2}],explicit", "0x0000000f\n"),
    ] {
        assert_eq!(part(variable, value), expected, "{variable}={value}");
    }
    let file = "-n 2 --map-by rankfile:file=$F/ranks:hwtcpus";
    let script = format!(
        "exec 2>/dev/null; printf 'rank 0=+n0 slot=0:1\\nrank 1=localhost slot=3\\nrank 2=+n1 slot=0\\n' >$F/ranks; \
         printf 'localhost 0,1\\nlocalhost 4\\n' >$F/lsf; $T job add j {file} >$F/out; \
         $T job show j --style ranks; LSB_AFFINITY_HOSTFILE=$F/lsf $T job add k --map-by lsf >$F/out; \
         $T job show k --style ranks; $T job add l -n 3 --bind-to user:0+2,1 >$F/out; \
         $T job show l --style ranks; $T job add m -n 2 --map-by pe-list=1,2 --bind-to core >$F/out; \
         $T job show m --style ranks"
    );
    let Some(found) = on("four-gpus.xml", &script) else { return };
    assert_eq!(found, "0 1\n1 3\n0 0-1\n1 4\n0 0,2\n1 1\n2 -\n0 1-2\n1 1-2\n");
}
