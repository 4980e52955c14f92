//! What is looked at.

use super::price::price;
use crate::output::whole_message;
use crate::preload;
use crate::scope::{HIDDEN, elsewhere};
use crate::status::with_daemons;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use topobroker::findings;
use topobroker::hwloc::{BUILT_WITH, library_version};
use topobroker::linux::{Process, Root, locked_memory};
use topobroker::node::daemon::{is_served, looked, was_killed};
use topobroker::node::status::{Published, PublisherState, published};
use topobroker::publish::YOUNG;
use topobroker_process::with_causes;
use topobroker_reader::jobs::{Cgroup, CpuQuota, Job, Situation};
use topobroker_reader::{AdoptError, Keys, KeysError, Placement, adopt};

topobroker_layout::words! {
    /// How something is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum State {
        Good => "good",
        /// Worth knowing: it may be wanted.
        Note => "note",
        Bad => "bad",
    }
}

/// What was found of one thing.
pub(super) struct Answer {
    pub(super) name: &'static str,
    pub(super) state: State,
    pub(super) text: String,
    /// What to do.
    pub(super) advice: Option<String>,
}

impl Answer {
    fn good(name: &'static str, text: String) -> Self {
        Self { name, state: State::Good, text, advice: None }
    }

    fn note(name: &'static str, text: String, advice: &str) -> Self {
        Self { name, state: State::Note, text, advice: Some(advice.to_owned()) }
    }

    fn bad(name: &'static str, text: String, advice: &str) -> Self {
        Self { state: State::Bad, ..Self::note(name, text, advice) }
    }
}

/// Looks at everything.
pub(super) fn examine() -> Vec<Answer> {
    let mut answers = vec![segment()];
    answers.extend(part());
    answers.extend(hidden_cgroup());
    answers.extend(quota());
    answers.push(daemon());
    answers.extend(left_behind());
    answers.extend([hwloc(), guard(), pmix()]);
    answers.extend(slurm());
    answers.extend([container(), limits(), cost()]);
    answers
}

/// The name of the answer that says what is published to this process.
pub(super) const SEGMENT: &str = "segment";

fn segment() -> Answer {
    const NAME: &str = SEGMENT;
    match adopt().and_then(|adopted| adopted.check().map(|()| adopted)) {
        Ok(adopted) => {
            let keys = adopted.keys();
            let found = format!("{}, {} bytes, adopted", keys.file_key(), keys.size());
            match adopted.placement() {
                Placement::Preferred => Answer::good(NAME, found + " at its address"),
                Placement::Copied => Answer::note(
                    NAME,
                    found + " as a copy of its own",
                    "without TOPOBROKER_COPY=1 it is shared",
                ),
                _ => Answer::good(NAME, found + " at another address"),
            }
        }
        Err(AdoptError::Keys(KeysError::Missing { .. })) => Answer::note(
            NAME,
            "nothing is published to this process".to_owned(),
            "`topobroker publish` or the daemon, `topobroker serve`, share the topology of this \
             node",
        ),
        Err(error) => Answer::bad(
            NAME,
            with_causes(&error),
            "the keys of this process name what cannot be adopted: publish again, or unset \
             TOPOBROKER_FILE",
        ),
    }
}

/// Which part of the topology is this process's.
fn part() -> Option<Answer> {
    let adopted = adopt().ok()?;
    let text = match (Job::find(adopted), Situation::of_this_process(adopted)) {
        (Ok(Some(job)), _) => format!("that of job {}", job.name()),
        (_, Ok(situation)) if situation.is_elsewhere() => {
            let advice = "mount the kernel's own /sys there, or leave its CPUs as they are";
            return Some(Answer::bad("part", elsewhere(&situation), advice));
        }
        (_, Ok(situation)) => situation.decide().to_string(),
        (_, Err(error)) => {
            let advice = "is /proc mounted?";
            return Some(Answer::bad("part", with_causes(&error), advice));
        }
    };
    Some(Answer::good("part", text))
}

/// Says that the cgroup of this process cannot be read; `None` if it can.
fn hidden_cgroup() -> Option<Answer> {
    let advice = "mount it: `apptainer exec --bind /sys/fs/cgroup`";
    Cgroup::is_hidden().ok()?.then(|| Answer::note("cgroup", HIDDEN.to_owned(), advice))
}

/// Whether the CPU time of this process is limited; `None` if it is not.
fn quota() -> Option<Answer> {
    let quota = CpuQuota::of_this_process().ok().flatten()?;
    let advice =
        "start no more ranks and threads than that: `topobroker scope` shows PUs and quota";
    Some(Answer::note("quota", quota.to_string(), advice))
}

/// A daemon that has not looked for so long does not run as it should.
const LATE: Duration = Duration::from_secs(3600);

fn daemon() -> Answer {
    const NAME: &str = "daemon";
    let folder = Keys::run_folder();
    let path = folder.as_path();
    let looked = looked(path);
    match (Keys::in_folder(&folder), looked) {
        (Some(keys), Some(ago)) if ago > LATE => Answer::bad(
            NAME,
            format!("serves {}, but last looked {} min ago", keys.file_key(), ago.as_secs() / 60),
            "as root: `systemctl status topobroker` says what it does",
        ),
        (Some(keys), Some(ago)) => Answer::good(
            NAME,
            format!("serves {}, and looked {} s ago", keys.file_key(), ago.as_secs()),
        ),
        (None, Some(_)) => Answer::bad(
            NAME,
            format!("{folder}: a daemon runs, but its keys are gone"),
            "it puts them back at its next look; `systemctl reload topobroker` makes it look at \
             once",
        ),
        (Some(keys), None) => Answer {
            // One that ends with --keep leaves its segment on purpose.
            state: if was_killed(path) { State::Bad } else { State::Note },
            ..Answer::note(
                NAME,
                format!("{}: of a daemon that no longer runs", keys.file_key()),
                "as root: `systemctl restart topobroker`, or `topobroker unpublish` with this \
                 file removes it",
            )
        },
        (None, None) => Answer::note(
            NAME,
            format!("{folder}: no daemon publishes there"),
            "as root: `systemctl enable --now topobroker`, or `topobroker serve`",
        ),
    }
}

/// What killed publishers of this user have left; `None` if nothing.
fn left_behind() -> Option<Answer> {
    let all = published(&with_daemons(&[])).ok()?;
    let me = rustix::process::geteuid().as_raw();
    let is_left = |it: &&Published| {
        let is_gone = it.owner == me && it.publisher == PublisherState::Gone;
        // What a process has discovered for others stays for a while.
        is_gone && it.age() > YOUNG && !is_served(&it.file)
    };
    let files: Vec<String> =
        all.iter().filter(is_left).map(|it| it.file.display().to_string()).collect();
    let text = || format!("left by publishers that were killed: {}", files.join(", "));
    let advice =
        "`topobroker unpublish --stale` removes them, and so does whatever you publish next";
    (!files.is_empty()).then(|| Answer::note("stale", text(), advice))
}

fn hwloc() -> Answer {
    let own = library_version();
    Answer::good("hwloc", format!("{own}, built with {BUILT_WITH}"))
}

fn guard() -> Answer {
    match preload::library() {
        Ok(library) => {
            Answer::good("guard", format!("{}: `topobroker run --guard`", library.display()))
        }
        Err(error) => {
            Answer::note("guard", whole_message(&error), "only unmodified programs need it")
        }
    }
}

fn pmix() -> Answer {
    let inside = std::env::var_os("PMIX_NAMESPACE").is_some();
    let libraries = libraries("libpmix.so");
    match (inside, libraries.first()) {
        (true, _) => Answer::good("PMIx", "this process has a PMIx server".to_owned()),
        (false, Some(library)) => {
            Answer::good("PMIx", format!("{library}; no server of this process"))
        }
        (false, None) => Answer::note(
            "PMIx",
            "no libpmix is installed".to_owned(),
            "only programs that ask PMIx for the topology need it",
        ),
    }
}

/// Libraries that the loader knows.
fn libraries(name: &str) -> Vec<String> {
    let tool =
        ["/sbin/ldconfig", "/usr/sbin/ldconfig"].into_iter().find(|it| Path::new(it).exists());
    let output = tool.and_then(|tool| Command::new(tool).arg("-p").output().ok());
    let text =
        output.map(|it| String::from_utf8_lossy(&it.stdout).into_owned()).unwrap_or_default();
    let paths = text.lines().filter_map(|line| {
        let (start, path) = line.split_once(" => ")?;
        start.trim().starts_with(name).then(|| path.to_owned())
    });
    paths.collect()
}

/// `None` without Slurm.
fn slurm() -> Option<Answer> {
    let configured = std::env::var_os("SLURM_CONF").map(PathBuf::from);
    let file = configured.unwrap_or_else(|| PathBuf::from("/etc/slurm/slurm.conf"));
    let folder = file.parent().filter(|_| file.exists())?;
    let text = |file: PathBuf| Root::of_this_node().text(file.to_str()?).ok()?;
    let mut stack = text(folder.join("plugstack.conf")).unwrap_or_default();
    for entry in std::fs::read_dir(folder.join("plugstack.conf.d")).into_iter().flatten().flatten()
    {
        stack += "\n";
        stack += &text(entry.path()).unwrap_or_default();
    }
    let is_there = |line: &str| !line.trim_start().starts_with('#') && line.contains("topobroker");
    Some(match stack.lines().find(|line| is_there(line)) {
        Some(line) => Answer::good("Slurm", format!("plugstack.conf has {}", line.trim())),
        None => Answer::note(
            "Slurm",
            format!("{}: no plugin of topobroker", folder.join("plugstack.conf").display()),
            "docs/book/batch-systems.md has its line: tasks then know the CPUs of their step",
        ),
    })
}

fn container() -> Answer {
    let marks = ["/.dockerenv", "/run/.containerenv", "/.singularity.d"];
    let named = std::env::var("container").ok();
    let mark = marks.into_iter().find(|mark| Path::new(mark).exists()).map(str::to_owned);
    match named.or(mark) {
        None => Answer::good("container", "none".to_owned()),
        Some(mark) => {
            let folder = Keys::run_folder();
            Answer::note(
                "container",
                format!("this process is in one ({mark})"),
                &format!(
                    "mount {folder}, the folder of the node's daemon, read-only, from outside"
                ),
            )
        }
    }
}

fn limits() -> Answer {
    const NAME: &str = "memlock";
    let limit = locked_memory(&Root::of_this_node(), Process::Own).ok().flatten();
    match findings::locked_memory("this process", limit.as_ref()) {
        None => Answer::good(NAME, "unlimited".to_owned()),
        Some(finding) => Answer::note(NAME, finding.text, "only network adapters need it"),
    }
}

fn cost() -> Answer {
    const NAME: &str = "price";
    match price() {
        Ok(price) => Answer::good(
            NAME,
            format!(
                "hwloc itself takes {:.1} ms and {} kB in each process; shared, each takes no \
                 more than some pages",
                price.milliseconds, price.kilobytes
            ),
        ),
        Err(error) => Answer::bad(NAME, whole_message(&error), "hwloc cannot load this machine"),
    }
}
