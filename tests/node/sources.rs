//! Sources of views: CPU lists, objects, cgroups, the environment.

use std::process::Output;
use topobroker_tests::segments::topobroker;

/// 2 packages of 4 cores of 2 PUs. The PUs of a core are P#n and P#n+8. All OS indexes are written
/// out, because hwloc 2.9 sometimes ignores `indexes=core:pu`.
const MACHINE: &str =
    "Package:2 [NUMANode] Core:4 PU:2(indexes=0,8,1,9,2,10,3,11,4,12,5,13,6,14,7,15)";

fn calc(part: &str, variables: &[(&str, &str)]) -> Output {
    let mut command = topobroker();
    command.args(["calc", "-i", MACHINE, "--view", part, "-I", "pu", "--po", "all"]);
    command.envs(variables.iter().copied()).output().unwrap()
}

#[track_caller]
fn names(part: &str, variables: &[(&str, &str)], pus: &str) {
    let output = calc(part, variables);
    assert!(output.status.success(), "{part} {variables:?}: {output:?}");
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), pus, "{part} {variables:?}");
}

#[track_caller]
fn refused(part: &str, variables: &[(&str, &str)], complaints: &[&str]) {
    let output = calc(part, variables);
    assert_eq!(output.status.code(), Some(1), "{part} {variables:?}: {output:?}");
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    let all = complaints.iter().all(|complaint| text.contains(complaint));
    assert!(all, "{part} {variables:?}: {text}");
}

#[test]
fn lists_are_of_logical_indexes_unless_they_say_os() {
    names("2,3", &[], "1,9");
    names("os:2,3", &[], "2,3");
    names("P0:0-1;P1:*", &[], "0,8,4,12,5,13,6,14,7,15");
    names("PU:0-1", &[], "0,8");
    refused("3,x", &[], &["position 2", "expected indexes"]);
    refused("5-2", &[], &["ends before it begins"]);
    refused("99", &[], &["logical index 99", "has 16"]);
    refused("os:16", &[], &["OS index 16", "0-15"]);
    refused("P2:*", &[], &["no package", "has 2 packages"]);
    refused("P0:9", &[], &["package 0 has 8 PUs"]);
}

#[test]
fn a_cpu_kind_is_a_part_by_its_index_or_by_one_of_its_infos() {
    let Some(shared) = topobroker_samples::shared() else { return };
    let machine = shared.join("topologies/hwloc-v2.9__fakecpukinds.xml");
    let pus = |kind: &str| {
        let mut command = topobroker();
        command.args(["calc", "-I", "pu", "--po", "all", "--view", kind, "-i"]).arg(&machine);
        let output = command.output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    assert_eq!(pus("cpukind:0"), "0,1\n");
    assert_eq!(pus("cpukind:2"), "3\n");
    assert_eq!(pus("cpukind:CoreType=MySmallCore"), "0,1\n");
    assert!(pus("cpukind:3").contains("no such CPU kind; the topology has 3"));
}

#[test]
fn objects_are_named_as_calc_names_them() {
    names("numa:0 ~core:1-3", &[], "0,8");
    names("package:1.core:0-1 core:0", &[], "0,8,4,12,5,13");
    refused("core:8", &[], &["there is no core:8"]);
    refused("hello", &[], &["hello", "expected"]);
}

#[test]
fn the_environment_of_each_launcher_names_pus() {
    names("env:PMIX_CPU_LIST", &[("PMIX_CPU_LIST", "0,2")], "0,1");
    names("env:PMIX_CPUSET", &[("PMIX_CPUSET", "hwloc:0-1")], "0,1");
    names("env:PMIX_CPUSET", &[("PMIX_CPUSET", "4")], "4");
    let slurm =
        |bind: &'static str, id: &'static str| [("SLURM_CPU_BIND", bind), ("SLURM_LOCALID", id)];
    names("env:SLURM_CPU_BIND", &slurm("quiet,mask_cpu:0x1,0x2", "1"), "1");
    names("env:SLURM_CPU_BIND", &slurm("quiet,mask_cpu:0x0101*2,0x2", "1"), "0,8");
    names("env:SLURM_CPU_BIND", &slurm("verbose,map_cpu:3,7", "2"), "3");
    names("env:SLURM_CPU_BIND", &slurm("mask_ldom:0x2", "0"), "4,12,5,13,6,14,7,15");
    names("env:SLURM_CPU_BIND", &slurm("quiet,threads,mask_cpu:0x1,0x4", "1"), "2");
    names("env:SLURM_CPU_BIND", &slurm("map_cpu:1*4000000000,2*4000000000", "9"), "1");
    names("env:SLURM_CPU_BIND", &slurm("none", "0"), "0,8,1,9,2,10,3,11,4,12,5,13,6,14,7,15");
    let list = [
        ("SLURM_CPU_BIND_LIST", "0x1,0x2"),
        ("SLURM_CPU_BIND_TYPE", "mask_cpu:"),
        ("SLURM_LOCALID", "0"),
    ];
    names("env:SLURM_CPU_BIND_LIST", &list, "0");
    for (places, pus) in [
        ("sockets(1)", "0,8,1,9,2,10,3,11"),
        ("cores(2)", "0,8,1,9"),
        ("{0:2},{4}", "0,1,4"),
        ("{0:2:8}:2:1", "0,8,1,9"),
        ("{0,1},{2},!{2}", "0,1"),
        ("{0:4,!2}", "0,1,3"),
        (" { 0, 1 } , {2}", "0,1,2"),
        ("ll_caches(1)", "0,8"),
    ] {
        names("env:OMP_PLACES", &[("OMP_PLACES", places)], pus);
    }
}

#[test]
fn an_error_in_an_environment_variable_names_the_variable_and_the_position() {
    refused("env:PMIX_CPUSET", &[("PMIX_CPUSET", "hwloc:0-x")], &["PMIX_CPUSET", "position 8"]);
    refused("env:PMIX_CPU_LIST", &[("PMIX_CPU_LIST", "0,16")], &["PMIX_CPU_LIST", "index 16"]);
    for (bind, complaint) in [
        ("mask_cpu:0xg", "no mask at position 9"),
        ("map_cpu:a", "no index at position 8"),
        ("mask_cpu:", "names no PU"),
        ("mask_cpu:0x0", "names no PU"),
        ("mask_ldom:0x4", "OS index 2"),
        ("hello:0x1", "unknown kind of binding at position 0"),
    ] {
        refused("env:SLURM_CPU_BIND", &[("SLURM_CPU_BIND", bind)], &[complaint]);
    }
    for (places, complaint) in [
        ("{0", "no } at position 2"),
        ("{0:2}x", "more than expected at position 5"),
        ("nodes", "unknown name of places"),
        ("cores(x)", "no number at position 6"),
        ("{0}:3:-1", "below 0"),
        ("!{0}", "names no PU"),
    ] {
        refused("env:OMP_PLACES", &[("OMP_PLACES", places)], &[complaint]);
    }
    refused("env:OMP_PLACES", &[("OMP_PLACES", "{0},{99}")], &["OS index 99", "0-15"]);
    refused("env:PMIX_CPUSET", &[("PMIX_CPUSET", "0,999")], &["OS index 999", "0-15"]);
    refused("env:SLURM_CPU_BIND", &[("SLURM_CPU_BIND", "map_cpu:99")], &["OS index 99"]);
    let many = "{0:4}:1048576:0";
    refused("env:OMP_PLACES", &[("OMP_PLACES", many)], &["more places than any machine has"]);
    for (variable, text, complaint) in [
        ("OMP_PLACES", "{0:1048576}", "more PUs than any machine has at position 2"),
        ("OMP_PLACES", "{0},4294967295", "an index that is too high at position 4"),
        ("OMP_PLACES", "{0:4294967295:0}", "more PUs than any machine has"),
        ("SLURM_CPU_BIND", "map_cpu:4294967295", "an index that is too high at position 8"),
        ("SLURM_CPU_BIND", "map_ldom:0xffffffff", "an index that is too high at position 9"),
        ("PMIX_CPU_LIST", "0-4294967295", "an index that is too high at position 2"),
    ] {
        refused(&format!("env:{variable}"), &[(variable, text)], &[complaint]);
    }
    // A short text that asks for much work.
    let often = format!("{{{}0:131072:0}}", "0:131072:0,".repeat(2000));
    refused("env:OMP_PLACES", &[("OMP_PLACES", &often)], &["more than any machine has"]);
    refused("env:HOME", &[], &["HOME: names no PUs"]);
}

#[test]
fn a_cgroup_of_either_version_is_read_from_its_folder() {
    for (cpus, mems) in [
        ("cpuset.cpus.effective", "cpuset.mems.effective"),
        ("cpuset.effective_cpus", "cpuset.effective_mems"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let part = format!("cgroup:{}", folder.path().display());
        refused(&part, &[], &["no cpuset controller", folder.path().to_str().unwrap()]);
        std::fs::write(folder.path().join(cpus), "0-1,8\n").unwrap();
        std::fs::write(folder.path().join(mems), "0\n").unwrap();
        names(&part, &[], "0,8,1");
        std::fs::write(folder.path().join(cpus), "0-x\n").unwrap();
        refused(&part, &[], &[cpus, "position 2"]);
    }
}
