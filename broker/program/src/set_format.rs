//! The format of the sets that a command prints.

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use topobroker_layout::set::Format;

/// Options for the format of sets, as hwloc's programs have them.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct SetFormat {
    /// Format of the sets that are printed
    #[arg(long, alias = "cof", value_enum, value_name = "FORMAT", conflicts_with = "taskset")]
    cpuset_output_format: Option<Named>,
    /// Print sets in the format of taskset: --cpuset-output-format taskset
    #[arg(long)]
    taskset: bool,
}

impl SetFormat {
    /// The format that is asked for; hwloc's own by default.
    pub(crate) fn format(self) -> Format {
        match self.cpuset_output_format {
            Some(Named(format)) => format,
            None if self.taskset => Format::Taskset,
            None => Format::Hwloc,
        }
    }

    /// Whether a format is asked for.
    pub(crate) fn is_given(self) -> bool {
        self.taskset || self.cpuset_output_format.is_some()
    }
}

/// A format by hwloc's name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named(pub(crate) Format);

impl ValueEnum for Named {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self(Format::Hwloc), Self(Format::List), Self(Format::Taskset)]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self.0 {
            Format::List => ("list", "0-1,32"),
            Format::Taskset => ("taskset", "0x100000003"),
            _ => ("hwloc", "0x00000001,0x00000003"),
        };
        Some(PossibleValue::new(name).help(help))
    }
}
