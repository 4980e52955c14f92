//! `topobroker job add`: adds a job.

use super::NOT_BOUND;
use super::limits::{beyond_cgroup, beyond_quota};
use super::named::named;
use super::nics::warn_but;
use super::pe_list::PeList;
use crate::mapping::{MOST_TEXT, Mapping};
use crate::networks::{SiteNics, not_used, subnets_apart};
use crate::text_file::read_text;
use crate::{output, part};
use anyhow::{Context, ensure};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;
use topobroker::findings::FindingKind;
use topobroker::nics::NicFilter;
use topobroker::placement::{self, Policy, RankList, Room};
use topobroker::publish::job::{self, DevicePolicy, JobOptions, Launcher};
use topobroker_layout::set::{Format, Set};
use topobroker_reader::{
    Adopted, Keys, Object, ObjectType, Topology, View, cluster::Identity, devices::NicChoice,
    jobs::cgroup_view,
};

/// Add a job, and print the environment line by which its processes find it
#[derive(Debug, Args)]
pub(super) struct Add {
    /// Name of the job
    name: String,
    /// PUs of the job: a list of logical indexes such as 14,15,0,1, or P0:0-3;P1:*, or what --view
    /// of other commands takes, such as machine for all; by default what the cgroup of this process
    /// leaves
    #[arg(long, value_name = "PUS")]
    cpu_set: Option<String>,
    /// Read the ranks from this file: a line for each rank with the OS indexes of its PUs, such as
    /// "0 0-3", or with a hyphen if it is not bound: "0 -"
    #[arg(long, value_name = "FILE", conflicts_with_all = ["ranks_here", "map_by"])]
    ranks: Option<PathBuf>,
    /// Number of ranks on this node; by default one for each object that they are mapped by
    #[arg(short = 'n', long = "np", value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    ranks_here: Option<u64>,
    /// Spread ranks over: slot, hwthread, core, l1cache, l2cache, l3cache, numa, package, gpu,
    /// device=gpu, device=network, device=block or device=NAME (:SHARED lets ranks share devices,
    /// :NDEV=N gives each N, :INTERLEAVE takes those of each package in turn), ppr:N:ANY_OF_THESE,
    /// cpu-list to take the PUs of --cpu-set in turn, pe-list=0,2,4:ORDERED to take these cores, or
    /// rankfile:file=FILE, seq:file=FILE or lsf for what a file says of each rank; :PE=N gives each
    /// rank N cores, :OVERSUBSCRIBE allows more ranks than cores
    #[arg(long, value_name = "POLICY")]
    map_by: Option<String>,
    #[command(flatten)]
    mapping: Mapping,
    /// Rank of the first process on this node; by default 0
    #[arg(long, value_name = "RANK", requires = "map_by")]
    first_rank: Option<u32>,
    /// NICs that each rank is given; 0 for none
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    nics_per_rank: u32,
    /// GPUs that each rank is given, 1 by default; 0 for none
    #[arg(long, value_name = "COUNT")]
    gpus_per_rank: Option<u32>,
    /// Give a rank NICs near this: the PUs that it is bound to, or its first GPU
    #[arg(long, value_enum, default_value_t)]
    nics_near: NicsNear,
    /// Also give out NICs whose state is unknown
    #[arg(long)]
    unknown_nics: bool,
    #[command(flatten)]
    site: SiteNics,
    /// Remove the job once this process is gone; by default it stays until it is removed
    #[arg(long, value_name = "PID")]
    launcher: Option<u32>,
    /// Let only this user read the job
    #[arg(long)]
    private: bool,
    /// Also publish the job's part for unmodified programs that use hwloc or PMIx
    #[arg(long)]
    legacy: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum NicsNear {
    /// Its PUs.
    #[default]
    Pus,
    /// Its first GPU.
    Gpu,
}

/// Ranks and their PUs.
type Ranks = Vec<(u32, Option<Set>)>;

impl Add {
    pub(super) fn run(self, base: &'static Adopted) -> anyhow::Result<ExitCode> {
        let pe_list = self.map_by.as_deref().map(PeList::parse).transpose()?.flatten();
        ensure!(
            pe_list.is_none() || (self.cpu_set.is_none() && self.mapping.fits_pe_list()),
            "--map-by pe-list=LIST says what ranks are bound to: leave out --cpu-set, --rank-by, \
             --as, and any --bind-to but core and hwthread; append :ORDERED to bind each rank to \
             the next of the list"
        );
        let (option, cpu_set) = match &pe_list {
            Some(list) => ("--map-by", Some(&list.cpu_set)),
            None => ("--cpu-set", self.cpu_set.as_ref()),
        };
        let (view, order) = match cpu_set {
            // A file of ranks asks for what it names.
            None if self.ranks.is_some() => (View::whole(base.topology()), Vec::new()),
            None => (cgroup_view(base.topology())?, Vec::new()),
            Some(text) => {
                let chosen = part::chosen(base.topology(), text).context(option)?;
                (chosen.view(base.topology())?, chosen.order)
            }
        };
        let launcher = self.launcher.map_or(Launcher::None, Launcher::Process);
        let (ranks, mapped_gpus) = match pe_list {
            Some(list) => (self.numbered(list.ranks(&order, self.count())?)?, Vec::new()),
            None => self.ranks(&view, &order)?,
        };
        let name = self.name.clone();
        let (private, legacy) = (self.private, self.legacy);
        ensure!(
            self.nics_near == NicsNear::Pus || self.gpus_per_rank != Some(0),
            "--nics-near gpu: ranks have no GPUs with --gpus-per-rank 0"
        );
        let (wanted, gpus) = (self.gpus_per_rank.unwrap_or(0), base.topology().gpus().count());
        ensure!(
            usize::try_from(wanted).is_ok_and(|wanted| wanted <= gpus),
            "--gpus-per-rank {wanted}: the node has {gpus}; `topobroker devices --gpu` lists them"
        );
        let devices = DevicePolicy { mapped_gpus, ..self.devices()? };
        let networks = devices.site.networks(base.topology(), devices.nics);
        let networks = if devices.nics_per_rank > 0 { networks } else { Vec::new() };
        let wants_nics = devices.nics_per_rank > 0;
        let why_none = wants_nics.then(|| devices.site.why_none(base.topology(), devices.nics));
        // What the node lacks itself is a finding of the job.
        let by_default = || NicFilter::default().why_none(base.topology(), NicChoice::Active);
        let why_none = why_none.flatten().filter(|_| by_default().is_none());
        let notes = [
            why_none.map(|why| format!("ranks have no NIC: {why}")),
            beyond_cgroup(&view)?,
            beyond_quota(ranks.len())?,
            not_used(&networks),
            networks.first().and_then(subnets_apart),
        ];
        let options = JobOptions { name, ranks, launcher, private, legacy, devices };
        let job = job::add(base, &view, &options)?;
        let printed = output::hand_over(&Keys::lines(job.to_env()));
        let printed = printed.or_else(|error| {
            // No process knows of this job, so none would remove it.
            job::remove(base, &self.name)?;
            Err(error.context("the job is not added"))
        })?;
        // The job is added, whatever comes now.
        for note in notes.into_iter().flatten() {
            output::say(&format!("job {}: {note}", self.name));
        }
        if let Ok(job) = named(base, &self.name) {
            // A user who wants no NIC needs no reason why there is none.
            let without = (self.nics_per_rank == 0).then_some(FindingKind::NoNetwork);
            warn_but(base, job, without);
        }
        Ok(printed)
    }

    fn devices(&self) -> anyhow::Result<DevicePolicy> {
        Ok(DevicePolicy {
            site: self.site.filter()?,
            nics_per_rank: self.nics_per_rank,
            gpus_per_rank: self.gpus_per_rank.unwrap_or(1),
            nics: NicChoice::new(self.unknown_nics),
            nics_near_gpu: self.nics_near == NicsNear::Gpu,
            mapped_gpus: Vec::new(),
        })
    }

    /// The ranks, and the ids of the GPUs that they are mapped by.
    fn ranks(&self, view: &View<'_>, order: &[Object<'_>]) -> anyhow::Result<(Ranks, Vec<u32>)> {
        if let Some(file) = &self.ranks {
            return Ok((read_text(file, MOST_TEXT, read_ranks)?, Vec::new()));
        }
        if let Some((list, policy)) = self.mapping.listed(self.map_by.as_deref(), self.count())? {
            return Ok((self.listed(&list, &policy, view.topology())?, Vec::new()));
        }
        let Some(map_by) = &self.map_by else {
            ensure!(
                self.ranks_here.is_none(),
                "--np is how many ranks there are, but not where: add --map-by, such as --map-by \
                 core"
            );
            ensure!(!self.mapping.is_given(), "--bind-to, --rank-by and --as: add --map-by");
            return Ok((Vec::new(), Vec::new()));
        };
        let policy = self.mapping.policy(map_by)?;
        let topology = view.topology();
        let all: Vec<Object<'_>> = match order.is_empty() {
            true => topology.objects_with_type(ObjectType::PU).collect(),
            false => order.to_vec(),
        };
        let placed = placement::place(topology, &policy, self.count(), &all)?;
        ensure!(
            !placed.is_empty(),
            "--map-by {map_by}: there is no place for a rank of so many CPUs"
        );
        let gpus: Vec<Object<'_>> = topology.gpus().collect();
        let devices = || placed.iter().flat_map(|it| &it.devices);
        let each = devices().count() / placed.len();
        let is_wanted = self.gpus_per_rank.is_none_or(|wanted| wanted as usize == each);
        let mapped_gpus = match is_wanted && devices().all(|it| gpus.contains(it)) {
            true => devices().map(|it| it.id()).collect(),
            false => Vec::new(),
        };
        Ok((self.numbered(placed.into_iter().map(|it| it.cpuset).collect())?, mapped_gpus))
    }

    /// The ranks of this node among those that a file names one by one.
    fn listed(
        &self,
        list: &RankList,
        policy: &Policy,
        topology: Topology<'_>,
    ) -> anyhow::Result<Ranks> {
        ensure!(self.first_rank.is_none(), "--first-rank: the file numbers the ranks");
        let own = Identity::of_this_process().host;
        let of_topology = topology.root().info("HostName");
        let short = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
        let names = [Some(&*own), of_topology, Some(RankList::HERE)].into_iter().flatten();
        let names: Vec<String> = names.map(short).collect();
        let here = |host: &str| {
            let is_here =
                ["+n0", "127.0.0.1", "::1"].contains(&host) || names.contains(&short(host));
            is_here.then_some(0)
        };
        let placed = list.place(&[Room { topology, slots: None }], here, policy, self.count())?;
        ensure!(
            !placed.is_empty(),
            "no rank is on this node: it is {own}, the ranks are on {}",
            list.hosts().take(8).collect::<Vec<_>>().join(", ")
        );
        Ok(placed.into_iter().map(|(rank, it)| (rank, it.cpuset)).collect())
    }

    /// Number of ranks on this node, if it was given.
    fn count(&self) -> Option<usize> {
        self.ranks_here.map(|count| usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// Ranks from the first one of this node.
    fn numbered(&self, sets: Vec<Option<Set>>) -> anyhow::Result<Ranks> {
        let first = self.first_rank.unwrap_or(0);
        let behind = u32::try_from(sets.len().saturating_sub(1)).ok();
        let last = behind.and_then(|count| first.checked_add(count));
        let last = last.with_context(|| format!("--first-rank {first}: ranks are below 2^32"))?;
        Ok((first..=last).zip(sets).collect())
    }
}

/// Parses lines with a rank and the OS indexes of its PUs.
fn read_ranks(text: &str) -> anyhow::Result<Ranks> {
    let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    let mut ranks = Ranks::new();
    for (line, place) in lines {
        let (rank, list) = line.trim().split_once([' ', '\t']).with_context(|| {
            format!("line {place} is {line:?}; expected a rank and a list of OS indexes")
        })?;
        let rank: u32 = rank.parse().with_context(|| format!("line {place}: rank {rank:?}"))?;
        let set = match list.trim() {
            NOT_BOUND => None,
            list => Some(Set::parse(list, Format::List).with_context(|| format!("line {place}"))?),
        };
        ranks.push((rank, set));
    }
    ensure!(!ranks.is_empty(), "names no ranks; expected a line for each, such as \"0 0-3\"");
    Ok(ranks)
}
