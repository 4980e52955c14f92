//! Command lines of hwloc's users, typed with hwloc's names: the same text and status as hwloc's
//! own programs give, of any version from 2.9 to 2.15. Lines whose answers differ are in
//! docs/HWLOC.md with their reasons.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use topobroker_samples::{shared, skip};
use topobroker_tests::segments::topobroker_file;

/// Words behind `lstopo-no-graphics`. PCI, KNL and MADE are inputs.
const LSTOPO: &[&str] = &[
    "-i \"$PCI\"",
    "-i \"$KNL\" -p",
    "-i \"$MADE\" -l",
    "-i \"$PCI\" -c",
    "-i \"$KNL\" --cpuset",
    "-i \"$MADE\" -C",
    "-i \"$PCI\" --cpuset-only",
    "-i \"$KNL\" --taskset",
    "-i \"$MADE\" -s",
    "-i \"$PCI\" --only core",
    "-i \"$KNL\" --only numanode",
    "-i \"$MADE\" --only pu -p",
    "-i \"$PCI\" --only pci",
    "-i \"$KNL\" --only os",
    "-i \"$MADE\" --filter pu:none",
    "-i \"$PCI\" --filter io:none",
    "-i \"$KNL\" --filter io:important",
    "-i \"$MADE\" --filter cache:none",
    "-i \"$PCI\" --filter icache:all",
    "-i \"$KNL\" --filter core:structure",
    "-i \"$MADE\" --no-io",
    "-i \"$PCI\" --no-bridges",
    "-i \"$KNL\" --whole-io",
    "-i \"$MADE\" --no-caches",
    "-i \"$PCI\" --no-useless-caches",
    "-i \"$KNL\" --no-icaches",
    "-i \"$MADE\" --merge",
    "-i \"$PCI\" --no-collapse",
    "-i \"$KNL\" --restrict 0x3",
    "-i \"$MADE\" --restrict nodeset=0x1",
    "-i \"$PCI\" --restrict 0x3 --restrict-flags bynode",
    "-i \"$KNL\" --restrict 0x3 --restrict-flags 0",
    "-i \"$MADE\" --disallowed",
    "-i \"$PCI\" --whole-system",
    "-i \"$KNL\" --distances",
    "-i \"$MADE\" --memattrs",
    "-i \"$PCI\" --cpukinds",
    "-i \"$KNL\" --ignore pu",
    "-i \"$MADE\" --ignore core",
    "-i \"$PCI\" --no-smt",
    "-i \"$KNL\" --no-cpukinds",
    "-i \"$MADE\" --windows-processor-groups",
    "-i \"$PCI\" --children-order plain",
    "-i \"$KNL\" --of console",
    "-i \"$MADE\" --of xml",
    "-i \"$PCI\" --of synthetic",
    "-i \"$KNL\" --of synthetic --export-synthetic-flags no_attrs",
    "-i \"$MADE\" --of synthetic --export-synthetic-flags 1",
    "-i \"$PCI\" --of xml --export-xml-flags v1",
    "-i \"$KNL\" --of xml --export-xml-flags 1",
    "-i \"$MADE\" --thissystem",
    "-i \"$PCI\" --no-index",
    "-i \"$KNL\" --index",
    "-i \"$MADE\" --no-attrs",
    "-i \"$PCI\" --no-text",
    "-i \"$KNL\" --fontsize 12",
    "-i \"$MADE\" --horiz",
    "-i \"$PCI\" --vert",
    "-i \"$KNL\" --rect",
    "-i \"$MADE\" --no-legend",
    "-i \"$PCI\" --append-legend foo",
    "-i \"$KNL\" --logical",
    "-i \"$MADE\" --physical",
    "-i \"$KNL\" --input-format xml",
    "-i \"$PCI\" --if xml",
    "-i \"$MADE\" --silent",
    "-i \"$PCI\" --binding-color none",
    "-i \"$KNL\" --disallowed-color none",
    "-i \"$MADE\" --top-color none",
    "-i \"$PCI\" --gridsize 5",
    "-i \"$KNL\" -f",
];

/// Words behind `hwloc-info`. PCI, KNL and MADE are inputs.
const INFO: &[&str] = &[
    "-i \"$MADE\" core",
    "-i \"$PCI\" core:0",
    "-i \"$KNL\" pu:0",
    "-i \"$MADE\" package:0",
    "-i \"$PCI\" numanode:0",
    "-i \"$PCI\" --ancestor package pu:0",
    "-i \"$MADE\" --ancestor numa pu:3",
    "-i \"$PCI\" --children core:0",
    "-i \"$KNL\" --descendants pu core:0",
    "-i \"$MADE\" --descendants core package:0",
    "-i \"$PCI\" all",
    "-i \"$KNL\" root",
    "-i \"$MADE\" -n all",
    "-i \"$PCI\" -s core:0",
    "-i \"$KNL\" --silent core:0",
    "-i \"$MADE\" -p core:0",
    "-i \"$PCI\" -p pu:1",
    "-i \"$KNL\" --local-memory pu:0",
    "-i \"$MADE\" --best-memattr bandwidth pu:0",
    "-i \"$PCI\" --best-memattr capacity pu:0",
    "-i \"$KNL\" machine",
    "-i \"$MADE\" 0x1",
    "-i \"$PCI\" os:all",
    "-i \"$KNL\" osdev=net:all",
    "-i \"$MADE\" os:0",
    "-i \"$PCI\" misc:all",
    "-i \"$KNL\" --restrict 0x1 all",
    "-i \"$MADE\" --filter core:none all",
    "-i \"$PCI\" core:0-1",
    "-i \"$KNL\" core:odd",
    "-i \"$MADE\" core:all.pu:0",
    "-i \"$PCI\" --no-icaches all",
    "-i \"$KNL\" --disallowed",
    "-i \"$MADE\"",
    "-i \"$PCI\" --topology",
    "-i \"$KNL\" --descendants pu root",
    "-i \"$MADE\" pci:all",
    "-i \"$KNL\" pci:0",
    "-i \"$MADE\" bridge:all",
    "-i \"$KNL\" l2:0",
    "-i \"$MADE\" --ancestors pu:0",
    "-i \"$MADE\" -n --ancestors pu:0",
    "-i \"$MADE\" l3:all",
];

/// Words behind `hwloc-calc`. PCI, KNL and MADE are inputs.
const CALC: &[&str] = &[
    "-i \"$PCI\" core:0",
    "-i \"$KNL\" core:0-1",
    "-i \"$MADE\" core:all",
    "-i \"$PCI\" pu:0 pu:2",
    "-i \"$KNL\" core:0 ~pu:0",
    "-i \"$MADE\" all ^core:0",
    "-i \"$PCI\" -N core all",
    "-i \"$KNL\" -N pu all",
    "-i \"$MADE\" -I core all",
    "-i \"$KNL\" -I pu package:0",
    "-i \"$PCI\" -I numanode package:0",
    "-i \"$MADE\" --intersect pu core:0",
    "-i \"$PCI\" --number-of numa all",
    "-i \"$KNL\" -H package.core all",
    "-i \"$PCI\" -H numa.core.pu package:0",
    "-i \"$KNL\" -H package.core.pu --po core:1",
    "-i \"$KNL\" --largest 0x7",
    "-i \"$MADE\" --largest all",
    "-i \"$PCI\" -p pu:1",
    "-i \"$KNL\" --po core:1",
    "-i \"$MADE\" --li --po pu:1",
    "-i \"$PCI\" --pi pu:1",
    "-i \"$KNL\" --lo pu:1",
    "-i \"$MADE\" -l pu:1",
    "-i \"$PCI\" --li 0x3 -I pu",
    "-i \"$KNL\" -q core:0",
    "-i \"$MADE\" --single core:0",
    "-i \"$PCI\" --taskset core:1",
    "-i \"$KNL\" --taskset 0x3",
    "-i \"$MADE\" --sep , -I pu core:0-1",
    "-i \"$PCI\" --sep ' ' -I pu core:0",
    "-i \"$KNL\" -n numa:0",
    "-i \"$MADE\" --nodeset numa:0",
    "-i \"$PCI\" --ni --no numa:0",
    "-i \"$KNL\" --nodeset-input 0x1",
    "-i \"$MADE\" --nodeset-output core:0",
    "-i \"$PCI\" --no numa:all",
    "-i \"$KNL\" --local-memory core:0",
    "-i \"$MADE\" --local-memory pu:0",
    "-i \"$PCI\" --best-memattr bandwidth core:0",
    "-i \"$KNL\" --best-memattr latency core:0",
    "-i \"$MADE\" --best-memattr capacity core:0",
    "-i \"$PCI\" root",
    "-i \"$KNL\" all",
    "-i \"$MADE\" 0xf",
    "-i \"$PCI\" 0x0000000f",
    "-i \"$KNL\" core:0.pu:0",
    "-i \"$KNL\" package:0.core:1",
    "-i \"$PCI\" package:0.core:all.pu:0",
    "-i \"$MADE\" numa:0.core:0",
    "-i \"$MADE\" core:odd",
    "-i \"$PCI\" core:even",
    "-i \"$KNL\" core:1-",
    "-i \"$MADE\" core:0:2",
    "-i \"$PCI\" core:1:3",
    "-i \"$KNL\" l3:0",
    "-i \"$PCI\" l2:1",
    "-i \"$KNL\" L1d:0",
    "-i \"$PCI\" l2cache:0",
    "-i \"$MADE\" os:0",
    "-i \"$PCI\" pci:0",
    "-i \"$PCI\" os=eth0",
    "-i \"$MADE\" osdev:0",
    "-i \"$PCI\" --restrict 0x3 all",
    "-i \"$KNL\" --restrict-flags 0 --restrict 0x3 all",
    "-i \"$MADE\" --disallowed all",
    "-i \"$PCI\" --no-smt all",
    "-i \"$KNL\" --no-smt=0 all",
    "-i \"$MADE\" --no-smt=1 all",
    "-i \"$PCI\" all all",
    "-i \"$KNL\" numa:0 ~core:0",
    "-i \"$MADE\" machine:0",
    "-i \"$PCI\" core:99",
    "-i \"$KNL\" numa[hbm]:all",
    "-i \"$PCI\" numa[mcdram]:0",
    "-i \"$PCI\" numa[0]:0",
    "-i \"$KNL\" os[gpu]:0",
    "-i \"$MADE\" os[net]:all",
    "-i \"$PCI\" pci[:1015]:0",
    "-i \"$KNL\" package:0.l2:0",
    "-i \"$PCI\" -I os package:0",
    "-i \"$KNL\" -I pci package:0",
    "-i \"$KNL\" -N os all",
    "-i \"$MADE\" pci[15b3]:0",
    "-i \"$KNL\" -N osdev[net] all",
    "-i \"$MADE\" -I os[net] all",
    "-i \"$MADE\" group:0",
    "-i \"$MADE\" group0:0",
];

/// Words behind `hwloc-distrib`. PCI, KNL and MADE are inputs.
const DISTRIB: &[&str] = &[
    "-i \"$KNL\" 2",
    "-i \"$MADE\" 4",
    "-i \"$PCI\" 3",
    "-i \"$KNL\" --single 4",
    "-i \"$MADE\" --single 2",
    "-i \"$PCI\" --taskset 2",
    "-i \"$KNL\" --reverse 2",
    "-i \"$MADE\" --single --reverse 4",
    "-i \"$PCI\" --at core 2",
    "-i \"$KNL\" --at package 2",
    "-i \"$PCI\" --from package --to core 2",
    "-i \"$PCI\" --to core 4",
    "-i \"$KNL\" --ignore core 2",
    "-i \"$MADE\" --restrict 0x3 2",
    "-i \"$PCI\" --disallowed 2",
    "-i \"$KNL\" 1",
    "-i \"$MADE\" 100",
];

/// Words behind `hwloc-bind`. PCI, KNL and MADE are inputs.
const BIND: &[&str] = &[
    "core:0 -- echo hi",
    "core:0 echo hi",
    "pu:1 -- grep Cpus_allowed_list /proc/self/status",
    "--cpubind core:0 -- echo x",
    "--get",
    "--get --taskset",
    "-l pu:0 -- true",
    "-p pu:0 -- true",
    "--single all -- true",
    "--strict pu:0 -- true",
    "--membind node:0 -- true",
    "--membind numa:0 --mempolicy bind -- true",
    "--mempolicy interleave --membind numa:0 -- true",
    "-v core:0 -- true",
    "-q core:0 -- true",
    "--taskset --get",
    "0x1 -- true",
    "--restrict 0x1 pu:0 -- true",
    "--get --membind",
    "--nodeset 0x1 -- true",
    "--no-smt all -- grep Cpus_allowed_list /proc/self/status",
    "--pid 1 --get",
];

/// What a shell prints for the lines, each with its exit status, with the programs of a folder
/// before others.
fn answers(program: &str, lines: &[&str], folder: Option<&Path>) -> Vec<String> {
    const END: &str = "\u{1}";
    let shared = shared().unwrap().join("topologies");
    let mut script = String::new();
    for line in lines {
        script += &format!("{program} {line}\nprintf '[%s]{END}' $?\n");
    }
    let mut command = Command::new("sh");
    command.args(["-c", &script]).env("XDG_RUNTIME_DIR", "/nonexistent");
    command.env("TOPOBROKER_RUN", "/nonexistent").env("HWLOC_HIDE_ERRORS", "2");
    if let Some(folder) = folder {
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", folder.display()));
    }
    for (name, file) in [
        ("PCI", "hwloc-v2.9__24em64t-2n6c2t-pci.xml"),
        ("KNL", "hwloc-v2.9__64intel64-fakeKNL-SNC4-hybrid.xml"),
    ] {
        command.env(name, shared.join(file));
    }
    let output = command.env("MADE", "node:2 core:4 pu:2").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.split_terminator(END).map(str::to_owned).collect()
}

/// Compares with the installed program of that name.
fn compare(program: &str, lines: &[&str]) {
    if shared().is_none() {
        return;
    }
    if Command::new(program).arg("--version").output().is_err() {
        skip(format_args!("no {program}"));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    symlink(topobroker_file(), folder.path().join(program)).unwrap();
    let theirs = answers(program, lines, None);
    let ours = answers(program, lines, Some(folder.path()));
    assert_eq!(ours.len(), lines.len());
    for ((ours, theirs), line) in ours.iter().zip(&theirs).zip(lines) {
        assert_eq!(ours, theirs, "{program} {line}");
    }
}

#[test]
fn lstopo_by_its_name_prints_what_hwloc_prints() {
    compare("lstopo-no-graphics", LSTOPO);
}

#[test]
fn hwloc_info_by_its_name_prints_what_hwloc_prints() {
    compare("hwloc-info", INFO);
}

#[test]
fn hwloc_calc_by_its_name_prints_what_hwloc_prints() {
    compare("hwloc-calc", CALC);
}

#[test]
fn hwloc_distrib_by_its_name_prints_what_hwloc_prints() {
    compare("hwloc-distrib", DISTRIB);
}

#[test]
fn hwloc_bind_by_its_name_prints_what_hwloc_prints() {
    compare("hwloc-bind", BIND);
}
