//! The rule of MPICH over libfabric.

use super::NicRank;
use topobroker_layout::set::Set;
use topobroker_reader::{Object, Topology, devices::environment::numbered_by_mpich};

pub(super) fn chosen<'a>(
    topology: Topology<'a>,
    nics: &[Object<'a>],
    ranks: &[NicRank<'a>],
) -> Vec<Option<Object<'a>>> {
    let all = topology.root().cpuset().unwrap_or_default();
    let nics = numbered_by_mpich(nics);
    let choose = |(local_rank, rank): (usize, &NicRank<'a>)| {
        let own = rank.cpuset.as_ref().unwrap_or(&all);
        let close: Vec<Object<'a>> =
            nics.iter().copied().filter(|nic| is_close(*nic, own)).collect();
        let close = if close.is_empty() { &nics } else { &close };
        close.get(local_rank.checked_rem(close.len())?).copied()
    };
    ranks.iter().enumerate().map(choose).collect()
}

fn is_close(nic: Object<'_>, own: &Set) -> bool {
    let pus = nic.non_io_ancestor().cpuset().unwrap_or_default();
    own.is_included_in(&pus) || pus.is_included_in(own)
}
