//! Examples of each command, for its help and its manual page.

use clap::Command;

/// Command lines of a command, each with what it does.
type Examples = &'static [(&'static str, &'static str)];

/// Commands with their examples. A test checks that each is a command line that the program takes.
const ALL: &[(&str, Examples)] = &[
    (
        "topobroker",
        &[
            ("topobroker ls", "print this machine"),
            ("topobroker draw -o node.html", "draw it, as a page to zoom and search"),
            ("topobroker doctor", "say what works on this node"),
            (
                "topobroker run -- mpirun -n 4 ./app",
                "share the topology among the ranks of a command",
            ),
        ],
    ),
    (
        "topobroker publish",
        &[
            ("topobroker publish", "publish this machine; programs of this user find it"),
            ("topobroker publish --export", "commands for a shell: eval \"$(...)\""),
            (
                "topobroker publish -i node.xml --private",
                "publish a file of hwloc, for this user alone",
            ),
        ],
    ),
    (
        "topobroker run",
        &[
            ("topobroker run mpirun -n 4 ./app", "the ranks adopt one topology"),
            ("topobroker run --guard ./app", "programs that load hwloc themselves share it too"),
        ],
    ),
    (
        "topobroker load",
        &[("topobroker load", "print the keys; the segment stays as long as this shell runs")],
    ),
    (
        "topobroker serve",
        &[("topobroker serve", "publish for all processes of the node, until SIGTERM")],
    ),
    ("topobroker status", &[("topobroker status --json", "what is published here, for a script")]),
    (
        "topobroker audit",
        &[(
            "topobroker audit mpirun -n 4 ./app",
            "which library loads hwloc how often, and its price",
        )],
    ),
    ("topobroker scope", &[("topobroker scope", "which PUs are this process's, and why")]),
    (
        "topobroker ls",
        &[
            ("topobroker ls --only core", "the cores, one a line"),
            ("topobroker ls -i \"Package:2 Core:8 PU:2\"", "a machine that is only described"),
            ("topobroker ls --json", "everything, for a script"),
        ],
    ),
    (
        "topobroker info",
        &[
            ("topobroker info numa:0", "all that is known of a NUMA node"),
            ("topobroker info --ancestors pu:3", "a PU and what it is in"),
        ],
    ),
    (
        "topobroker calc",
        &[
            ("topobroker calc package:0", "the mask of the PUs of a package"),
            ("topobroker calc -I core numa:1", "the cores of a NUMA node"),
            ("topobroker calc --largest 0x0f", "the objects that make up a mask"),
        ],
    ),
    (
        "topobroker distrib",
        &[("topobroker distrib --single 4", "four PUs that are far from each other")],
    ),
    (
        "topobroker bind",
        &[
            ("topobroker bind core:0-3 ./app", "run a command on four cores"),
            ("topobroker bind numa:1 --membind numa:1 ./app", "with its memory there, too"),
            ("topobroker bind --get --pid 1", "where a process may run"),
            ("topobroker bind --job mine --rank 3 ./app", "become a rank of a job"),
        ],
    ),
    (
        "topobroker ps",
        &[
            ("topobroker ps", "bound processes, with job and rank"),
            ("topobroker ps --misbound", "those in the wrong place, and why"),
        ],
    ),
    (
        "topobroker draw",
        &[
            ("topobroker draw", "on a terminal: as text"),
            ("topobroker draw -o node.svg", "as a picture; .png, .html and .tex work too"),
            ("topobroker draw --links -o links.svg", "the links between CPUs, GPUs and NICs"),
            (
                "topobroker draw --view mine --highlight core:0",
                "the rest is grey, a core is marked",
            ),
        ],
    ),
    (
        "topobroker devices",
        &[
            ("topobroker devices --gpu", "GPUs, one line each"),
            ("topobroker devices --near 0-3", "the nearest to some PUs first"),
        ],
    ),
    ("topobroker networks", &[("topobroker networks", "NICs by network; jobs use the first one")]),
    ("topobroker ports", &[("topobroker ports", "state, rate and subnet of each port")]),
    (
        "topobroker links",
        &[
            ("topobroker links --of matrix", "a table like that of nvidia-smi topo -m"),
            ("topobroker links --of nccl", "a file for NCCL_TOPO_FILE"),
            ("topobroker links --from numanode:0", "the best paths from a NUMA node"),
        ],
    ),
    (
        "topobroker job",
        &[
            ("topobroker job add mine -n 8 --map-by core", "a job of eight ranks on cores"),
            ("topobroker job exec mine --rank 3 ./app", "run a command as one of them"),
        ],
    ),
    (
        "topobroker cluster",
        &[
            ("topobroker cluster build all nodes/", "put the XML files of a folder into one file"),
            ("topobroker cluster draw all -o cluster.svg", "draw its switches and nodes"),
        ],
    ),
    (
        "topobroker check",
        &[("topobroker check", "ports and limits; exits with 1 if something is wrong")],
    ),
    ("topobroker doctor", &[("topobroker doctor", "what works on this node")]),
    (
        "topobroker export",
        &[
            ("topobroker export -o node.xml", "as XML that any hwloc 2 loads"),
            ("topobroker export --of synthetic", "as a synthetic description"),
        ],
    ),
    (
        "topobroker diff",
        &[(
            "topobroker diff n001.xml n002.xml n002.diff",
            "what differs, as XML that patch applies",
        )],
    ),
    (
        "topobroker patch",
        &[("topobroker patch n001.xml n002.diff n002.xml", "the second node, from the first")],
    ),
    ("topobroker completions", &[("topobroker completions bash", "for ~/.bashrc: source <(...)")]),
];

/// The examples of a command.
pub(crate) fn of(command: &str) -> Examples {
    ALL.iter().find(|(name, _)| *name == command).map_or(&[], |(_, examples)| examples)
}

/// A program whose commands have their examples at the end of their help.
pub(crate) fn with_examples(program: Command) -> Command {
    fn add(command: Command, path: &str) -> Command {
        let examples = of(path);
        let widest = examples.iter().map(|(line, _)| line.len()).max().unwrap_or(0);
        let lines = examples.iter().map(|(line, what)| format!("\n  {line:<widest$}  {what}"));
        let text = format!("Examples:{}", lines.collect::<String>());
        let command = if examples.is_empty() { command } else { command.after_help(text) };
        command.mut_subcommands(|command| {
            let path = format!("{path} {}", command.get_name());
            add(command, &path)
        })
    }
    add(program, "topobroker")
}

/// All examples.
#[cfg(test)]
pub(crate) fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    ALL.iter().flat_map(|(command, examples)| examples.iter().map(|(line, _)| (*command, *line)))
}
