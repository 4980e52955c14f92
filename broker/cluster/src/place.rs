//! Ranks of a job over the nodes of a cluster, as launchers map, bind and number them.

use std::collections::BTreeMap;
use std::ops::Range;
use topobroker::placement::{
    ListError, MapBy, PlacementError, Policy, RankList, Room, Rules, mapped_count, place_on,
    place_part, slots, usual_count,
};
use topobroker_layout::job::MAX_RANKS;
use topobroker_layout::set::Set;
use topobroker_reader::cluster::{ClusterNode, ClusterOpenError, NodeTopology};

/// A rank, its node and its PUs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedRank<'a> {
    /// The rank.
    pub rank: u32,
    /// The node that it is on.
    pub node: ClusterNode<'a>,
    /// Its PUs by OS index; `None` if it is not bound.
    pub cpuset: Option<Set>,
}

/// A node of a cluster for ranks, and its slots.
#[derive(Debug, Clone, Copy)]
pub struct Host<'a> {
    /// The node.
    pub node: ClusterNode<'a>,
    /// How many ranks it takes if it is not oversubscribed, as a hostfile says. By default one for
    /// each core, or for each PU if ranks are mapped by or bound to PUs.
    pub slots: Option<usize>,
}

impl<'a> From<ClusterNode<'a>> for Host<'a> {
    fn from(node: ClusterNode<'a>) -> Self {
        Self { node, slots: None }
    }
}

/// Why ranks cannot be placed on nodes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum PlaceError {
    /// The ranks cannot be placed, whatever the nodes are.
    #[error(transparent)]
    Policy(#[from] PlacementError),
    /// Ranks that are named one by one cannot be placed.
    #[error(transparent)]
    List(#[from] ListError),
    /// A host of a list of ranks is not among the nodes.
    #[error("{host}: the list of ranks names it, but it is not among the {nodes} nodes")]
    NoHost { host: String, nodes: usize },
    /// A node cannot be opened.
    #[error(transparent)]
    Open(#[from] ClusterOpenError),
    /// There are more ranks than slots.
    #[error(
        "{ranks} ranks: {policy} has place for {slots} on {nodes} nodes; ask for fewer, or add \
         :OVERSUBSCRIBE"
    )]
    TooMany { ranks: usize, policy: String, slots: usize, nodes: usize },
    /// The policy makes no rank on these nodes.
    #[error("{policy}: there is no place for a rank on {nodes} nodes")]
    Nothing { policy: String, nodes: usize },
    /// The ranks of a node cannot be placed on it.
    #[error("{node}")]
    Node { node: String, source: PlacementError },
}

/// How ranks are dealt to nodes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dealing {
    /// Fills a node before the next one.
    Fill,
    /// To each node in turn: `node`.
    InTurn,
    /// As many as there are objects on it, as if all nodes were one: `SPAN`.
    ByObjects,
    /// As many as the policy says of each node: `ppr`.
    Each,
}

/// Places ranks on nodes, in their order. Without a number of ranks, there are as many as the
/// policy makes on all nodes together; if slots are given and it is not `ppr`, one for each slot.
///
/// Policies are those of one node; `node` has as many ranks on each node, `:SPAN` maps to the
/// objects of all nodes as if they were one, and others fill a node before the next one.
///
/// # Errors
///
/// [`PlaceError`].
pub fn place_on_nodes<'a>(
    hosts: &[Host<'a>],
    policy: &Policy,
    count: Option<usize>,
) -> Result<Vec<PlacedRank<'a>>, PlaceError> {
    let is_of_mpirun4 = policy.rules == Rules::Mpirun4 && !policy.is_by_devices();
    with_rooms(hosts, |rooms| match is_of_mpirun4 {
        true => as_mpirun4(hosts, rooms, policy, count),
        false => as_prrte(hosts, rooms, policy, count),
    })
}

/// Places ranks that are named one by one on nodes, in their order. `+n1` is the node after the
/// first.
///
/// # Errors
///
/// [`PlaceError`].
pub fn place_list_on_nodes<'a>(
    hosts: &[Host<'a>],
    list: &RankList,
    policy: &Policy,
    count: Option<usize>,
) -> Result<Vec<PlacedRank<'a>>, PlaceError> {
    let short = |name: &'a str| name.split('.').next().unwrap_or(name);
    let mut places: BTreeMap<&str, Option<usize>> = BTreeMap::new();
    let names = || hosts.iter().map(|host| host.node.name()).zip(0..);
    for (name, place) in names() {
        // A short name that several have is none.
        places.entry(short(name)).and_modify(|it| *it = None).or_insert(Some(place));
    }
    places.extend(names().map(|(name, place)| (name, Some(place))));
    let node_of = |host: &str| match host.strip_prefix("+n") {
        Some(place) => place.parse().ok().filter(|place| *place < hosts.len()),
        None => *places.get(host).or_else(|| places.get(host.split('.').next()?))?,
    };
    if let Some(host) = list.hosts().find(|host| node_of(host).is_none()) {
        return Err(PlaceError::NoHost { host: host.to_owned(), nodes: hosts.len() });
    }
    with_rooms(hosts, |rooms| Ok(on_hosts(hosts, list.place(rooms, node_of, policy, count)?)))
}

/// Calls `place` with the topologies of the nodes.
fn with_rooms<T>(
    hosts: &[Host<'_>],
    place: impl FnOnce(&[Room<'_>]) -> Result<T, PlaceError>,
) -> Result<T, PlaceError> {
    let opened: Vec<NodeTopology<'_>> =
        hosts.iter().map(|host| host.node.open()).collect::<Result<_, _>>()?;
    let archives: Vec<_> = opened.iter().map(NodeTopology::archive).collect();
    let rooms = archives.iter().zip(hosts);
    let rooms = rooms.map(|(it, host)| Room { topology: it.topology(), slots: host.slots });
    place(&rooms.collect::<Vec<_>>())
}

fn as_prrte<'a>(
    hosts: &[Host<'a>],
    rooms: &[Room<'_>],
    policy: &Policy,
    count: Option<usize>,
) -> Result<Vec<PlacedRank<'a>>, PlaceError> {
    let placed = place_on(rooms, policy, count).map_err(|(node, source)| {
        match node.and_then(|node| hosts.get(node)) {
            Some(host) => PlaceError::Node { node: host.node.name().to_owned(), source },
            None => PlaceError::Policy(source),
        }
    })?;
    if placed.is_empty() {
        return Err(PlaceError::Nothing { policy: policy.to_string(), nodes: hosts.len() });
    }
    Ok(on_hosts(hosts, (0..).zip(placed)))
}

/// Ranks with their nodes.
fn on_hosts<'a, 't>(
    hosts: &[Host<'a>],
    ranks: impl IntoIterator<Item = (u32, topobroker::placement::PlacedRank<'t>)>,
) -> Vec<PlacedRank<'a>> {
    let ranks = ranks.into_iter().filter_map(|(rank, placed)| {
        let node = hosts.get(placed.node)?.node;
        Some(PlacedRank { rank, node, cpuset: placed.cpuset })
    });
    ranks.collect()
}

fn as_mpirun4<'a>(
    hosts: &[Host<'a>],
    rooms: &[Room<'_>],
    policy: &Policy,
    count: Option<usize>,
) -> Result<Vec<PlacedRank<'a>>, PlaceError> {
    let dealing = match policy.map {
        MapBy::Node => Dealing::InTurn,
        MapBy::Ppr(..) => Dealing::Each,
        _ if policy.span => Dealing::ByObjects,
        _ => Dealing::Fill,
    };
    let has_slots = rooms.iter().any(|room| room.slots.is_some());
    let (mut places, mut usual, mut mapped) = (Vec::new(), Vec::new(), 0);
    for &Room { topology, slots: given } in rooms {
        let own = || slots(topology, policy).1 / policy.cpus.max(1);
        places.push(given.unwrap_or_else(own));
        usual.push(usual_count(topology, policy, &[]));
        mapped += mapped_count(topology, policy, &[]);
    }
    let (made, room): (usize, usize) = (usual.iter().sum(), places.iter().sum());
    let is_by_slots = has_slots && dealing != Dealing::Each;
    let wanted = count.unwrap_or(if is_by_slots { room } else { made });
    if wanted == 0 || (made == 0 && dealing != Dealing::Fill) {
        return Err(PlaceError::Nothing { policy: policy.to_string(), nodes: hosts.len() });
    }
    let most = match dealing {
        Dealing::Each => made,
        _ if policy.oversubscribe || (policy.overload && !has_slots) => {
            hosts.len().saturating_mul(MAX_RANKS)
        }
        _ => room,
    };
    if wanted > most {
        return Err(PlaceError::TooMany {
            ranks: wanted,
            policy: policy.to_string(),
            slots: most,
            nodes: hosts.len(),
        });
    }
    let dealt = deal(dealing, wanted, &places, &usual);
    // Slots were counted, over all nodes together.
    let bound = Policy {
        oversubscribe: true,
        ..policy.with_usual_binding(count, if is_by_slots { room } else { mapped })
    };
    let mut ranks: Vec<PlacedRank<'a>> = Vec::new();
    let on_rooms = hosts.iter().zip(rooms.iter().copied()).zip(&dealt);
    for ((Host { node, .. }, Room { topology, slots }), own) in on_rooms {
        let wrong = |source| PlaceError::Node { node: node.name().to_owned(), source };
        if let Some(expected) = slots.filter(|slots| own.len() > *slots)
            && dealing == Dealing::Each
            && !policy.oversubscribe
        {
            let (ranks, name) = (own.len(), "slots");
            return Err(wrong(PlacementError::Oversubscribed { ranks, name, expected }));
        }
        let mut sets = place_part(topology, policy, &bound, own.len(), &[]).map_err(wrong)?;
        if dealing == Dealing::ByObjects {
            // Ranks of one object follow each other.
            let first = |set: &Set| {
                set.iter()
                    .filter_map(|pu| topology.pu_by_os_index(pu))
                    .map(|pu| pu.logical_index())
                    .min()
            };
            sets.sort_by_cached_key(|set| set.as_ref().and_then(first));
        }
        let placed = own.iter().zip(sets);
        ranks.extend(placed.map(|(rank, cpuset)| PlacedRank { rank: *rank, node: *node, cpuset }));
    }
    ranks.sort_by_key(|rank| rank.rank);
    Ok(ranks)
}

/// The ranks of each node.
fn deal(dealing: Dealing, count: usize, slots: &[usize], usual: &[usize]) -> Vec<Vec<u32>> {
    let mut ranks = 0..u32::try_from(count).unwrap_or(u32::MAX);
    // Ranks for which there is no slot: as many on each node.
    let more = count.saturating_sub(slots.iter().sum());
    let counts = match dealing {
        Dealing::InTurn => return deal_in_turn(ranks, slots, more > 0),
        Dealing::ByObjects => by_objects(count, usual),
        Dealing::Each => usual.to_vec(),
        Dealing::Fill => {
            let more = by_objects(more, &vec![1; slots.len()]);
            slots.iter().zip(more).map(|(slots, more)| slots + more).collect()
        }
    };
    counts.into_iter().map(|own| ranks.by_ref().take(own).collect()).collect()
}

/// A rank to each node in turn. Full nodes are left out, if not all are too small together.
fn deal_in_turn(ranks: Range<u32>, slots: &[usize], is_too_small: bool) -> Vec<Vec<u32>> {
    let mut dealt: Vec<Vec<u32>> = vec![Vec::new(); slots.len()];
    let mut places = (0..slots.len()).cycle();
    for rank in ranks {
        let has_room = |at: &usize| {
            let own = dealt.get(*at).zip(slots.get(*at));
            is_too_small || own.is_some_and(|(own, most)| own.len() < *most)
        };
        let next = places.by_ref().take(slots.len()).find(has_room);
        if let Some(own) = next.and_then(|at| dealt.get_mut(at)) {
            own.push(rank);
        }
    }
    dealt
}

/// How many ranks each node has if each object has the same number, and the first ones have one
/// more.
fn by_objects(count: usize, objects: &[usize]) -> Vec<usize> {
    let all = objects.iter().sum::<usize>().max(1);
    let (each, more) = (count / all, count % all);
    let mut before = 0;
    let of_node = |own: &usize| {
        let first = more.saturating_sub(before).min(*own);
        before += own;
        own * each + first
    };
    objects.iter().map(of_node).collect()
}
