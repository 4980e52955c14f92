//! Gathering inside a launcher's own exchange: three rounds, in which every process hands over a
//! few bytes and gets those of all.

use super::collect::{Gathering, Sent};
use super::error::GatherError;
use super::frame::{Body, Frame};
use super::report::{Contribution, Known, NodeReport};
use std::collections::BTreeMap;

/// An exchange among processes: `MPI_Allgatherv`, or `PMIx_Put`, `PMIx_Fence` and `PMIx_Get`.
pub trait Exchange {
    /// Hands over this process's bytes, and returns those of all processes by rank.
    ///
    /// # Errors
    ///
    /// [`GatherError::Exchange`].
    fn all(&mut self, mine: &[u8]) -> Result<Vec<Vec<u8>>, GatherError>;
}

/// The rounds of one process, for an exchange that it does itself, such as a fence that calls back.
/// First all send their class, then the first of each class its whole topology, then the others
/// what differs. A process that cannot report its node, or whose report cannot be used, keeps no
/// other one waiting: its node is missing.
///
/// ```
/// use topobroker_cluster::gather::{Contribution, NodeReport, Rounds};
/// use topobroker::hwloc::{Input, LoadOptions, capture, load};
/// use topobroker_cluster::PreparedNode;
/// use topobroker_layout::encode::to_bytes;
/// let machine = capture(&load(&Input::Synthetic("Core:2 PU:2".into()), &LoadOptions::default())?)?;
/// let node = PreparedNode::of_archive(to_bytes(&machine)?, Some("n1"), "n1")?;
/// let mut rounds = Rounds::new(Contribution::Report(NodeReport::new(node)), 0);
/// // A job of one process: it gets what it hands over.
/// while let Some(mine) = rounds.mine() {
///     let all = vec![mine.to_vec()];
///     rounds.take(all);
/// }
/// let gathered = rounds.gathering().ok_or("this is rank 0")?.finish(&["n1".to_owned()]);
/// assert!(gathered.missing.is_empty() && gathered.cluster.names().eq(["n1"]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Rounds {
    contribution: Contribution,
    rank: usize,
    round: u8,
    mine: Vec<u8>,
    /// The class that each rank sent.
    classes: Vec<Option<u128>>,
    /// Of rank 0: the name that each rank sent with its class; `None` of those that are not
    /// believed.
    names: Vec<Option<String>>,
    /// Of rank 0: what all sent.
    gathering: Option<Gathering>,
}

impl Rounds {
    /// Number of rounds.
    pub const COUNT: u8 = 3;

    /// The rounds of the process with a rank in the exchange, from 0.
    #[must_use]
    pub fn new(contribution: Contribution, rank: usize) -> Self {
        let mine = match &contribution {
            Contribution::Nothing => Vec::new(),
            Contribution::Report(report) => report.hash_only(),
            Contribution::Failure { name, reason } => {
                let body = Body::Failed(reason.clone());
                Frame { name: name.clone(), boot: [0; 16], class: 0, body }.to_bytes()
            }
        };
        let gathering = (rank == 0).then(Gathering::new);
        Self {
            contribution,
            rank,
            round: 0,
            mine,
            classes: Vec::new(),
            names: Vec::new(),
            gathering,
        }
    }

    /// What this process hands over in the round that comes next; `None` after the last.
    #[must_use]
    pub fn mine(&self) -> Option<&[u8]> {
        (self.round < Self::COUNT).then_some(&self.mine)
    }

    /// Takes what all processes handed over, by rank.
    pub fn take(&mut self, all: Vec<Vec<u8>>) {
        let report = match &self.contribution {
            Contribution::Report(report) => Some(report),
            _ => None,
        };
        let mine = match self.round {
            0 => {
                let class = |sent: &Vec<u8>| match Frame::read("a process", sent).ok()? {
                    Frame { body: Body::Hash, class, .. } => Some(class),
                    _ => None,
                };
                self.classes = all.iter().map(class).collect();
                report.filter(|_| self.is_first()).map(NodeReport::whole)
            }
            1 => {
                let mut known = Known::default();
                for (rank, sent) in all.iter().enumerate() {
                    // Rank 0 says what is wrong; here the node sends all of itself.
                    let _ = known.take_note(&format!("rank {rank}"), sent);
                }
                report.filter(|_| !self.is_first()).map(|report| report.against(&known))
            }
            _ => None,
        };
        self.gather(&all);
        self.mine = mine.unwrap_or_default();
        self.round = self.round.saturating_add(1);
    }

    /// Adds what all processes handed over to what rank 0 has gathered.
    fn gather(&mut self, all: &[Vec<u8>]) {
        let Some(gathering) = &mut self.gathering else { return };
        if self.round == 0 {
            self.names = names(all, gathering);
        }
        for (rank, sent) in all.iter().enumerate().filter(|(_, sent)| !sent.is_empty()) {
            let from = format!("rank {rank}");
            let report = Sent::read(&from, sent, None);
            let name = report.as_ref().ok().map(|report| report.name().to_owned());
            let added = report.and_then(|report| match (self.round, self.names.get(rank)) {
                (1.., Some(Some(expected))) if expected == report.name() => {
                    gathering.take(&from, report).map(|_| ())
                }
                (1.., Some(Some(expected))) => {
                    // Others may send what differs from it.
                    gathering.know(&from, sent)?;
                    let (found, expected) = (report.name().to_owned(), expected.clone());
                    Err(GatherError::OtherName { from: from.clone(), found, expected })
                }
                // What is wrong was said in the round before.
                (1.., _) => gathering.know(&from, sent),
                (0, _) => gathering.take(&from, report).map(|_| ()),
            });
            if let Err(error) = added {
                gathering.fail(name.as_deref(), &error);
            }
        }
    }

    /// What was gathered, of rank 0; `None` of others.
    #[must_use]
    pub fn gathering(self) -> Option<Gathering> {
        self.gathering
    }

    /// Whether this process is the first of its class.
    fn is_first(&self) -> bool {
        let class = self.classes.get(self.rank).copied().flatten();
        class.is_some() && self.classes.iter().position(|it| *it == class) == Some(self.rank)
    }
}

/// Gathers the reports of all processes that have one: one process of each node. Every process must
/// call this. Rank 0 gets what was gathered.
///
/// # Errors
///
/// [`GatherError::Exchange`].
pub fn in_rounds(
    contribution: Contribution,
    rank: usize,
    exchange: &mut impl Exchange,
) -> Result<Option<Gathering>, GatherError> {
    let mut rounds = Rounds::new(contribution, rank);
    while let Some(mine) = rounds.mine() {
        let all = exchange.all(mine)?;
        rounds.take(all);
    }
    Ok(rounds.gathering())
}

/// The name that each rank sends with its class. If two ranks send one name, it is not known which
/// of them says the truth, and neither is believed.
fn names(all: &[Vec<u8>], gathering: &mut Gathering) -> Vec<Option<String>> {
    let report = all.iter().map(|sent| match Frame::read("a process", sent).ok()? {
        Frame { body: Body::Hash, name, .. } => Some(name),
        _ => None,
    });
    let mut names: Vec<Option<String>> = report.collect();
    let mut ranks: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (rank, name) in names.iter().enumerate() {
        ranks.entry(name.clone().unwrap_or_default()).or_default().push(rank);
    }
    ranks.remove("");
    for (name, ranks) in ranks {
        let [first, others @ ..] = &ranks[..] else { continue };
        for other in others {
            let [from, other] = [first, other].map(|rank| format!("rank {rank}"));
            let error = GatherError::SameName { name: name.clone(), from, other };
            gathering.fail(Some(&name), &error);
        }
        if !others.is_empty() {
            for rank in &ranks {
                names.get_mut(*rank).into_iter().for_each(|name| *name = None);
            }
        }
    }
    names
}
