//! The rules by which libraries choose a NIC for a rank.

use super::NicRank;
use super::{mpich, nccl, open_mpi};
use topobroker_reader::{Object, Topology};

/// A rule by which a library chooses a NIC for each rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// Open MPI 5.0.11 over libfabric: of the NICs at PMIx's least distance, that of the rank's
    /// place among the ranks of its package; if it is not bound, that of its local rank.
    /// Counterpart: `opal_common_ofi_select_provider`.
    OpenMpi,
    /// MPICH up to 5.0 over libfabric: of the NICs whose PUs have all of the rank's, or the
    /// reverse, that of its local rank. The exception for Intel processors in four clusters with
    /// Slingshot is left out. Counterpart: `MPIDI_OFI_fill_prov_use`.
    Mpich,
    /// NCCL: of the NICs of the highest bandwidth from the rank's GPU, then of the shortest path,
    /// that of the number of the GPU with its bits reversed. Counterpart: `ncclTopoGetLocalNet`.
    Nccl,
}

/// The NIC that a library chooses for each rank; `None` if it chooses none. `nics` are those that
/// it finds, and objects of `topology`.
///
/// ```
/// use topobroker::nics::{NicRank, Rule, chosen};
/// use topobroker_reader::{devices::NicChoice, Object, Topology};
/// fn print(topology: Topology<'_>, ranks: &[NicRank<'_>]) {
///     let nics: Vec<Object<'_>> = topology.nics(NicChoice::Active).collect();
///     for (rank, nic) in ranks.iter().zip(chosen(Rule::Mpich, topology, &nics, ranks)) {
///         println!("{} {:?}", rank.rank, nic.and_then(|nic| nic.name()));
///     }
/// }
/// ```
#[must_use]
pub fn chosen<'a>(
    rule: Rule,
    topology: Topology<'a>,
    nics: &[Object<'a>],
    ranks: &[NicRank<'a>],
) -> Vec<Option<Object<'a>>> {
    match rule {
        Rule::OpenMpi => open_mpi::chosen(topology, nics, ranks),
        Rule::Mpich => mpich::chosen(topology, nics, ranks),
        Rule::Nccl => nccl::chosen(topology, nics, ranks),
    }
}
