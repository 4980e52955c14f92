//! What PUs share where each PU is in one object of each type and all objects of a type have the
//! same number of PUs, as on nearly all machines.

use super::{Locality, OBJECTS};
use crate::index::{Index, LogicalPus, neighbours};
use topobroker_layout::levels::MULTIPLE;
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::overlay::ArchivedOverlay;

/// The number of PUs of the objects of each of [`OBJECTS`], as `2^40` divided by it and rounded up;
/// 0 if there are none. A logical index times this, divided by `2^40`, is the logical index of the
/// object: exactly, because there are fewer than `2^17` PUs.
#[derive(Clone, Copy)]
pub(crate) struct Blocks {
    inverse: [u64; OBJECTS.len()],
}

const SHIFT: u32 = 40;

impl Blocks {
    /// The blocks of a topology; `None` if it is less regular, or if a NUMA node is hidden whose
    /// PUs are not.
    pub(crate) fn new(index: &Index<'_>, overlay: &ArchivedOverlay) -> Option<Self> {
        let of_node = index.pus_of_node.filter(|_| index.has_runs && index.is_regular)?;
        let levels = &index.archive.levels;
        let first = index.pu_ids().start;
        let is_no_loss = |node| {
            let pus = index.pus_of(node);
            let before = |pu: u32| overlay.visible_before(first + pu);
            overlay.is_visible(node) || before(pus.start) == before(pus.end)
        };
        if !(index.first_special..index.end_of_nodes).all(is_no_loss) {
            return None;
        }
        let mut inverse = [0; OBJECTS.len()];
        for ((object_type, _), inverse) in OBJECTS.iter().zip(&mut inverse) {
            let place = usize::from(object_type.raw());
            let plus_one = levels.depth_of_type.get(place).copied().unwrap_or(0);
            // The view may have merged the level of a type.
            let is_left = overlay.levels.depth_of_type.get(place).is_some_and(|it| *it != 0);
            let each = match object_type {
                ObjectType::NUMANode => Some(of_node),
                _ if plus_one == MULTIPLE => return None,
                _ if !is_left => None,
                _ => levels.row(usize::from(plus_one).wrapping_sub(1)).map(|row| row.pus()),
            };
            *inverse = each.map_or(0, |each| (1u64 << SHIFT).div_ceil(u64::from(each.max(1))));
        }
        Some(Self { inverse })
    }

    /// What two sets of PUs share.
    #[inline]
    pub(crate) fn shared(&self, one: &impl LogicalPus, other: &impl LogicalPus) -> Locality {
        let mut shared = Locality::NODE;
        neighbours(one, other, |pu, near| {
            for ((_, locality), inverse) in OBJECTS.iter().zip(self.inverse) {
                let object = |pu: u32| (u64::from(pu) * inverse) >> SHIFT;
                if inverse != 0 && object(pu) == object(near) {
                    shared |= *locality;
                }
            }
            // The same PU is in the same object of each type.
            pu == near
        });
        shared
    }
}
