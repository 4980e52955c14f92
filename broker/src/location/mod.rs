//! Locations: objects and sets as hwloc's programs take them, such as `core:2-3`,
//! `package:1.core:all.pu:0`, `os=eth0`, `pci=0000:03:00.1`, `0x0000000f` or `all`.
//!
//! ```
//! # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../reader/tests/documentation/example_machine.rs"));
//! use topobroker::location::{Location, Reading};
//! for core in Location::parse("core:0-1")?.objects(topology, Reading::default())? {
//!     println!("{:?}", core.cpuset());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod level;
mod range;

pub use error::LocationError;
pub use level::{NamedLevel, NoSuchLevel, is_word_for_pu};

use crate::links::is_bus_id;
use error::malformed;
use range::IndexRange;
use std::collections::HashMap;
use topobroker_layout::set::{Format, Set};
use topobroker_reader::{Object, ObjectType, Topology};

/// How a location is combined with those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Combine {
    /// It is added to them.
    Add,
    /// It is removed from them: `~`.
    Remove,
    /// Only indexes in both are kept: `x`.
    Intersect,
    /// Only indexes in exactly one of the two are kept: `^`.
    Toggle,
}

/// A location as a user writes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Location {
    text: String,
    combine: Combine,
    place: Which,
}

#[derive(Debug, Clone, PartialEq)]
enum Which {
    /// `all` or `root`.
    Root,
    /// A mask of PUs, or of NUMA nodes after `nodeset=`.
    Set { set: Set, is_of_nodes: bool },
    /// A device by its name alone, and the error if no device has that name.
    Bare(String, Box<LocationError>),
    /// An object by name: `os=NAME`, `pci=BUSID` or `misc=NAME`.
    Named(ObjectType, String),
    /// Objects below objects.
    Path(Vec<Step>),
}

/// One part of a path: `core:2-3`.
#[derive(Debug, Clone, PartialEq)]
struct Step {
    level: NamedLevel,
    range: IndexRange,
}

/// How indexes are read, and what happens if an object does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reading {
    /// Whether indexes are OS indexes instead of logical ones.
    pub physical: bool,
    /// Whether levels and objects that do not exist are left out, instead of being an error.
    pub skip_missing: bool,
}

impl Location {
    /// Reads a location.
    ///
    /// ```
    /// use topobroker::location::{Combine, Location};
    /// assert_eq!(Location::parse("~core:0")?.combine(), Combine::Remove);
    /// assert!(Location::parse("core:").is_err());
    /// # Ok::<(), topobroker::location::LocationError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`LocationError::Malformed`] with the position of the mistake.
    pub fn parse(text: &str) -> Result<Self, LocationError> {
        let (combine, rest) = combination(text);
        let place = parse_place(text, rest)?;
        Ok(Self { text: text.to_owned(), combine, place })
    }

    /// Reads a location, or the name alone of an OS device, or a PCI bus id: `mlx5_0`,
    /// `0000:03:00.0`.
    ///
    /// # Errors
    ///
    /// As [`Location::parse`]. If there is no such device, [`Location::objects`] fails so.
    pub fn parse_or_name(text: &str) -> Result<Self, LocationError> {
        Self::parse(text).or_else(|error| match is_bus_id(text) || !text.contains([':', '=']) {
            true => Ok(Self {
                text: text.to_owned(),
                combine: Combine::Add,
                place: Which::Bare(text.to_owned(), Box::new(error)),
            }),
            false => Err(error),
        })
    }

    /// Reads a list of indexes, `0-3,8`; other texts as [`Location::parse_or_name`] does.
    ///
    /// # Errors
    ///
    /// As [`Location::parse_or_name`].
    pub fn parse_with_lists(text: &str) -> Result<Self, LocationError> {
        let (combine, rest) = combination(text);
        match Set::parse(rest, Format::List) {
            Ok(set) if !rest.is_empty() => {
                let place = Which::Set { set, is_of_nodes: false };
                Ok(Self { text: text.to_owned(), combine, place })
            }
            _ => Self::parse_or_name(text),
        }
    }

    /// How this location is combined with those before it.
    #[must_use]
    pub fn combine(&self) -> Combine {
        self.combine
    }

    /// The set, if the location is written as one.
    #[must_use]
    pub fn as_set(&self) -> Option<&Set> {
        match &self.place {
            Which::Set { set, .. } => Some(set),
            _ => None,
        }
    }

    /// Whether the location is a set that says itself that it is of NUMA nodes: `nodeset=0x3`,
    /// which hwloc has from 2.10 on.
    #[must_use]
    pub fn is_set_of_nodes(&self) -> bool {
        matches!(self.place, Which::Set { is_of_nodes: true, .. })
    }

    /// The objects of the location, in the order in which it names them.
    ///
    /// # Errors
    ///
    /// [`LocationError`] if the topology has no such level or object, or if the location is a set,
    /// because several objects may have that set.
    pub fn objects<'a>(
        &self,
        topology: Topology<'a>,
        reading: Reading,
    ) -> Result<Vec<Object<'a>>, LocationError> {
        match &self.place {
            Which::Root => Ok(vec![topology.root()]),
            Which::Set { .. } => Err(malformed(
                &self.text,
                &self.text,
                "a set, which names no object",
                "an object such as core:0",
            )),
            Which::Bare(name, error) => {
                let device = topology.os_device(name);
                match device.or_else(|| topology.pci_device_by_bus_id(name)) {
                    Some(device) => Ok(vec![device]),
                    None if reading.skip_missing => Ok(Vec::new()),
                    None => Err((**error).clone()),
                }
            }
            Which::Named(kind, name) => match named(topology, *kind, name) {
                Some(object) => Ok(vec![object]),
                None if reading.skip_missing => Ok(Vec::new()),
                None => Err(LocationError::NoSuchDevice {
                    text: self.text.clone(),
                    kind: kind.name(),
                    name: name.clone(),
                }),
            },
            Which::Path(steps) => {
                let mut found = Vec::new();
                self.descend(topology.root(), steps, reading, &mut found)?;
                Ok(found)
            }
        }
    }

    fn descend<'a>(
        &self,
        root: Object<'a>,
        steps: &[Step],
        reading: Reading,
        found: &mut Vec<Object<'a>>,
    ) -> Result<(), LocationError> {
        let Some((step, rest)) = steps.split_first() else {
            found.push(root);
            return Ok(());
        };
        let below = match step.level.objects_in(root) {
            Ok(below) => below,
            Err(_) if reading.skip_missing => return Ok(()),
            Err(error) => return Err(error.of(&self.text)),
        };
        let missing = |index: u32| LocationError::NoSuchObject {
            text: self.text.clone(),
            index,
            level: step.level.to_string(),
            below: format!("{}:{}", root.type_name(true), root.logical_index()),
            count: below.len(),
        };
        if reading.physical && step.range.is_open() {
            let mut chosen: Vec<Object<'a>> = below;
            chosen.retain(|object| object.os_index().is_some_and(|index| step.range.has(index)));
            chosen.sort_by_key(|object| object.os_index());
            return chosen.into_iter().try_for_each(|it| self.descend(it, rest, reading, found));
        }
        let by_os_index: HashMap<u32, Object<'a>> = match reading.physical {
            // Reversed, so that the first of several objects with an index stays.
            true => below.iter().rev().filter_map(|it| Some((it.os_index()?, *it))).collect(),
            false => HashMap::new(),
        };
        let last = match reading.physical {
            true => by_os_index.keys().copied().max(),
            false => u32::try_from(below.len()).ok().and_then(|count| count.checked_sub(1)),
        };
        for index in step.range.indexes(below.len(), reading.physical) {
            if reading.skip_missing && last.is_none_or(|last| index > last) {
                break;
            }
            let object = match reading.physical {
                true => by_os_index.get(&index),
                false => below.get(index as usize),
            };
            match object {
                Some(object) => self.descend(*object, rest, reading, found)?,
                None if reading.skip_missing => {}
                None => return Err(missing(index)),
            }
        }
        Ok(())
    }
}

/// How a location is combined with others, and the rest of its text.
fn combination(text: &str) -> (Combine, &str) {
    let combine = match text.as_bytes().first() {
        Some(b'~') => Combine::Remove,
        Some(b'x') => Combine::Intersect,
        Some(b'^') => Combine::Toggle,
        _ => return (Combine::Add, text),
    };
    (combine, text.get(1..).unwrap_or_default())
}

fn parse_place(text: &str, rest: &str) -> Result<Which, LocationError> {
    if rest == "all" || rest == "root" {
        return Ok(Which::Root);
    }
    if let Some(mask) = rest.strip_prefix("nodeset=") {
        return Ok(Which::Set { set: parse_set(text, mask)?, is_of_nodes: true });
    }
    match rest.find([':', '=', '[']) {
        Some(end) if end > 0 => match rest.split_at(end) {
            (kind, name) if name.starts_with('=') => {
                let expected = "os=NAME, pci=BUSID or misc=NAME";
                let device = NamedLevel::parse(kind).and_then(|level| level.object_type());
                match device {
                    Some(
                        kind @ (ObjectType::OSDevice | ObjectType::PCIDevice | ObjectType::Misc),
                    ) => Ok(Which::Named(kind, name.trim_start_matches('=').to_owned())),
                    _ => Err(malformed(text, rest, "no kind of device that has names", expected)),
                }
            }
            _ => Ok(Which::Path(parse_path(text, rest)?)),
        },
        _ => Ok(Which::Set { set: parse_set(text, rest)?, is_of_nodes: false }),
    }
}

fn parse_path(text: &str, rest: &str) -> Result<Vec<Step>, LocationError> {
    let mut left = rest;
    let mut steps = Vec::new();
    loop {
        let bracket = left.find(']').filter(|_| left.find('[') < left.find(':')).unwrap_or(0);
        let colon = left.get(bracket..).and_then(|tail| tail.find(':'));
        let Some(colon) = colon.map(|colon| bracket + colon) else {
            return Err(malformed(text, left, "no index", "a level and indexes such as core:2-3"));
        };
        let (name, tail) = left.split_at(colon);
        let Some(level) = NamedLevel::parse(name) else {
            let expected = match level::is_word_for_pu(name) {
                true => "pu, as hwloc calls it",
                false => level::EXPECTED,
            };
            return Err(malformed(text, left, "no type or depth", expected));
        };
        let tail = tail.get(1..).unwrap_or_default();
        let (range, next) = tail.split_at(tail.find('.').unwrap_or(tail.len()));
        let parsed = IndexRange::parse(range);
        let range = parsed.map_err(|(place, reason)| {
            malformed(text, tail.get(place..).unwrap_or_default(), reason, range::EXPECTED)
        })?;
        steps.push(Step { level, range });
        match next.strip_prefix('.') {
            None => return Ok(steps),
            Some(next) => left = next,
        }
    }
}

fn parse_set(text: &str, rest: &str) -> Result<Set, LocationError> {
    let expected = "a location such as core:2-3, os=eth0, 0x0000000f or all";
    let mask = rest.strip_prefix("0xf...f").unwrap_or(rest);
    let hexadecimal = mask
        .bytes()
        .all(|letter| letter.is_ascii_hexdigit() || matches!(letter, b'x' | b'X' | b','));
    if mask.is_empty() || !hexadecimal {
        // hwloc 2.15 takes a list of PUs that no mask can be, as taskset and numactl do.
        if rest.contains('-')
            && let Ok(set) = Set::parse(rest, Format::List)
        {
            return Ok(set);
        }
        let (reason, expected) = match () {
            () if NamedLevel::parse(rest).is_some() => {
                ("a type without indexes", "core:0 or core:all")
            }
            () => ("neither an object nor a mask", expected),
        };
        return Err(malformed(text, rest, reason, expected));
    }
    Set::parse(rest, Format::of_mask(mask)).map_err(|error| {
        let tail = rest.get(error.position..).unwrap_or_default();
        malformed(text, tail, error.reason, expected)
    })
}

fn named<'a>(topology: Topology<'a>, kind: ObjectType, name: &str) -> Option<Object<'a>> {
    match kind {
        ObjectType::OSDevice => topology.os_device(name),
        ObjectType::PCIDevice => topology.pci_device_by_bus_id(name),
        _ => topology.objects_with_type(kind).find(|object| object.is_named(name)),
    }
}
