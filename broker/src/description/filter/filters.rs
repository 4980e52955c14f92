//! A type filter for each type: which objects are kept.

use topobroker_layout::attributes::{Attributes, OsDeviceKind};
use topobroker_layout::description::Object;
use topobroker_layout::object_type::{ChildKind, ObjectType};
use topobroker_layout::type_filter::TypeFilter;

/// A filter for each type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filters([TypeFilter; ObjectType::ALL.len()]);

impl Default for Filters {
    /// Keeps all objects except groups that add no structure and I/O devices that are not
    /// important. hwloc's programs show the same objects.
    fn default() -> Self {
        let mut filters = Self([TypeFilter::All; ObjectType::ALL.len()]);
        filters.set_io(TypeFilter::Important);
        filters
    }
}

impl Filters {
    /// The filter of a type. For groups it is [`TypeFilter::Structure`] if `All` or `Important` was
    /// set.
    #[must_use]
    pub fn get(&self, object_type: ObjectType) -> TypeFilter {
        let filter = self.0.get(usize::from(object_type.raw())).copied().unwrap_or(TypeFilter::All);
        match (object_type, filter) {
            (ObjectType::Group, TypeFilter::All | TypeFilter::Important) => TypeFilter::Structure,
            _ => filter,
        }
    }

    /// Sets the filter of a type. As in hwloc, the machine, PUs and NUMA nodes are always kept, and
    /// I/O and Misc types cannot be filtered by structure: such a call changes nothing.
    pub fn set(&mut self, object_type: ObjectType, filter: TypeFilter) {
        use ObjectType::{Machine, NUMANode, PU};
        let fixed = matches!(object_type, Machine | PU | NUMANode);
        let special = matches!(object_type.child_kind(), ChildKind::Io | ChildKind::Misc);
        if fixed || (special && filter == TypeFilter::Structure) {
            return;
        }
        if let Some(slot) = self.0.get_mut(usize::from(object_type.raw())) {
            *slot = filter;
        }
    }

    /// Sets the filter of every type.
    pub fn set_all(&mut self, filter: TypeFilter) {
        ObjectType::ALL.into_iter().for_each(|object_type| self.set(object_type, filter));
    }

    /// Sets the filter of all CPU caches and memory-side caches.
    pub fn set_caches(&mut self, filter: TypeFilter) {
        let caches = ObjectType::ALL.into_iter().filter(|object_type| is_any_cache(*object_type));
        caches.for_each(|object_type| self.set(object_type, filter));
    }

    /// Sets the filter of bridges, PCI and OS devices.
    pub fn set_io(&mut self, filter: TypeFilter) {
        let io = ObjectType::ALL.into_iter().filter(|object_type| object_type.is_io());
        io.for_each(|object_type| self.set(object_type, filter));
    }

    /// The filters to set in hwloc before it loads a topology: all except [`TypeFilter::All`].
    #[must_use]
    pub fn for_loading(&self) -> Vec<(ObjectType, TypeFilter)> {
        let all =
            ObjectType::ALL.into_iter().map(|object_type| (object_type, self.get(object_type)));
        all.filter(|(_, filter)| *filter != TypeFilter::All).collect()
    }

    pub(super) fn keeps(&self, object: &Object) -> bool {
        match self.get(object.object_type) {
            TypeFilter::None => false,
            TypeFilter::All | TypeFilter::Structure => true,
            TypeFilter::Important => match &object.attributes {
                Attributes::Pci(pci) => pci.is_important(),
                Attributes::OsDevice { kind } => *kind != OsDeviceKind::Dma,
                _ => true,
            },
        }
    }
}

/// Whether a type is a CPU cache or a memory-side cache. hwloc's programs call both "cache".
pub fn is_any_cache(object_type: ObjectType) -> bool {
    object_type.is_cache() || object_type == ObjectType::MemCache
}
