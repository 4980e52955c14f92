//! Reads the XML files by which NCCL and RCCL know a machine.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::collections::BTreeMap;
use topobroker_reader::devices::PathClass;

/// Why a text is no file that NCCL reads, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at byte {at}: {kind}")]
pub struct NcclReadError {
    /// The byte, from 0.
    pub at: u64,
    /// What is wrong.
    pub kind: NcclReadErrorKind,
}

/// Why a text is no file that NCCL reads.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum NcclReadErrorKind {
    /// The text is no XML.
    #[error("{0}")]
    Xml(String),
    /// The file is not of the grammar.
    #[error("{found}; expected {expected}")]
    Grammar { found: String, expected: &'static str },
    /// The file is beyond what NCCL reads.
    #[error("{found}; NCCL reads at most {most}")]
    Limit { found: String, most: usize },
}

/// What NCCL reads at most: elements (it has room for 256, and fails when that is full), attributes
/// of an element, letters of a value (of 255, two are for the quote and the end).
pub(super) const MOST_ELEMENTS: usize = 255;
const MOST_ATTRIBUTES: usize = 16;
pub(super) const MOST_LETTERS: usize = 253;

/// A machine as NCCL's file has it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NcclFile {
    /// 1 of NCCL, 2 of RCCL.
    pub version: u32,
    /// The PCI devices and switches.
    pub devices: Vec<NcclDevice>,
    /// The links of GPUs.
    pub links: Vec<NcclLink>,
}

/// A PCI device or switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NcclDevice {
    /// Its bus id, in lower case.
    pub bus_id: String,
    /// The switch that it hangs on, by its place in the list.
    pub switch: Option<usize>,
    /// Number of its NUMA node; -1 for none.
    pub numa: i64,
    /// The hash of the host that it is on, if the file says so: a file of NVLink over several nodes
    /// has them all.
    pub host: Option<String>,
    /// All attributes of the element.
    pub attributes: BTreeMap<String, String>,
}

/// Links between a GPU and another device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NcclLink {
    /// The name of the element: `nvlink`, `xgmi` or `c2c`.
    pub element: String,
    /// The GPU, by its place in the list of devices.
    pub gpu: usize,
    /// Bus id of the other end; `None` of `c2c`, which is to the CPU.
    pub target: Option<String>,
    /// PCI class of the other end in 24 bits, such as `0x068000`, if it is there.
    pub target_class: Option<String>,
    /// Number of links.
    pub count: u16,
    /// Bandwidth of each, of `c2c`.
    pub bandwidth: Option<u32>,
}

impl NcclFile {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// [`NcclReadError`] with the place in the text.
    pub fn read(text: &str) -> Result<Self, NcclReadError> {
        let mut reader = Reader::from_str(text);
        let mut reading = Reading::default();
        loop {
            let event = reader.read_event();
            let at = reader.buffer_position();
            match event.map_err(|error| no_xml(at, &error))? {
                Event::Start(element) => {
                    reading.open(&element, at)?;
                }
                Event::Empty(element) => {
                    reading.open(&element, at)?;
                    reading.close();
                }
                Event::End(_) => reading.close(),
                Event::Eof if reading.open.is_empty() && reading.elements > 0 => {
                    return Ok(reading.file);
                }
                Event::Eof => return Err(no_xml(at, &"the text ends before its elements do")),
                _ => {}
            }
        }
    }

    /// What is between two devices, by their places. The file has no host bridges, so whatever is
    /// below one NUMA node is at most [`PathClass::Phb`] apart.
    #[must_use]
    pub fn path_class(&self, one: usize, other: usize) -> PathClass {
        if one == other {
            return PathClass::Same;
        }
        let (near, far) = (self.switches(one), self.switches(other));
        let common = near.iter().find(|switch| far.contains(switch));
        let between = |way: &[usize]| way.iter().take_while(|it| Some(*it) != common).count();
        let numa = |device: usize| self.devices.get(device).map(|it| it.numa);
        match common {
            Some(_) if between(&near) == 0 && between(&far) == 0 => PathClass::Pix,
            Some(_) => PathClass::Pxb,
            None if numa(one) == numa(other) => PathClass::Phb,
            None => PathClass::Sys,
        }
    }

    /// The devices that no other one hangs on: GPUs, NICs, and whatever else the file has.
    pub(super) fn ends(&self) -> impl Iterator<Item = &NcclDevice> {
        let is_end = |at: usize| self.devices.iter().all(|it| it.switch != Some(at));
        self.devices.iter().enumerate().filter(move |(at, _)| is_end(*at)).map(|(_, it)| it)
    }

    /// The switches above a device, the lowest first.
    fn switches(&self, device: usize) -> Vec<usize> {
        let above = |at: &usize| self.devices.get(*at)?.switch;
        std::iter::successors(above(&device), above).collect()
    }
}

/// What is read so far.
#[derive(Default)]
struct Reading {
    file: NcclFile,
    elements: usize,
    /// The elements that are open.
    open: Vec<Element>,
    numa: i64,
    host: Option<String>,
    /// The last device with a GPU in it.
    with_gpu: Option<usize>,
}

enum Element {
    System,
    Cpu,
    Pci(usize),
    Gpu(usize),
    /// One more part of a GPU, which has the links of the first one.
    PartOfGpu,
    Other,
}

impl Reading {
    fn open(&mut self, element: &BytesStart<'_>, at: u64) -> Result<(), NcclReadError> {
        self.elements += 1;
        let limit = |found: String, most| {
            Err(NcclReadError { at, kind: NcclReadErrorKind::Limit { found, most } })
        };
        if self.elements > MOST_ELEMENTS {
            return limit(format!("element {}", self.elements), MOST_ELEMENTS);
        }
        let name = String::from_utf8_lossy(element.name().as_ref()).into_owned();
        let mut attributes = BTreeMap::new();
        // Each name is there once, which the parser would find out by comparing each two.
        for attribute in element.attributes().with_checks(false) {
            let attribute = attribute.map_err(|error| no_xml(at, &error))?;
            let value =
                attribute.unescape_value().map_err(|error| no_xml(at, &error))?.into_owned();
            let key = String::from_utf8_lossy(attribute.key.as_ref()).into_owned();
            if value.len() > MOST_LETTERS {
                return limit(format!("{key} of {} letters", value.len()), MOST_LETTERS);
            }
            if attributes.len() == MOST_ATTRIBUTES {
                return limit(format!("{name} with more attributes"), MOST_ATTRIBUTES);
            }
            if attributes.contains_key(&key) {
                return Err(no_xml(at, &format!("{name} has the attribute {key} twice")));
            }
            attributes.insert(key, value);
        }
        let wrong = |expected| {
            let words = attributes.iter().map(|(name, value)| format!(" {name}={value:?}"));
            let found = format!("<{name}{}>", words.collect::<String>());
            NcclReadError { at, kind: NcclReadErrorKind::Grammar { found, expected } }
        };
        let next = match (name.as_str(), self.open.last()) {
            ("system", None) if self.elements == 1 => {
                let version = attributes.get("version").and_then(|it| it.parse().ok());
                let known = version.filter(|version| [1, 2].contains(version));
                self.file.version = known.ok_or_else(|| wrong("a version of 1 or 2"))?;
                Element::System
            }
            ("cpu", Some(Element::System)) => {
                let numa = attributes.get("numaid").and_then(|it| it.parse().ok());
                self.numa = numa.ok_or_else(|| wrong("a numaid that is a number"))?;
                self.host = attributes.get("host_hash").cloned();
                Element::Cpu
            }
            ("pci", Some(Element::Cpu | Element::Pci(_))) => {
                let bus_id = attributes.get("busid").filter(|it| is_bus_id(it));
                let bus_id = bus_id.ok_or_else(|| wrong("a busid such as 0000:03:00.0"))?;
                let switch = match self.open.last() {
                    Some(Element::Pci(switch)) => Some(*switch),
                    _ => None,
                };
                let (bus_id, numa, host) =
                    (bus_id.to_ascii_lowercase(), self.numa, self.host.clone());
                self.file.devices.push(NcclDevice { bus_id, switch, numa, host, attributes });
                Element::Pci(self.file.devices.len() - 1)
            }
            ("gpu", Some(Element::Pci(device))) if self.with_gpu == Some(*device) => {
                Element::PartOfGpu
            }
            ("gpu", Some(Element::Pci(device))) => {
                self.with_gpu = Some(*device);
                Element::Gpu(*device)
            }
            ("nvlink" | "xgmi" | "c2c", Some(Element::PartOfGpu)) => Element::Other,
            ("nvlink" | "xgmi" | "c2c", Some(Element::Gpu(gpu))) => {
                let target = attributes.get("target").map(|it| it.to_ascii_lowercase());
                let count = attributes.get("count").and_then(|it| it.parse().ok());
                let count = count.filter(|it| *it > 0);
                let count = count.ok_or_else(|| wrong("a count from 1 to 65535"))?;
                if target.is_none() != (name == "c2c") {
                    return Err(wrong("a target of an nvlink or xgmi, and no target of a c2c"));
                }
                let bandwidth = attributes.get("bw").map(|it| it.parse()).transpose();
                let bandwidth = bandwidth.ok().filter(|it| *it != Some(0));
                let bandwidth = bandwidth.ok_or_else(|| wrong("a bw from 1 to 2^32-1"))?;
                let target_class = attributes.get("tclass").cloned();
                let (element, gpu) = (name, *gpu);
                let link = NcclLink { element, gpu, target, target_class, count, bandwidth };
                self.file.links.push(link);
                Element::Other
            }
            ("cpu" | "pci" | "gpu" | "nvlink" | "xgmi" | "c2c" | "system", _) | (_, None) => {
                return Err(wrong("one system, in it cpu, in it pci, in that pci, gpu or nic"));
            }
            // NCCL knows more elements, and leaves out those that it does not know.
            _ => Element::Other,
        };
        self.open.push(next);
        Ok(())
    }

    fn close(&mut self) {
        self.open.pop();
    }
}

fn no_xml(at: u64, found: &dyn std::fmt::Display) -> NcclReadError {
    NcclReadError { at, kind: NcclReadErrorKind::Xml(found.to_string()) }
}

/// Whether a text is domain, bus, device and function, as NCCL writes them.
#[must_use]
pub fn is_bus_id(text: &str) -> bool {
    let parts: Vec<&str> = text.split([':', '.']).collect();
    parts.len() == 4
        && parts.iter().all(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_hexdigit()))
}
