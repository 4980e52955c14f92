//! A child process for work on files of others: if it crashes or does not end, only that work is
//! lost.

mod rights;

use parking_lot::RwLock;
use rights::Rights;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use std::error::Error;
use std::fs::File;
use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Why a child process has no answer. Every message names the input.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum ChildError {
    /// No process can be started.
    #[error("{input}: no process can be started to read it")]
    Start { input: String, source: io::Error },
    /// The work has failed.
    #[error("{reason}")]
    Refused { reason: String },
    /// The process has ended without an answer.
    #[error(
        "{input}: hwloc crashed when it read this ({how}); the file is damaged, or made to do \
         harm: export it again with lstopo"
    )]
    Crashed { input: String, how: String },
    /// The process did not end in time.
    #[error("{input}: hwloc has not read this within {} s", .limit.as_secs())]
    Late { input: String, limit: Duration },
}

/// Held for reading while this library calls functions that take locks which a child needs too, and
/// for writing while a child is forked: it then finds them free, whatever other threads do.
static LOCKED: RwLock<()> = RwLock::new(());

/// Whether this process is a child, which has one thread.
static IS_CHILD: AtomicBool = AtomicBool::new(false);

/// Calls a function that takes a lock which a child needs too.
pub(crate) fn locking<R>(call: impl FnOnce() -> R) -> R {
    let is_child = IS_CHILD.load(Ordering::Relaxed);
    let _held = (!is_child).then(|| LOCKED.try_read_for(PATIENCE));
    call()
}

/// How long `LOCKED` is waited for. It is held for moments; if a thread had it when the program
/// itself forked, it is held for ever in the program's child, which goes on without.
const PATIENCE: Duration = Duration::from_secs(1);

/// Most time that hwloc may take for a file.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// First byte of an answer: what was made, or why nothing was. Eight bytes with its length follow,
/// then itself.
const MADE: u8 = 1;
const REFUSED: u8 = 0;
const START: usize = 1 + size_of::<u64>();

/// Does `work` in a child process and returns what it makes, if that takes at most `limit`. `input`
/// is what the work is about, for errors. The child has some memory, and descriptors and files of
/// its parent no more.
///
/// # Errors
///
/// [`ChildError`].
pub(crate) fn in_child<T>(
    input: String,
    item: T,
    limit: Duration,
    work: impl Fn(T) -> Result<Vec<u8>, Box<dyn Error>>,
) -> Result<Vec<u8>, ChildError> {
    let answers = each_in_child(vec![(input.clone(), item)], limit, work);
    let none = || Failure::Crashed(NO_ANSWER.to_owned()).of(input, limit);
    answers.into_iter().next().unwrap_or_else(|| Err(none()))
}

/// [`in_child`] for several items, each with its name, by one child, because starting one takes
/// longer than reading a small file. If an item ends the child, another child continues with the
/// next item.
pub(crate) fn each_in_child<T>(
    items: Vec<(String, T)>,
    limit: Duration,
    work: impl Fn(T) -> Result<Vec<u8>, Box<dyn Error>>,
) -> Vec<Result<Vec<u8>, ChildError>> {
    let mut answers = Vec::with_capacity(items.len());
    let mut left = items;
    while !left.is_empty() {
        let (found, failure) = answered(&mut left, limit, &work);
        answers.extend(found);
        if let Some(failure) = failure {
            let (input, _) = left.remove(0);
            answers.push(Err(failure.of(input, limit)));
        }
    }
    answers
}

/// Why a child has not answered for all of its items.
enum Failure {
    Start(io::Error),
    Crashed(String),
    /// It has answered with more than anything that is read.
    TooLong,
    Late,
}

/// Most bytes of an answer: more than any archive has.
const MOST: usize = 1 << 26;

const NO_ANSWER: &str = "it gave no answer";

impl Failure {
    fn of(self, input: String, limit: Duration) -> ChildError {
        match self {
            Self::Start(source) => ChildError::Start { input, source },
            Self::Crashed(how) => ChildError::Crashed { input, how },
            Self::TooLong => ChildError::Crashed { input, how: "its answer has no end".to_owned() },
            Self::Late => ChildError::Late { input, limit },
        }
    }
}

/// Lets a child work on items. Those that it has answered for are taken out of `items`; the failure
/// is of the first one that is left.
fn answered<T>(
    items: &mut Vec<(String, T)>,
    limit: Duration,
    work: &impl Fn(T) -> Result<Vec<u8>, Box<dyn Error>>,
) -> (Vec<Result<Vec<u8>, ChildError>>, Option<Failure>) {
    let start = |error: Errno| (Vec::new(), Some(Failure::Start(error.into())));
    let (answer, writing) = match rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC) {
        Ok(pipe) => pipe,
        Err(error) => return start(error),
    };
    // Standard error stays open in the child.
    let ours = match rustix::io::fcntl_dupfd_cloexec(&writing, 3) {
        Ok(ours) => ours,
        Err(error) => return start(error),
    };
    drop(writing);
    let rights = Rights::least();
    let child = match fork() {
        Ok(Some(child)) => child,
        Ok(None) => {
            // Nothing of the parent may run here: no unwinding, no destructors, no exit handlers.
            let _ = catch_unwind(AssertUnwindSafe(|| {
                rights.take(&ours);
                let mut ours = File::from(ours);
                for (_, item) in items.drain(..) {
                    if answer_with(&mut ours, work(item)).is_err() {
                        break;
                    }
                }
                exit_now();
            }));
            exit_now();
        }
        Err(error) => return start(error),
    };
    drop(ours);
    let mut found = Vec::new();
    let failure = read_answers(answer, limit, items.len(), &mut found).err();
    items.drain(..found.len().min(items.len()));
    // A child that has closed the pipe ends by itself, unless somebody has taken it over.
    let is_ending = failure.is_none() && !items.is_empty();
    let how = end(child, if is_ending { Duration::from_secs(1) } else { Duration::ZERO });
    if items.is_empty() {
        return (found, None);
    }
    let unanswered = || Failure::Crashed(how.err().unwrap_or_else(|| NO_ANSWER.to_owned()));
    (found, Some(failure.unwrap_or_else(unanswered)))
}

/// Writes what was made, or why nothing was.
fn answer_with(to: &mut File, made: Result<Vec<u8>, Box<dyn Error>>) -> io::Result<()> {
    let (bytes, kind) = match made {
        Ok(bytes) => (bytes, MADE),
        Err(error) => (with_causes(&*error).into_bytes(), REFUSED),
    };
    to.write_all(&[kind])?;
    to.write_all(&(bytes.len() as u64).to_le_bytes())?;
    to.write_all(&bytes)
}

/// Takes a whole answer from the start of what was read.
fn take_answer(bytes: &mut Vec<u8>) -> Option<Result<Vec<u8>, ChildError>> {
    let (head, rest) = bytes.split_first_chunk::<START>()?;
    let [kind, length @ ..] = *head;
    let length = usize::try_from(u64::from_le_bytes(length)).ok()?;
    let answer = rest.get(..length)?.to_vec();
    bytes.drain(..START + length);
    Some(match kind {
        MADE => Ok(answer),
        _ => Err(ChildError::Refused { reason: String::from_utf8_lossy(&answer).into_owned() }),
    })
}

fn with_causes(error: &dyn Error) -> String {
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// Reads at most `most` answers from a pipe to its end, each within the time limit.
fn read_answers(
    pipe: OwnedFd,
    limit: Duration,
    most: usize,
    found: &mut Vec<Result<Vec<u8>, ChildError>>,
) -> Result<(), Failure> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut pipe = File::from(pipe);
    let (mut bytes, mut part) = (Vec::new(), vec![0; 1 << 16]);
    let mut end = Instant::now() + limit;
    loop {
        let left = end.checked_duration_since(Instant::now()).ok_or(Failure::Late)?;
        let left = Timespec::try_from(left).map_err(|_| Failure::Late)?;
        match poll(&mut [PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)], Some(&left)) {
            Ok(0) => return Err(Failure::Late),
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(_) => return Err(Failure::Late),
        }
        match pipe.read(&mut part) {
            Ok(0) => return Ok(()),
            Ok(read) => bytes.extend_from_slice(part.get(..read).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return Err(Failure::Late),
        }
        while let Some(answer) = take_answer(&mut bytes) {
            found.push(answer);
            end = Instant::now() + limit;
            // Another process may have the other end of the pipe for as long as it runs.
            if found.len() == most {
                return Ok(());
            }
        }
        if bytes.len() > START + MOST {
            return Err(Failure::TooLong);
        }
    }
}

/// Waits some time for a child to end, then kills it. `Err` says how it ended if not well. If the
/// program itself waits for all of its children, or ignores SIGCHLD, it may have learned that
/// instead. How the child ended is then unknown, and its pid may belong to another process, which
/// is not killed.
fn end(child: Pid, patience: Duration) -> Result<(), String> {
    let until = Instant::now() + patience;
    let mut status = 0;
    let mut options = libc::WNOHANG;
    loop {
        // SAFETY: `status` is an output.
        match unsafe { libc::waitpid(child.as_raw_pid(), &raw mut status, options) } {
            // It runs, and its number is its own.
            0 if Instant::now() < until => std::thread::sleep(Duration::from_millis(1)),
            0 => {
                let _ = kill_process(child, Signal::KILL);
                options = 0;
            }
            1.. if libc::WIFSIGNALED(status) => return Err(signal_name(libc::WTERMSIG(status))),
            1.. => return Ok(()),
            _ if io::Error::last_os_error().raw_os_error() == Some(libc::EINTR) => {}
            _ => return Ok(()),
        }
    }
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGILL => "SIGILL",
        libc::SIGKILL => "SIGKILL",
        _ => return format!("signal {signal}"),
    };
    name.to_owned()
}

/// Starts a child process that goes on from here; `None` in the child. It gets no signal that is
/// sent to a group of processes, such as that of Ctrl-C: its parent decides.
fn fork() -> Result<Option<Pid>, Errno> {
    let mut all = MaybeUninit::uninit();
    let mut before = MaybeUninit::uninit();
    // SAFETY: `sigfillset` fills the first set, which the second call reads; that fills `before`.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
    }
    let held = LOCKED.try_write_for(PATIENCE);
    // SAFETY: the C library's `fork` makes its own locks, those of the heap too, usable in the
    // child, and `LOCKED` that of hwloc. Should another lock be held for ever, the parent ends the
    // child after its limit. The child ends by `_exit`.
    let child = unsafe { libc::fork() };
    let failed = Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::AGAIN);
    if child == 0 {
        // Others may wait for it in the parent, whom the child cannot wake.
        std::mem::forget(held);
        IS_CHILD.store(true, Ordering::Relaxed);
    } else {
        drop(held);
        // SAFETY: `before` was filled above.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    }
    match child {
        0 => Ok(None),
        -1 => Err(failed),
        child => Ok(Pid::from_raw(child)),
    }
}

/// Ends this process without what is done at an exit, which is the parent's.
fn exit_now() -> ! {
    // SAFETY: `_exit` does nothing but to end the process.
    unsafe { libc::_exit(0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    type Made = Result<Vec<u8>, Box<dyn Error>>;

    fn answer_of(work: impl Fn() -> Made) -> String {
        let work = |()| work();
        match in_child("node.xml".to_owned(), (), Duration::from_secs(2), work) {
            Ok(bytes) => String::from_utf8(bytes).unwrap(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_child_answers_with_what_it_has_made_or_why_it_has_not() {
        let long = "x".repeat(1 << 20);
        assert_eq!(answer_of(|| Ok(long.clone().into_bytes())), long);
        assert_eq!(answer_of(|| Ok(Vec::new())), "");
        assert_eq!(answer_of(|| Err("node.xml: is empty".into())), "node.xml: is empty");
    }

    #[test]
    fn a_child_that_crashes_panics_or_does_not_end_is_an_error_that_names_the_input() {
        let crashed = |how| {
            format!(
                "node.xml: hwloc crashed when it read this ({how}); the file is damaged, or made to do harm: \
                 export it again with lstopo"
            )
        };
        // SAFETY: nothing is: that is what is tested, and in a process of its own.
        let crash = || unsafe { black_box(std::ptr::null_mut::<u8>()).write_volatile(1) };
        let segv = || {
            crash();
            Ok(Vec::new())
        };
        assert_eq!(answer_of(segv), crashed("SIGSEGV"));
        assert_eq!(answer_of(|| panic!("of the test")), crashed("it gave no answer"));
        let endless = || loop {
            black_box(());
        };
        assert_eq!(answer_of(endless), "node.xml: hwloc has not read this within 2 s");
    }

    #[test]
    fn an_item_that_ends_its_child_costs_no_other_one() {
        let items = (0..7).map(|number| (format!("n{number}.xml"), number)).collect();
        let answers = each_in_child(items, Duration::from_secs(2), |number: u8| match number {
            0 | 3 | 6 => {
                // SAFETY: nothing is: that is what is tested, and in a process of its own.
                unsafe { black_box(std::ptr::null_mut::<u8>()).write_volatile(1) };
                Ok(Vec::new())
            }
            4 => Err("n4.xml: is empty".into()),
            _ => Ok(vec![number; 1 << 17]),
        });
        let shown = |answer: &Result<Vec<u8>, ChildError>| match answer {
            Ok(bytes) => format!("{} x {:?}", bytes.len(), bytes.first()),
            Err(error) => error.to_string().split(" (").next().unwrap().to_owned(),
        };
        let crashed = |number| format!("n{number}.xml: hwloc crashed when it read this");
        let made = |number: u8| format!("131072 x Some({number})");
        let expected = [
            crashed(0),
            made(1),
            made(2),
            crashed(3),
            "n4.xml: is empty".into(),
            made(5),
            crashed(6),
        ];
        assert_eq!(answers.iter().map(shown).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_child_has_no_rights_but_some_memory() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_owned();
        let parent = rustix::process::getpid();
        let answer = answer_of(move || {
            let opened = std::fs::read(&path).is_ok();
            let made = std::fs::write(path.with_extension("new"), "x").is_ok();
            let started = std::process::Command::new("true").status().is_ok();
            let signalled = rustix::process::test_kill_process(parent).is_ok();
            let written = file.as_file().write_all(b"x").is_ok();
            Ok(format!("{opened} {made} {started} {signalled} {written}").into_bytes())
        });
        // Elsewhere no filter of system calls is known: of root and its files, nothing is left
        // either.
        if cfg!(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")) {
            assert_eq!(answer, "false false false false false");
        }
        let much = answer_of(|| {
            let mut all = Vec::<u8>::new();
            let got = all.try_reserve_exact(1 << 30).is_ok();
            let mut more = Vec::<u8>::new();
            let got_more = more.try_reserve_exact(2 << 30).is_ok();
            Ok(format!("{got} {got_more}").into_bytes())
        });
        assert_eq!(much, "true false");
    }
}
