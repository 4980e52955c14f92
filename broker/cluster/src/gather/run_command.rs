//! Runs a command of a shell within a time, and takes what it prints.

use super::error::MAX_REPORT;
use parking_lot::Mutex;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

/// When a command is ended.
pub(super) struct Limits<'i> {
    /// How long it may take.
    pub(super) time_out: Duration,
    /// Whether it is to end now.
    pub(super) interrupted: &'i AtomicBool,
}

/// Most bytes that a command may print: hwloc's XML is longer than the topology that is made of it.
pub(super) const MOST_PRINTED: usize = 4 * MAX_REPORT;

/// Most bytes that are kept of what a command says of an error.
const MOST_SAID: usize = 4096;

/// Most letters that are quoted of it.
const MOST_QUOTED: usize = 200;

/// How long output is waited for after a command has ended: a process that it left behind, such as
/// the master of ssh's connections, may hold the pipe open for ever.
const AFTER_END: Duration = Duration::from_millis(500);

/// Runs a command with these bytes as input, and returns what it printed, otherwise what went
/// wrong. A command that is ended is ended with its process group.
pub(super) fn run_command(
    command: &str,
    input: Vec<u8>,
    limits: &Limits<'_>,
) -> Result<Vec<u8>, String> {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command);
    shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own, so that a time-out ends all of it.
    let mut child = shell.process_group(0).spawn().map_err(|error| error.to_string())?;
    let pipe = child.stdin.take();
    std::thread::spawn(move || {
        // The command may ignore its input; a broken pipe is not an error.
        let _ = pipe.map(|mut pipe| pipe.write_all(&input));
    });
    let output = Pipe::read(child.stdout.take(), MOST_PRINTED, Then::Stop);
    let errors = Pipe::read(child.stderr.take(), MOST_SAID, Then::KeepTheLast);
    let end = wait(&mut child, limits, &output);
    let too_much = || format!("printed more than {MOST_PRINTED} bytes; expected one topology");
    match end {
        _ if output.is_too_long() => Err(too_much()),
        End::TooLate => Err(format!("no answer within {} s", limits.time_out.as_secs_f64())),
        End::Stopped => Err("interrupted".to_owned()),
        End::Of(status) if status.success() => {
            let printed = output.finish();
            if printed.len() > MOST_PRINTED { Err(too_much()) } else { Ok(printed) }
        }
        End::Of(status) => {
            let said = errors.finish();
            let said = String::from_utf8_lossy(&said);
            let said = said.trim().lines().next_back().unwrap_or_default();
            let quoted: String = said.chars().take(MOST_QUOTED).collect();
            let more = if quoted.len() < said.len() { "..." } else { "" };
            Err(format!("{status}{}{quoted}{more}", if said.is_empty() { "" } else { ": " }))
        }
    }
}

enum End {
    Of(ExitStatus),
    TooLate,
    /// Because it was interrupted, or prints too much.
    Stopped,
}

/// Waits for a child, or kills it with its group.
fn wait(child: &mut Child, limits: &Limits<'_>, output: &Pipe) -> End {
    let start = Instant::now();
    loop {
        let end = if limits.interrupted.load(Relaxed) || output.is_too_long() {
            End::Stopped
        } else if let Ok(Some(status)) = child.try_wait() {
            return End::Of(status);
        } else if start.elapsed() >= limits.time_out {
            End::TooLate
        } else {
            std::thread::sleep(Duration::from_millis(5));
            continue;
        };
        let group = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
        if let Some(group) = group {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = child.wait();
        return end;
    }
}

/// A pipe from a command. A thread reads it while the command runs, because a command that fills a
/// pipe waits until it is read.
struct Pipe {
    read: Arc<Mutex<Vec<u8>>>,
    /// Most bytes that are kept.
    most: usize,
    end: Receiver<()>,
}

/// What the reading thread does if a command writes more than is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    Stop,
    KeepTheLast,
}

impl Pipe {
    fn read(pipe: Option<impl Read + Send + 'static>, most: usize, then: Then) -> Self {
        let read = Arc::new(Mutex::new(Vec::new()));
        let (send, end) = sync_channel(1);
        let all = Arc::clone(&read);
        std::thread::spawn(move || {
            let mut pipe = pipe;
            let mut chunk = [0; 8192];
            while let Some(Ok(count @ 1..)) = pipe.as_mut().map(|pipe| pipe.read(&mut chunk)) {
                let mut all = all.lock();
                all.extend_from_slice(chunk.get(..count).unwrap_or_default());
                if all.len() > most {
                    match then {
                        Then::Stop => break,
                        Then::KeepTheLast => {
                            let surplus = all.len() - most;
                            all.drain(..surplus);
                        }
                    }
                }
            }
            // If the command was ended, the other end of the channel is gone.
            let _ = send.send(());
        });
        Self { read, most, end }
    }

    fn is_too_long(&self) -> bool {
        self.read.lock().len() > self.most
    }

    fn finish(self) -> Vec<u8> {
        let _ = self.end.recv_timeout(AFTER_END);
        std::mem::take(&mut *self.read.lock())
    }
}
