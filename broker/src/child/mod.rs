//! A child process for work on files of others: if it crashes or does not end, only that work is lost.

mod rights;

use rights::Rights;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use std::error::Error;
use std::fs::File;
use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
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
        "{input}: hwloc crashed when it read this ({how}); the file is damaged, or made to do harm: export it again with lstopo"
    )]
    Crashed { input: String, how: String },
    /// The process did not end in time.
    #[error("{input}: hwloc has not read this within {} s", .limit.as_secs())]
    Late { input: String, limit: Duration },
}

/// Most time that hwloc may take for a file.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// First byte of an answer: what was made, or why nothing was.
const MADE: u8 = 1;
const REFUSED: u8 = 0;

/// Does `work` in a child process and returns what it makes, if that takes at most `limit`. `input` is what the
/// work is about, for errors. The child has some memory, and descriptors and files of its parent no more.
///
/// # Errors
///
/// [`ChildError`].
pub(crate) fn in_child(
    input: &str,
    limit: Duration,
    work: impl FnOnce() -> Result<Vec<u8>, Box<dyn Error>>,
) -> Result<Vec<u8>, ChildError> {
    let start = |error: Errno| ChildError::Start { input: input.to_owned(), source: error.into() };
    let (answer, ours) =
        rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(start)?;
    let rights = Rights::least();
    let child = match fork().map_err(start)? {
        Some(child) => child,
        None => {
            // Nothing of the parent may run here: no unwinding, no destructors, no exit handlers.
            let _ = catch_unwind(AssertUnwindSafe(|| {
                rights.take(&ours);
                answer_with(work(), ours);
            }));
            exit_now();
        }
    };
    drop(ours);
    let answered = read_until(answer, Instant::now() + limit);
    if answered.is_err() {
        let _ = kill_process(child, Signal::KILL);
    }
    let how = ended(child);
    let mut bytes = answered.map_err(|()| ChildError::Late { input: input.to_owned(), limit })?;
    match (bytes.pop(), how) {
        (Some(MADE), Ok(())) => Ok(bytes),
        (Some(REFUSED), Ok(())) => {
            Err(ChildError::Refused { reason: String::from_utf8_lossy(&bytes).into_owned() })
        }
        (_, how) => {
            let how = how.err().unwrap_or_else(|| "it gave no answer".to_owned());
            Err(ChildError::Crashed { input: input.to_owned(), how })
        }
    }
}

/// Writes what was made, or why nothing was, and then which of the two it is: a child that crashes while
/// it writes has not said that.
fn answer_with(made: Result<Vec<u8>, Box<dyn Error>>, to: OwnedFd) {
    let (bytes, kind) = match made {
        Ok(bytes) => (bytes, MADE),
        Err(error) => (with_causes(&*error).into_bytes(), REFUSED),
    };
    let mut to = File::from(to);
    // The parent sees that the answer is cut.
    let _ = to.write_all(&bytes).and_then(|()| to.write_all(&[kind]));
}

fn with_causes(error: &dyn Error) -> String {
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// All that comes out of a pipe, in the time that is left.
fn read_until(pipe: OwnedFd, end: Instant) -> Result<Vec<u8>, ()> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut pipe = File::from(pipe);
    let (mut bytes, mut part) = (Vec::new(), vec![0; 1 << 16]);
    loop {
        let left = end.checked_duration_since(Instant::now()).ok_or(())?;
        let left = Timespec::try_from(left).map_err(drop)?;
        match poll(&mut [PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)], Some(&left)) {
            Ok(0) => return Err(()),
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(_) => return Err(()),
        }
        match pipe.read(&mut part) {
            Ok(0) => return Ok(bytes),
            Ok(read) => bytes.extend_from_slice(part.get(..read).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Err(()),
        }
    }
}

/// Waits for the end of a child. `Err` says how it ended if not well. A program that waits for all of
/// its children, or ignores their ends, may have been told instead: then its answer alone says it.
fn ended(child: Pid) -> Result<(), String> {
    let mut status = 0;
    loop {
        // SAFETY: `status` is an output.
        if unsafe { libc::waitpid(child.as_raw_pid(), &raw mut status, 0) } >= 0 {
            let is_killed = libc::WIFSIGNALED(status);
            return if is_killed { Err(signal_name(libc::WTERMSIG(status))) } else { Ok(()) };
        }
        if io::Error::last_os_error().raw_os_error() != Some(libc::EINTR) {
            return Ok(());
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

/// Starts a child process that goes on from here; `None` in the child. It gets no signal that is sent to
/// a group of processes, such as that of Ctrl-C: its parent decides.
fn fork() -> Result<Option<Pid>, Errno> {
    let mut all = MaybeUninit::uninit();
    let mut before = MaybeUninit::uninit();
    // SAFETY: `sigfillset` fills the first set, which the second call reads; that fills `before`.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
    }
    // SAFETY: the C library's `fork` makes its own locks, those of the heap too, usable in the child.
    // hwloc takes its one lock when a topology is made or destroyed, which no child does. Should another
    // lock be held for ever, the parent ends the child after its limit. The child ends by `_exit`.
    let child = unsafe { libc::fork() };
    let failed = Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::AGAIN);
    if child != 0 {
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

    fn answered(work: impl FnOnce() -> Made) -> String {
        match in_child("node.xml", Duration::from_secs(2), work) {
            Ok(bytes) => String::from_utf8(bytes).unwrap(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_child_answers_with_what_it_has_made_or_why_it_has_not() {
        let long = "x".repeat(1 << 20);
        assert_eq!(answered(|| Ok(long.clone().into_bytes())), long);
        assert_eq!(answered(|| Ok(Vec::new())), "");
        assert_eq!(answered(|| Err("node.xml: is empty".into())), "node.xml: is empty");
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
        assert_eq!(answered(segv), crashed("SIGSEGV"));
        assert_eq!(answered(|| panic!("of the test")), crashed("it gave no answer"));
        let endless = || loop {
            black_box(());
        };
        assert_eq!(answered(endless), "node.xml: hwloc has not read this within 2 s");
    }

    #[test]
    fn a_child_has_no_rights_but_some_memory() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_owned();
        let parent = rustix::process::getpid();
        let answer = answered(move || {
            let opened = std::fs::read(&path).is_ok();
            let made = std::fs::write(path.with_extension("new"), "x").is_ok();
            let started = std::process::Command::new("true").status().is_ok();
            let signalled = rustix::process::test_kill_process(parent).is_ok();
            let written = file.as_file().write_all(b"x").is_ok();
            Ok(format!("{opened} {made} {started} {signalled} {written}").into_bytes())
        });
        // Elsewhere no filter of system calls is known: of root and its files, nothing is left either.
        if cfg!(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")) {
            assert_eq!(answer, "false false false false false");
        }
        let much = answered(|| {
            let mut all = Vec::<u8>::new();
            let got = all.try_reserve_exact(1 << 30).is_ok();
            let mut more = Vec::<u8>::new();
            let got_more = more.try_reserve_exact(2 << 30).is_ok();
            Ok(format!("{got} {got_more}").into_bytes())
        });
        assert_eq!(much, "true false");
    }
}
