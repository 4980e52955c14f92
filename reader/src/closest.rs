//! Objects of a depth by how near they are.

use crate::object::Object;
use std::ops::Range;

/// Objects of the depth of one, the nearest first: those below the lowest object above it that has
/// others, in logical order, then those below the next such object, and so on.
#[derive(Debug, Clone)]
pub struct Closest<'a> {
    source: Object<'a>,
    /// What has been given already is below this.
    inner: Object<'a>,
    /// What is given now is below this.
    outer: Object<'a>,
    /// Numbers of those before and behind what was given already.
    ring: [Range<u32>; 2],
}

impl<'a> Object<'a> {
    /// The other objects of the same depth, the nearest first. Of memory, I/O and Misc objects
    /// there are none. Counterpart: `hwloc_get_closest_objs`, which fills an array.
    ///
    /// ```no_run
    /// # let topology = topobroker_reader::adopt()?.topology();
    /// let core = topology.objects_with_type(topobroker_reader::ObjectType::Core).next().unwrap();
    /// println!("{:?}", core.closest().take(8).collect::<Vec<_>>());
    /// # Ok::<(), topobroker_reader::AdoptError>(())
    /// ```
    #[doc(alias = "hwloc_get_closest_objs")]
    #[must_use]
    pub fn closest(self) -> Closest<'a> {
        Closest { source: self, inner: self, outer: self, ring: [0..0, 0..0] }
    }
}

impl<'a> Iterator for Closest<'a> {
    type Item = Object<'a>;

    #[inline]
    fn next(&mut self) -> Option<Object<'a>> {
        if !self.source.object_type().is_normal() {
            return None;
        }
        loop {
            while let Some(id) = self.ring.iter_mut().find_map(Iterator::next) {
                let object = Object::new(self.source.topology(), id);
                if self.is_in_ring(object) {
                    return Some(object);
                }
            }
            self.widen()?;
        }
    }
}

impl<'a> Closest<'a> {
    /// Goes on to the next object above that covers more.
    fn widen(&mut self) -> Option<()> {
        self.inner = self.outer;
        let topology = self.source.topology();
        let own = self.inner.extent()?;
        let pus = self.inner.pus();
        self.outer = self.inner.ancestors().find(|object| match topology.is_plain() {
            true => object.pus().len() != pus.len(),
            false => object.extent().is_some_and(|extent| !extent.equals(&own)),
        })?;
        let level = topology.level_of_depth(self.source.depth())?;
        if !topology.is_plain() {
            self.ring = [topology.level_ids(level), 0..0];
            return Some(());
        }
        let (inner, outer) = (self.inner.pus(), self.outer.pus());
        let between = |pus| topology.objects_of_level_in(level, pus);
        self.ring = [between(outer.start..inner.start), between(inner.end..outer.end)];
        Some(())
    }

    #[inline]
    fn is_in_ring(&self, object: Object<'a>) -> bool {
        if self.source.topology().is_plain() {
            return !object.pus().is_empty();
        }
        let within = |other: Object<'a>| {
            object.extent().zip(other.extent()).is_some_and(|(own, all)| own.is_part_of(&all))
        };
        within(self.outer) && !within(self.inner)
    }
}
