//! Capture: turns a loaded hwloc topology into a description, without loss.

use super::bitmap::BitmapTooLarge;
use super::object::{Object as HwlocObject, UnknownBridge};
use super::tables::{self, Location};
use super::topology::HwlocTopology;
use crate::linux::add_facts;
use quick_xml::events::Event;
use std::cell::OnceCell;
use std::collections::HashMap;
use topobroker_layout::archive::INDEX_LIMIT;
use topobroker_layout::depth::Depth;
use topobroker_layout::description::{
    CpuKind, Description, Distances, Initiator, MemoryAttribute, MemoryValue, Object,
};
use topobroker_layout::object_type::ObjectType;

/// Why a loaded topology cannot be described.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum CaptureError {
    /// hwloc has an object type that this library does not know.
    #[error(
        "object type {found} is not known; expected 0 to 19: this hwloc is too new for this \
         topobroker"
    )]
    UnknownType { found: u32 },
    /// hwloc has a depth that this library does not know.
    #[error("depth {found} is not known; expected -8 to -3, or a depth of the tree of CPUs")]
    UnknownDepth { found: i32 },
    /// A bridge is neither a host bridge nor a PCI bridge.
    #[error("a bridge has upstream type {found}; expected 0 (host) or 1 (PCI)")]
    UnknownBridge { found: u32 },
    /// The forced efficiency of a CPU kind is not a number from 0 on.
    #[error("a CPU kind has forced efficiency {found:?}; expected a number from 0 on")]
    ForcedEfficiency { found: String },
    /// The topology is not loaded.
    #[error("the hwloc topology has no objects; load it first")]
    NotLoaded,
    /// A set has a higher index than an archive holds.
    #[error("a set of the hwloc topology reaches to {found}; archives hold indexes below {limit}")]
    SetTooLarge { found: u32, limit: usize },
}

impl From<BitmapTooLarge> for CaptureError {
    fn from(bitmap: BitmapTooLarge) -> Self {
        Self::SetTooLarge { found: bitmap.last, limit: INDEX_LIMIT as usize }
    }
}

impl From<UnknownBridge> for CaptureError {
    fn from(bridge: UnknownBridge) -> Self {
        Self::UnknownBridge { found: bridge.upstream_type }
    }
}

/// Describes a loaded topology. If it is of this machine or of a saved file system, devices have
/// facts from there that hwloc does not keep.
///
/// ```
/// use topobroker::hwloc::{Input, LoadOptions, capture, load};
/// let input = Input::Synthetic("Package:2 Core:4 PU:2".to_owned());
/// let description = capture(&load(&input, &LoadOptions::default())?)?;
/// assert_eq!(description.objects.len(), 1 + 2 + 8 + 16 + 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`CaptureError`].
pub fn capture(topology: &HwlocTopology<'_>) -> Result<Description, CaptureError> {
    // A topology that was handed over may be an adopted one, in read-only memory.
    let copy = if topology.is_owned() { None } else { topology.copy_if_adopted() };
    let topology = copy.as_ref().unwrap_or(topology);
    let mut description = tree(topology)?;
    if let Some(root) = topology.file_system() {
        add_facts(&mut description.objects, &root);
    }
    Ok(description)
}

/// Describes a loaded topology as hwloc has it: devices have no facts.
pub(super) fn tree(topology: &HwlocTopology<'_>) -> Result<Description, CaptureError> {
    let mut walk = Walk::of(topology.object_count());
    walk.add(topology.root().ok_or(CaptureError::NotLoaded)?, None)?;
    Ok(Description {
        allowed_cpuset: topology.allowed_cpuset()?,
        allowed_nodeset: topology.allowed_nodeset()?,
        distances: walk.distances(topology),
        memory_attributes: walk.memory_attributes(topology)?,
        cpu_kinds: cpu_kinds(topology)?,
        flags: topology.flags(),
        is_this_system: topology.is_this_system(),
        type_filters: ObjectType::ALL.map(|kind| topology.type_filter(kind)).to_vec(),
        support: topology.support(),
        objects: walk.objects,
    })
}

/// The walk over a topology: objects in the order in which they are met, and their keys in hwloc.
struct Walk {
    objects: Vec<Object>,
    keys: Vec<usize>,
    /// Place of each key in `objects`. Made on first use, because few topologies have tables that
    /// refer to objects.
    place_of: OnceCell<HashMap<usize, usize>>,
}

impl Walk {
    fn of(objects: usize) -> Self {
        Self {
            objects: Vec::with_capacity(objects),
            keys: Vec::with_capacity(objects),
            place_of: OnceCell::new(),
        }
    }

    fn add(
        &mut self,
        object: HwlocObject<'_>,
        parent: Option<usize>,
    ) -> Result<usize, CaptureError> {
        let place = self.objects.len();
        self.keys.push(object.key());
        self.objects.push(Object {
            object_type: object
                .object_type()
                .ok_or(CaptureError::UnknownType { found: object.raw_type() })?,
            depth: Depth::from_raw(object.depth())
                .ok_or(CaptureError::UnknownDepth { found: object.depth() })?,
            logical_index: object.logical_index(),
            os_index: object.os_index(),
            gp_index: object.gp_index(),
            subtype: object.subtype(),
            name: object.name(),
            infos: object.infos(),
            facts: Vec::new(),
            attributes: object.attributes()?,
            page_types: object.page_types(),
            symmetric_subtree: object.is_symmetric_subtree(),
            sets: object.sets()?,
            parent,
            children: Vec::new(),
        });
        let children: Result<Vec<usize>, CaptureError> =
            object.children().map(|child| self.add(child, Some(place))).collect();
        if let Some(object) = self.objects.get_mut(place) {
            object.children = children?;
        }
        Ok(place)
    }

    fn place(&self, object: HwlocObject<'_>) -> Option<usize> {
        let keys = || self.keys.iter().copied().zip(0..).collect();
        self.place_of.get_or_init(keys).get(&object.key()).copied()
    }

    fn distances(&self, topology: &HwlocTopology<'_>) -> Vec<Distances> {
        let matrices = topology.distances().into_iter().filter_map(|matrix| {
            let places = matrix.objects.iter().map(|object| self.place(*object));
            Some(Distances {
                name: matrix.name,
                kind: matrix.kind,
                objects: places.collect::<Option<Vec<_>>>()?,
                values: matrix.values,
            })
        });
        matrices.collect()
    }

    fn memory_attributes(
        &self,
        topology: &HwlocTopology<'_>,
    ) -> Result<Vec<MemoryAttribute>, BitmapTooLarge> {
        let attributes = topology.memory_attributes()?.into_iter().map(|attribute| {
            let values = attribute.values.into_iter().filter_map(|(target, location, value)| {
                let initiator = match location {
                    Location::None => Initiator::None,
                    Location::Cpuset(set) => Initiator::Cpuset(set),
                    Location::Object(object) => Initiator::Object(self.place(object)?),
                };
                Some(MemoryValue { target: self.place(target)?, initiator, value })
            });
            MemoryAttribute {
                name: attribute.name,
                flags: attribute.flags,
                values: values.collect(),
            }
        });
        Ok(attributes.collect())
    }
}

/// The CPU kinds, with their forced efficiencies. Call this last, when all sets are known to be
/// small, because hwloc may print all sets into an XML.
fn cpu_kinds(topology: &HwlocTopology<'_>) -> Result<Vec<CpuKind>, CaptureError> {
    let kinds = topology.cpu_kinds()?;
    if kinds.is_empty() {
        return Ok(Vec::new());
    }
    let has_capacity =
        |kind: &tables::CpuKind| kind.infos.iter().any(|(name, _)| name == "LinuxCapacity");
    // On Linux, hwloc forces an efficiency only if the kernel reports the capacity of PUs.
    let is_forced = !topology.is_discovered() || kinds.iter().any(has_capacity);
    let xml = is_forced.then(|| topology.export_xml()).flatten();
    let mut forced = forced_efficiencies(&xml.unwrap_or_default())?;
    forced.resize(kinds.len(), None);
    let kinds = kinds.into_iter().zip(forced).map(|(kind, forced_efficiency)| CpuKind {
        cpuset: kind.cpuset,
        efficiency: kind.efficiency,
        forced_efficiency,
        infos: kind.infos,
    });
    Ok(kinds.collect())
}

/// The forced efficiency of each CPU kind. hwloc reports it only in its XML.
fn forced_efficiencies(xml: &str) -> Result<Vec<Option<u32>>, CaptureError> {
    // The CPU kinds come last, so parsing can start there.
    let Some(start) = xml.find("<cpukind ") else {
        return Ok(Vec::new());
    };
    let mut reader = quick_xml::Reader::from_str(xml.get(start..).unwrap_or_default());
    reader.config_mut().check_end_names = false;
    reader.config_mut().allow_unmatched_ends = true;
    let mut forced = Vec::new();
    while let Ok(Event::Start(element) | Event::Empty(element)) = next_element(&mut reader) {
        if element.name().into_inner() == b"cpukind" {
            let attribute = element.try_get_attribute("forced_efficiency").ok().flatten();
            let text = attribute.map(|value| String::from_utf8_lossy(&value.value).into_owned());
            let number =
                |found: String| found.parse().map_err(|_| CaptureError::ForcedEfficiency { found });
            forced.push(text.map(number).transpose()?);
        }
    }
    Ok(forced)
}

fn next_element<'x>(
    reader: &mut quick_xml::Reader<&'x [u8]>,
) -> Result<Event<'x>, quick_xml::Error> {
    loop {
        match reader.read_event()? {
            Event::Text(_) | Event::End(_) | Event::Comment(_) | Event::GeneralRef(_) => {}
            event => return Ok(event),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hwloc;

    #[test]
    fn the_cpu_kinds_of_a_discovered_machine_are_those_of_its_xml() {
        let own = hwloc::load(&hwloc::Input::ThisMachine, &hwloc::LoadOptions::default()).unwrap();
        // SAFETY: the topology is loaded, and lives until the end of this test.
        let lent = unsafe { HwlocTopology::borrow_raw(own.as_raw()) };
        assert!(own.is_discovered() && !lent.is_discovered());
        assert_eq!(capture(&own).unwrap().cpu_kinds, capture(&lent).unwrap().cpu_kinds);
    }

    const XML: &str = "<topology version=\"2.0\"><object type=\"Machine\" os_index=\"0\" cpuset=\"0x1\" \
                       complete_cpuset=\"0x1\" allowed_cpuset=\"0x1\" nodeset=\"0x1\" complete_nodeset=\"0x1\" \
                       allowed_nodeset=\"0x1\"><object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x1\" \
                       complete_cpuset=\"0x1\" nodeset=\"0x1\" complete_nodeset=\"0x1\"/><object type=\"PU\" \
                       os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" nodeset=\"0x1\" \
                       complete_nodeset=\"0x1\"/><object type=\"Bridge\" bridge_type=\"0-1\" depth=\"0\" \
                       bridge_pci=\"0000:[00-01]\"/></object></topology>";

    fn captured(xml: &str) -> Result<Description, CaptureError> {
        let input = hwloc::Input::XmlText(xml.to_owned());
        capture(&hwloc::load(&input, &hwloc::LoadOptions::default()).unwrap())
    }

    #[test]
    fn a_set_that_no_archive_holds_is_refused() {
        // Only index 131,072 is set: 4,096 words of 32 bits follow the first one.
        let words = format!("complete_cpuset=\"0x1{}", ",0x0".repeat(4096));
        captured(XML).unwrap();
        let refused = captured(&XML.replacen("complete_cpuset=\"0x1", &words, 1)).unwrap_err();
        assert_eq!(refused, CaptureError::SetTooLarge { found: 131_072, limit: 131_072 });
    }

    #[test]
    fn an_object_that_hwloc_would_give_the_highest_index_is_refused() {
        for object in ["PU", "NUMANode"] {
            let (with, without) = (format!("\"{object}\" os_index=\"0\""), format!("\"{object}\""));
            let input = hwloc::Input::XmlText(XML.replacen(&with, &without, 1));
            let refused = hwloc::load(&input, &hwloc::LoadOptions::default()).unwrap_err();
            let complaint = format!("a {object} with OS index \"(none)\"");
            assert!(refused.to_string().contains(&complaint), "{refused}");
        }
    }

    #[test]
    fn a_bridge_that_is_neither_of_the_host_nor_of_pci_is_refused() {
        let refused = captured(&XML.replacen("\"0-1\"", "\"5-1\"", 1)).unwrap_err();
        assert_eq!(refused, CaptureError::UnknownBridge { found: 5 });
    }

    #[test]
    fn forced_efficiencies_are_read_from_the_end_of_the_xml() {
        let xml = "<topology><object/><cpukind cpuset=\"0x1\" forced_efficiency=\"2\">\
                   <info name=\"a\" value=\"&amp;\"/></cpukind><cpukind cpuset=\"0x2\"/></topology>";
        assert_eq!(forced_efficiencies(xml).unwrap(), [Some(2), None]);
        let refused = forced_efficiencies("<cpukind forced_efficiency=\"-7\"/>").unwrap_err();
        assert_eq!(refused, CaptureError::ForcedEfficiency { found: "-7".to_owned() });
    }
}
