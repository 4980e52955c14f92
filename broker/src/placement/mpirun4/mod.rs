//! Ranks as `mpirun` of Open MPI 4.1 maps and binds them.

mod binder;
mod locale;

use super::counts::slots;
use super::error::PlacementError;
use super::objects::has_cores;
use super::policy::{BindTo, MapBy, Policy, Resource};
use binder::Binder;
use locale::locales;
use topobroker_layout::job::MAX_RANKS;
use topobroker_layout::set::Set;
use topobroker_reader::{Object, ObjectType, Topology};

/// The PUs of `count` ranks that are all of a job, or those of a job over several nodes that are on
/// this one. `bound` is the policy with the binding of the whole job
/// ([`Policy::with_usual_binding`]).
///
/// If the topology has no objects of the type that ranks are mapped by, the root takes their place.
/// The ranks can then be bound to another type or to nothing, and `ppr:N:OBJECT` is an error.
///
/// # Errors
///
/// [`PlacementError`].
pub fn place_part(
    topology: Topology<'_>,
    policy: &Policy,
    bound: &Policy,
    count: usize,
    order: &[Object<'_>],
) -> Result<Vec<Option<Set>>, PlacementError> {
    if count > MAX_RANKS {
        let (policy, expected) = (policy.to_string(), MAX_RANKS);
        return Err(PlacementError::TooMany { ranks: count, policy, expected });
    }
    check_slots(topology, bound, count)?;
    let unbound = || Policy { bind: BindTo::None, ..bound.clone() };
    if policy.bind == BindTo::Usual && !has_cores(topology) {
        return place_bound(topology, &unbound(), count, order);
    }
    match place_bound(topology, bound, count, order) {
        // No binding was asked for, so if there are more ranks than CPUs, they stay unbound.
        Err(PlacementError::Overload { .. }) if policy.bind == BindTo::Usual => {
            place_bound(topology, &unbound(), count, order)
        }
        placed => placed,
    }
}

/// Checks that there are no more ranks than cores, which are the slots of a node. Ranks of a list
/// of CPUs and so many on each object are counted by themselves.
fn check_slots(
    topology: Topology<'_>,
    policy: &Policy,
    ranks: usize,
) -> Result<(), PlacementError> {
    if policy.oversubscribe || matches!(policy.map, MapBy::Ppr(..) | MapBy::CpuList) {
        return Ok(());
    }
    let (name, expected) = slots(topology, policy);
    match ranks <= expected || policy.overload {
        true => Ok(()),
        false => Err(PlacementError::Oversubscribed { ranks, name, expected }),
    }
}

fn place_bound(
    topology: Topology<'_>,
    policy: &Policy,
    count: usize,
    order: &[Object<'_>],
) -> Result<Vec<Option<Set>>, PlacementError> {
    let locales = locales(topology, policy, count, order)?;
    let mut binder = Binder::new(topology, policy);
    let places = locales.into_iter().enumerate();
    places.map(|(rank, locale)| binder.bind(rank, &locale)).collect()
}

impl Policy {
    /// The policy with [`BindTo::Usual`] replaced by the default binding of `mpirun` of Open MPI
    /// 4.1. `ranks` is the number of ranks that was asked for, if any, and `mapped` is the number
    /// of objects that they are mapped by; of a job over several nodes both are of all nodes
    /// together.
    ///
    /// Ranks that are mapped by a type of object are bound to that type. Otherwise up to two ranks
    /// are bound to cores, and more ranks to NUMA nodes.
    ///
    /// `ppr:N:OBJECT` has exceptions. If no number of ranks was asked for, mpirun counts them only
    /// for packages, and binds ranks on other objects to cores. Ranks on hardware threads are bound
    /// to nothing, if no number was asked for or at most two.
    #[must_use]
    pub fn with_usual_binding(&self, ranks: Option<usize>, mapped: usize) -> Self {
        if self.bind != BindTo::Usual {
            return self.clone();
        }
        let few = |ranks: usize| if ranks <= 2 { ObjectType::Core } else { ObjectType::NUMANode };
        let bind = match (&self.map, ranks) {
            _ if self.cpus > 1 => BindTo::Object(ObjectType::Core),
            (MapBy::Object(kind), _) => BindTo::Object(*kind),
            (MapBy::Ppr(_, Resource::Object(ObjectType::PU)), None | Some(0..=2)) => BindTo::None,
            (MapBy::Ppr(each, Resource::Object(ObjectType::Package)), None) => {
                BindTo::Object(few(each.saturating_mul(mapped)))
            }
            (MapBy::Ppr(..), None) => BindTo::Object(ObjectType::Core),
            (_, ranks) => BindTo::Object(few(ranks.unwrap_or(mapped))),
        };
        Self { bind, ..self.clone() }
    }
}
