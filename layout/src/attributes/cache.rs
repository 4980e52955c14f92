//! Attributes of caches.

use super::stored::{AttributeValue, Stored};

/// Attributes of a cache. Counterpart: `struct hwloc_cache_attr_s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cache {
    /// Size in bytes.
    pub size: u64,
    /// Level: 1 to 5.
    pub depth: u32,
    /// Line size in bytes, 0 if unknown.
    pub linesize: u32,
    /// Associativity, `None` if unknown.
    pub associativity: Option<Associativity>,
    /// Whether it caches data, instructions or both.
    pub kind: CacheKind,
}

table! {
    /// Attributes of CPU caches and memory-side caches.
    Caches, ArchivedCaches, "caches" of Cache;
    size = (size)
    depth = (depth)
    linesize = (linesize)
    associativity = (associativity)
    kind = (kind as "type")
}

/// What a cache caches. Counterpart: `hwloc_obj_cache_type_t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum CacheKind {
    /// Data and instructions.
    #[default]
    Unified,
    /// Data.
    Data,
    /// Instructions.
    Instruction,
    /// A number that hwloc 2 does not define.
    Other(u32),
}

impl CacheKind {
    /// Its name: `unified`, `data` or `instruction`, otherwise `unknown`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unified => "unified",
            Self::Data => "data",
            Self::Instruction => "instruction",
            Self::Other(_) => "unknown",
        }
    }

    /// The kind with hwloc's number.
    #[must_use]
    pub const fn from_raw(raw: u32) -> Self {
        match raw {
            0 => Self::Unified,
            1 => Self::Data,
            2 => Self::Instruction,
            other => Self::Other(other),
        }
    }

    /// hwloc's number of the kind.
    #[must_use]
    pub const fn raw(self) -> u32 {
        match self {
            Self::Unified => 0,
            Self::Data => 1,
            Self::Instruction => 2,
            Self::Other(raw) => raw,
        }
    }
}

/// Associativity of a cache: in how many of its lines an address can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Associativity {
    /// In any line. hwloc's -1.
    Full,
    /// In this many lines.
    Ways(u32),
}

impl Associativity {
    /// The associativity with hwloc's number, `None` for 0, which means unknown.
    #[must_use]
    pub const fn from_raw(raw: i32) -> Option<Self> {
        match raw {
            0 => None,
            -1 => Some(Self::Full),
            ways => Some(Self::Ways(ways.cast_unsigned())),
        }
    }

    /// hwloc's number of an associativity.
    #[must_use]
    pub const fn raw(associativity: Option<Self>) -> i32 {
        match associativity {
            None => 0,
            Some(Self::Full) => -1,
            Some(Self::Ways(ways)) => ways.cast_signed(),
        }
    }
}

impl Stored for CacheKind {
    const LIMIT: u64 = u32::LIMIT;

    fn number(self) -> u64 {
        self.raw().into()
    }

    fn of(number: u64) -> Self {
        Self::from_raw(Stored::of(number))
    }
}

impl From<CacheKind> for AttributeValue {
    fn from(kind: CacheKind) -> Self {
        Self::Text(kind.name())
    }
}

impl Stored for Option<Associativity> {
    const LIMIT: u64 = u32::LIMIT;

    fn number(self) -> u64 {
        Associativity::raw(self).cast_unsigned().into()
    }

    fn of(number: u64) -> Self {
        Associativity::from_raw(u32::of(number).cast_signed())
    }
}

impl From<Option<Associativity>> for AttributeValue {
    fn from(associativity: Option<Associativity>) -> Self {
        associativity.map_or(Self::Unknown, |it| Self::Signed(Associativity::raw(Some(it))))
    }
}
