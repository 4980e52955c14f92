//! What NVIDIA's driver knows of GPUs and hwloc does not: UUIDs, MIG instances, NVLink domains over
//! nodes. The driver is a library of the tests' own; on nodes with the real one the same was tried
//! by hand.

use std::process::Command;
use topobroker_samples::nvidia_driver::install;
use topobroker_tests::segments::topobroker_file;

/// What a script prints that runs `$T` with the driver. `$P` publishes the node.
fn printed(script: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    install(folder.path());
    let program = topobroker_file();
    let mut command = Command::new("sh");
    command.args(["-c", &format!("set -a; {script}"), "sh"]).current_dir(folder.path());
    command.env("T", program).env("LD_LIBRARY_PATH", folder.path());
    command.env("P", "env HWLOC_THISSYSTEM=1 $T publish -i node.xml --folder .");
    let output = command.output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

#[test]
fn gpus_without_an_interface_in_hwloc_are_named_to_programs_by_the_drivers_uuid() {
    let text = printed(
        "eval $P > keys; . ./keys; $T job add j --map-by hwthread --bind-to hwthread --cpu-set machine > env && $T job gpus j --env cuda; \
         $T devices --gpu --json | grep uuid; cp $TOPOBROKER_FILE seg; $T cluster build c n1=seg; \
         $T cluster convert c --to slurm-gres; $T check --json >/dev/null; $T ports; \
         $T job add d --cpu-set machine --map-by device=0000:22:00.0 --bind-to hwthread -n 1 >env; $T job show d; \
         \
         $T job groups j --uri topobroker://GPU; $T job groups j --uri topobroker://NVLinkDomain",
    );
    let uuid = |number: u32| format!("GPU-00000000-0000-0000-0000-{number:012}");
    let ranks = [(0, 2), (1, 2), (2, 1), (3, 1)];
    let variables = ranks.map(|(rank, gpu)| format!("{rank} CUDA_VISIBLE_DEVICES={}\n", uuid(gpu)));
    assert!(text.starts_with(&variables.concat()), "{text}");
    for expected in [
        format!("\"uuid\": \"{}\"", uuid(1)),
        format!("\"uuid\": \"{}\"", uuid(2)),
        "0 1\n1 1\n2 2\n3 2\n0 -\n1 -\n2 -\n3 -\n".to_owned(),
        "rank 0 bound to PUs 2\n".to_owned(),
        // Device files have the driver's minor numbers.
        "NodeName=n1 Name=gpu File=/dev/nvidia5\nNodeName=n1 Name=gpu File=/dev/nvidia4\n"
            .to_owned(),
    ] {
        assert!(text.contains(&expected), "{expected}: {text}");
    }
}

#[test]
fn ranks_have_the_mig_instances_of_a_gpu_in_turn_and_a_whole_gpu_counts_for_one() {
    let text = printed(
        "MIG=3; eval $P > keys; . ./keys; $T devices --gpu; \
         printf '0 2\\n1 2\\n2 3\\n3 3\\n' > ranks; printf '0 -\\n1 -\\n2 -\\n3 -\\n' > unbound; \
         $T job add j --ranks ranks > env && $T job gpus j --env cuda; \
         $T job add k --ranks unbound > env && $T job gpus k",
    );
    assert!(text.contains("0000:22:00.0  gpu  0000:22:00.0  NUMA 0  3 MIG instances\n"), "{text}");
    let instance =
        |number: u32| format!("CUDA_VISIBLE_DEVICES=MIG-00000000-0000-0000-0000-{number:012}");
    let [first, second, third] = [100, 102, 103].map(instance);
    // The rank for which no instance is left has the GPU that is free.
    let whole = "CUDA_VISIBLE_DEVICES=GPU-00000000-0000-0000-0000-000000000002";
    let expected = format!("0 {first}\n1 {whole}\n2 {second}\n3 {third}\n");
    assert!(text.contains(&expected), "{expected}: {text}");
    // To ranks that are not bound all GPUs are equal.
    let counts = |gpu: &str| text.lines().filter(|line| line.ends_with(&format!(" {gpu}"))).count();
    assert_eq!([counts("0000:21:00.0"), counts("0000:22:00.0")], [1, 3], "{text}");
}

#[test]
fn nodes_of_an_nvlink_domain_are_a_block_of_slurm() {
    let text = printed(
        "for node in 'n1 7.1 7.1' 'n2 7.1 7.1' 'n3 7.2 7.2' 'n4 7.1 7.2' 'n5 0.1 0.1'; do \
             set -- $node; mkdir $1; NVLINKS=\"$2 $3\"; eval $P > keys; . ./keys; \
             cp $TOPOBROKER_FILE $1/seg; done; \
         $T cluster build c n1=n1/seg n2=n2/seg n3=n3/seg n4=n4/seg n5=n5/seg --group-by-nvlink; \
         $T cluster convert --help >/dev/null; $T cluster convert c --to slurm-conf 2>&1; \
         $T cluster info c n2 | grep NVLink; $T cluster info c n4 | grep -c NVLink",
    );
    let domain = |clique: u32| format!("00000000-0000-0000-0000-000000000007.{clique}");
    for expected in [
        "2 nodes are in no NVLink domain, or in several: n[4-5]\n".to_owned(),
        format!("BlockName={} Nodes=n[1-2]\nBlockName={} Nodes=n3\n", domain(1), domain(2)),
        format!("NVLinkDomain: {}\n0\n", domain(1)),
    ] {
        assert!(text.contains(&expected), "{expected}: {text}");
    }
}
