//! Levels of a topology as users name them: a type, a type with a condition on its objects, or a
//! depth.

use super::error::LocationError;
use std::fmt;
use topobroker_reader::{Attributes, Depth, Object, ObjectType, Topology, TypeDepth, TypeName};

/// The forms of a level, for error messages.
pub(super) const EXPECTED: &str =
    "a type such as core or l3, a depth, pci[vendor:device], os[gpu] or numa[dram]";

/// Whether a word is what others call PUs: `cpu`, `threads`.
///
/// ```
/// use topobroker::location::is_word_for_pu;
/// assert!(is_word_for_pu("CPUs") && !is_word_for_pu("core"));
/// ```
#[must_use]
pub fn is_word_for_pu(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    ["cpu", "thread", "hwthread", "processor"].contains(&word.trim_end_matches('s'))
}

/// A level, and a condition that says which of its objects count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedLevel {
    text: String,
    place: LevelBy,
    filter: Filter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LevelBy {
    Type(TypeName),
    Depth(i32),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Filter {
    All,
    /// PCI devices with a vendor id, with a device id, or with both.
    Pci {
        vendor: Option<u16>,
        device: Option<u16>,
    },
    /// Objects with a subtype in small letters, as `numa[mcdram]`. `hbm` is the same.
    Subtype(String),
}

/// The topology has no such level, or has its objects at several depths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoSuchLevel(String);

impl NoSuchLevel {
    pub(super) fn of(self, text: &str) -> LocationError {
        LocationError::NoSuchLevel { text: text.to_owned(), found: self.0 }
    }
}

impl fmt::Display for NoSuchLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the topology has {}; expected a type that has objects at one depth", self.0)
    }
}

impl std::error::Error for NoSuchLevel {}

impl fmt::Display for NamedLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<ObjectType> for NamedLevel {
    /// The level of a type.
    fn from(object_type: ObjectType) -> Self {
        let name = TypeName { object_type, group_depth: None, os_device_kind: None };
        let text = object_type.name().to_owned();
        Self { text, place: LevelBy::Type(name), filter: Filter::All }
    }
}

impl NamedLevel {
    /// Reads the name of a level.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (name, ids) = match text.strip_suffix(']').and_then(|text| text.split_once('[')) {
            Some((name, inside)) => (name, Some(inside)),
            None => (text, None),
        };
        let level = |place, filter| Some(Self { text: text.to_owned(), place, filter });
        let named = TypeName::parse(name);
        match (named.map(|name| name.object_type), ids) {
            (Some(ObjectType::PCIDevice), Some(ids)) => {
                let (vendor, device) = ids.split_once(':').unwrap_or((ids, ""));
                let filter = Filter::Pci { vendor: pci_id(vendor)?, device: pci_id(device)? };
                level(LevelBy::Type(named?), filter)
            }
            (Some(ObjectType::OSDevice), Some(kind)) => {
                level(LevelBy::Type(TypeName::parse(&format!("osdev[{kind}]"))?), Filter::All)
            }
            (Some(ObjectType::NUMANode), Some(kind)) if !kind.is_empty() => {
                level(LevelBy::Type(named?), Filter::Subtype(kind.to_ascii_lowercase()))
            }
            (Some(_), None) => level(LevelBy::Type(named?), Filter::All),
            (None, None) if name.eq_ignore_ascii_case("hbm") => level(
                LevelBy::Type(TypeName::parse("numanode")?),
                Filter::Subtype("mcdram".to_owned()),
            ),
            (None, None) => level(LevelBy::Depth(name.parse().ok()?), Filter::All),
            _ => None,
        }
    }

    /// The type of the level; `None` if it is named by a depth.
    #[must_use]
    pub fn object_type(&self) -> Option<ObjectType> {
        match self.place {
            LevelBy::Type(name) => Some(name.object_type),
            LevelBy::Depth(_) => None,
        }
    }

    /// The depth of the level.
    ///
    /// # Errors
    ///
    /// [`NoSuchLevel`] if the topology has no objects of the type, or has them at several depths.
    pub fn depth(&self, topology: Topology<'_>) -> Result<Depth, NoSuchLevel> {
        let depth = match self.place {
            LevelBy::Depth(raw) => {
                let depth = Depth::from_raw(raw);
                let depth = depth.filter(|depth| topology.depth_type(*depth).is_some());
                depth.map_or(TypeDepth::Unknown, TypeDepth::Depth)
            }
            LevelBy::Type(TypeName { group_depth: Some(level), .. }) => {
                topology.group_depth(level).map_or(TypeDepth::Unknown, TypeDepth::Depth)
            }
            LevelBy::Type(name) => topology.type_depth(name.object_type),
        };
        match depth {
            TypeDepth::Depth(depth) => Ok(depth),
            TypeDepth::Unknown => Err(NoSuchLevel(match self.place {
                LevelBy::Depth(depth) => format!("no depth {depth}"),
                LevelBy::Type(_) => format!("no {}", self.text),
            })),
            TypeDepth::Multiple => Err(NoSuchLevel(format!("{} at several depths", self.text))),
        }
    }

    /// The objects of the level in logical order.
    ///
    /// # Errors
    ///
    /// Those of [`NamedLevel::depth`].
    pub fn objects<'a, 'l>(
        &'l self,
        topology: Topology<'a>,
    ) -> Result<impl Iterator<Item = Object<'a>> + use<'a, 'l>, NoSuchLevel> {
        let depth = self.depth(topology)?;
        Ok(topology.objects_at_depth(depth).filter(|object| self.counts(*object)))
    }

    /// The objects of the level whose PUs and NUMA nodes are all among those of `root`. Objects
    /// with neither are left out. An I/O or Misc object counts as where it is attached.
    ///
    /// # Errors
    ///
    /// Those of [`NamedLevel::depth`].
    pub fn objects_in<'a>(&self, root: Object<'a>) -> Result<Vec<Object<'a>>, NoSuchLevel> {
        let depth = self.depth(root.topology())?;
        Ok(root.objects_within(depth).filter(|object| self.counts(*object)).collect())
    }

    fn counts(&self, object: Object<'_>) -> bool {
        let of_kind = match self.place {
            LevelBy::Type(name) => name.matches(object),
            LevelBy::Depth(_) => true,
        };
        let passes = || match &self.filter {
            Filter::All => true,
            Filter::Subtype(kind) => {
                object.subtype().is_some_and(|it| it.eq_ignore_ascii_case(kind))
            }
            Filter::Pci { vendor, device } => match object.attributes() {
                Attributes::Pci(pci) => {
                    vendor.is_none_or(|id| id == pci.vendor_id)
                        && device.is_none_or(|id| id == pci.device_id)
                }
                _ => false,
            },
        };
        of_kind && passes()
    }
}

/// Reads a hexadecimal id; `Some(None)` if it is left out, `None` if it is malformed.
fn pci_id(digits: &str) -> Option<Option<u16>> {
    if digits.is_empty() { Some(None) } else { u16::from_str_radix(digits, 16).ok().map(Some) }
}
