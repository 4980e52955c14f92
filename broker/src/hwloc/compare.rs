//! Comparing two topologies, and changing one by what was found, as hwloc-diff and hwloc-patch do.

use super::difference::Difference;
use super::import::{ImportError, import_changed, in_fork};
use super::load::{Input, LoadOptions, prepare};
use crate::child::{LIMIT, in_child};
use quick_xml::events::Event;
use topobroker_layout::description::Description;

/// What differs between two topologies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    /// Number of differences.
    pub all: usize,
    /// How many of them are more than a value of an object, which XML of differences cannot say.
    pub complex: usize,
    /// XML of the differences; empty if some are complex.
    pub xml: String,
}

/// Compares two topologies without type filters. XML is read in a child process, as
/// [`import`](super::import) does. `name` is that of the first one in the XML of the differences.
/// Counterparts: `hwloc_topology_diff_build`, `hwloc_topology_diff_export_xmlbuffer`.
///
/// ```
/// use topobroker::hwloc::{Input, compare};
/// let [one, other] = ["Core:2 PU:1", "Core:2 PU:2"].map(|it| Input::Synthetic(it.to_owned()));
/// let compared = compare(&one, &other, "one")?;
/// assert_eq!((compared.all, compared.complex), (1, 1));
/// # Ok::<(), topobroker::hwloc::ImportError>(())
/// ```
///
/// # Errors
///
/// [`ImportError`].
#[doc(alias = "hwloc_topology_diff_build")]
#[doc(alias = "hwloc_topology_diff_export_xmlbuffer")]
pub fn compare(one: &Input, other: &Input, name: &str) -> Result<Compared, ImportError> {
    let both = [prepare(one, &whole())?, prepare(other, &whole())?];
    let names = format!("{} and {}", one.name(), other.name());
    let answer = in_child(names, both, LIMIT, |both| {
        let [one, other] = &mut *in_fork(both);
        one.load()?;
        other.load()?;
        let difference = Difference::between(&one.topology, &other.topology)
            .map_err(|error| format!("hwloc cannot compare them: {error}"))?;
        let (all, complex) = difference.counts();
        let xml = if complex > 0 { String::new() } else { difference.xml(name)? };
        Ok(format!("{all} {complex} {xml}").into_bytes())
    })?;
    let answer = String::from_utf8_lossy(&answer);
    let mut parts = answer.splitn(3, ' ');
    let mut count = || parts.next().and_then(|count| count.parse().ok()).unwrap_or(0);
    let (all, complex) = (count(), count());
    Ok(Compared { all, complex, xml: parts.next().unwrap_or_default().to_owned() })
}

/// Changes a topology by XML of differences, or back, and captures it. If one of them does not fit,
/// it is not changed at all. XML is read in a child process. Counterparts:
/// `hwloc_topology_diff_load_xmlbuffer`, `hwloc_topology_diff_apply`.
///
/// # Errors
///
/// [`ImportError`].
#[doc(alias = "hwloc_topology_diff_load_xmlbuffer")]
#[doc(alias = "hwloc_topology_diff_apply")]
pub fn patch(xml: &Input, differences: &str, reverse: bool) -> Result<Description, ImportError> {
    import_changed(xml, &whole(), |topology| {
        let difference = Difference::read(differences)
            .map_err(|error| format!("hwloc cannot read the differences: {error}"))?;
        let applied = difference.apply(topology, reverse);
        Ok(applied.map_err(|error| format!("{}: {error}", xml.name()))?)
    })
}

/// Name of the topology that differences were made for; `None` if they do not say it.
///
/// # Errors
///
/// If the text is no XML of differences.
pub fn reference(differences: &str) -> Result<Option<String>, NoDifferences> {
    let mut reader = quick_xml::Reader::from_str(differences);
    loop {
        match reader.read_event() {
            Ok(Event::Start(element) | Event::Empty(element)) => {
                if element.name().into_inner() != b"topologydiff" {
                    return Err(NoDifferences);
                }
                let name = element.try_get_attribute("refname").map_err(|_| NoDifferences)?;
                let name = name.map(|name| name.unescape_value().map(|name| name.into_owned()));
                return name.transpose().map_err(|_| NoDifferences);
            }
            Ok(Event::DocType(declared)) if declared.contains(&b'[') => return Err(NoDifferences),
            Ok(Event::Eof) | Err(_) => return Err(NoDifferences),
            Ok(_) => {}
        }
    }
}

/// A text is no XML of differences.
#[derive(Debug, thiserror::Error, Clone, Copy, PartialEq, Eq)]
#[error("is no XML of differences, as `diff` prints it")]
pub struct NoDifferences;

/// Loads all that a file has: hwloc compares nothing else.
fn whole() -> LoadOptions {
    /// `HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED` and `HWLOC_TOPOLOGY_FLAG_IMPORT_SUPPORT`.
    const FLAGS: u64 = 1 | 8;
    LoadOptions { flags: FLAGS, ..LoadOptions::default() }
}
