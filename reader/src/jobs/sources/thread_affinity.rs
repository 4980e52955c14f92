//! The PUs of `GOMP_CPU_AFFINITY` and `KMP_AFFINITY`, from which OpenMP runtimes read where threads
//! run.

use super::cpu_list::CpuList;
use super::error::SourceError;
use super::text::{BELOW_LIMIT, Text, known};
use crate::topology::Topology;
use alloc::vec::Vec;
use topobroker_layout::archive::INDEX_LIMIT;
use topobroker_layout::set::Set;

const GOMP: &str = "OS indexes and ranges such as 0 3 1-2 4-15:2";
const KMP: &str =
    "a list of OS indexes, proclist=[0,3,{1,2}]: other forms leave the choice to the runtime";

/// The PUs of `GOMP_CPU_AFFINITY` in its order: OS indexes and ranges (`4-15:2`: each second one),
/// separated by blanks or commas.
///
/// ```
/// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documentation/example_machine.rs"));
/// let list = topobroker_reader::jobs::gomp_cpu_affinity(topology, "3 1-2,4-7:2")?;
/// let order: Vec<_> = list.iter().filter_map(|pu| pu.os_index()).collect();
/// assert_eq!(order, [3, 1, 2, 4, 6]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`SourceError`] if it is malformed or empty, or has a PU that the topology lacks.
pub fn gomp_cpu_affinity<'a>(
    topology: Topology<'a>,
    text: &str,
) -> Result<CpuList<'a>, SourceError> {
    let mut text = Text::new("GOMP_CPU_AFFINITY", text.trim());
    let whole = text;
    let mut all = Vec::new();
    while !text.rest.is_empty() {
        text = range(text, GOMP, &mut all)?;
        let rest = text.trimmed();
        let rest = rest.strip(",").unwrap_or(rest).trimmed();
        if rest.rest.len() == text.rest.len() && !text.rest.is_empty() {
            return Err(text.malformed("more than expected", GOMP));
        }
        text = rest;
    }
    known(topology, whole, all.iter().copied().collect())?;
    Ok(all.into_iter().filter_map(|pu| topology.pu_by_os_index(pu)).collect())
}

/// The places of the `proclist` of `KMP_AFFINITY`, which LLVM's and Intel's OpenMP read: OS
/// indexes, ranges (`0-7:2`), and places of several (`{1,2}`).
///
/// # Errors
///
/// [`SourceError`] if it has no `proclist`, is malformed or empty, or has a PU that the topology
/// lacks.
pub fn kmp_affinity(topology: Topology<'_>, text: &str) -> Result<Vec<Set>, SourceError> {
    let text = Text::new("KMP_AFFINITY", text.trim());
    let start = text.rest.to_ascii_lowercase().find("proclist");
    let list = start.and_then(|start| text.rest.get(start + "proclist".len()..));
    let list = list.ok_or_else(|| text.malformed("no list of PUs", KMP))?;
    let list = text.at(list).trimmed();
    let list = list.strip("=").ok_or_else(|| list.malformed("no =", KMP))?.trimmed();
    let mut list = list.strip("[").ok_or_else(|| list.malformed("no [", KMP))?.trimmed();
    let mut places = Vec::new();
    loop {
        let mut own = Vec::new();
        list = match list.strip("{") {
            None => {
                let rest = range(list, KMP, &mut own)?;
                places.extend(own.iter().map(|pu| Set::from_iter([*pu])));
                rest
            }
            Some(mut inner) => {
                loop {
                    inner = range(inner.trimmed(), KMP, &mut own)?.trimmed();
                    let Some(rest) = inner.strip(",") else { break };
                    inner = rest;
                }
                places.push(own.into_iter().collect());
                inner.strip("}").ok_or_else(|| inner.malformed("no }", KMP))?
            }
        };
        list = list.trimmed();
        match list.strip(",") {
            Some(rest) => list = rest.trimmed(),
            None => break,
        }
    }
    list.strip("]").ok_or_else(|| list.malformed("no ]", KMP))?;
    places.into_iter().map(|place| known(topology, text, place)).collect()
}

/// Reads `4`, `4-15` or `4-15:2`. Returns what follows.
fn range<'t>(
    text: Text<'t>,
    expected: &'static str,
    all: &mut Vec<u32>,
) -> Result<Text<'t>, SourceError> {
    let (first, rest) = text.index(expected)?;
    let Some(rest) = rest.strip("-") else {
        all.push(first);
        return Ok(rest);
    };
    let (last, rest) = rest.index(expected)?;
    let (step, rest) = match rest.strip(":") {
        Some(rest) => rest.number(expected)?,
        None => (1, rest),
    };
    if last < first || step == 0 {
        return Err(text.malformed("a range that ends before it begins, or has no step", expected));
    }
    all.extend((first..=last).step_by(step as usize));
    match all.len() > INDEX_LIMIT as usize {
        true => Err(text.malformed("more indexes than any machine has", BELOW_LIMIT)),
        false => Ok(rest),
    }
}
