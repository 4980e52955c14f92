//! Gathering a cluster inside a launcher's own exchange.

use crate::call::{Given, call};
use crate::failure::Failure;
use crate::pointers::{List, Text};
use crate::status::tb_status;
use std::ffi::c_void;
use topobroker::cluster::gather::{Exchange, GatherError, NodeReport, in_rounds};
use topobroker::cluster::write_file;
use topobroker_reader::{Identity, Keys, adopt, adopted};

/// What all processes handed over in an exchange.
pub struct tb_exchange_answers(Vec<Vec<u8>>);

/// An exchange among all processes, such as MPI_Allgatherv, or PMIx_Put, PMIx_Fence and PMIx_Get.
/// It hands over `length` bytes of this process, and calls tb_exchange_answer for each process in
/// the order of ranks, itself among them. It returns 0; anything else is a failure, and ends the
/// gathering of this process.
pub type tb_exchange = Option<
    extern "C" fn(
        context: *mut c_void,
        mine: *const c_void,
        length: usize,
        answers: *mut tb_exchange_answers,
    ) -> i32,
>;

/// Takes what a process handed over: `length` bytes, which are copied.
#[unsafe(no_mangle)]
pub extern "C" fn tb_exchange_answer(
    answers: Option<&mut tb_exchange_answers>,
    bytes: List<'_, u8>,
    length: usize,
) -> tb_status {
    call(|| {
        let bytes = bytes.get(length, "bytes")?.to_vec();
        answers.given("answers")?.0.push(bytes);
        Ok(())
    })
}

/// Gathers the nodes of all processes into a cluster, with `exchange`, which is called three times
/// with `context`. All processes must call this, with the same arguments but for `name`, `rank` and
/// `reports`.
///
/// `rank` is that of this process in the exchange, from 0. One process of each node `reports` its
/// node: the adopted topology, else this machine as hwloc finds it. `name` is the name of the node;
/// NULL is the host name. Rank 0 writes `file` with `mode`, such as 0400; if it exists it is
/// replaced if `replace`, else it is TB_ERR_PUBLISH. Of a node whose class another one has told
/// before, a few hundred bytes are sent.
#[unsafe(no_mangle)]
pub extern "C" fn tb_cluster_gather(
    exchange: tb_exchange,
    context: *mut c_void,
    rank: usize,
    reports: bool,
    name: Text<'_>,
    file: Text<'_>,
    mode: u32,
    replace: bool,
) -> tb_status {
    call(|| {
        let exchange = exchange.given("exchange")?;
        let (name, file) = (name.optional("name")?, file.get("file")?);
        let report = reports.then(|| report(name)).transpose()?;
        let mut exchange = Callback { exchange, context };
        let gathering = in_rounds(report.as_ref(), rank, &mut exchange)?;
        if rank == 0 {
            let (cluster, _) = gathering.finish(&[])?;
            write_file(file.as_ref(), &cluster.finish()?, mode, replace)?;
        }
        Ok(())
    })
}

fn report(name: Option<&str>) -> Result<NodeReport, Failure> {
    let own = || Identity::of_this_process().host;
    let name = name.map_or_else(own, str::to_owned);
    let known = match adopted() {
        Some(adopted) => Some(adopted),
        None if Keys::find().is_ok() => Some(adopt()?),
        None => None,
    };
    Ok(match known {
        Some(adopted) => NodeReport::of_adopted(adopted, &name)?,
        None => NodeReport::of_this_machine(&name)?,
    })
}

/// The exchange of a program in C.
struct Callback {
    exchange: extern "C" fn(*mut c_void, *const c_void, usize, *mut tb_exchange_answers) -> i32,
    context: *mut c_void,
}

impl Exchange for Callback {
    fn all(&mut self, mine: &[u8]) -> Result<Vec<Vec<u8>>, GatherError> {
        let mut answers = tb_exchange_answers(Vec::new());
        let status =
            (self.exchange)(self.context, mine.as_ptr().cast(), mine.len(), &raw mut answers);
        if status == 0 {
            return Ok(answers.0);
        }
        Err(GatherError::Exchange { step: "the exchange", what: format!("it returned {status}") })
    }
}
