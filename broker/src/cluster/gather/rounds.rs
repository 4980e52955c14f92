//! Gathering inside a launcher's own exchange: three rounds, in which every process hands over a
//! few bytes and gets those of all.

use super::collect::Gathering;
use super::error::GatherError;
use super::frame::Frame;
use super::report::{Known, NodeReport};

/// An exchange among processes: `MPI_Allgatherv`, or `PMIx_Put`, `PMIx_Fence` and `PMIx_Get`.
pub trait Exchange {
    /// Hands over this process's bytes, and returns those of all processes by rank.
    ///
    /// # Errors
    ///
    /// [`GatherError::Exchange`].
    fn all(&mut self, mine: &[u8]) -> Result<Vec<Vec<u8>>, GatherError>;
}

/// Gathers the reports of all processes that have one: one process of each node. First all tell
/// their class, then the first of each class its whole topology, then the others what differs.
/// Every process must call this. All get the cluster.
///
/// # Errors
///
/// [`GatherError`]. If a report cannot be used, all processes get the same error.
pub fn in_rounds(
    report: Option<&NodeReport>,
    rank: usize,
    exchange: &mut impl Exchange,
) -> Result<Gathering, GatherError> {
    let hashes = exchange.all(&report.map(NodeReport::hash_only).unwrap_or_default())?;
    let classes: Vec<Option<u128>> = hashes
        .iter()
        .enumerate()
        .map(|(rank, sent)| {
            let from = format!("rank {rank}");
            let frame = (!sent.is_empty()).then(|| Frame::read(&from, sent)).transpose()?;
            Ok(frame.map(|frame| frame.class))
        })
        .collect::<Result<_, GatherError>>()?;
    let is_first = |rank: usize| {
        let class = classes.get(rank).copied().flatten();
        class.is_some() && classes.iter().position(|other| *other == class) == Some(rank)
    };
    let whole = report.filter(|_| is_first(rank)).map(NodeReport::whole);
    let wholes = exchange.all(&whole.unwrap_or_default())?;
    let known = Known::read(&wholes.concat())?;
    let difference = report.filter(|_| !is_first(rank)).map(|report| report.against(&known));
    let differences = exchange.all(&difference.unwrap_or_default())?;
    let mut gathering = Gathering::new();
    for (rank, sent) in wholes.iter().enumerate().chain(differences.iter().enumerate()) {
        if !sent.is_empty() {
            gathering.add(&format!("rank {rank}"), sent, None)?;
        }
    }
    Ok(gathering)
}
