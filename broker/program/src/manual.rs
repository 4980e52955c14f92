//! `topobroker manual`: the manual pages of the program, from the texts of `--help`.

use super::examples;
use anyhow::Context;
use clap::{Args, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Write a manual page for the program and each of its commands
#[derive(Debug, Args)]
#[command(hide = true)]
pub(super) struct Manual {
    /// Folder for the pages
    folder: PathBuf,
}

/// Exit statuses of the program, and what they mean.
pub(super) const STATUSES: [(&str, &str); 6] = [
    ("0", "It worked. A closed pipe at the output is not an error."),
    (
        "1",
        "An error, described in one line; or check, cluster check, cluster diff, cluster reach, \
         doctor or ps --misbound found something.",
    ),
    ("2", "The command line is wrong."),
    ("3", "The cluster was written by cluster gather, but nodes are missing in it."),
    ("126, 127", "The command of run, bind, audit or job exec cannot be run, or is not there."),
    (
        "else",
        "The status of the command of run, bind, audit or job exec; 128 and a number if a signal \
         ended it.",
    ),
];

/// Environment variables that the program reads.
const VARIABLES: [(&str, &str); 9] = [
    ("TOPOBROKER_FILE, TOPOBROKER_ADDR, TOPOBROKER_SIZE", "The keys of a published topology."),
    ("TOPOBROKER_JOB", "File of the job of this process."),
    ("TOPOBROKER_RUN", "Folder of the daemon instead of /run/topobroker."),
    ("TOPOBROKER_CLUSTER", "File of the cluster that this node is in."),
    ("TOPOBROKER_GUARD_LIBRARY", "File of the hwloc guard."),
    ("TOPOBROKER_NETWORK, TOPOBROKER_NIC, TOPOBROKER_NO_NIC", "Which NICs jobs use."),
    ("TOPOBROKER_COPY", "If it is 1, a process copies a topology instead of mapping it."),
    ("TOPOBROKER_CHECK", "If it is 1, a process checks again what the publisher has checked."),
    ("XDG_RUNTIME_DIR", "In its folder topobroker is what this user has published last."),
];

/// Files that the program reads and writes.
const FILES: [(&str, &str); 3] = [
    (
        "/dev/shm/topobroker-*",
        "Published topologies, jobs (.job-NAME) and the files of each (+...).",
    ),
    ("/run/topobroker/keys", "The keys of what the daemon has published."),
    ("$XDG_RUNTIME_DIR/topobroker/keys", "The keys of what this user has published last."),
];

impl Manual {
    pub(super) fn run(&self, program: Command) -> anyhow::Result<ExitCode> {
        let mut program = program.disable_help_subcommand(true);
        program.build();
        write_pages(&program, "topobroker", &self.folder)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn write_pages(command: &Command, path: &str, folder: &Path) -> anyhow::Result<()> {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        write_pages(below, &format!("{path} {}", below.get_name()), folder)?;
    }
    let page = Man::new(command.clone().after_help("")).manual("topobroker");
    let mut text = Vec::new();
    page.render_title(&mut text)?;
    page.render_name_section(&mut text)?;
    page.render_synopsis_section(&mut text)?;
    page.render_description_section(&mut text)?;
    page.render_options_section(&mut text)?;
    if command.get_subcommands().next().is_some() {
        page.render_subcommands_section(&mut text)?;
    }
    let mut more = Roff::new();
    let mut list = |title: &str, items: &[(&str, &str)]| {
        if items.is_empty() {
            return;
        }
        more.control("SH", [title]);
        for (name, what) in items {
            more.control("TP", []);
            more.text([bold(*name)]).text([roman(*what)]);
        }
    };
    list("EXAMPLES", examples::of(path));
    list("EXIT STATUS", &STATUSES);
    list("ENVIRONMENT", &VARIABLES);
    list("FILES", &FILES);
    let others = ["topobroker(1)", "topobroker(7)", "topobroker-segment(5)", "hwloc(7)"].join(", ");
    more.control("SH", ["SEE ALSO"]);
    more.text([roman(others)]);
    more.to_writer(&mut text)?;
    let file = folder.join(page.get_filename());
    std::fs::write(&file, text).with_context(|| file.display().to_string())
}
