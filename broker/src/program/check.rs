//! `topobroker check`: looks for what is wrong with this node or a job's binding, for prologs and
//! epilogs of batch systems.

use super::job;
use super::output;
use super::subject::Subject;
use crate::findings::{self, Finding};
use crate::linux::{self, Root};
use clap::Args;
use rustix::param::page_size;
use serde_json::{Value, json};
use std::process::ExitCode;
use topobroker_reader::NicChoice;

/// Look for what is wrong with the node's ports and limits, and with where the ranks of --job are
/// bound; exit with 1 if something is
#[derive(Debug, Args)]
pub(super) struct Check {
    #[command(flatten)]
    subject: Subject,
    #[command(flatten)]
    silence: Silence,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
struct Silence {
    /// Accept that no port is active
    #[arg(long)]
    no_active_port: bool,
    /// Accept that several active ports have the factory's subnet prefix
    #[arg(long)]
    no_default_prefix: bool,
    /// Do not look at how much memory processes may lock
    #[arg(long)]
    no_memlock: bool,
    /// Do not look at how much memory the adapters can register
    #[arg(long)]
    no_registerable_memory: bool,
    /// Do not look at where the ranks of --job are bound
    #[arg(long)]
    no_binding: bool,
}

impl Silence {
    fn has(&self, kind: findings::Kind) -> bool {
        match kind {
            findings::Kind::NoActivePort => self.no_active_port,
            findings::Kind::DefaultPrefix => self.no_default_prefix,
            findings::Kind::Memlock => self.no_memlock,
            findings::Kind::RegisterableMemory => self.no_registerable_memory,
            findings::Kind::Far | findings::Kind::Split | findings::Kind::Unbound => {
                self.no_binding
            }
        }
    }
}

impl Check {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let mut found = Vec::new();
        self.subject.answer(None, |topology| {
            found = findings::ports(topology);
            Ok(String::new())
        })?;
        let root = self.subject.file_system();
        if !self.silence.no_memlock {
            found.extend(self.locked_memory(&root)?);
        }
        if !self.silence.no_registerable_memory {
            let drivers = linux::registerable_memory(&root, page_size() as u64)?;
            found.extend(drivers.iter().filter_map(findings::registerable_memory));
        }
        if let (Some(name), false) = (self.subject.job(), self.silence.no_binding) {
            found.extend(job::findings_of(name, NicChoice::Active)?);
        }
        found.retain(|finding| !self.silence.has(finding.kind));
        self.print(&found)?;
        let is_wrong = found.iter().any(|finding| !finding.is_note);
        Ok(if is_wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }

    /// What this process may lock, and the publisher of the adopted topology, which may be a daemon
    /// that starts processes.
    fn locked_memory(&self, root: &Root) -> anyhow::Result<Vec<Finding>> {
        let mut found = Vec::new();
        let own = linux::locked_memory(root, "self")?;
        found.extend(own.and_then(|limit| findings::locked_memory("this process", &limit)));
        if self.subject.is_adopted() {
            let publisher = topobroker_reader::adopt()?.header().publisher_pid;
            // It may be gone, or another user's, or in another PID namespace.
            let limit = linux::locked_memory(root, &publisher.to_string()).ok().flatten();
            let who = format!("process {publisher}, the publisher,");
            let limit = limit.filter(|limit| own != Some(*limit));
            found.extend(limit.and_then(|limit| findings::locked_memory(&who, &limit)));
        }
        Ok(found)
    }

    fn print(&self, found: &[Finding]) -> anyhow::Result<ExitCode> {
        if self.json {
            let describe = |finding: &Finding| {
                json!({
                    "kind": finding.kind.name(),
                    "note": finding.is_note,
                    "text": finding.text,
                })
            };
            let all: Vec<Value> = found.iter().map(describe).collect();
            return output::print(&(serde_json::to_string_pretty(&all)? + "\n"));
        }
        output::print(&found.iter().map(|finding| format!("{finding}\n")).collect::<String>())
    }
}
