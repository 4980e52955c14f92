//! Where a process is told which PUs are its own: lists, its affinity, its cgroup, its environment.

mod affinity;
mod cgroup;
mod cpu_list;
mod omp_places;
mod pmix;
mod slurm;

pub use affinity::affinity;
pub use cgroup::Cgroup;
pub use cpu_list::{CpuList, Numbering};
pub use omp_places::omp_places;
pub use pmix::{pmix_cpu_list, pmix_cpuset};
pub(crate) use slurm::step_cpu_list;
pub use slurm::{SlurmBinding, slurm_cpu_bind};

use crate::topology::Topology;
use std::io;
use topobroker_layout::archive::INDEX_LIMIT;
use topobroker_layout::set::{Format, Set};

/// What says which PUs to use cannot be read or is not of this machine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// Not written as it should be.
    #[error("{what} {text:?}: {reason} at position {position}; expected {expected}")]
    Malformed {
        /// What it is, such as `PMIX_CPUSET`.
        what: &'static str,
        /// The text.
        text: String,
        /// Place of what is wrong in it, in bytes from 0.
        position: usize,
        /// What is wrong.
        reason: &'static str,
        /// What may be there.
        expected: &'static str,
    },
    /// An index that the topology does not have.
    #[error("{what} {text:?}: there is no {object} with {numbering} index {index}; {expected}")]
    NotInMachine {
        /// What it is.
        what: &'static str,
        /// The text.
        text: String,
        /// Type of the object.
        object: &'static str,
        /// How it is numbered.
        numbering: &'static str,
        /// The index.
        index: u32,
        /// Which there are.
        expected: String,
    },
    /// Nothing is named.
    #[error("{what} {text:?}: names no PU; expected one at least")]
    Empty {
        /// What it is.
        what: &'static str,
        /// The text.
        text: String,
    },
    /// A file of the kernel cannot be read.
    #[error("{file}: cannot be read: {source}")]
    Read {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
}

/// What is expected of an index.
const BELOW_LIMIT: &str = "indexes below 131072, which is more than Linux can have";

/// The PUs of a text, by OS index, if the topology has all of them and they are any.
fn known(topology: Topology<'_>, text: Text<'_>, set: Set) -> Result<Set, SourceError> {
    let pus = topology.root().cpuset().unwrap_or_default();
    match set.and_not(&pus).first() {
        _ if set.is_empty() => Err(text.empty()),
        None => Ok(set),
        Some(index) => Err(SourceError::NotInMachine {
            what: text.what,
            text: text.whole.to_owned(),
            object: "PU",
            numbering: "OS",
            index,
            expected: format!("the topology has {}", pus.to_text(Format::List)),
        }),
    }
}

/// A text that is read from its start, with the errors that name it.
#[derive(Clone, Copy)]
struct Text<'t> {
    what: &'static str,
    whole: &'t str,
    rest: &'t str,
}

impl<'t> Text<'t> {
    fn new(what: &'static str, whole: &'t str) -> Self {
        Self { what, whole, rest: whole }
    }

    /// The same with another part still to be read.
    fn at(self, rest: &'t str) -> Self {
        Self { rest, ..self }
    }

    fn malformed(self, reason: &'static str, expected: &'static str) -> SourceError {
        let position = self.rest.as_ptr() as usize - self.whole.as_ptr() as usize;
        let (what, text) = (self.what, self.whole.to_owned());
        SourceError::Malformed { what, text, position, reason, expected }
    }

    fn empty(self) -> SourceError {
        SourceError::Empty { what: self.what, text: self.whole.to_owned() }
    }

    /// The same without blanks in front.
    fn trimmed(self) -> Self {
        self.at(self.rest.trim_start())
    }

    fn strip(self, prefix: &str) -> Option<Self> {
        self.rest.strip_prefix(prefix).map(|rest| self.at(rest))
    }

    /// Takes a decimal number.
    fn number(self, expected: &'static str) -> Result<(u32, Self), SourceError> {
        let end = self.rest.find(|letter: char| !letter.is_ascii_digit());
        let (digits, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        match digits.parse() {
            Ok(number) => Ok((number, self.at(rest))),
            Err(_) if digits.is_empty() => Err(self.malformed("no number", expected)),
            Err(_) => Err(self.malformed("a number that is too large", expected)),
        }
    }

    /// Takes the OS or logical index of a PU or a NUMA node.
    fn index(self, expected: &'static str) -> Result<(u32, Self), SourceError> {
        match self.number(expected)? {
            (index, rest) if index < INDEX_LIMIT => Ok((index, rest)),
            _ => Err(self.malformed("an index that is too high", BELOW_LIMIT)),
        }
    }

    /// The parts between separators, each with its place.
    fn split(self, separator: char) -> impl Iterator<Item = Self> + use<'t> {
        self.rest.split(separator).map(move |part| self.at(part))
    }

    /// Fails if something is left.
    fn end(self, expected: &'static str) -> Result<(), SourceError> {
        match self.rest {
            "" => Ok(()),
            _ => Err(self.malformed("more than expected", expected)),
        }
    }
}
