//! Numbers the objects that are left after filtering.

use super::filters::Filters;
use super::tree::Tree;
use topobroker_layout::attributes::Attributes;
use topobroker_layout::depth::Depth;
use topobroker_layout::description::{Description, Distances, Initiator};
use topobroker_layout::object_type::ObjectType;

impl Tree {
    /// Gives logical indexes to special objects in the order in which hwloc lists them. Returns the
    /// places of all objects that are left, in the order of the tree.
    fn number_special(&mut self) -> Vec<usize> {
        let mut left = Vec::new();
        self.list(0, &mut left);
        for object_type in ObjectType::ALL.into_iter().filter(|kind| !kind.is_normal()) {
            let mut next = 0;
            for place in &left {
                if let Some(object) = self.objects.get_mut(*place)
                    && object.object_type == object_type
                {
                    object.logical_index = next;
                    next += 1;
                }
            }
        }
        left
    }

    fn list(&self, place: usize, left: &mut Vec<usize>) {
        left.push(place);
        self.children(place).into_iter().for_each(|child| self.list(child, left));
    }

    /// Numbers the objects that are left, and removes table entries that refer to dropped ones.
    pub(super) fn finish(mut self, description: &Description, filters: &Filters) -> Description {
        let mut group_depth = 0;
        for (depth, level) in (0u32..).zip(self.shape().levels()) {
            let mut groups = false;
            for (logical_index, place) in (0u32..).zip(level) {
                let Some(object) = self.objects.get_mut(place as usize) else {
                    continue;
                };
                (object.depth, object.logical_index) = (Depth::Normal(depth), logical_index);
                if let Attributes::Group(group) = &mut object.attributes {
                    group.depth = group_depth;
                    groups = true;
                }
            }
            group_depth += u32::from(groups);
        }
        let left = self.number_special();
        let mut new_place = vec![None; self.objects.len()];
        for (new, old) in left.iter().enumerate() {
            if let Some(slot) = new_place.get_mut(*old) {
                *slot = Some(new);
            }
        }
        let renamed = |place: usize| new_place.get(place).copied().flatten();
        let objects = left.iter().filter_map(|place| self.object(*place)).map(|object| {
            let mut object = object.clone();
            object.parent = object.parent.and_then(renamed);
            object.children = object.children.iter().filter_map(|child| renamed(*child)).collect();
            object
        });
        let mut filtered = Description {
            objects: objects.collect(),
            type_filters: ObjectType::ALL.map(|kind| filters.get(kind)).to_vec(),
            ..description.clone()
        };
        filtered.distances.retain_mut(|matrix| keep_matrix(matrix, renamed));
        for attribute in &mut filtered.memory_attributes {
            attribute.values.retain_mut(|value| {
                let initiator = match &mut value.initiator {
                    Initiator::Object(place) => renamed(*place).map(|new| *place = new),
                    _ => Some(()),
                };
                initiator.and(renamed(value.target)).map(|new| value.target = new).is_some()
            });
        }
        filtered
    }
}

/// Removes the rows and columns of dropped objects. Returns whether at least two objects are left,
/// because a matrix needs two.
fn keep_matrix(matrix: &mut Distances, renamed: impl Fn(usize) -> Option<usize>) -> bool {
    let count = matrix.objects.len();
    let kept: Vec<(usize, usize)> = (0..count)
        .zip(&matrix.objects)
        .filter_map(|(row, place)| Some((row, renamed(*place)?)))
        .collect();
    let cells = kept.iter().flat_map(|(from, _)| kept.iter().map(move |(to, _)| from * count + to));
    matrix.values = cells.filter_map(|cell| matrix.values.get(cell).copied()).collect();
    matrix.objects = kept.into_iter().map(|(_, place)| place).collect();
    matrix.objects.len() > 1
}
