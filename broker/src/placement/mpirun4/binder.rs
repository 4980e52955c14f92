//! Binds ranks to objects near where they are mapped, as Open MPI's binder does.

use super::locale::Locale;
use crate::placement::error::PlacementError;
use crate::placement::objects::{named, objects};
use crate::placement::policy::{self, BindTo, MapBy, Policy};
use std::collections::{BTreeSet, HashMap};
use topobroker_layout::set::Set;
use topobroker_reader::{Object, ObjectType, Topology};

/// Binds the ranks of a job, one after the other. The time grows linearly with the ranks and with
/// the PUs of the objects that they are mapped to. Keys of objects are their ids.
pub(super) struct Binder<'a, 'p> {
    policy: &'p Policy,
    /// The objects of the type that ranks are bound to.
    targets: Vec<Object<'a>>,
    /// Places in `targets` of those that have a PU, by its OS index.
    targets_of_pu: HashMap<u32, Vec<usize>>,
    /// The targets that share PUs with an object that ranks are mapped to.
    near: HashMap<u32, Near<'a>>,
    bound: HashMap<u32, Bound>,
    /// Cores or PUs of an object that no rank was given yet, for ranks that are given several.
    rest: HashMap<u32, std::vec::IntoIter<Set>>,
    /// PUs of the ranks that were given several.
    taken: Set,
}

/// Targets by logical index. Ranks are only added, so every target has at least `ranks`, and those
/// before `next` have more.
struct Near<'a> {
    targets: Vec<Object<'a>>,
    ranks: usize,
    next: usize,
}

/// An object that ranks are bound to.
struct Bound {
    ranks: usize,
    /// How many ranks may be bound to it, and the name of what is counted.
    most: (usize, &'static str),
}

impl<'a, 'p> Binder<'a, 'p> {
    pub(super) fn new(topology: Topology<'a>, policy: &'p Policy) -> Self {
        let mut targets = match policy.bind {
            BindTo::Object(kind) => objects(topology, kind),
            BindTo::None | BindTo::Usual | BindTo::Gpu => Vec::new(),
        };
        // The root stands for objects that are not there.
        targets.retain(|it| policy.bind == BindTo::Object(it.object_type()));
        let mut targets_of_pu: HashMap<u32, Vec<usize>> = HashMap::new();
        for (place, target) in targets.iter().enumerate() {
            for pu in target.cpuset().unwrap_or_default().iter() {
                targets_of_pu.entry(pu).or_default().push(place);
            }
        }
        let (near, bound, rest) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { policy, targets, targets_of_pu, near, bound, rest, taken: Set::new() }
    }

    /// The PUs that a rank is bound to; `None` if it is not bound.
    ///
    /// # Errors
    ///
    /// [`PlacementError`].
    pub(super) fn bind(
        &mut self,
        rank: usize,
        locale: &Locale<'a>,
    ) -> Result<Option<Set>, PlacementError> {
        let BindTo::Object(target) = self.policy.bind else { return Ok(None) };
        let object = match locale {
            Locale::Pus(set) => return Ok(Some(set.clone())),
            Locale::Object(object) => *object,
        };
        if self.policy.cpus > 1 {
            return self.several(rank, object, target).map(Some);
        }
        let chosen = match object.object_type() == target {
            true => object,
            false => self.least_used(object).ok_or_else(|| PlacementError::NoObjects {
                option: match self.policy.map {
                    MapBy::Object(kind) if kind == target => "--map-by",
                    _ => "--bind-to",
                },
                name: policy::name_of(target),
                object: named(object),
            })?,
        };
        let policy = self.policy;
        let first = || Bound { ranks: 0, most: most_ranks(policy, chosen) };
        let bound = self.bound.entry(chosen.id()).or_insert_with(first);
        bound.ranks += 1;
        let (expected, name) = bound.most;
        if bound.ranks > expected && !policy.overload {
            let object = named(chosen);
            return Err(PlacementError::Overload { rank, object, name, expected });
        }
        Ok(chosen.cpuset())
    }

    /// The target with the fewest ranks that shares PUs with `object`; the first one of several.
    fn least_used(&mut self, object: Object<'a>) -> Option<Object<'a>> {
        let near = self.near.entry(object.id()).or_insert_with(|| {
            let pus = object.cpuset().unwrap_or_default();
            let places = pus.iter().filter_map(|pu| self.targets_of_pu.get(&pu)).flatten();
            let places: BTreeSet<usize> = places.copied().collect();
            let targets = places.into_iter().filter_map(|it| self.targets.get(it).copied());
            Near { targets: targets.collect(), ranks: 0, next: 0 }
        });
        let ranks = |it: Object<'_>| self.bound.get(&it.id()).map_or(0, |bound| bound.ranks);
        loop {
            while let Some(target) = near.targets.get(near.next).copied() {
                if ranks(target) == near.ranks {
                    return Some(target);
                }
                near.next += 1;
            }
            near.ranks = near.targets.iter().copied().map(ranks).min()?;
            near.next = 0;
        }
    }

    /// Takes the next cores, or PUs, of an object that no rank has yet.
    fn several(
        &mut self,
        rank: usize,
        object: Object<'_>,
        target: ObjectType,
    ) -> Result<Set, PlacementError> {
        let kind = if target == ObjectType::PU { target } else { ObjectType::Core };
        let expected = self.policy.cpus;
        let rest = self.rest.entry(object.id()).or_insert_with(|| {
            let sets = object.objects_inside(kind).filter_map(|it| it.cpuset());
            sets.collect::<Vec<Set>>().into_iter()
        });
        let free = rest.filter(|set| !set.intersects(&self.taken));
        let chosen: Vec<Set> = free.take(expected).collect();
        if chosen.len() < expected {
            let (object, name, found) = (named(object), policy::name_of(kind), chosen.len());
            return Err(PlacementError::TooFew { rank, object, name, found, expected });
        }
        let mut cpuset = Set::new();
        chosen.iter().for_each(|set| cpuset |= set);
        self.taken |= &cpuset;
        Ok(cpuset)
    }
}

/// How many ranks may be bound to an object, and the name of what is counted: its cores; or its
/// PUs, if ranks are mapped by or bound to PUs or if it has no cores.
fn most_ranks(policy: &Policy, object: Object<'_>) -> (usize, &'static str) {
    let threads = policy.bind == BindTo::Object(ObjectType::PU)
        || matches!(policy.map, MapBy::Object(ObjectType::PU));
    let cores = object.objects_inside(ObjectType::Core).count();
    match threads || cores == 0 {
        true => (object.cpuset_weight().unwrap_or(0) as usize, "PUs"),
        false => (cores, "cores"),
    }
}
