//! Levels of objects: the depths of the tree of CPUs, then the special types.

use crate::object_type::ObjectType;
use rkyv::{Archive, Serialize};

/// Number of types of objects.
pub(crate) const TYPES: usize = ObjectType::ALL.len();

/// Most significant bits of the logical index of a PU, and one for none.
pub(crate) const BITS: usize = 20;

/// Where objects of each depth and type are.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct Levels {
    pub normal: u32,
    pub rows: Vec<Level>,
    pub depth_of_type: [u8; TYPES],
    pub common: [u8; BITS],
    pub attribute_first: crate::column::Column,
    pub attribute_stride: crate::column::Column,
}

/// A level: its first object, and its type with the number of PUs of each of its objects.
#[derive(Archive, Serialize, Debug, Default, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct Level {
    pub first: u32,
    pub kind: u32,
}

/// Rows of attributes of the objects of a level, by their places in it.
#[derive(Debug, Clone, Copy)]
pub struct AttributeRows {
    first: u32,
    stride: u32,
}

impl AttributeRows {
    /// The row of the object at a place.
    #[must_use]
    #[inline]
    pub fn row(self, place: u32) -> usize {
        (self.first + self.stride * place) as usize
    }
}

/// In `depth_of_type`: objects are at several depths.
pub const MULTIPLE: u8 = u8::MAX;

impl Level {
    /// A level whose objects have `pus` PUs each, 0 if they differ.
    #[must_use]
    pub(crate) fn new(first: u32, object_type: u8, pus: u32) -> Self {
        let pus = if pus < 1 << 24 { pus } else { 0 };
        Self { first, kind: (pus << 8) | u32::from(object_type) }
    }
}

impl Levels {
    /// Levels of these types, the special ones last; where each begins, with the end; and how many
    /// PUs each object of it has, 0 where they differ or nothing is said.
    #[must_use]
    pub fn new(types: &[ObjectType], first: &[u32], pus: &[u32]) -> Self {
        let rows = first.iter().enumerate().map(|(level, first)| {
            // Behind the last level there is the end.
            let object_type = types.get(level).map_or(u8::MAX, |kind| kind.raw());
            Level::new(*first, object_type, pus.get(level).copied().unwrap_or(0))
        });
        let normal = types.len().saturating_sub(ObjectType::SPECIAL.len());
        let depth_of_type =
            depths_of_types(types.iter().take(normal).map(|kind| kind.raw().into()));
        Self {
            normal: u32::try_from(normal).unwrap_or(u32::MAX),
            rows: rows.collect(),
            depth_of_type,
            ..Self::default()
        }
    }
}

/// By hwloc's number of a type: the depth plus one that has its objects, 0 none, [`MULTIPLE`]. `types`
/// are hwloc's numbers, from the top.
pub(crate) fn depths_of_types(types: impl Iterator<Item = u64>) -> [u8; TYPES] {
    let mut depth_of_type = [0; TYPES];
    for (depth, raw) in (1u8..).zip(types) {
        let slot = usize::try_from(raw).ok().and_then(|raw| depth_of_type.get_mut(raw));
        if let Some(slot) = slot {
            *slot = if *slot == 0 { depth } else { MULTIPLE };
        }
    }
    depth_of_type
}

impl ArchivedLevel {
    /// Number of its first object.
    #[must_use]
    #[inline]
    pub fn first(&self) -> u32 {
        self.first.to_native()
    }

    /// hwloc's number of the type of its objects.
    #[must_use]
    #[inline]
    pub fn raw_type(&self) -> u64 {
        u64::from(self.kind.to_native() & 0xff)
    }

    /// Type of its objects.
    #[must_use]
    #[inline]
    pub fn object_type(&self) -> Option<ObjectType> {
        ObjectType::from_raw(self.raw_type())
    }

    /// PUs of each of its objects, 0 where they differ.
    #[must_use]
    #[inline]
    pub fn pus(&self) -> u32 {
        self.kind.to_native() >> 8
    }
}

impl ArchivedLevels {
    /// The row of a level; past the last one `None`.
    #[must_use]
    #[inline]
    pub fn row(&self, level: usize) -> Option<&ArchivedLevel> {
        self.rows.as_slice().get(level)
    }

    /// The rows of the tree of CPUs.
    #[must_use]
    #[inline]
    pub fn normal_rows(&self) -> &[ArchivedLevel] {
        let normal = self.normal.to_native() as usize;
        self.rows.as_slice().get(..normal).unwrap_or_default()
    }

    /// First object of a level; of the level past the last one the number of objects.
    #[must_use]
    #[inline]
    pub fn first(&self, level: usize) -> u32 {
        self.row(level).map_or(0, ArchivedLevel::first)
    }

    /// Rows of attributes of the objects of a level.
    #[must_use]
    pub fn attribute_rows(&self, level: usize) -> AttributeRows {
        AttributeRows {
            first: self.attribute_first.get_u32(level),
            stride: self.attribute_stride.get_u32(level),
        }
    }

    /// Type of the objects of a level.
    #[must_use]
    #[inline]
    pub fn object_type(&self, level: usize) -> Option<ObjectType> {
        self.row(level)?.object_type()
    }

    /// Level of an object.
    #[must_use]
    #[inline]
    pub fn level_of(&self, id: u32) -> usize {
        let normal = self.normal.to_native() as usize;
        let last = if id < self.first(normal) { normal } else { self.rows.len() - 1 };
        let rows = self.rows.as_slice().get(..last).unwrap_or_default();
        // Most objects are on the lowest levels.
        rows.iter().rposition(|row| row.first.to_native() <= id).unwrap_or(0)
    }
}
