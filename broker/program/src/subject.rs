//! The topology that a command answers about: an input or the adopted segment, or a part of it that
//! the user names.

use super::flag_names;
use super::input::{Held, Input};
use super::job::named;
use super::part;
use anyhow::{Context, bail, ensure};
use clap::Args;
use std::io::IsTerminal;
use topobroker::description::describe;
use topobroker::description::{Filters, filter};
use topobroker::location::Location;
use topobroker_layout::encode;
use topobroker_layout::set::{Format, Set};
use topobroker_reader::jobs::cgroup_view;
use topobroker_reader::{Adopted, Archive, RestrictFlags, Topology, View};

/// Options that name a topology and a part of it.
#[derive(Debug, Default, Args)]
pub(super) struct Subject {
    #[command(flatten)]
    input: Input,
    /// Use what is published to this process or by the daemon, or fail. By default, if nothing is:
    /// what you have published here last, otherwise the machine as it is now
    #[arg(long, conflicts_with = "input")]
    adopted: bool,
    /// Keep only these PUs, or NUMA nodes, of the topology; `binding`: those of this process
    #[arg(long, value_name = "[nodeset=]SET")]
    restrict: Option<String>,
    /// How to restrict: parts of the names remove_cpuless, adapt_misc, adapt_io, bynodeset,
    /// remove_memless between commas, or their sum
    #[arg(long, value_name = "FLAGS", requires = "restrict", value_parser = flags)]
    restrict_flags: Option<u64>,
    /// Show what this job sees of the adopted topology
    #[arg(long, value_name = "NAME", conflicts_with_all = ["input", "view"])]
    job: Option<String>,
    /// Show a part: mine (what launcher, affinity and cgroup leave this process), affinity, cgroup,
    /// cgroup:FOLDER, env:VARIABLE, a list of logical indexes, os:LIST, objects, or machine, which
    /// is all of it. By default what the cgroup of this process leaves
    #[arg(long, value_name = "PART")]
    view: Option<String>,
}

/// Refuses a topology of another machine, because of what is not possible with it.
pub(super) fn ensure_is_here(topology: Topology<'_>, because: &str) -> anyhow::Result<()> {
    ensure!(
        topology.is_this_system(),
        "this topology is of {}: {because}",
        topology.root().info("HostName").unwrap_or("another machine")
    );
    Ok(())
}

fn flags(text: &str) -> Result<u64, String> {
    flag_names::parse(text, &RestrictFlags::NAMES)
}

impl Subject {
    /// Calls `text` with the part of the topology that the options name, without the types that
    /// `filters` leave out. Types of an input are filtered by hwloc while it loads, because in an
    /// XML file of version 1 it then puts groups in the place of filtered objects that NUMA nodes
    /// are attached to.
    pub(super) fn answer<R>(
        &self,
        filters: Option<&Filters>,
        text: impl FnOnce(Topology<'_>) -> anyhow::Result<R>,
    ) -> anyhow::Result<R> {
        self.answer_with_whole(filters, |_, part| text(part))
    }

    /// [`Subject::answer`], with the whole topology, which the part is of, too.
    pub(super) fn answer_with_whole<R>(
        &self,
        filters: Option<&Filters>,
        text: impl FnOnce(Topology<'_>, Topology<'_>) -> anyhow::Result<R>,
    ) -> anyhow::Result<R> {
        // Jobs, and what is left of the adopted topology, are of that.
        let is_of_adopted = self.job.is_some() || self.view.as_deref() == Some("mine");
        let disallowed = self.input.disallowed || self.view.as_deref() == Some(part::MACHINE);
        let input = Input { disallowed, ..self.input.clone() };
        let held = input.topology(filters, self.adopted || is_of_adopted)?;
        let filters = filters.filter(|_| matches!(held, Held::Adopted(_)));
        self.answer_with(held.archive()?.topology(), filters, text)
    }

    /// [`Subject::answer`] for `loaded` if it is there.
    pub(super) fn answer_of<R>(
        &self,
        loaded: Option<Topology<'_>>,
        filters: Option<&Filters>,
        text: impl FnOnce(Topology<'_>) -> anyhow::Result<R>,
    ) -> anyhow::Result<R> {
        match loaded {
            Some(whole) => self.answer_with(whole, filters, |_, part| text(part)),
            None => self.answer(filters, text),
        }
    }

    /// As in hwloc, types are filtered before the topology is restricted.
    fn answer_with<R>(
        &self,
        whole: Topology<'_>,
        filters: Option<&Filters>,
        text: impl FnOnce(Topology<'_>, Topology<'_>) -> anyhow::Result<R>,
    ) -> anyhow::Result<R> {
        let answer = |whole| {
            let usable = self.usable(whole)?;
            text(usable.topology(), self.part(usable.topology())?.topology())
        };
        let Some(filters) = filters else { return answer(whole) };
        let archive = encode::to_bytes(&filter(&describe(whole), filters));
        let archive = archive.context("the filtered topology")?;
        let filtered = Archive::open(&archive).context("the filtered topology")?;
        answer(filtered.topology())
    }

    /// What hwloc would find here: of what is adopted, what the cgroup of this process leaves. All
    /// of it if the user names a part.
    fn usable<'a>(&self, whole: Topology<'a>) -> anyhow::Result<View<'a>> {
        let is_named = self.job.is_some() || self.view.is_some() || self.input.disallowed;
        if is_named || self.adopted().is_none() {
            return Ok(View::whole(whole));
        }
        let usable = cgroup_view(whole)?;
        if usable != View::whole(whole) {
            let pus = usable.topology().root().cpuset().unwrap_or_default().to_text(Format::List);
            self.input.note(&format!(
                "this is what the cgroup of this process leaves of the node: PUs {pus}; --view {} \
                 shows all of it",
                part::MACHINE
            ));
        }
        Ok(usable)
    }

    /// Says if nothing is published and the topology is that of this machine, if the user wants to
    /// know more.
    pub(super) fn note_source_if(&mut self, is_verbose: bool) {
        self.input.notes_source = is_verbose;
    }

    /// [`Subject::note_source_if`], also on a terminal: for commands that show a topology.
    pub(super) fn note_source_for_viewer(&mut self, is_verbose: bool) {
        self.note_source_if(is_verbose || std::io::stderr().is_terminal());
    }

    /// Says nothing of where the topology is from, for commands that others run in their scripts.
    pub(super) fn be_quiet(&mut self) {
        self.input.is_quiet = true;
    }

    /// The adopted topology, if that is what this is about.
    pub(super) fn adopted(&self) -> Option<&'static Adopted> {
        topobroker_reader::adopted().filter(|_| self.input.input.is_none())
    }

    /// The job that the options name.
    pub(super) fn job(&self) -> Option<&str> {
        self.job.as_deref()
    }

    fn part<'a>(&self, topology: Topology<'a>) -> anyhow::Result<View<'a>> {
        let mut view = match (&self.job, self.view.as_deref()) {
            (None, None | Some(part::MACHINE)) => View::whole(topology),
            (Some(name), _) => {
                let adopted = topobroker_reader::adopt()?;
                let job = named(adopted, name)?;
                self.like(topology, &job.view())?
            }
            (None, Some("mine")) => {
                if self.input.input.is_some() {
                    bail!("--view mine is of the adopted topology: leave out --input");
                }
                let mine = topobroker_reader::jobs::effective_view().context("--view mine")?;
                self.like(topology, &mine)?
            }
            (None, Some(text)) => part::chosen(topology, text)?.view(topology).context("--view")?,
        };
        if let Some((set, flags)) = self.restriction(topology)? {
            view = view.restrict(&set, flags).context("--restrict")?;
        }
        Ok(view)
    }

    /// Applies a view of the adopted topology to `topology`, which is the adopted topology itself
    /// or a filtered copy of it.
    fn like<'a>(&self, topology: Topology<'a>, view: &View<'a>) -> anyhow::Result<View<'a>> {
        if view.is_of(topology) {
            return Ok(view.clone());
        }
        Ok(View::whole(topology).intersection(view)?)
    }

    fn restriction(&self, topology: Topology<'_>) -> anyhow::Result<Option<(Set, RestrictFlags)>> {
        let Some(text) = &self.restrict else { return Ok(None) };
        let given = self.restrict_flags.map(RestrictFlags::from_bits);
        let (mask, flags) = match (text.strip_prefix("nodeset="), given) {
            (None, flags) => (text.as_str(), flags.unwrap_or_default()),
            (Some(mask), None) => (mask, RestrictFlags::BYNODESET),
            (Some(mask), Some(flags)) if flags.has(RestrictFlags::BYNODESET) => (mask, flags),
            // hwloc's programs would take this set of NUMA nodes for a set of PUs.
            (Some(_), Some(_)) => bail!(
                "--restrict {text}: the flags say that the set is of PUs; add bynodeset to them"
            ),
        };
        if mask == "binding" {
            // As in hwloc, no process is bound to PUs of another machine.
            if !topology.is_this_system() {
                return Ok(None);
            }
            let own = topobroker_reader::jobs::affinity().context("--restrict binding")?;
            return Ok(Some((own, flags)));
        }
        let set =
            Set::parse(mask, Format::of_mask(mask)).with_context(|| {
                match Location::parse(mask) {
                    Ok(_) => format!("--restrict takes a set; `--view {mask}` takes objects"),
                    Err(_) => "--restrict".to_owned(),
                }
            })?;
        Ok(Some((set, flags)))
    }
}
