//! `topobroker bind`: binds a command or a process, as `hwloc-bind` does, or becomes a rank of a
//! job.

mod manner;
mod rank;
mod report;

pub(crate) use rank::exec_as_rank;

use crate::calc::{attribute_of, combined, keep_one_of_each_core, set_of};
use crate::job::named;
use crate::json;
use crate::output::{self, say};
use crate::scope::elsewhere;
use crate::set_format::SetFormat;
use crate::subject::{Subject, ensure_is_here};
use crate::switches::Inputs;
use anyhow::{Context, bail, ensure};
use clap::{Args, ValueEnum};
use manner::Manner;
use rank::exec;
use report::{Asked, Bound};
use std::ffi::OsString;
use std::process::ExitCode;
use topobroker::binding::{self, MemoryPolicy, Target};
use topobroker::location::Location;
use topobroker_layout::set::{Format, Set};
use topobroker_reader::jobs::Situation;
use topobroker_reader::{Initiator, Scope, Topology};

/// Run a command on some processors and with memory of some NUMA nodes, as hwloc-bind does
///
/// Or bind a process that runs already (--pid), or print where one is bound (--get)
#[derive(Debug, Args)]
pub(crate) struct Bind {
    #[command(flatten)]
    subject: Subject,
    #[command(flatten)]
    places: Inputs<Manner>,
    /// What --membind does with the NUMA nodes
    #[arg(long, value_enum, value_name = "POLICY")]
    mempolicy: Option<Policy>,
    /// Of the NUMA nodes, bind memory to the best by this attribute, such as bandwidth
    #[arg(long, value_name = "NAME")]
    best_memattr: Option<String>,
    /// Keep one PU of each core: the first, or the one at INDEX
    #[arg(long, value_name = "INDEX", num_args = 0..=1, require_equals = true, default_missing_value = "0")]
    no_smt: Option<usize>,
    /// Bind to one PU of the locations, so that nothing moves
    #[arg(long)]
    single: bool,
    /// Take no memory from other NUMA nodes when those are full
    #[arg(long)]
    strict: bool,
    /// Print where the process is bound
    #[arg(long, group = "asked")]
    get: bool,
    /// Print where the process ran last
    #[arg(short = 'e', long, group = "asked")]
    get_last_cpu_location: bool,
    /// Bind or ask this process, with all of its threads
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..), conflicts_with_all = ["tid", "command"])]
    pid: Option<u32>,
    /// Bind or ask this thread
    #[arg(long, value_name = "TID", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "command")]
    tid: Option<u32>,
    /// With --job: bind as this rank, with its keys and the variables of its NICs and GPUs
    #[arg(long, value_name = "RANK", requires_all = ["job", "command"], conflicts_with_all = ["location", "asked", "mempolicy", "best_memattr", "no_smt", "single", "strict", "force", "restrict"])]
    rank: Option<u32>,
    #[command(flatten)]
    set_format: SetFormat,
    /// Print JSON
    #[arg(long, requires = "asked")]
    json: bool,
    /// Run the command even if binding fails
    #[arg(short, long)]
    force: bool,
    /// Leave out objects that do not exist, and do not say why binding failed
    #[arg(short, long)]
    quiet: bool,
    /// Say what is bound where
    #[arg(short, long)]
    verbose: bool,
    /// The command and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// hwloc's names of policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Policy {
    /// What the system does by itself
    Default,
    /// The NUMA node of the PU that first uses the memory
    Firsttouch,
    /// These NUMA nodes (default)
    Bind,
    /// These NUMA nodes in turn
    Interleave,
    /// These NUMA nodes in turn, by their bandwidth (Linux 6.9)
    #[value(alias = "weighted-interleave")]
    Weighted,
}

/// What locations say together.
struct Places {
    cpus: Option<Set>,
    nodes: Option<Set>,
}

impl Bind {
    pub(crate) fn run(mut self) -> anyhow::Result<ExitCode> {
        if let (Some(name), Some(rank)) = (self.subject.job(), self.rank) {
            let base = topobroker_reader::adopt()?;
            return exec_as_rank(base, named(base, name)?, rank, &self.command);
        }
        if !self.verbose {
            self.subject.be_quiet();
        }
        let is_asked = self.get || self.get_last_cpu_location;
        let has_places = !self.places.locations.is_empty();
        ensure!(
            !(is_asked && has_places),
            "--get prints where something is bound: leave out LOCATION"
        );
        ensure!(
            self.mempolicy.is_none() || has_places,
            "--mempolicy says how memory is bound, but not to what: add a LOCATION, such as \
             numa:0 after --membind"
        );
        let has_other = has_places && self.target() != Target::ThisProcess;
        ensure!(
            is_asked || has_other || !self.command.is_empty(),
            "nothing to do: give a LOCATION and a command, or --pid, or --get"
        );
        if is_asked {
            output::print(&self.subject.answer(None, |topology| self.report(topology))?)?;
        } else if has_places {
            self.forced(self.subject.answer_with_whole(None, |whole, part| self.act(whole, part)))?;
        }
        Ok(exec(&self.command, []))
    }

    fn target(&self) -> Target {
        match (self.pid, self.tid) {
            (Some(pid), _) => Target::Process(pid),
            (_, Some(tid)) => Target::Thread(tid),
            _ => Target::ThisProcess,
        }
    }

    fn report(&self, topology: Topology<'_>) -> anyhow::Result<String> {
        let manner = self.places.manner;
        let asked = match (self.get, manner.is_memory) {
            (true, true) => Asked::Memory,
            (true, false) => Asked::Cpus,
            (false, true) => bail!("--get-last-cpu-location is of processors: leave out --membind"),
            (false, false) => Asked::LastLocation,
        };
        let bound = Bound::of(topology, self.target(), asked)?;
        if self.json {
            return json::text(&bound.document());
        }
        Ok(bound.text(manner.prints_nodes(), self.set_format.format()))
    }

    /// Binds.
    fn act(&self, whole: Topology<'_>, topology: Topology<'_>) -> anyhow::Result<()> {
        ensure_is_here(topology, "nothing here can be bound to its PUs")?;
        if let Ok(situation) = Situation::with_topology(whole, Scope::Machine)
            && situation.is_elsewhere()
            && !self.quiet
        {
            say(&elsewhere(&situation));
        }
        let Places { cpus, nodes } = self.sets(topology)?;
        let memory = nodes.map(|nodes| self.memory(topology, nodes, cpus.clone())).transpose()?;
        ensure!(
            memory.is_some() || self.mempolicy.is_none(),
            "--mempolicy is of memory: give --membind LOCATION"
        );
        if let Some(cpus) = &cpus {
            ensure!(!cpus.is_empty(), "the locations have no PUs to bind to");
        }
        // All that can be found wrong before anything is bound has been.
        if let Some((policy, nodes)) = memory {
            self.explain("memory: NUMA nodes", &nodes);
            self.forced(binding::bind_memory(policy, &nodes, self.strict))?;
        }
        if let Some(cpus) = &cpus {
            self.explain("processors: PUs", cpus);
            self.forced(binding::bind(self.target(), cpus))?;
        }
        Ok(())
    }

    /// With --force, an error is printed, and the rest goes on.
    fn forced<E: Into<anyhow::Error>>(&self, bound: Result<(), E>) -> anyhow::Result<()> {
        match bound.map_err(Into::into) {
            Err(error) if self.force => {
                if !self.quiet {
                    say(&output::whole_message(&error));
                }
                Ok(())
            }
            bound => bound,
        }
    }

    /// How memory is bound, and to which NUMA nodes.
    fn memory(
        &self,
        topology: Topology<'_>,
        mut nodes: Set,
        cpus: Option<Set>,
    ) -> anyhow::Result<(MemoryPolicy, Set)> {
        if let Some(name) = &self.best_memattr {
            nodes = best_node(topology, name, &nodes, cpus).context("--best-memattr")?;
        }
        if self.single {
            nodes = nodes.singlify();
        }
        ensure!(!nodes.is_empty(), "the locations have no NUMA nodes to bind memory to");
        ensure!(
            self.target() == Target::ThisProcess,
            "{}: Linux binds no memory of others; bind it when it starts",
            self.target()
        );
        let policy = match self.mempolicy {
            Some(Policy::Default) => MemoryPolicy::Default,
            Some(Policy::Firsttouch) => MemoryPolicy::FirstTouch,
            Some(Policy::Bind) | None => MemoryPolicy::Bind,
            Some(Policy::Interleave) => MemoryPolicy::Interleave,
            Some(Policy::Weighted) => MemoryPolicy::WeightedInterleave,
        };
        Ok((policy, nodes))
    }

    /// The PUs and NUMA nodes that the locations name.
    fn sets(&self, topology: Topology<'_>) -> anyhow::Result<Places> {
        let mut places = Places { cpus: None, nodes: None };
        for (word, manner) in &self.places.locations {
            let location = Location::parse_or_name(word)?;
            if is_mask_like_a_list(word) {
                say(&format!(
                    "{word} is the mask {}, as hwloc reads it; a list of PUs has a type or a \
                     range: pu:0 pu:1, or 0-1",
                    location.as_set().cloned().unwrap_or_default()
                ));
            }
            let part = set_of(topology, &location, manner.of_calc(), self.quiet)?;
            let set = if manner.is_memory { &mut places.nodes } else { &mut places.cpus };
            *set = Some(combined(set.as_ref().unwrap_or(&Set::new()), &part, &location));
        }
        if let Some(cpus) = &mut places.cpus {
            if let Some(index) = self.no_smt {
                keep_one_of_each_core(topology, cpus, index)?;
            }
            if self.single {
                *cpus = cpus.singlify();
            }
        }
        Ok(places)
    }

    fn explain(&self, what: &str, set: &Set) {
        if self.verbose {
            say(&format!("binds {what} {}", set.to_text(Format::List)));
        }
    }
}

/// Whether a mask looks as a list of processors does for taskset and numactl: `2`, `0,1`.
fn is_mask_like_a_list(word: &str) -> bool {
    word.bytes().all(|letter| letter.is_ascii_digit() || letter == b',')
}

/// The best of some NUMA nodes by a memory attribute, as seen from some PUs.
fn best_node(
    topology: Topology<'_>,
    attribute: &str,
    nodes: &Set,
    cpus: Option<Set>,
) -> anyhow::Result<Set> {
    let attribute = attribute_of(topology, attribute)?;
    let is_named = |index: u32| topology.numa_node_by_os_index(index);
    let from = cpus.or_else(|| topology.root().cpuset()).unwrap_or_default();
    let best = attribute.best_among(nodes.iter().filter_map(is_named), &Initiator::Cpuset(from));
    let best = best.and_then(|node| node.nodeset());
    best.with_context(|| format!("no NUMA node of {nodes} has a value of {}", attribute.name()))
}
