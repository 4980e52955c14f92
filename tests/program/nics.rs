//! NICs and GPUs of the ranks of a job, and what is said of ranks that are bound far from them.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use topobroker_samples::saved_root::SavedRoot;
use topobroker_samples::shared;
use topobroker_tests::segments::topobroker_file;

/// Runs a script over the topology of a reference machine; `$T` is the program. `None` without the
/// reference data.
fn on_reference(machine: &str, script: &str) -> Option<Output> {
    Some(on(&shared()?.join("topologies").join(machine), script))
}

/// Runs a script over the topology of a file.
fn on(file: &Path, script: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let program = topobroker_file();
    let mut command = Command::new(&program);
    command.args(["run", "--folder"]).arg(folder.path()).arg("-i").arg(file);
    command.args(["--", "sh", "-c", script]).env("T", program).env("FOLDER", folder.path());
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// The standard output of a script that must succeed.
fn printed(machine: &str, script: &str) -> Option<String> {
    let output = on_reference(machine, script)?;
    assert!(output.status.success(), "{output:?}");
    Some(text(&output.stdout).to_owned())
}

/// What is said of a job on standard error, without the program's name.
fn said(machine: &str, ranks: &str) -> Option<Vec<String>> {
    let script = format!("printf '{ranks}' > $FOLDER/ranks; $T job add j --ranks $FOLDER/ranks");
    let output = on_reference(machine, &script)?;
    assert!(output.status.success(), "{output:?}");
    let lines = text(&output.stderr).lines();
    Some(lines.map(|line| line.strip_prefix("topobroker: job j: ").unwrap().to_owned()).collect())
}

/// A machine with two packages, and two active NICs and two GPUs on each.
const SIERRA: &str = "flux-core__sierra.xml";
/// A machine with eight NUMA nodes, and one active NIC.
const IPA20: &str = "flux-core__ipa20.xml";

/// Two Slingshot NICs as hwloc 2.13 and later find them: an interface for IP, and a CXI device.
const SLINGSHOT: &str = r#"<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x3" complete_cpuset="0x3" allowed_cpuset="0x3"
      nodeset="0x1" complete_nodeset="0x1" allowed_nodeset="0x1" gp_index="1">
    <object type="NUMANode" os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1" complete_nodeset="0x1" gp_index="2"/>
    <object type="Package" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="3">
      <object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="4"/>
      <object type="Bridge" gp_index="5" bridge_type="0-1" depth="0" bridge_pci="0000:[21-21]">
        <object type="PCIDev" gp_index="6" pci_busid="0000:21:00.0" pci_type="0200 [17db:0501] [0000:0000] 00" pci_link_speed="31.5">
          <object type="OSDev" gp_index="7" name="hsi0" subtype="Slingshot" osdev_type="2"/>
          <object type="OSDev" gp_index="8" name="cxi0" subtype="Slingshot" osdev_type="2"/>
        </object>
      </object>
    </object>
    <object type="Package" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1" complete_nodeset="0x1" gp_index="9">
      <object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1" complete_nodeset="0x1" gp_index="10"/>
      <object type="Bridge" gp_index="11" bridge_type="0-1" depth="0" bridge_pci="0000:[31-31]">
        <object type="PCIDev" gp_index="12" pci_busid="0000:31:00.0" pci_type="0200 [17db:0501] [0000:0000] 00" pci_link_speed="31.5">
          <object type="OSDev" gp_index="13" name="hsi1" subtype="Slingshot" osdev_type="2"/>
          <object type="OSDev" gp_index="14" name="cxi1" subtype="Slingshot" osdev_type="2"/>
        </object>
      </object>
    </object>
  </object>
</topology>"#;

#[test]
fn ranks_get_the_cxi_device_of_a_slingshot_nic_and_ip_goes_over_the_interface_of_that_nic() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("slingshot.xml");
    std::fs::write(&file, SLINGSHOT).unwrap();
    let script = "$T job add j --map-by ppr:1:package --bind-to package --as mpirun4 --unknown-nics > $FOLDER/file; $T job nics j; \
                  for library in nccl ucx; do $T job nics j --rank 1 --env $library; done; \
                  $T links | grep nic; $T ports | cut -d' ' -f1";
    let output = on(&file, script);
    assert!(output.status.success(), "{output:?}");
    let expected = "0 cxi0\n1 cxi1\nNCCL_SOCKET_IFNAME==hsi1\nUCX_NET_DEVICES=hsi1\n\
                    cxi0 (nic) - hostbridge:0 (hostbridge): PCI 31500 MB/s current\n\
                    cxi1 (nic) - hostbridge:1 (hostbridge): PCI 31500 MB/s current\nhsi0\nhsi1\n";
    assert_eq!(text(&output.stdout), expected);
}

#[test]
fn a_job_keeps_a_nic_and_a_gpu_for_each_rank() {
    let script = "$T job add j --map-by core > $FOLDER/file; $T job nics j --json";
    let Some(json) = printed(SIERRA, script) else { return };
    let ranks: Value = serde_json::from_str(&json).unwrap();
    let mut count = std::collections::BTreeMap::new();
    for rank in ranks.as_array().unwrap() {
        for kind in ["nics", "gpus"] {
            let [device] = &rank[kind].as_array().unwrap()[..] else { panic!("{rank}") };
            *count.entry(device.as_str().unwrap().to_owned()).or_insert(0) += 1;
        }
    }
    let expected = ["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3", "cuda0", "cuda1", "cuda2", "cuda3"];
    let mut names: Vec<&str> = count.keys().map(String::as_str).collect();
    names.sort_by_key(|name| expected.iter().position(|it| it == name));
    assert_eq!(names, expected);
    let (least, most) = (count.values().min().unwrap(), count.values().max().unwrap());
    assert!(most - least <= 1, "{count:?}");
}

#[test]
fn ranks_have_as_many_devices_as_are_wanted_and_libraries_use_them() {
    let script = "for n in 0 1 2 9; do $T job add j$n --map-by ppr:1:package --nics-per-rank $n \
                  > $FOLDER/file; $T job nics j$n; done; \
                  for library in ucx nccl mpich libfabric openmpi; do $T job nics j2 --rank 1 --env $library; done; \
                  $T job nics j1 --env ucx; $T job nics j1 --rank 7";
    let Some(output) = on_reference(SIERRA, script) else { return };
    let expected = "0 -\n1 -\n0 mlx5_0\n1 mlx5_2\n0 mlx5_0,mlx5_1\n1 mlx5_2,mlx5_3\n\
                    0 mlx5_0,mlx5_1,mlx5_2,mlx5_3\n1 mlx5_2,mlx5_3,mlx5_0,mlx5_1\n\
                    UCX_NET_DEVICES=mlx5_2:1,mlx5_3:1\n\
                    NCCL_IB_HCA==mlx5_2:1,mlx5_3:1\n\
                    MPIR_CVAR_CH4_OFI_PREF_NIC=2\nFI_VERBS_DEVICE_NAME=mlx5_2\n\
                    OMPI_MCA_btl_openib_if_include=mlx5_2:1,mlx5_3:1\n\
                    0 UCX_NET_DEVICES=mlx5_0:1\n1 UCX_NET_DEVICES=mlx5_2:1\n";
    assert_eq!(text(&output.stdout), expected);
    assert_eq!(text(&output.stderr), "topobroker: rank 7 of j1 is not on this node\n");
}

#[test]
fn the_nic_of_a_rank_may_be_that_of_its_gpu() {
    // All ranks are on the second package. The second one has the GPUs that are free, which are
    // far.
    let script = "printf '0 88-91\\n1 92-95\\n' > $FOLDER/ranks; \
                  $T job add j --ranks $FOLDER/ranks --nics-near gpu --gpus-per-rank 2 > $FOLDER/file; \
                  $T job nics j --json";
    let Some(json) = printed(SIERRA, script) else { return };
    let ranks: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(ranks[0]["gpus"], serde_json::json!(["cuda2", "cuda3"]));
    assert_eq!(ranks[1]["gpus"], serde_json::json!(["cuda0", "cuda1"]));
    let nic = |rank: usize| ranks[rank]["nics"][0].as_str().unwrap();
    assert_eq!([nic(0), nic(1)], ["mlx5_2", "mlx5_0"]);
}

#[test]
fn nics_of_unknown_state_are_only_given_if_that_is_wanted() {
    let script = "$T job add a --map-by package > $FOLDER/file; $T job nics a; \
                  $T job add b --map-by package --unknown-nics > $FOLDER/file; $T job nics b; \
                  $T job nics b --mode mpich; $T job nics b --mode mpich --unknown-nics";
    let Some(text) = printed("flux-core__tuo.SPX.xml", script) else { return };
    let names: Vec<&str> = text.lines().map(|line| line.split_once(' ').unwrap().1).collect();
    let (none, given) = names.split_at(4);
    assert_eq!(none, ["-", "-", "-", "-"]);
    let (given, rest) = given.split_at(4);
    assert!(given.iter().all(|name| *name != "-"), "{text}");
    assert!(rest[..4].iter().all(|name| *name == "-"), "{text}");
    assert!(rest[4..].iter().all(|name| *name != "-"), "{text}");
}

#[test]
fn ranks_that_are_far_from_every_nic_or_split_or_not_bound_are_named() {
    let place = "is local to PUs 42-55,154-167; bind to PUs of 42-55,154-167, which are near a NIC";
    let far = |ranks: &str| said(IPA20, ranks);
    let Some(found) = far("0 0-3\\n1 4-7\\n7 60\\n") else { return };
    assert_eq!(
        found,
        [
            format!(
                "far: ranks 0-1,7 are bound to PUs 0-7,60, far from every NIC: mlx5_0 is at NUMA \
                 latency 12 to 21, and {place}"
            ),
            "note: down: rank 7 is on mlx5_0: mlx5_3 is nearer, and down".to_owned()
        ]
    );
    assert_eq!(
        far("3 40-43\\n").unwrap(),
        [format!(
            "split: rank 3 is bound to PUs 40-43, of which only 42-43 are near a NIC: mlx5_0 is at \
             NUMA latency 12, and {place}"
        )]
    );
    assert_eq!(far("0 42\\n1 43-55,154-167\\n").unwrap(), [""; 0]);
    assert_eq!(
        far("0 42\\n1 -\\n2 -\\n4 -\\n").unwrap(),
        ["note: unbound: ranks 1-2,4 are not bound, and may run far from every NIC"]
    );
    assert_eq!(
        far("0 42-55,154-167\\n1 0\\n").unwrap(),
        [
            "note: far: rank 1 is bound to PUs 0, far from every NIC: mlx5_0 is at NUMA latency 12, and \
          is local to PUs 42-55,154-167; the PUs near a NIC, 42-55,154-167, have ranks already"
        ]
    );
}

#[test]
fn a_check_fails_if_ranks_are_far_from_every_nic_unless_that_is_accepted() {
    let script = "printf '0 0-3\\n' > $FOLDER/far; printf '0 42\\n' > $FOLDER/near; \
                  for it in far near; do $T job add $it --ranks $FOLDER/$it > $FOLDER/file; \
                  $T check --no-memlock --job $it | grep -o ' far: '; \
                  $T check --no-memlock --job $it > $FOLDER/out; echo $?; done; \
                  $T check --no-memlock --no-binding --job far; echo $?";
    let Some(output) = on_reference(IPA20, script) else { return };
    assert_eq!(text(&output.stdout), " far: \n1\n0\n0\n");
}

#[test]
fn ranks_far_from_every_nic_are_right_if_the_job_has_no_nearer_pu() {
    let script = "$T job add j --cpu-set os:60-70 --map-by ppr:1:hwthread --bind-to hwthread > $FOLDER/file; \
                  $T job nics j";
    let Some(output) = on_reference(IPA20, script) else { return };
    let why =
        "topobroker: job j: note: down: ranks 0-10 are on mlx5_0: mlx5_3 is nearer, and down\n";
    assert!(output.status.success(), "{output:?}");
    // Of job add, and of job nics.
    assert_eq!(text(&output.stderr), why.repeat(2));
    assert!(text(&output.stdout).lines().all(|line| line.ends_with(" mlx5_0")), "{output:?}");
}

#[test]
fn a_pci_width_that_no_link_has_is_unknown() {
    let chosen = |width: &str| {
        let mut root = SavedRoot::new();
        for name in ["mlx5_0", "mlx5_1"] {
            let pci = root.fabric(
                name,
                "0x15b3",
                &[(1, &[("state", "4: ACTIVE"), ("rate", "100 Gb/sec")])],
            );
            root.write(&format!("{pci}/max_link_speed"), "32.0 GT/s PCIe");
            root.write(&format!("{pci}/max_link_width"), width);
        }
        let script = "$T job add j --map-by ppr:1:package --bind-to package > $FOLDER/file; \
                      $T job nics j --mode nccl; $T job nics j";
        let output = on(root.path(), script);
        assert!(output.status.success(), "{output:?}");
        text(&output.stdout).to_owned()
    };
    let expected = chosen("0");
    assert_eq!(expected.lines().count(), 4, "{expected}");
    for width in ["18446744073709551615", "4611686018427387904", "33", "-1", "x"] {
        assert_eq!(chosen(width), expected, "{width}");
    }
}
