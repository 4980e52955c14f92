//! What processes share: their locality relative to each other.

use crate::answer::answer;
use crate::failure::Failure;
use crate::given::Found;
use crate::job::{not_here, tb_job};
use crate::pointers::{Buffer, Input, Out, Room, Text};
use crate::set::tb_set;
use crate::status::tb_status;
use crate::topology::tb_topology;
use alloc::borrow::ToOwned;
use topobroker_reader::Locality;

/// Encodings of what processes share. Open MPI keeps its own encoding under the name of PMIx's key.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum tb_locality_encoding {
    /// The bits of pmix_locality_t, such as PMIX_LOCALITY_SHARE_NUMA.
    TB_LOCALITY_PMIX = 0,
    /// The bits of opal_hwloc_locality_t, such as OPAL_PROC_ON_NUMA.
    TB_LOCALITY_OPAL = 1,
}

/// Stores what two processes share that are bound to two sets. `encoding` is a
/// tb_locality_encoding. Counterpart: PMIx_Get_relative_locality.
#[unsafe(no_mangle)]
pub extern "C" fn tb_locality_between(
    topology: Option<&tb_topology>,
    one: Input<'_, tb_set>,
    other: Input<'_, tb_set>,
    encoding: i32,
    locality: Out<'_, u16>,
) -> tb_status {
    answer!(locality, |topology, one, other| {
        let shared = topology.relative_locality(one, other);
        encode(encoding)?(shared)
    })
}

/// Writes the locality string of a process that is bound to a set, such as SK0:L30:CR0:HT0-1:NM0,
/// with a zero at its end. TB_ERR_NOT_FOUND if no object has PUs of the set. `length` (may be NULL)
/// is set to the bytes of the text without the zero, also with TB_ERR_TRUNCATED. Counterpart:
/// PMIx_server_generate_locality_string.
#[unsafe(no_mangle)]
pub extern "C" fn tb_locality_string(
    topology: Option<&tb_topology>,
    set: Input<'_, tb_set>,
    buffer: Buffer<'_>,
    size: usize,
    length: Out<'_, usize>,
) -> tb_status {
    answer!(buffer(size, length), |topology, set| {
        let text = topology.locality_string(set);
        text.found(|| "no object has PUs of the set".to_owned())?
    })
}

/// Stores what two processes share, by their locality strings. The strings may begin with hwloc: as
/// PMIx_Get_relative_locality demands. TB_ERR_TEXT if one of them is no locality string.
/// Counterpart: PMIx_Get_relative_locality.
#[unsafe(no_mangle)]
pub extern "C" fn tb_locality_compare(
    one: Text<'_>,
    other: Text<'_>,
    encoding: i32,
    locality: Out<'_, u16>,
) -> tb_status {
    answer!(locality, |one, other| {
        let shared = Locality::from_strings(one, other)?;
        encode(encoding)?(shared)
    })
}

/// Stores what two ranks of a job share: the node alone if one of them is not bound, and
/// PMIX_LOCALITY_NONLOCAL if the second one is not on this node. TB_ERR_NOT_FOUND if the first one
/// is not.
#[unsafe(no_mangle)]
pub extern "C" fn tb_job_locality(
    job: Option<&tb_job>,
    rank: u32,
    other: u32,
    encoding: i32,
    locality: Out<'_, u16>,
) -> tb_status {
    answer!(locality, |job| {
        let shared = match job.locality(rank, other) {
            Some(shared) => shared,
            None => job.localities(rank).map(|_| Locality::NONLOCAL).found(|| not_here(rank))?,
        };
        encode(encoding)?(shared)
    })
}

/// Stores what a rank shares with each rank on this node, in the order of local ranks, as far as
/// there is room for it, and the number of ranks in `count` (may be NULL). TB_ERR_NOT_FOUND if the
/// rank is not on this node.
#[unsafe(no_mangle)]
pub extern "C" fn tb_job_localities(
    job: Option<&tb_job>,
    rank: u32,
    encoding: i32,
    localities: Room<'_, u16>,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    answer!(localities(capacity, count), |job| {
        let all = job.localities(rank).found(|| not_here(rank))?;
        all.map(encode(encoding)?)
    })
}

fn encode(encoding: i32) -> Result<fn(Locality) -> u16, Failure> {
    match encoding {
        0 => Ok(Locality::bits),
        1 => Ok(Locality::to_opal),
        other => Err(Failure::argument(format_args!("encoding {other}"))),
    }
}
