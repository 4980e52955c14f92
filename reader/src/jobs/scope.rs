//! Decides whether a process is to use all of the adopted topology or only a part of it.

use super::job::{AdoptJobError, Job};
use super::sources::{Cgroup, SourceError, affinity, pmix_cpu_list, step_cpu_list};
use crate::adopt::{AdoptError, Adopted, adopt};
use crate::topology::Topology;
use crate::view::{RestrictError, View};
use alloc::string::String;
use core::fmt;
use topobroker_layout::header::Scope;
use topobroker_layout::set::{Format, Set};
use topobroker_process::trusted_var;

topobroker_layout::words! {
    /// How a process was started.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Launch {
        /// By Open MPI's `mpirun`: `OMPI_LAUNCHED=1`, or the variables of its version 4.
        OpenMpi => "Open MPI",
        /// By a DVM of PRRTE: `PRTE_LAUNCHED=1`.
        Prte => "PRRTE",
        /// As a task of Slurm: `SLURM_PROCID`.
        Slurm => "Slurm",
        /// By another launcher, such as `hydra`, that set a variable such as `PMI_RANK`.
        Direct => "direct",
        /// Not by a launcher.
        Singleton => "singleton",
    }
}

impl Launch {
    /// How a process was started, from its environment variables.
    ///
    /// ```
    /// use topobroker_reader::jobs::Launch;
    /// let slurm = |name: &str| (name == "SLURM_PROCID").then(|| "3".to_owned());
    /// assert_eq!(Launch::from_env(slurm), Launch::Slurm);
    /// ```
    pub fn from_env(value: impl Fn(&str) -> Option<String>) -> Self {
        /// Variables that launchers set for each process that they start.
        const RANKS: [&str; 4] = ["PMIX_RANK", "PMI_RANK", "PMI_FD", "MPIRUN_RANK"];
        let is_one = |name| value(name).is_some_and(|value| value == "1");
        if is_one("OMPI_LAUNCHED") {
            Self::OpenMpi
        } else if is_one("PRTE_LAUNCHED") {
            Self::Prte
        } else if value("OMPI_COMM_WORLD_RANK").is_some() {
            Self::OpenMpi
        } else if value("SLURM_PROCID").is_some() && value("MPIRUN_RANK").is_none() {
            Self::Slurm
        } else if RANKS.into_iter().any(|name| value(name).is_some()) {
            Self::Direct
        } else {
            Self::Singleton
        }
    }
}

/// Everything that [`Situation::decide`] depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Situation {
    /// How the process was started.
    pub launch: Launch,
    /// Whose resources the topology describes, as its publisher says.
    pub published: Scope,
    /// Whether the topology is of the machine that the process runs on, as far as its publisher's
    /// hwloc can say. False if the topology was read from a file.
    pub is_this_system: bool,
    /// PUs of the topology.
    pub pus: Set,
    /// PUs that the launcher gave the job. For a job of PRRTE these are the PUs of `PMIX_CPU_LIST`,
    /// if it is set. Otherwise they are those of `TOPOBROKER_CPU_LIST`, which our Slurm plugin sets
    /// to the PUs of the step.
    pub cpu_list: Option<Set>,
    /// PUs that the process may run on.
    pub affinity: Set,
    /// PUs of the cgroup, if it has a cpuset controller.
    pub cgroup: Option<Set>,
}

/// The part of the topology that a process is to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EffectivePart {
    /// All of it.
    All,
    /// These PUs, with their NUMA nodes.
    Pus(Set),
}

/// The part that a process is to use, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The part.
    pub part: EffectivePart,
    /// The reason, as a phrase.
    pub reason: &'static str,
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.part {
            EffectivePart::All => write!(f, "all: {}", self.reason),
            EffectivePart::Pus(pus) => {
                write!(f, "PUs {}: {}", pus.to_text(Format::List), self.reason)
            }
        }
    }
}

impl Situation {
    /// The situation of this process with the topology that it has adopted.
    ///
    /// # Errors
    ///
    /// [`SourceError`] if `PMIX_CPU_LIST` is not a list of PUs of the topology, if
    /// `TOPOBROKER_CPU_LIST` is not a list, or if the affinity or the cgroup cannot be read.
    pub fn of_this_process(adopted: &Adopted) -> Result<Self, SourceError> {
        Self::with_topology(adopted.topology(), adopted.header().scope)
    }

    /// The situation of this process with a topology whose resources are those of `published`.
    ///
    /// # Errors
    ///
    /// As [`Situation::of_this_process`].
    pub fn with_topology(topology: Topology<'_>, published: Scope) -> Result<Self, SourceError> {
        let launch = Launch::from_env(trusted_var);
        let given = |name| trusted_var(name).filter(|list| !list.is_empty());
        // If the launcher has constrained the topology to the job, its list may refer to the whole
        // topology.
        let of_job = match launch {
            Launch::Prte if published != Scope::Job => given("PMIX_CPU_LIST"),
            _ => None,
        };
        let matters = launch != Launch::Singleton && published != Scope::Job;
        let of_step = given("TOPOBROKER_CPU_LIST").filter(|_| matters);
        let list = match (of_job, of_step) {
            (Some(list), _) => Some(pmix_cpu_list(topology, &list)?.to_set()),
            // This list may have PUs that the topology lacks: a step may have the whole node, of
            // which a cgroup leaves only a part.
            (None, Some(list)) => Some(step_cpu_list(&list)?),
            _ => None,
        };
        Ok(Self {
            launch,
            published,
            is_this_system: topology.is_this_system(),
            pus: topology.root().cpuset().unwrap_or_default(),
            cpu_list: list,
            affinity: affinity()?,
            cgroup: Cgroup::of_this_process()?.map(|cgroup| cgroup.cpus),
        })
    }

    /// Decides whether the process is to use all of the topology or only a part of it.
    ///
    /// | launch | uses |
    /// | --- | --- |
    /// | any, if the topology is one job's | all |
    /// | Open MPI | all: the launcher has constrained it; in a step of Slurm, the PUs of the step |
    /// | PRRTE | the PUs of the cpu list if there is one, otherwise all |
    /// | Slurm | the PUs that affinity, cgroup and the cpu list of the step all have |
    /// | direct | the PUs that affinity and cgroup both have |
    /// | singleton | all; if the topology is of this whole machine, the PUs of its cgroup |
    ///
    /// If the topology does not have these PUs, the process is to use all of it.
    #[must_use]
    pub fn decide(&self) -> Decision {
        let all = |reason| Decision { part: EffectivePart::All, reason };
        match self.launch {
            _ if self.published == Scope::Job => all("the topology is the job's own"),
            Launch::OpenMpi => match &self.cpu_list {
                Some(list) => self.part(
                    list,
                    "mpirun runs in a step of Slurm, which has this of the topology",
                    "mpirun runs in a step of Slurm, which has the whole topology",
                ),
                None => all("mpirun has constrained the topology to the job"),
            },
            Launch::Prte => match &self.cpu_list {
                Some(list) => self.part(
                    list,
                    "the DVM shares the node's topology, and the job has a cpu list",
                    "the job's cpu list has the whole topology",
                ),
                None => all("the job has no cpu list: it may use all that the DVM may"),
            },
            Launch::Slurm => self.part(
                &self.own(),
                "a task of Slurm, and affinity, cgroup and step leave this of the topology",
                "a task of Slurm, and affinity, cgroup and step leave the whole topology",
            ),
            Launch::Direct => self.part(
                &self.own(),
                "launched directly, and affinity and cgroup leave this of the topology",
                "launched directly, and affinity and cgroup leave the whole topology",
            ),
            Launch::Singleton => match (&self.cgroup, self.published) {
                (Some(cgroup), Scope::Machine) if self.is_this_system => self.part(
                    cgroup,
                    "no launcher started it, and its cgroup leaves this of the machine",
                    "no launcher started it: affinity alone is no limit to what it may look at",
                ),
                _ => all("no launcher started it: the topology is what it may use"),
            },
        }
    }

    /// Whether the topology is said to be of this machine and yet has no PU that this process may
    /// use. So it is where something stands in for files of the kernel, as LXCFS does for
    /// containers.
    #[must_use]
    pub fn is_elsewhere(&self) -> bool {
        let allowed = match &self.cgroup {
            Some(cgroup) => &self.affinity & cgroup,
            None => self.affinity.clone(),
        };
        self.is_this_system && !self.pus.intersects(&allowed)
    }

    /// PUs that affinity, cgroup and the launcher's list all have.
    fn own(&self) -> Set {
        let limits = [&self.cgroup, &self.cpu_list];
        let limits = limits.into_iter().flatten();
        limits.fold(self.affinity.clone(), |own, limit| &own & limit)
    }

    /// The decision for a process that may use the PUs `own`: a part of the topology, or all.
    /// `part` and `all` are the reasons. If the topology has no such PU, it is of another
    /// machine or cgroup and says nothing about the limits of this process.
    fn part(&self, own: &Set, part: &'static str, all: &'static str) -> Decision {
        let left = &self.pus & own;
        if left.is_empty() {
            let reason = "the topology has no PU of this process: it is of another machine";
            return Decision { part: EffectivePart::All, reason };
        }
        if left == self.pus {
            return Decision { part: EffectivePart::All, reason: all };
        }
        Decision { part: EffectivePart::Pus(left), reason: part }
    }
}

/// Why there is no view of a process's own part.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EffectiveViewError {
    /// The topology cannot be adopted.
    #[error(transparent)]
    Adopt(#[from] AdoptError),
    /// The job cannot be adopted.
    #[error(transparent)]
    Job(#[from] AdoptJobError),
    /// A source of PUs cannot be used.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The part has no PU that may be used.
    #[error(transparent)]
    Restrict(#[from] RestrictError),
}

impl Decision {
    /// A view of the part that was decided on.
    ///
    /// # Errors
    ///
    /// [`RestrictError`] if the part has no PU that may be used.
    pub fn view<'a>(&self, topology: Topology<'a>) -> Result<View<'a>, RestrictError> {
        match &self.part {
            EffectivePart::All => Ok(View::whole(topology)),
            EffectivePart::Pus(pus) => View::of_pus(topology, pus),
        }
    }
}

/// Adopts the topology of this process, as [`adopt`](crate::adopt()) does, and returns a view of
/// the process's own part. If `TOPOBROKER_JOB` or PMIx names a job, this is the part of the job.
/// Else [`Situation::decide`] decides from launcher, affinity and cgroup.
///
/// ```no_run
/// let mine = topobroker_reader::jobs::effective_view()?;
/// println!("{} objects", mine.topology().object_count());
/// # Ok::<(), topobroker_reader::jobs::EffectiveViewError>(())
/// ```
///
/// # Errors
///
/// [`EffectiveViewError`].
pub fn effective_view() -> Result<View<'static>, EffectiveViewError> {
    let adopted = adopt()?;
    if let Some(job) = Job::find(adopted)? {
        return Ok(job.view());
    }
    let decision = Situation::of_this_process(adopted)?.decide();
    Ok(decision.view(adopted.topology())?)
}

/// What the cgroup of this process leaves of a topology of this machine, as hwloc would find it
/// here. All of it if there is no cpuset controller, if the topology is of another machine, or if
/// it has no PU of the process.
///
/// ```no_run
/// let adopted = topobroker_reader::adopt()?;
/// let view = topobroker_reader::jobs::cgroup_view(adopted.topology())?;
/// println!("{} PUs", view.topology().root().pus().map_or(0, |pus| pus.len()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`EffectiveViewError`] if the cgroup cannot be read.
pub fn cgroup_view(topology: Topology<'_>) -> Result<View<'_>, EffectiveViewError> {
    let cgroup = match topology.is_this_system() {
        true => Cgroup::of_this_process()?,
        false => None,
    };
    match cgroup.map(|it| it.view(topology)) {
        None | Some(Err(RestrictError::Nothing { .. })) => Ok(View::whole(topology)),
        Some(view) => Ok(view?),
    }
}
