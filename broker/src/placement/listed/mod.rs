//! Ranks that a file or a list names one by one: rankfiles, sequences of hosts, LSF's affinity
//! file, hydra's list.

mod error;
mod read;
mod slots;

use super::error::PlacementError;
use super::placed::{PlacedRank, Room};
use super::policy::{BindTo, MapBy, Policy};
use super::prrte::place_on;
pub use error::ListError;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use topobroker_layout::set::{Format, Set};
use topobroker_reader::{ObjectType, Topology};

/// Ranks that are named one by one, each with its host.
///
/// ```
/// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../reader/tests/documentation/example_machine.rs"));
/// use topobroker::placement::{Policy, RankList, Room};
/// let list = RankList::rankfile("rank 0=n1 slot=0:0-1\nrank 1=n2 slot=0\n")?;
/// let policy = Policy::parse("slot", None)?;
/// let here = |host: &str| (host == "n1").then_some(0);
/// let placed = list.place(&[Room { topology, slots: None }], here, &policy, None)?;
/// assert_eq!(placed.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankList(BTreeMap<u32, ListedRank>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct ListedRank {
    host: String,
    cpus: ListedCpus,
}

/// How the CPUs of a rank are named.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ListedCpus {
    /// As rankfiles do: `0:1-2`, by logical index.
    Slots(String),
    /// By OS index. Ranks may share PUs.
    Os(Set),
    /// Not at all: ranks are mapped by slot, and bound to cores if no other binding is asked for.
    ByPolicy,
    /// The rank is not bound.
    None,
}

impl RankList {
    /// The hosts, in the order of the ranks that are there first.
    pub fn hosts(&self) -> impl Iterator<Item = &str> {
        let mut seen = BTreeSet::new();
        self.0.values().map(|it| &*it.host).filter(move |host| seen.insert(*host))
    }

    /// The host of a hydra list, which has none.
    pub const HERE: &str = "localhost";

    /// Places the ranks whose host `node_of` finds among the nodes, in the order of the ranks. With
    /// `count`, only the first so many ranks. The policy says how ranks are bound, whether they may
    /// share CPUs (`overload`), be more than slots (`oversubscribe`), and whether a rankfile counts
    /// hardware threads (`threads`).
    ///
    /// # Errors
    ///
    /// [`ListError`].
    pub fn place<'a>(
        &self,
        nodes: &[Room<'a>],
        node_of: impl Fn(&str) -> Option<usize>,
        policy: &Policy,
        count: Option<usize>,
    ) -> Result<Vec<(u32, PlacedRank<'a>)>, ListError> {
        let last = self.0.last_key_value().map_or(0, |(rank, _)| *rank as usize + 1);
        let count = count.unwrap_or(last);
        let ranks = || (0..u32::MAX).take(count);
        if let Some(rank) = ranks().find(|rank| !self.0.contains_key(rank)) {
            return Err(ListError::Missing { rank, ranks: count });
        }
        let hosts: HashMap<&str, usize> =
            self.hosts().filter_map(|host| Some((host, node_of(host)?))).collect();
        let mut on_nodes: Vec<Vec<(u32, &ListedRank)>> = vec![Vec::new(); nodes.len()];
        for (rank, it) in self.0.range(..u32::try_from(count).unwrap_or(u32::MAX)) {
            let own = hosts.get(&*it.host).and_then(|node| on_nodes.get_mut(*node));
            own.into_iter().for_each(|own| own.push((*rank, it)));
        }
        let mut placed = Vec::new();
        for (node, (room, own)) in nodes.iter().zip(on_nodes).enumerate() {
            let sets = sets_on(*room, &own, policy)?.into_iter();
            let sets = own.iter().zip(sets);
            placed.extend(sets.map(|((rank, _), cpuset)| {
                (*rank, PlacedRank { node, cpuset, devices: Vec::new() })
            }));
        }
        placed.sort_by_key(|(rank, _)| *rank);
        Ok(placed)
    }
}

/// What the ranks of a node are bound to.
fn sets_on(
    room: Room<'_>,
    ranks: &[(u32, &ListedRank)],
    policy: &Policy,
) -> Result<Vec<Option<Set>>, ListError> {
    let is_by_policy = ranks.iter().any(|(_, it)| it.cpus == ListedCpus::ByPolicy);
    if is_by_policy {
        let bind = match policy.bind {
            BindTo::Usual => {
                BindTo::Object(if policy.threads { ObjectType::PU } else { ObjectType::Core })
            }
            bind => bind,
        };
        let policy = Policy { map: MapBy::Slot, bind, ..policy.clone() };
        let placed = place_on(&[room], &policy, Some(ranks.len())).map_err(|(_, error)| error)?;
        return Ok(placed.into_iter().map(|it| it.cpuset).collect());
    }
    let (name, expected) = room.slots_for(policy);
    let is_of_slots = ranks.iter().any(|(_, it)| matches!(it.cpus, ListedCpus::Slots(_)));
    if is_of_slots && ranks.len() > expected && !policy.oversubscribe {
        return Err(PlacementError::Oversubscribed { ranks: ranks.len(), name, expected }.into());
    }
    let mut taken = Set::new();
    let sets = ranks.iter().map(|(rank, it)| {
        let set = match &it.cpus {
            _ if policy.bind == BindTo::None && !policy.overload => return Ok(None),
            ListedCpus::Slots(text) => slots::set(room.topology, *rank, text, policy.threads)?,
            ListedCpus::Os(set) => known(room.topology, *rank, set)?,
            ListedCpus::ByPolicy | ListedCpus::None => return Ok(None),
        };
        let shared = &taken & &set;
        if is_of_slots && !shared.is_empty() && !policy.overload {
            let (rank, shared) = (*rank, shared.to_text(Format::List));
            return Err(ListError::Shares { rank, shared });
        }
        taken = &taken | &set;
        Ok(Some(set))
    });
    sets.collect()
}

fn known(topology: Topology<'_>, rank: u32, set: &Set) -> Result<Set, ListError> {
    let own = topology.root().cpuset().unwrap_or_default();
    match set.and_not(&own).first() {
        None => Ok(set.clone()),
        Some(index) => Err(ListError::NoObject {
            rank,
            text: set.to_text(Format::List),
            object: ObjectType::PU.name(),
            numbering: "OS",
            index,
            expected: own.to_text(Format::List),
        }),
    }
}
