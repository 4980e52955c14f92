//! Numbers the objects level by level, and finds the PUs below each.

use super::builder::Builder;
use super::error::EncodeError;
use crate::archive::MAX_DEPTH;
use crate::depth::Depth;
use crate::description::Object;
use crate::object_type::ObjectType;
use alloc::vec;
use alloc::vec::Vec;

impl<'d> Builder<'d> {
    /// Gives every object its number: level by level, by logical index within.
    pub(super) fn number_objects(&mut self) -> Result<(), EncodeError> {
        let objects = &self.description.objects;
        let normal = objects.iter().filter(|object| object.object_type.is_normal());
        let deepest = normal.filter_map(|object| object.depth.normal()).max().unwrap_or(0);
        self.normal_levels = deepest as usize + 1;

        let mut order: Vec<(usize, u32, usize)> = objects
            .iter()
            .enumerate()
            .map(|(place, object)| (self.level_of(object), object.logical_index, place))
            .collect();
        order.sort_unstable();

        self.id_of = vec![0; objects.len()];
        let mut rest = order.as_slice();
        for level in 0..self.normal_levels + ObjectType::SPECIAL.len() {
            self.level_first.push(self.by_id.len() as u64);
            let (here, after) = rest.split_at(rest.partition_point(|entry| entry.0 <= level));
            rest = after;
            self.number_level(level, here)?;
        }
        self.level_first.push(self.by_id.len() as u64);
        Ok(())
    }

    fn number_level(
        &mut self,
        level: usize,
        members: &[(usize, u32, usize)],
    ) -> Result<(), EncodeError> {
        if members.is_empty() && level < self.normal_levels {
            let depth = Depth::Normal(u32::try_from(level).unwrap_or(u32::MAX));
            return Err(EncodeError::Level { depth, logical_index: 0 });
        }
        let mut first: Option<&Object> = None;
        for (expected, &(_, logical_index, place)) in (0u32..).zip(members) {
            let object = self.object(place, "a level")?;
            if logical_index != expected {
                return Err(EncodeError::Level { depth: object.depth, logical_index: expected });
            }
            let kind = first.get_or_insert(object).object_type;
            if object.object_type != kind {
                return Err(EncodeError::MixedLevel {
                    depth: object.depth,
                    found: object.object_type.name(),
                    expected: kind.name(),
                });
            }
            if let Some(id) = self.id_of.get_mut(place) {
                *id = self.by_id.len() as u64;
            }
            self.by_id.push(object);
        }
        Ok(())
    }

    /// Finds the PUs below every object by walking the tree in the order of hwloc's logical
    /// indexes. Memory, I/O and Misc objects get the PUs of the normal object that they are
    /// attached to.
    pub(super) fn find_pus(&mut self) -> Result<(), EncodeError> {
        let mut next = 0;
        self.find_pus_below(0, &mut next, 1)
    }

    fn find_pus_below(
        &mut self,
        place: usize,
        next: &mut u32,
        depth: usize,
    ) -> Result<(), EncodeError> {
        let object = self.object_below(place, depth)?;
        let first = *next;
        if object.object_type == ObjectType::PU {
            if object.logical_index != *next {
                return Err(EncodeError::PuOrder { found: object.logical_index, expected: *next });
            }
            *next += 1;
        }
        for &child in &object.children {
            if self.object(child, "a child list")?.object_type.is_normal() {
                self.find_pus_below(child, next, depth + 1)?;
            }
        }
        let pus = (first, *next - first);
        self.set_pus(place, pus);
        for &child in &object.children {
            if !self.object(child, "a child list")?.object_type.is_normal() {
                self.inherit_pus(child, pus, 1)?;
            }
        }
        Ok(())
    }

    fn inherit_pus(
        &mut self,
        place: usize,
        pus: (u32, u32),
        depth: usize,
    ) -> Result<(), EncodeError> {
        let object = self.object_below(place, depth)?;
        self.set_pus(place, pus);
        object.children.iter().try_for_each(|&child| self.inherit_pus(child, pus, depth + 1))
    }

    /// The object at a place of a child list, if it is not deeper than an archive allows.
    fn object_below(&self, place: usize, depth: usize) -> Result<&'d Object, EncodeError> {
        if depth > MAX_DEPTH {
            return Err(EncodeError::TooDeep { found: place, limit: MAX_DEPTH });
        }
        self.object(place, "a child list")
    }

    fn set_pus(&mut self, place: usize, pus: (u32, u32)) {
        let id = self.id_of.get(place).and_then(|id| usize::try_from(*id).ok());
        if let Some(slot) = id.and_then(|id| self.pus_by_id.get_mut(id)) {
            *slot = pus;
        }
    }
}
