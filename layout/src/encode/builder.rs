//! The state that all parts of the encoder share: objects by number and by place, and the tables of
//! strings and sets.

use super::error::EncodeError;
use super::intern::{Sets, Strings};
use crate::depth::Depth;
use crate::description::{Description, Object};
use alloc::vec;
use alloc::vec::Vec;

pub(super) struct Builder<'d> {
    pub(super) description: &'d Description,
    /// Objects by their number in the archive.
    pub(super) by_id: Vec<&'d Object>,
    /// Number in the archive by place in the description.
    pub(super) id_of: Vec<u64>,
    /// Number of the first object of each level, then the number of objects.
    pub(super) level_first: Vec<u64>,
    pub(super) normal_levels: usize,
    /// First PU and number of PUs of each object, by its number.
    pub(super) pus_by_id: Vec<(u32, u32)>,
    /// OS indexes of the PUs by logical index.
    pub(super) pu_os_indexes: Vec<Option<u32>>,
    pub(super) strings: Strings,
    pub(super) sets: Sets<'d>,
}

impl<'d> Builder<'d> {
    pub(super) fn new(description: &'d Description) -> Self {
        Self {
            description,
            by_id: Vec::new(),
            id_of: Vec::new(),
            level_first: Vec::new(),
            normal_levels: 0,
            pus_by_id: vec![(0, 0); description.objects.len()],
            pu_os_indexes: Vec::new(),
            strings: Strings::default(),
            sets: Sets::default(),
        }
    }

    pub(super) fn object(
        &self,
        place: usize,
        what: &'static str,
    ) -> Result<&'d Object, EncodeError> {
        let count = self.description.objects.len();
        self.description.objects.get(place).ok_or(EncodeError::NoSuchObject {
            what,
            found: place,
            count,
        })
    }

    pub(super) fn id(&self, place: usize, what: &'static str) -> Result<u64, EncodeError> {
        self.object(place, what)?;
        Ok(self.id_of.get(place).copied().unwrap_or_default())
    }

    pub(super) fn level_of(&self, object: &Object) -> usize {
        match (Depth::of_special(object.object_type), object.depth) {
            (Some(special), _) => special.level(self.normal_levels).unwrap_or(usize::MAX),
            (None, Depth::Normal(depth)) => depth as usize,
            (None, _) => usize::MAX,
        }
    }

    /// Number of objects before a special level, which is the number of its first object if it has
    /// one.
    pub(super) fn first_of(&self, special: Depth) -> usize {
        let level = special.level(self.normal_levels);
        let first = level.and_then(|level| self.level_first.get(level)).copied().unwrap_or(0);
        usize::try_from(first).unwrap_or(usize::MAX)
    }
}
