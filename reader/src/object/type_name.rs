//! Names of types as hwloc's programs print and read them.

use super::Object;
use alloc::string::String;
use core::fmt;
use topobroker_layout::attributes::{Attributes, CacheKind, OsDeviceKind};
use topobroker_layout::object_type::ObjectType;

/// A type as a user names it, with the details that a name may give besides the type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeName {
    /// The type.
    pub object_type: ObjectType,
    /// Depth of the group, from names such as `Group1`.
    pub group_depth: Option<u32>,
    /// Kind of the OS device, from names such as `OSDev[GPU]` or `GPU`.
    pub os_device_kind: Option<OsDeviceKind>,
}

/// Kinds of OS devices.
const OS_DEVICES: [OsDeviceKind; 6] = [
    OsDeviceKind::Block,
    OsDeviceKind::Gpu,
    OsDeviceKind::Network,
    OsDeviceKind::OpenFabrics,
    OsDeviceKind::Dma,
    OsDeviceKind::CoProcessor,
];

/// Their short and long names, in one text, because each pointer in a table costs every process.
const OS_DEVICE_NAMES: &str = "Block Block GPU GPU Net Network OpenFabrics OpenFabrics DMA DMA \
                               CoProc Co-Processor";

/// The kinds of OS devices with their short and long names.
fn os_devices() -> impl Iterator<Item = (OsDeviceKind, &'static str, &'static str)> {
    let mut names = OS_DEVICE_NAMES.split(' ');
    OS_DEVICES.into_iter().filter_map(move |kind| Some((kind, names.next()?, names.next()?)))
}

/// Names of types, each with the least number of letters that identifies it.
const WORDS: [(&str, usize, ObjectType); 13] = [
    ("machine", 2, ObjectType::Machine),
    ("numanode", 2, ObjectType::NUMANode),
    ("node", 2, ObjectType::NUMANode),
    ("memcache", 8, ObjectType::MemCache),
    ("memory-side cache", 5, ObjectType::MemCache),
    ("package", 2, ObjectType::Package),
    ("socket", 2, ObjectType::Package),
    ("die", 2, ObjectType::Die),
    ("core", 2, ObjectType::Core),
    ("pu", 2, ObjectType::PU),
    ("misc", 4, ObjectType::Misc),
    ("osdevice", 2, ObjectType::OSDevice),
    ("pcidevice", 3, ObjectType::PCIDevice),
];

impl<'a> Object<'a> {
    /// Name of the type with details from the attributes: `L1d`, `Group0`, `PCIBridge`, `GPU`; in
    /// the long form `L1dCache`, `Network`. Counterpart: `hwloc_obj_type_snprintf`.
    #[doc(alias = "hwloc_obj_type_snprintf")]
    #[must_use]
    pub fn type_name(self, long: bool) -> String {
        let mut name = String::new();
        // Writing to a string cannot fail.
        let _ = self.write_type_name(long, &mut name);
        name
    }

    /// Writes [`Object::type_name`] to `out`.
    ///
    /// # Errors
    ///
    /// The error of `out`.
    pub fn write_type_name(self, long: bool, out: &mut impl fmt::Write) -> fmt::Result {
        let object_type = self.object_type();
        match self.attributes() {
            Attributes::Cache(cache) if object_type.is_cache() => {
                let letter = match cache.kind {
                    CacheKind::Unified => "",
                    CacheKind::Data => "d",
                    CacheKind::Instruction => "i",
                    _ => "unknown",
                };
                write!(out, "L{}{letter}{}", cache.depth, if long { "Cache" } else { "" })
            }
            Attributes::Group(group) if group.depth != u32::MAX => {
                write!(out, "Group{}", group.depth)
            }
            Attributes::Bridge(bridge) => {
                out.write_str(if bridge.upstream.is_some() { "PCIBridge" } else { "HostBridge" })
            }
            Attributes::Pci(_) => out.write_str("PCI"),
            Attributes::OsDevice { kind } => {
                let names = os_devices().find(|(known, ..)| *known == kind);
                let (_, short, full) = names.unwrap_or((kind, "", ""));
                out.write_str(if long { full } else { short })
            }
            _ => out.write_str(object_type.name()),
        }
    }
}

impl TypeName {
    /// Parses a name. Case does not matter, and the beginning of a word is enough, as in hwloc.
    /// Counterpart: `hwloc_type_sscanf`.
    ///
    /// ```
    /// use topobroker_reader::{ObjectType, TypeName};
    /// let is = |name, object_type| TypeName::parse(name).unwrap().object_type == object_type;
    /// assert!(is("L1i", ObjectType::L1ICache) && is("numa", ObjectType::NUMANode));
    /// assert_eq!(TypeName::parse("Group1").unwrap().group_depth, Some(1));
    /// assert!(TypeName::parse("L9").is_none());
    /// ```
    #[doc(alias = "hwloc_type_sscanf")]
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        // No name is longer than this.
        let mut letters = [0; 32];
        let letters = letters.get_mut(..name.len())?;
        letters.copy_from_slice(name.as_bytes());
        letters.make_ascii_lowercase();
        let name = core::str::from_utf8(letters).ok()?;
        let plain = |object_type| Self { object_type, group_depth: None, os_device_kind: None };
        if let Some(kind) = name.strip_prefix("osdev[").and_then(|rest| rest.strip_suffix(']')) {
            let os_device_kind = Some(os_device_kind(kind)?);
            return Some(Self { os_device_kind, ..plain(ObjectType::OSDevice) });
        }
        if let Some(object_type) = cache(name) {
            return Some(plain(object_type));
        }
        if name.ends_with("bridge") || (name.len() > 1 && "bridge".starts_with(name)) {
            return Some(plain(ObjectType::Bridge));
        }
        let letters = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
        if letters.len() > 1 && "group".starts_with(letters) {
            let digits = name.get(letters.len()..).unwrap_or_default();
            let group_depth = if digits.is_empty() { None } else { Some(digits.parse().ok()?) };
            return Some(Self { group_depth, ..plain(ObjectType::Group) });
        }
        let word = WORDS
            .into_iter()
            .find(|(word, least, _)| name.len() >= *least && word.starts_with(name));
        if let Some((_, _, object_type)) = word {
            return Some(plain(object_type));
        }
        let os_device_kind = Some(os_device_kind(name)?);
        Some(Self { os_device_kind, ..plain(ObjectType::OSDevice) })
    }

    /// Whether an object has this type, and the details that are given.
    #[must_use]
    pub fn matches(self, object: Object<'_>) -> bool {
        object.object_type() == self.object_type
            && match object.attributes() {
                Attributes::Group(group) => {
                    self.group_depth.is_none_or(|depth| depth == group.depth)
                }
                Attributes::OsDevice { kind } => {
                    self.os_device_kind.is_none_or(|wanted| wanted == kind)
                }
                _ => true,
            }
    }
}

/// The type of a cache with a name such as `l1`, `l2cache`, `l1d`, `l1icache` or `l3u`.
fn cache(name: &str) -> Option<ObjectType> {
    let rest = name.strip_prefix('l')?;
    let rest = rest.strip_suffix("cache").unwrap_or(rest);
    let (level, letter) = match rest.split_at_checked(1)? {
        (level, "" | "d" | "u") => (level, 'd'),
        (level, "i") => (level, 'i'),
        _ => return None,
    };
    Some(match (level, letter) {
        ("1", 'd') => ObjectType::L1Cache,
        ("2", 'd') => ObjectType::L2Cache,
        ("3", 'd') => ObjectType::L3Cache,
        ("4", 'd') => ObjectType::L4Cache,
        ("5", 'd') => ObjectType::L5Cache,
        ("1", 'i') => ObjectType::L1ICache,
        ("2", 'i') => ObjectType::L2ICache,
        ("3", 'i') => ObjectType::L3ICache,
        _ => return None,
    })
}

/// The first kind of OS device whose short or long name begins with `name`, two letters at least.
fn os_device_kind(name: &str) -> Option<OsDeviceKind> {
    let beginning =
        |full: &str| full.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    if name.len() < 2 {
        return None;
    }
    let found = os_devices().find(|(_, short, full)| beginning(short) || beginning(full));
    found.map(|(kind, ..)| kind)
}
