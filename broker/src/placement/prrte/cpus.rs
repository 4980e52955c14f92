//! The CPUs of a node that no rank has taken. PRRTE counts a rank as one core, or hardware thread,
//! of the object that it is bound to, or as the `PE=N` that it has.

use super::super::error::PlacementError;
use super::super::objects::{has_cores, named, objects};
use super::super::policy::{BindTo, MapBy, Policy, Rules, name_of};
use super::targets::Target;
use std::collections::HashMap;
use topobroker_layout::set::Set;
use topobroker_reader::{ObjectType, Topology};

pub(super) struct Cpus {
    /// The cores, or the PUs, by logical index.
    sets: Vec<Set>,
    is_free: Vec<bool>,
    /// How often all became free again.
    round: usize,
    by_pu: HashMap<u32, usize>,
    /// Whether a target has a CPU of which it has only some PUs.
    is_partly: bool,
    /// The objects that ranks are bound to; packages, for ranks with several CPUs.
    bound: Vec<Set>,
    /// By CPU: the first of `bound` that has it.
    bound_of: Vec<Option<usize>>,
    /// The name of what is counted.
    name: &'static str,
    of_node: String,
}

impl Cpus {
    pub(super) fn new(
        topology: Topology<'_>,
        policy: &Policy,
        bind: BindTo,
    ) -> Result<Self, PlacementError> {
        let threads = policy.threads || policy.map == MapBy::Object(ObjectType::PU);
        let by_thread = threads
            || (policy.cpus > 1 && bind == BindTo::Object(ObjectType::PU))
            || (matches!(bind, BindTo::Gpu | BindTo::Object(ObjectType::PU))
                && !has_cores(topology));
        let (kind, name) = match by_thread {
            true => (ObjectType::PU, "hwthreads"),
            false => (ObjectType::Core, "cores"),
        };
        let is_asked_for = policy.bind != BindTo::Usual;
        let needs_cores = bind != BindTo::None && !by_thread && !has_cores(topology);
        if needs_cores && is_asked_for {
            return Err(none_of(topology, ObjectType::Core));
        }
        let sets: Vec<Set> = match needs_cores {
            true => Vec::new(),
            false => objects(topology, kind).into_iter().filter_map(|it| it.cpuset()).collect(),
        };
        let bound_kind = match bind {
            _ if policy.cpus > 1 => ObjectType::Package,
            // PRRTE 3 finds no core in one of several hardware threads; later ones bind to its
            // core.
            BindTo::Object(ObjectType::PU) if !by_thread => {
                let is_smt = sets.iter().any(|core| core.weight() != Some(1));
                if policy.rules == Rules::Prrte3 && is_smt {
                    return Err(none_of(topology, ObjectType::PU));
                }
                ObjectType::Core
            }
            BindTo::Object(kind) => kind,
            BindTo::Gpu | BindTo::None | BindTo::Usual => ObjectType::Machine,
        };
        let bound = objects(topology, bound_kind);
        let is_there = bound.iter().all(|it| it.object_type() == bound_kind);
        if !is_there && policy.cpus == 1 && is_asked_for {
            return Err(none_of(topology, bound_kind));
        }
        let bound: Vec<Set> = bound.into_iter().filter_map(|it| it.cpuset()).collect();
        let mut by_pu = HashMap::new();
        for (cpu, set) in sets.iter().enumerate() {
            by_pu.extend(set.iter().map(|pu| (pu, cpu)));
        }
        let mut bound_of = vec![None; sets.len()];
        for (place, object) in bound.iter().enumerate().rev() {
            for cpu in object.iter().filter_map(|pu| by_pu.get(&pu)) {
                bound_of.get_mut(*cpu).into_iter().for_each(|it| *it = Some(place));
            }
        }
        let (is_free, of_node) = (vec![true; sets.len()], named(topology.root()));
        let is_partly = bind == BindTo::Gpu;
        Ok(Self { sets, is_free, round: 0, by_pu, is_partly, bound, bound_of, name, of_node })
    }

    /// Makes all CPUs free again.
    pub(super) fn free_all(&mut self) {
        self.is_free.fill(true);
        self.round += 1;
    }

    /// Whether a target has the CPUs for so many ranks with so many each.
    pub(super) fn has_room(&self, target: &mut Target<'_>, cpus: usize, ranks: usize) -> bool {
        match (cpus, ranks) {
            (1, 1) => self.first_free(target).is_some(),
            (_, 1) => self.several(target, cpus).is_some(),
            _ => {
                self.list(target);
                self.free_of(target).count() >= cpus.saturating_mul(ranks)
            }
        }
    }

    /// The PUs for a rank on a target, which are taken then; `None` if none is free, and no binding
    /// was asked for.
    pub(super) fn take(
        &mut self,
        target: &mut Target<'_>,
        policy: &Policy,
        bind: BindTo,
        rank: usize,
    ) -> Result<Option<Set>, PlacementError> {
        if policy.overload && !self.has_room(target, policy.cpus, 1) {
            self.free_all();
        }
        if policy.cpus > 1 {
            let chosen =
                self.several(target, policy.cpus).ok_or_else(|| PlacementError::TooFew {
                    rank,
                    object: self.of_node.clone(),
                    name: self.name,
                    found: self.free_of(target).count(),
                    expected: policy.cpus,
                })?;
            let mut all = Set::new();
            for cpu in chosen {
                self.is_free.get_mut(cpu).into_iter().for_each(|it| *it = false);
                self.sets.get(cpu).into_iter().for_each(|set| all |= set);
            }
            return Ok(Some(all));
        }
        let Some((bound, cpu)) = self.first_free(target) else {
            let is_asked_for = policy.bind != BindTo::Usual;
            let expected = self.sets.len();
            let (object, name) = (self.of_node.clone(), self.name);
            return match is_asked_for {
                true => Err(PlacementError::Overload { rank, object, name, expected }),
                false => Ok(None),
            };
        };
        self.is_free.get_mut(cpu).into_iter().for_each(|it| *it = false);
        match bind {
            BindTo::Gpu => Ok(Some(target.cpuset.clone())),
            _ => Ok(self.bound.get(bound).cloned()),
        }
    }

    /// The first object that a rank on a target can be bound to, and its first CPU that is free.
    fn first_free(&self, target: &mut Target<'_>) -> Option<(usize, usize)> {
        self.list(target);
        let cpus = target.cpus.as_deref()?;
        if target.round != self.round {
            (target.round, target.next) = (self.round, 0);
        }
        while let Some(found) = cpus.get(target.next) {
            if self.is_free.get(found.1) == Some(&true) {
                return Some(*found);
            }
            target.next += 1;
        }
        None
    }

    /// So many CPUs of a target that are free; of one package, if the target is the node.
    fn several(&self, target: &mut Target<'_>, count: usize) -> Option<Vec<usize>> {
        self.list(target);
        let is_node = target.is_node;
        let free: Vec<(usize, usize)> = self.free_of(target).collect();
        let parts = free.chunk_by(|one, other| !is_node || one.0 == other.0);
        let part = parts.into_iter().find(|part| part.len() >= count)?;
        Some(part.iter().take(count).map(|(_, cpu)| *cpu).collect())
    }

    fn free_of(&self, target: &Target<'_>) -> impl Iterator<Item = (usize, usize)> {
        let cpus = target.cpus.iter().flatten();
        cpus.filter(|(_, cpu)| self.is_free.get(*cpu) == Some(&true)).copied()
    }

    /// Makes the list of the CPUs inside a target, by the objects that ranks are bound to.
    fn list(&self, target: &mut Target<'_>) {
        if target.cpus.is_some() {
            return;
        }
        let cpus = target.cpuset.iter().filter_map(|pu| self.by_pu.get(&pu).copied());
        let is_inside = |cpu: &usize| {
            let set = self.sets.get(*cpu);
            self.is_partly || set.is_some_and(|it| it.is_included_in(&target.cpuset))
        };
        let with_bound = |cpu: usize| Some(((*self.bound_of.get(cpu)?)?, cpu));
        let mut list: Vec<(usize, usize)> = cpus.filter(is_inside).filter_map(with_bound).collect();
        list.sort_unstable();
        list.dedup();
        target.cpus = Some(list);
    }
}

fn none_of(topology: Topology<'_>, kind: ObjectType) -> PlacementError {
    let (option, name) = ("--bind-to", name_of(kind));
    PlacementError::NoObjects { option, name, object: named(topology.root()) }
}
