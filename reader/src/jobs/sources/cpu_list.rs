//! Lists of CPUs in the order in which they are to be used.

use super::error::SourceError;
use super::text::Text;
use crate::object::Object;
use crate::topology::Topology;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::vec::Vec;
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::set::{Format, Set};

const EXPECTED: &str = "indexes and ranges such as 0,2-5";

topobroker_layout::words! {
    /// Numbering of the indexes in a list.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Numbering {
        /// Logical indexes, as `mpirun --cpu-set` takes them.
        Logical => "logical",
        /// OS indexes, as `taskset` takes them.
        Os => "OS",
    }
}

/// PUs of a topology in the order of a list.
///
/// ```
/// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documentation/example_machine.rs"));
/// use topobroker_reader::{jobs::{CpuList, Numbering}, RestrictFlags, View};
/// let list = CpuList::parse(topology, "6,7,0,1", Numbering::Logical)?;
/// assert_eq!(list.iter().next().map(|pu| pu.logical_index()), Some(6));
/// let view = View::new(topology, &list.to_set(), RestrictFlags::REMOVE_CPULESS)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuList<'a>(Vec<Object<'a>>);

impl<'a> CpuList<'a> {
    /// Reads a list of indexes and ranges, separated by commas. A text such as `P0:0-3;P1:*` has
    /// such a list for each package, with indexes within the package, or `*` for all of its PUs.
    ///
    /// # Errors
    ///
    /// [`SourceError`] if it is malformed or empty, or names a PU that the topology lacks.
    pub fn parse(
        topology: Topology<'a>,
        text: &str,
        numbering: Numbering,
    ) -> Result<Self, SourceError> {
        Self::read(topology, Text::new("CPU list", text), numbering)
    }

    pub(super) fn read(
        topology: Topology<'a>,
        text: Text<'_>,
        numbering: Numbering,
    ) -> Result<Self, SourceError> {
        let mut pus = Vec::new();
        if text.rest.starts_with(['P', 'p']) {
            for part in text.split(';') {
                add_package(topology, part, &mut pus)?;
            }
        } else {
            for index in indexes(text)? {
                let pu = match numbering {
                    Numbering::Logical => {
                        topology.objects_with_type(ObjectType::PU).nth(index as usize)
                    }
                    Numbering::Os => topology.pu_by_os_index(index),
                };
                pus.push(pu.ok_or_else(|| missing(topology, text, index, numbering))?);
            }
        }
        if pus.is_empty() { Err(text.empty()) } else { Ok(Self(pus)) }
    }

    /// The PUs in the order of the list. A PU that is named twice comes twice.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Object<'a>> + '_ {
        self.0.iter().copied()
    }

    /// The PUs as a set of OS indexes.
    #[must_use]
    pub fn to_set(&self) -> Set {
        self.0.iter().filter_map(|pu| pu.os_index()).collect()
    }
}

impl<'a> FromIterator<Object<'a>> for CpuList<'a> {
    fn from_iter<T: IntoIterator<Item = Object<'a>>>(pus: T) -> Self {
        Self(pus.into_iter().collect())
    }
}

/// Reads indexes and ranges, separated by commas. They stay in order.
pub(super) fn indexes(text: Text<'_>) -> Result<Vec<u32>, SourceError> {
    /// Limit of indexes, so that no text takes much memory.
    const MOST: usize = 1 << 20;
    let mut indexes = Vec::new();
    for part in text.split(',') {
        let (first, rest) = part.index(EXPECTED)?;
        let (last, rest) = match rest.strip("-") {
            Some(rest) => rest.index(EXPECTED)?,
            None => (first, rest),
        };
        rest.end(EXPECTED)?;
        if last < first {
            return Err(part.malformed("a range that ends before it begins", EXPECTED));
        }
        if indexes.len() + (last - first) as usize >= MOST {
            return Err(part.malformed("more indexes than any machine has", EXPECTED));
        }
        indexes.extend(first..=last);
    }
    Ok(indexes)
}

/// Reads the PUs of one package: `P1:0-3` or `P1:*`.
fn add_package<'a>(
    topology: Topology<'a>,
    text: Text<'_>,
    pus: &mut Vec<Object<'a>>,
) -> Result<(), SourceError> {
    const EXPECTED: &str = "packages and their PUs such as P0:0-3;P1:*";
    let rest = text.strip("P").or_else(|| text.strip("p"));
    let (number, rest) =
        rest.ok_or_else(|| text.malformed("no package", EXPECTED))?.number(EXPECTED)?;
    let rest = rest.strip(":").ok_or_else(|| rest.malformed("no PUs", EXPECTED))?;
    let mut packages = topology.objects_with_type(ObjectType::Package);
    let package = packages.nth(number as usize).ok_or_else(|| {
        let count = topology.objects_with_type(ObjectType::Package).count();
        SourceError::NotInMachine {
            what: text.what,
            text: text.whole.to_owned(),
            object: "package",
            numbering: Numbering::Logical.name(),
            index: number,
            expected: format!("the topology has {count} packages"),
        }
    })?;
    let own: Vec<Object<'a>> = package.objects_inside(ObjectType::PU).collect();
    if rest.rest == "*" {
        pus.extend(own);
        return Ok(());
    }
    for index in indexes(rest)? {
        let pu = own.get(index as usize);
        pus.push(*pu.ok_or_else(|| SourceError::NotInMachine {
            what: text.what,
            text: text.whole.to_owned(),
            object: "PU",
            numbering: "package",
            index,
            expected: format!("package {number} has {} PUs", own.len()),
        })?);
    }
    Ok(())
}

fn missing(
    topology: Topology<'_>,
    text: Text<'_>,
    index: u32,
    numbering: Numbering,
) -> SourceError {
    let expected = match numbering {
        Numbering::Logical => {
            let count = topology.objects_with_type(ObjectType::PU).count();
            format!("the topology has {count}, from 0")
        }
        Numbering::Os => {
            let pus = topology.root().cpuset().unwrap_or_default();
            format!("the topology has {}", pus.to_text(Format::List))
        }
    };
    let (what, text) = (text.what, text.whole.to_owned());
    let (object, numbering) = ("PU", numbering.name());
    SourceError::NotInMachine { what, text, object, numbering, index, expected }
}
