//! Every command of the pages is run, as whoever reads them would.

use crate::documents::pages;
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use topobroker_embedding::{has, prefix, said, succeed, topobroker};
use topobroker_reader::Keys;
use topobroker_samples::{checkout, shared};

/// What a command has in the pages, and what it has here.
const HERE: [(&str, &str); 10] = [
    ("core:0-3", "core:0"),
    ("n007", "n002"),
    ("n[001-276]", "n[001-003]"),
    ("4711", "$$"),
    ("-n 64", "-n 2"),
    ("--rank 3", "--rank 0"),
    ("topobroker serve", "timeout 2 topobroker serve --folder run"),
    ("--folder run --folder /run/topobroker", "--folder run"),
    ("/etc/cdi/", ""),
    ("topobroker job add a ", "topobroker job remove a && topobroker job add a "),
];

/// Commands about processes of this machine. All others ask a machine with GPUs.
const OF_THIS_MACHINE: [&str; 9] =
    ["bind", "ps", "run", "job exec", "serve", "load", "audit", "scope", "doctor"];

/// The commands in the pages' indented examples, without what is said of them. (Those in fences are
/// the book's, whose test runs them.)
fn commands() -> Vec<String> {
    let texts = pages(&checkout()).into_iter().map(|page| fs::read_to_string(page).unwrap());
    let of = |text: String| -> Vec<String> {
        let mut is_example = false;
        let mut found = Vec::new();
        for event in Parser::new(&text) {
            match event {
                Event::Start(Tag::CodeBlock(kind)) => is_example = kind == CodeBlockKind::Indented,
                Event::End(TagEnd::CodeBlock) => is_example = false,
                Event::Text(lines) if is_example => {
                    let ours = lines.lines().filter(|line| line.starts_with("topobroker "));
                    let words = ours.map(|line| line.split("  #").next().unwrap().trim_end());
                    found.extend(words.map(str::to_owned));
                }
                _ => {}
            }
        }
        found
    };
    texts.flat_map(of).collect()
}

/// Writes what the commands name: a program, a machine, nodes, and a cluster of them.
fn prepare(folder: &Path, machine: &Path) {
    let script = |name: &str, text: &str| {
        fs::write(folder.join(name), format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(folder.join(name), Permissions::from_mode(0o755)).unwrap();
    };
    // mpiexec.hydra ends with SIGPIPE if its ranks end at once, which no MPI program does.
    script("app", "sleep 0.3");
    script("ssh", "shift; exec \"$@\"");
    fs::create_dir(folder.join("nodes")).unwrap();
    let xml = fs::read_to_string(machine).unwrap();
    fs::write(folder.join("machine.xml"), &xml).unwrap();
    let (head, rest) = xml.split_once("name=\"HostName\" value=\"").unwrap();
    let (_, tail) = rest.split_once('"').unwrap();
    for node in ["n001", "n002", "n003"] {
        let named = format!("{head}name=\"HostName\" value=\"{node}\"{tail}");
        fs::write(folder.join(format!("nodes/{node}.xml")), named).unwrap();
    }
    let mut build = topobroker();
    succeed(build.args(["cluster", "build", "c.topo", "nodes"]).current_dir(folder));
}

/// Publishes a topology with the jobs that the commands name.
fn publish(folder: &Path, input: &str) -> Keys {
    let keys = succeed(topobroker().args(["publish", "-i", input, "--folder"]).arg(folder));
    let keys = Keys::from_lines(&keys).unwrap();
    for job in ["a", "mine"] {
        let mut add = topobroker();
        add.args(["job", "add", job, "-n", "1", "--map-by", "core"]).envs(keys.to_env());
        succeed(&mut add);
    }
    keys
}

#[test]
fn every_command_of_the_pages_succeeds() {
    let Some(shared) = shared().filter(|_| has("mpirun")) else { return };
    let folder = tempfile::tempdir().unwrap();
    let machine = shared.join("topologies/prrte__turin-4gpu-nvml.xml");
    let (files, work) = (folder.path().join("files"), folder.path().join("work"));
    fs::create_dir(&files).unwrap();
    prepare(&files, &machine);
    let published = folder.path().join("published");
    let path = [&files, &prefix().join("bin")].map(|it| it.display().to_string()).join(":");
    let path = format!("{path}:{}", std::env::var("PATH").unwrap());
    let commands = commands();
    assert!(commands.len() > 50, "{commands:#?}");
    let mut failed = String::new();
    for command in commands {
        let words = command.trim_start_matches("topobroker ");
        let is_here = OF_THIS_MACHINE.iter().any(|it| words.starts_with(it));
        let input = if is_here { "machine" } else { machine.to_str().unwrap() };
        let line = HERE.iter().fold(command.clone(), |line, (page, here)| line.replace(page, here));
        let makes_cluster = ["cluster build", "cluster gather"].iter().any(|it| line.contains(it));
        // Each has a folder and a publication of its own, because some make files that others make
        // too, and some remove what is published.
        fs::create_dir(&published).unwrap();
        let keys = publish(&published, input);
        succeed(Command::new("cp").arg("-r").args([&files, &work]));
        if makes_cluster {
            fs::remove_file(work.join("c.topo")).unwrap();
        }
        let mut shell = Command::new("sh");
        shell.args(["-c", &line]).current_dir(&work).env("PATH", &path).envs(keys.to_env());
        shell.envs(["", "_CONFIRM"].map(|it| (format!("OMPI_ALLOW_RUN_AS_ROOT{it}"), "1")));
        let output = shell.output().unwrap();
        // A daemon runs until it is ended; `check` finds ports that are down.
        let expected =
            if words.starts_with("serve") { 124 } else { i32::from(words.starts_with("check")) };
        if output.status.code() != Some(expected) {
            failed += &format!("{line}: {}\n", said(&output));
        }
        [&work, &published].iter().for_each(|it| fs::remove_dir_all(it).unwrap());
    }
    assert!(failed.is_empty(), "{failed}");
}
