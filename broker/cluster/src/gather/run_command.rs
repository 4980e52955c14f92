//! Runs a command of a shell within a time, and takes what it prints.

use parking_lot::Mutex;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};
use topobroker_layout::header::MAX_SEGMENT_LEN;

/// When a command is ended.
pub(super) struct Limits<'i> {
    /// How long it may take.
    pub(super) time_out: Duration,
    /// Whether it is to end now.
    pub(super) interrupted: &'i AtomicBool,
}

/// Most bytes that are kept of what a command says of an error.
const MOST_SAID: usize = 4096;

/// Most letters that are quoted of it.
const MOST_QUOTED: usize = 200;

/// How long output is waited for after a command has ended: a process that it left behind, such as
/// the master of ssh's connections, may hold the pipe open for ever.
const AFTER_END: Duration = Duration::from_millis(500);

/// Runs a command with these bytes as input, and returns what it printed, else what went wrong. A
/// command that is ended is ended with its process group.
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
        // A command that does not read its input is none of ours to judge.
        let _ = pipe.map(|mut pipe| pipe.write_all(&input));
    });
    let most = usize::try_from(MAX_SEGMENT_LEN).unwrap_or(usize::MAX);
    let (output, errors) =
        (LastBytes::of(child.stdout.take(), most), LastBytes::of(child.stderr.take(), MOST_SAID));
    match wait(&mut child, limits) {
        End::TooLate => Err(format!("no answer within {} s", limits.time_out.as_secs_f64())),
        End::Interrupted => Err("interrupted".to_owned()),
        End::Of(status) if status.success() => {
            let (bytes, total) = output.finish();
            match total > most as u64 {
                true => Err(format!("wrote {total} bytes; expected {most} at most")),
                false => Ok(bytes),
            }
        }
        End::Of(status) => {
            let (said, _) = errors.finish();
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
    Interrupted,
}

/// Waits for a child, or kills it with its group.
fn wait(child: &mut Child, limits: &Limits<'_>) -> End {
    let start = Instant::now();
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return End::Of(status);
        }
        let end = match (limits.interrupted.load(Relaxed), start.elapsed() >= limits.time_out) {
            (true, _) => End::Interrupted,
            (_, true) => End::TooLate,
            _ => {
                std::thread::sleep(Duration::from_millis(5));
                continue;
            }
        };
        let group = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
        if let Some(group) = group {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = child.wait();
        return end;
    }
}

/// The last bytes that come through a pipe. All are read while the command runs, because it would
/// be killed for writing to a pipe that nobody reads.
struct LastBytes {
    /// The bytes, and how many there were in all.
    read: Arc<Mutex<(Vec<u8>, u64)>>,
    end: Receiver<()>,
}

impl LastBytes {
    fn of(pipe: Option<impl Read + Send + 'static>, most: usize) -> Self {
        let read = Arc::new(Mutex::new((Vec::new(), 0)));
        let (send, end) = sync_channel(1);
        let all = Arc::clone(&read);
        std::thread::spawn(move || {
            let mut pipe = pipe;
            let mut chunk = [0; 8192];
            while let Some(Ok(count @ 1..)) = pipe.as_mut().map(|pipe| pipe.read(&mut chunk)) {
                let mut all = all.lock();
                let (bytes, total) = &mut *all;
                bytes.extend_from_slice(chunk.get(..count).unwrap_or_default());
                *total += count as u64;
                if bytes.len() >= most.saturating_mul(2) {
                    bytes.drain(..bytes.len() - most);
                }
            }
            // Nobody may wait any more.
            let _ = send.send(());
        });
        Self { read, end }
    }

    fn finish(self) -> (Vec<u8>, u64) {
        let _ = self.end.recv_timeout(AFTER_END);
        std::mem::take(&mut *self.read.lock())
    }
}
