//! Gathering by a command for each node, such as ssh.

use super::collect::Gathering;
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use topobroker_layout::header::MAX_SEGMENT_LEN;

/// How commands are run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commands {
    /// What a shell runs for each node; `{host}` is its name. It gets the known classes on its
    /// standard input, and prints a report, a segment or hwloc XML.
    pub template: String,
    /// How many nodes are asked at once.
    pub at_once: usize,
    /// How long one command may take.
    pub time_out: Duration,
    /// How often a command that fails is tried again.
    pub retries: u32,
}

/// Asks nodes. Returns what was gathered, and of each node that did not answer the reason.
#[must_use]
pub fn run_on(hosts: &[String], commands: &Commands) -> (Gathering, Vec<(String, String)>) {
    let gathering = Mutex::new(Gathering::new());
    let failures = Mutex::new(Vec::new());
    // The first node alone, so that the others know its class.
    let (first, rest) = hosts.split_at(hosts.len().min(1));
    for (batch, threads) in [(first, 1), (rest, commands.at_once.max(1))] {
        let queue = Mutex::new(batch.iter().collect::<VecDeque<_>>());
        std::thread::scope(|scope| {
            for _ in 0..threads.min(batch.len()) {
                scope.spawn(|| {
                    loop {
                        let next = lock(&queue).pop_front();
                        let Some(host) = next else { break };
                        if let Err(reason) = ask(host, commands, &gathering) {
                            lock(&failures).push((host.clone(), reason));
                        }
                    }
                });
            }
        });
    }
    let mut failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    failures.sort();
    (gathering.into_inner().unwrap_or_else(PoisonError::into_inner), failures)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Asks one node, as often as it takes.
fn ask(host: &str, commands: &Commands, gathering: &Mutex<Gathering>) -> Result<(), String> {
    let mut reason = String::new();
    for _ in 0..=commands.retries {
        let known = lock(gathering).known().to_bytes();
        let answer = run(host, commands, known);
        let added = answer.and_then(|sent| {
            let added = lock(gathering).add(host, &sent, Some(host));
            added.map_err(|error| error.to_string())
        });
        match added {
            Ok(()) => return Ok(()),
            Err(why) => reason = why,
        }
    }
    Err(reason)
}

/// Runs the command of a node, and returns what it printed.
fn run(host: &str, commands: &Commands, known: Vec<u8>) -> Result<Vec<u8>, String> {
    // A name goes into a command of a shell.
    let is_plain =
        |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.' | ':' | '@');
    if host.is_empty() || host.starts_with('-') || !host.chars().all(is_plain) {
        return Err(format!("{host:?} is no name of a host"));
    }
    let mut command = Command::new("sh");
    command.arg("-c").arg(commands.template.replace("{host}", host));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own, so that a time-out ends all of it.
    let mut child = command.process_group(0).spawn().map_err(|error| error.to_string())?;
    let input = child.stdin.take();
    std::thread::spawn(move || {
        // A command that does not read its input is none of ours to judge.
        let _ = input.map(|mut input| input.write_all(&known));
    });
    let (output, errors) = (
        Gathered::of(child.stdout.take(), MAX_SEGMENT_LEN),
        Gathered::of(child.stderr.take(), 4096),
    );
    match wait(&mut child, commands.time_out) {
        None => Err(format!("no answer within {} s", commands.time_out.as_secs_f64())),
        Some(status) if status.success() => Ok(output.finish()),
        Some(status) => {
            let said = errors.finish();
            let said = String::from_utf8_lossy(&said);
            let said = said.trim().lines().next_back().unwrap_or_default().to_owned();
            Err(format!("{status}{}{said}", if said.is_empty() { "" } else { ": " }))
        }
    }
}

/// What a pipe has, read while the command runs.
struct Gathered {
    bytes: Arc<Mutex<Vec<u8>>>,
    end: Receiver<()>,
}

/// How long output is waited for after a command has ended: a process that it left behind, such as
/// the master of ssh's connections, may hold the pipe open for ever.
const AFTER_END: Duration = Duration::from_millis(500);

impl Gathered {
    fn of(pipe: Option<impl Read + Send + 'static>, most: u64) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let (send, end) = sync_channel(1);
        let all = Arc::clone(&bytes);
        std::thread::spawn(move || {
            let mut pipe = pipe.map(|pipe| pipe.take(most));
            let mut chunk = [0; 8192];
            while let Some(Ok(count @ 1..)) = pipe.as_mut().map(|pipe| pipe.read(&mut chunk)) {
                lock(&all).extend_from_slice(chunk.get(..count).unwrap_or_default());
            }
            // Nobody may wait any more.
            let _ = send.send(());
        });
        Self { bytes, end }
    }

    fn finish(self) -> Vec<u8> {
        let _ = self.end.recv_timeout(AFTER_END);
        std::mem::take(&mut *lock(&self.bytes))
    }
}

/// Waits for a child; after the time-out it is killed with its group, and the result is `None`.
fn wait(child: &mut Child, time_out: Duration) -> Option<std::process::ExitStatus> {
    let start = Instant::now();
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        if start.elapsed() >= time_out {
            if let Some(group) =
                i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw)
            {
                let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            }
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
