//! Gathering a cluster inside a launcher's own exchange.

use crate::answer::{answer, means_itself};
use crate::call::call;
use crate::failure::Failure;
use crate::given::{Found, Given};
use crate::pointers::{List, Out, Text};
use crate::status::tb_status;
use std::ffi::c_void;
use topobroker_cluster::gather::{
    Contribution, Exchange, GatherError, Gathered, Gathering, NodeReport, Rounds, in_rounds,
};
use topobroker_cluster::{expand, write_file};
use topobroker_reader::{Keys, adopt, adopted, cluster::Identity};

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
/// node: the adopted topology, otherwise this machine as hwloc finds it. `name` is the name of the
/// node; NULL is the host name. For a node whose class another node has reported before, a few
/// hundred bytes are sent. A node that cannot be reported does not keep others waiting: it is
/// missing in the cluster.
///
/// Rank 0 writes `file` with `mode`, such as 0400; a file that exists is replaced if `replace`,
/// otherwise the call returns TB_ERR_PUBLISH. `hosts` are the nodes that should be there, a
/// hostlist such as n[001-276]; it may be NULL. Rank 0 gets the number of nodes that are missing in
/// `missing`, others 0; it may be NULL.
#[unsafe(no_mangle)]
pub extern "C" fn tb_cluster_gather(
    exchange: tb_exchange,
    context: *mut c_void,
    rank: usize,
    reports: bool,
    name: Text<'_>,
    hosts: Text<'_>,
    file: Text<'_>,
    mode: u32,
    replace: bool,
    missing: Out<'_, usize>,
) -> tb_status {
    call(|| {
        let exchange = exchange.given("exchange")?;
        let (name, file) = (name.optional("name")?, file.get("file")?);
        let hosts = expected(hosts)?;
        let mut exchange = Callback { exchange, context };
        let gathering = in_rounds(contribution(reports, name), rank, &mut exchange)?;
        let count = gathering.map_or(Ok(0), |it| write(it, &hosts, file, mode, replace))?;
        missing.store(count);
        Ok(())
    })
}

/// A gathering whose exchanges the caller does itself, for example with a fence that does not
/// block.
pub struct tb_gathering {
    /// `None` after it was written.
    rounds: Option<Rounds>,
    /// What was handed over in the round so far, by rank.
    answers: Vec<Vec<u8>>,
}

means_itself!(tb_gathering);

/// Begins a gathering: `rank`, `reports` and `name` are those of tb_cluster_gather. Then, until
/// tb_gathering_mine returns TB_ERR_NOT_FOUND: hand over its bytes to all processes, give those of
/// each process to tb_gathering_answer, and call tb_gathering_next. Free it with tb_gathering_free.
#[unsafe(no_mangle)]
pub extern "C" fn tb_gathering_new(
    rank: usize,
    reports: bool,
    name: Text<'_>,
    gathering: Out<'_, Box<tb_gathering>>,
) -> tb_status {
    answer!(gathering, || {
        let name = name.optional("name")?;
        let rounds = Some(Rounds::new(contribution(reports, name), rank));
        Box::new(tb_gathering { rounds, answers: Vec::new() })
    })
}

/// Stores what this process hands over in the round that comes next: `length` bytes, which stay
/// until tb_gathering_next. TB_ERR_NOT_FOUND after the last round.
#[unsafe(no_mangle)]
pub extern "C" fn tb_gathering_mine(
    gathering: Option<&tb_gathering>,
    bytes: Out<'_, *const c_void>,
    length: Out<'_, usize>,
) -> tb_status {
    call(|| {
        let gathering = gathering.given("gathering")?;
        let (bytes, length) = (bytes.given("bytes")?, length.given("length")?);
        let mine = gathering.rounds.as_ref().and_then(Rounds::mine);
        let mine = mine.found(|| "all rounds are over".to_owned())?;
        bytes.write(mine.as_ptr().cast());
        length.write(mine.len());
        Ok(())
    })
}

/// Takes what a process handed over in a round: `length` bytes, which are copied. Called for each
/// process in the order of ranks, this one among them.
#[unsafe(no_mangle)]
pub extern "C" fn tb_gathering_answer(
    gathering: Option<&mut tb_gathering>,
    bytes: List<'_, u8>,
    length: usize,
) -> tb_status {
    call(|| {
        let bytes = bytes.get(length, "bytes")?.to_vec();
        gathering.given("gathering")?.answers.push(bytes);
        Ok(())
    })
}

/// Ends a round, of which all processes have answered.
#[unsafe(no_mangle)]
pub extern "C" fn tb_gathering_next(gathering: Option<&mut tb_gathering>) -> tb_status {
    call(|| {
        let gathering = gathering.given("gathering")?;
        let answers = core::mem::take(&mut gathering.answers);
        if let Some(rounds) = &mut gathering.rounds {
            rounds.take(answers);
        }
        Ok(())
    })
}

/// Writes the cluster of a gathering whose rounds are over: `hosts`, `file`, `mode`, `replace` and
/// `missing` are those of tb_cluster_gather. It can be written once. Of ranks other than 0 nothing
/// is written.
#[unsafe(no_mangle)]
pub extern "C" fn tb_gathering_write(
    gathering: Option<&mut tb_gathering>,
    hosts: Text<'_>,
    file: Text<'_>,
    mode: u32,
    replace: bool,
    missing: Out<'_, usize>,
) -> tb_status {
    call(|| {
        let (file, hosts) = (file.get("file")?, expected(hosts)?);
        let gathering = gathering.given("gathering")?;
        if gathering.rounds.as_ref().is_none_or(|rounds| rounds.mine().is_some()) {
            return Err(Failure::argument(format_args!(
                "the rounds are not over, or it was written already"
            )));
        }
        let gathering = gathering.rounds.take().and_then(Rounds::gathering);
        let count = gathering.map_or(Ok(0), |it| write(it, &hosts, file, mode, replace))?;
        missing.store(count);
        Ok(())
    })
}

/// Frees a gathering. If `gathering` is NULL, nothing happens.
#[unsafe(no_mangle)]
pub extern "C" fn tb_gathering_free(gathering: Option<Box<tb_gathering>>) {
    drop(gathering);
}

/// The names of a hostlist; no names for NULL.
fn expected(hosts: Text<'_>) -> Result<Vec<String>, Failure> {
    let Some(hosts) = hosts.optional("hosts")? else { return Ok(Vec::new()) };
    expand(hosts).map_err(|error| Failure::argument(format_args!("{error}")))
}

/// Writes what was gathered. Returns the number of nodes that are missing.
fn write(
    gathering: Gathering,
    hosts: &[String],
    file: &str,
    mode: u32,
    replace: bool,
) -> Result<usize, Failure> {
    let Gathered { cluster, missing, .. } = gathering.finish(hosts);
    write_file(file.as_ref(), &cluster.finish()?, mode, replace)?;
    Ok(missing.len())
}

/// What this process brings. A process that cannot report its node says so to the others.
fn contribution(reports: bool, name: Option<&str>) -> Contribution {
    if !reports {
        return Contribution::Nothing;
    }
    let own = || Identity::of_this_process().host;
    let name = name.map_or_else(own, str::to_owned);
    match report(&name) {
        Ok(report) => Contribution::Report(report),
        Err(failure) => Contribution::Failure { name, reason: failure.detail },
    }
}

fn report(name: &str) -> Result<NodeReport, Failure> {
    let known = match adopted() {
        Some(adopted) => Some(adopted),
        None if Keys::find().is_ok() => Some(adopt()?),
        None => None,
    };
    Ok(match known {
        Some(adopted) => NodeReport::of_adopted(adopted, name)?,
        None => NodeReport::of_this_machine(name)?,
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
