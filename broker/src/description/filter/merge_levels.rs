//! Merges levels that add no structure: `ls --merge`, and types whose filter is
//! [`TypeFilter::Structure`].

use super::filters::Filters;
use super::tree::Tree;
use topobroker_layout::attributes::Attributes;
use topobroker_layout::shape::{self, Shape};
use topobroker_layout::type_filter::TypeFilter;

impl Tree {
    /// The child lists of the objects that are left.
    pub(super) fn shape(&self) -> Shape {
        let kinds = self.objects.iter().map(|object| {
            let group = match object.attributes {
                Attributes::Group(group) => Some(group),
                _ => None,
            };
            shape::Traits {
                object_type: object.object_type,
                group: group.map(|group| (group.kind, group.subkind)),
                stays: group.is_some_and(|group| group.dont_merge),
            }
        });
        let mut shape = Shape::new(kinds);
        let mut next = vec![0];
        while let Some(place) = next.pop() {
            for child in self.children(place) {
                let numbers = u32::try_from(place).ok().zip(u32::try_from(child).ok());
                numbers.into_iter().for_each(|(parent, child)| shape.append(parent, child));
                next.push(child);
            }
        }
        shape
    }

    /// Merges levels that add no structure, if their type is filtered by structure.
    pub(super) fn merge_levels(&mut self, filters: &Filters) {
        let mut shape = self.shape();
        shape.merge_levels(|kind| filters.get(kind) == TypeFilter::Structure);
        for (place, object) in (0u32..).zip(&mut self.objects) {
            object.parent = shape.parent(place).map(|parent| parent as usize);
            object.children = shape.all_children(place).map(|child| child as usize).collect();
        }
    }
}
