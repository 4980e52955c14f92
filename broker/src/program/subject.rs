//! What a question is about: the topology of an input, restricted if the user says so.

use super::flag_names;
use super::input::Input;
use anyhow::Context;
use clap::Args;
use topobroker_layout::set::{Format, Set};
use topobroker_reader::{RestrictFlags, Topology, View};

/// Options that name a topology.
#[derive(Debug, Args)]
pub(super) struct Subject {
    #[command(flatten)]
    input: Input,
    /// Keep only these PUs, or NUMA nodes, of the topology
    #[arg(long, value_name = "[nodeset=]SET")]
    restrict: Option<String>,
    /// How to restrict: parts of the names remove_cpuless, adapt_misc, adapt_io, bynodeset,
    /// remove_memless between commas, or their sum
    #[arg(long, value_name = "FLAGS", requires = "restrict", value_parser = flags)]
    restrict_flags: Option<u64>,
}

fn flags(text: &str) -> Result<u64, String> {
    flag_names::parse(text, &RestrictFlags::NAMES)
}

impl Subject {
    /// The answer of `text` to the topology that the options name.
    pub(super) fn answer(
        &self,
        text: impl FnOnce(Topology<'_>) -> anyhow::Result<String>,
    ) -> anyhow::Result<String> {
        let held = self.input.topology()?;
        let whole = held.topology()?;
        let view = match self.restriction()? {
            None => View::whole(whole),
            Some((set, flags)) => View::new(whole, &set, flags).context("--restrict")?,
        };
        text(view.topology())
    }

    fn restriction(&self) -> anyhow::Result<Option<(Set, RestrictFlags)>> {
        let Some(text) = &self.restrict else { return Ok(None) };
        let mut flags = RestrictFlags::from_bits(self.restrict_flags.unwrap_or(0));
        let mask = text.strip_prefix("nodeset=");
        if mask.is_some() {
            flags = flags | RestrictFlags::BYNODESET;
        }
        let mask = mask.unwrap_or(text);
        let format = if mask.contains(',') { Format::Hwloc } else { Format::Taskset };
        let set = Set::parse(mask, format).context("--restrict")?;
        Ok(Some((set, flags)))
    }
}
