//! Which rank is which: `--rank-by`.

use super::super::error::PlacementError;
use super::super::placed::PlacedRank;
use super::super::policy::{MapBy, Policy, RankBy, Resource};

/// A rank that is mapped, and is not numbered yet.
pub(super) struct Place<'a> {
    /// How many ranks were mapped to its node before.
    pub(super) on_node: usize,
    pub(super) target: usize,
    /// How many ranks were mapped to its target before.
    pub(super) on_target: usize,
    pub(super) rank: PlacedRank<'a>,
}

/// Ranks by the policy, or by the default of PRRTE.
pub(super) fn in_order_of_ranks<'a>(places: Vec<Place<'a>>, policy: &Policy) -> Vec<Place<'a>> {
    let (mut places, rank_by) = (places, rank_by(policy));
    places.sort_by_key(|place| {
        let node = place.rank.node;
        match rank_by {
            RankBy::Slot => (node, place.on_node, 0),
            RankBy::Node => (place.on_node, node, 0),
            RankBy::Fill => (node, place.target, place.on_node),
            RankBy::Span => (place.on_target, node, place.target),
        }
    });
    places
}

fn rank_by(policy: &Policy) -> RankBy {
    policy.rank.unwrap_or(match policy.map {
        MapBy::Node | MapBy::Ppr(_, Resource::Node) => RankBy::Node,
        _ if policy.span => RankBy::Span,
        MapBy::Object(_) => RankBy::Fill,
        _ => RankBy::Slot,
    })
}

pub(super) fn check(policy: &Policy) -> Result<(), PlacementError> {
    let by_objects = matches!(policy.map, MapBy::Object(_) | MapBy::Ppr(_, Resource::Object(_)));
    match policy.rank {
        Some(rank @ (RankBy::Fill | RankBy::Span)) if !by_objects => {
            Err(PlacementError::RanksByObjects { rank_by: rank.name(), map_by: policy.to_string() })
        }
        _ => Ok(()),
    }
}
