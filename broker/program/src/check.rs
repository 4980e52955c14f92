//! `topobroker check`: looks for what is wrong with this node or a job's binding, for prologs and
//! epilogs of batch systems.

use super::input::{Input, Now};
use super::{color, job, json, output};
use clap::Args;
use rustix::param::page_size;
use std::process::ExitCode;
use topobroker::findings::{self, Finding, FindingKind};
use topobroker::linux::{self, Process};
use topobroker::publish::{PublisherState, state_of};
use topobroker_reader::jobs::{CpuQuota, affinity};
use topobroker_reader::{ObjectType, OsDeviceKind, Topology};

/// Look for what is wrong with ports, limits and the binding of a job, for prologs
///
/// Exits with 1 if something is wrong. The limits are those of this process, and of the publisher
/// of the adopted topology; they are only looked at where there are OpenFabrics devices. For a
/// saved file system, pages of 4 kB are assumed
#[derive(Debug, Args)]
pub(super) struct Check {
    #[command(flatten)]
    input: Input,
    /// Also look at where the ranks of this job over the adopted topology are bound
    #[arg(long, value_name = "NAME", conflicts_with = "input")]
    job: Option<String>,
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
    /// Accept any limit of how much memory processes may lock
    #[arg(long)]
    no_memlock: bool,
    /// Accept any limit of how much memory the adapters can register
    #[arg(long)]
    no_registerable_memory: bool,
    /// Accept that the quota of the cgroup is not enough for all ranks or PUs
    #[arg(long)]
    no_quota: bool,
    /// Accept where the ranks of --job are bound, and which GPUs and NICs they have
    #[arg(long)]
    no_binding: bool,
}

impl Silence {
    fn has(&self, kind: FindingKind) -> bool {
        match kind {
            FindingKind::NoActivePort => self.no_active_port,
            FindingKind::DefaultPrefix | FindingKind::SharedPrefix => self.no_default_prefix,
            FindingKind::Memlock => self.no_memlock,
            FindingKind::RegisterableMemory => self.no_registerable_memory,
            FindingKind::Far
            | FindingKind::Split
            | FindingKind::Unbound
            | FindingKind::IdleGpu
            | FindingKind::NoNetwork
            | FindingKind::Down
            | FindingKind::Networks => self.no_binding,
            FindingKind::Quota => self.no_quota,
            // Of clusters.
            FindingKind::NicName
            | FindingKind::FewerPorts
            | FindingKind::Slow
            | FindingKind::Rail
            | FindingKind::Topology => false,
        }
    }
}

impl Check {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let (mut found, host) = self.input.now(|now| {
            let mut found = findings::ports(now.topology);
            if has_fabric(now.topology) {
                found.extend(self.limits(now)?);
            }
            Ok((found, now.host()))
        })?;
        if let Some(name) = &self.job {
            found.extend(job::findings_of(name)?);
        }
        if self.input.input.is_none() {
            found.extend(self.quota()?);
        }
        found.retain(|finding| !self.silence.has(finding.kind));
        self.print(&found, host.as_deref())?;
        let is_wrong = found.iter().any(|finding| !finding.is_note);
        Ok(if is_wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }

    /// Whether the quota of this process is enough for the ranks of the job, or for its own PUs.
    fn quota(&self) -> anyhow::Result<Option<Finding>> {
        let Some(quota) = CpuQuota::of_this_process()? else { return Ok(None) };
        let note = match &self.job {
            Some(name) => {
                let job = job::named(topobroker_reader::adopt()?, name)?;
                quota.note(job.ranks().count(), "ranks")
            }
            None => {
                let pus = affinity()?.weight().unwrap_or_default() as usize;
                quota.note(pus, "threads, one for each PU that this process may use,")
            }
        };
        Ok(note.map(|text| Finding::note(FindingKind::Quota, text)))
    }

    /// What this process may lock, and the publisher of the adopted topology, which may be a daemon
    /// that starts processes; and what the drivers can register.
    fn limits(&self, now: &Now<'_>) -> anyhow::Result<Vec<Finding>> {
        let Some(root) = &now.root else { return Ok(Vec::new()) };
        let own = linux::locked_memory(root, Process::Own)?;
        let mut found = Vec::from_iter(findings::locked_memory("this process", own.as_ref()));
        if self.input.input.is_none() {
            let header = topobroker_reader::adopt()?.header();
            let pid = header.publisher_pid;
            // Another user's limits may be hidden.
            let limit = linux::locked_memory(root, Process::Pid(pid)).ok().flatten();
            let is_other = state_of(Some(header)) == PublisherState::Alive && limit != own;
            if let Some(limit) = limit.filter(|_| is_other) {
                let who = format!("process {pid}, the publisher,");
                found.extend(findings::locked_memory(&who, Some(&limit)));
            }
        }
        let page = if now.is_saved { 4096 } else { page_size() as u64 };
        let drivers = linux::registerable_memory(root, page);
        found.extend(drivers.iter().filter_map(findings::registerable_memory));
        Ok(found)
    }

    fn print(&self, found: &[Finding], host: Option<&str>) -> anyhow::Result<ExitCode> {
        if self.json {
            let all: Vec<_> = found.iter().map(|it| described(it, host)).collect();
            return output::print(&json::text(&all)?);
        }
        let on = host.map(|host| format!("{host}: ")).unwrap_or_default();
        let lines = found.iter().map(|it| match it.is_note {
            true => color::states(format!("{on}{it}\n")),
            false => color::wrong(&format!("{on}{it}")) + "\n",
        });
        output::print(&lines.collect::<String>())
    }
}

/// A finding, and the machine that it is about.
pub(crate) fn described<'a>(finding: &'a Finding, host: Option<&'a str>) -> json::Finding<'a> {
    json::Finding { host, kind: finding.kind.name(), note: finding.is_note, text: &finding.text }
}

/// Whether the limits matter: the node has OpenFabrics devices.
fn has_fabric(topology: Topology<'_>) -> bool {
    let mut devices = topology.objects_with_type(ObjectType::OSDevice);
    devices.any(|it| it.os_device_kind() == Some(OsDeviceKind::OpenFabrics))
}
