//! Levels of objects: the depths of the tree of CPUs, then the special types.

use crate::object_type::ObjectType;
use alloc::vec::Vec;
use rkyv::{Archive, Serialize};

/// Number of object types.
pub(crate) const TYPES: usize = ObjectType::ALL.len();

/// Number of rows of [`Levels::common`]: the logical indexes of two PUs may differ in their lowest
/// 0 to 19 bits.
pub(crate) const BITS: usize = 20;

/// The table of levels: the objects of each depth, then those of each special type.
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

/// A level: its first object and its kind. The low 8 bits of the kind are hwloc's number of the
/// type, the others are the number of PUs of each object, 0 if the objects differ.
#[derive(Archive, Serialize, Debug, Default, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct Level {
    pub first: u32,
    pub kind: u32,
}

/// Where the attributes of a level's objects are: at row `first + stride * logical index`.
#[derive(Debug, Clone, Copy)]
pub struct AttributeRows {
    first: u32,
    stride: u32,
}

impl AttributeRows {
    /// The row of the object with logical index `place`.
    #[must_use]
    #[inline]
    pub fn row(self, place: u32) -> usize {
        self.first.wrapping_add(self.stride.wrapping_mul(place)) as usize
    }
}

/// In [`Levels::depth_of_type`]: objects of this type are at several depths.
pub const MULTIPLE: u8 = u8::MAX;

impl Level {
    /// A level whose objects have `pus` PUs each, 0 if they differ. A number of more than 24 bits
    /// is stored as 0.
    #[must_use]
    pub(crate) fn new(first: u32, object_type: u8, pus: u32) -> Self {
        let pus = if pus < 1 << 24 { pus } else { 0 };
        Self { first, kind: (pus << 8) | u32::from(object_type) }
    }
}

impl Levels {
    /// Makes the table of levels. `types` has the type of each level, the special ones last.
    /// `first` has the first object of each level, then the number of objects. `pus` has the number
    /// of PUs of each object of a level, 0 if they differ; for levels past its end 0 is stored.
    #[must_use]
    pub fn new(types: &[ObjectType], first: &[u32], pus: &[u32]) -> Self {
        let rows = first.iter().enumerate().map(|(level, first)| {
            // The row after the last level is the end, which has no type.
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

/// Makes [`Levels::depth_of_type`], whose index is hwloc's number of a type. The value is the depth
/// of the objects of this type plus one, 0 if there are none, [`MULTIPLE`] if they are at several
/// depths. `types` has hwloc's numbers of the types of all depths, from the top.
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
    /// Number of the first object of the level.
    #[must_use]
    #[inline]
    pub fn first(&self) -> u32 {
        self.first.to_native()
    }

    /// hwloc's number of the type of the level.
    #[must_use]
    #[inline]
    pub fn raw_type(&self) -> u64 {
        u64::from(self.kind.to_native() & 0xff)
    }

    /// Type of the level.
    #[must_use]
    #[inline]
    pub fn object_type(&self) -> Option<ObjectType> {
        ObjectType::from_raw(self.raw_type())
    }

    /// Number of PUs of each object of the level, 0 if the objects differ.
    #[must_use]
    #[inline]
    pub fn pus(&self) -> u32 {
        self.kind.to_native() >> 8
    }
}

impl ArchivedLevels {
    /// Numbers of the PUs, which are at the lowest normal depth; none if there are no PUs.
    pub(crate) fn pus(&self) -> core::ops::Range<u32> {
        let lowest = (self.normal.to_native() as usize).saturating_sub(1);
        match self.object_type(lowest) {
            Some(ObjectType::PU) => self.first(lowest)..self.first(lowest + 1),
            _ => 0..0,
        }
    }

    /// The row of a level or of the end; `None` past the end.
    #[must_use]
    #[inline]
    pub fn row(&self, level: usize) -> Option<&ArchivedLevel> {
        self.rows.as_slice().get(level)
    }

    /// The rows of the levels of the tree of CPUs.
    #[must_use]
    #[inline]
    pub fn normal_rows(&self) -> &[ArchivedLevel] {
        let normal = self.normal.to_native() as usize;
        self.rows.as_slice().get(..normal).unwrap_or_default()
    }

    /// Number of the first object of a level. For the level past the last one it is the number of
    /// objects.
    #[must_use]
    #[inline]
    pub fn first(&self, level: usize) -> u32 {
        self.row(level).map_or(0, ArchivedLevel::first)
    }

    /// Where the attributes of a level's objects are.
    #[must_use]
    pub fn attribute_rows(&self, level: usize) -> AttributeRows {
        AttributeRows {
            first: self.attribute_first.get_u32(level),
            stride: self.attribute_stride.get_u32(level),
        }
    }

    /// Type of a level.
    #[must_use]
    #[inline]
    pub fn object_type(&self, level: usize) -> Option<ObjectType> {
        self.row(level)?.object_type()
    }

    /// Level of an object.
    #[must_use]
    #[inline]
    pub fn level_of(&self, id: u32) -> usize {
        self.rows.as_slice().partition_point(|row| row.first.to_native() <= id).saturating_sub(1)
    }
}
