//! Objects of a depth by how near they are.

use crate::levels::Objects;
use crate::object::Object;
use std::ops::Range;

/// Objects of the depth of one, the nearest first: those below the lowest object above it that has
/// others, in logical order, then those below the next such object, and so on.
#[derive(Debug, Clone)]
pub struct Closest<'a> {
    source: Object<'a>,
    has_others: bool,
    /// What has been given already is below this.
    inner: Object<'a>,
    /// What is given now is below this.
    outer: Object<'a>,
    /// Those before and behind what was given already.
    ring: [Objects<'a>; 2],
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
        let none = || Objects::none(self.topology());
        Closest {
            source: self,
            has_others: self.object_type().is_normal(),
            inner: self,
            outer: self,
            ring: [none(), none()],
        }
    }
}

impl<'a> Iterator for Closest<'a> {
    type Item = Object<'a>;

    #[inline]
    fn next(&mut self) -> Option<Object<'a>> {
        while self.has_others {
            while let Some(object) = self.ring.iter_mut().find_map(Iterator::next) {
                if self.is_in_ring(object) {
                    return Some(object);
                }
            }
            self.has_others = self.widen().is_some();
        }
        None
    }
}

impl<'a> Closest<'a> {
    /// Goes on to the next object above that covers more.
    fn widen(&mut self) -> Option<()> {
        self.inner = self.outer;
        let topology = self.source.topology();
        let own = self.inner.extent()?;
        let pus = self.inner.shown_run();
        self.outer = self.inner.ancestors().find(|object| match topology.is_plain() {
            true => object.shown_run().len() != pus.len(),
            false => object.extent().is_some_and(|extent| !extent.equals(&own)),
        })?;
        let depth = self.source.depth();
        let level = topology.base_level_of_depth(depth)?;
        if !topology.is_plain() {
            self.ring = [topology.objects_at_depth(depth), Objects::none(topology)];
            return Some(());
        }
        let (inner, outer) = (self.inner.base_pus(), self.outer.base_pus());
        let between = |pus: Range<u32>| {
            // Then every object that is left has PUs that are shown.
            let shown = topology.solid_run(&pus).filter(|_| topology.seen.is_regular);
            topology.numbered(topology.objects_of_level_in(level, shown.unwrap_or(pus)))
        };
        self.ring = [between(outer.start..inner.start), between(inner.end..outer.end)];
        Some(())
    }

    #[inline]
    fn is_in_ring(&self, object: Object<'a>) -> bool {
        if self.source.topology().seen.is_regular {
            return true;
        }
        if self.source.topology().is_plain() {
            return object.cpuset_weight() != Some(0);
        }
        let within = |other: Object<'a>| {
            object.extent().zip(other.extent()).is_some_and(|(own, all)| own.is_part_of(&all))
        };
        within(self.outer) && !within(self.inner)
    }
}
