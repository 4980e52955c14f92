//! Gathering by a command for each node, such as ssh.

use super::collect::{Added, Gathering, Sent};
use super::error::GatherError;
use super::run_command::{Limits, run_command};
use parking_lot::{Condvar, Mutex};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::Duration;

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

/// How often a node may send only its class. It is asked again when the first one of its class has
/// failed.
const MOST_QUESTIONS: u32 = 16;

/// Name of the node that a host is, as a remote shell is given it: `user@n1` is `n1`.
#[must_use]
pub fn node_of_host(host: &str) -> &str {
    host.rsplit_once('@').map_or(host, |(_, name)| name)
}

/// Asks nodes, until all have answered or `interrupted` is set. Of a class that is not known, one
/// node sends its whole topology; others that are asked at the same time send only their class, and
/// then what differs. Each answer is counted in `answered`.
#[must_use]
pub fn run_on(
    hosts: &[String],
    commands: &Commands,
    interrupted: &AtomicBool,
    answered: &AtomicUsize,
) -> Gathering {
    let job = |host: &String| Job {
        host: host.clone(),
        tries: commands.retries,
        questions: 0,
        claim: None,
        reports_all: false,
        is_first: false,
    };
    let mut queue: VecDeque<Job> = hosts.iter().map(job).collect();
    queue.front_mut().into_iter().for_each(|first| first.is_first = true);
    let work = Work {
        state: Mutex::new(State {
            gathering: Gathering::new(),
            queue,
            waiting: HashMap::new(),
            claimed: HashSet::new(),
            running: 0,
            first_is_asked: false,
        }),
        changed: Condvar::new(),
    };
    std::thread::scope(|scope| {
        for _ in 0..commands.at_once.clamp(1, hosts.len().max(1)) {
            scope.spawn(|| {
                while let Some(job) = work.next(interrupted) {
                    work.ask(job, commands, interrupted);
                    answered.fetch_add(1, Relaxed);
                }
            });
        }
    });
    work.state.into_inner().gathering
}

/// A node to ask.
struct Job {
    host: String,
    /// How often it may still fail.
    tries: u32,
    /// How often it sent only its class.
    questions: u32,
    /// The class of which it is to send its whole topology.
    claim: Option<u128>,
    /// Whether it is to send its whole topology, because no more classes can be known.
    reports_all: bool,
    /// Whether it is asked before all others, so that they know its class.
    is_first: bool,
}

struct Work {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    gathering: Gathering,
    queue: VecDeque<Job>,
    /// Nodes of classes whose first node is being asked.
    waiting: HashMap<u128, Vec<Job>>,
    /// Classes whose first node is being asked.
    claimed: HashSet<u128>,
    running: usize,
    /// Whether the first node is being asked: then no other one is.
    first_is_asked: bool,
}

impl Work {
    /// The next node to ask; `None` if there will be none any more.
    fn next(&self, interrupted: &AtomicBool) -> Option<Job> {
        let mut state = self.state.lock();
        loop {
            if interrupted.load(Relaxed) {
                return None;
            }
            if !state.first_is_asked
                && let Some(job) = state.queue.pop_front()
            {
                state.running += 1;
                state.first_is_asked = job.is_first;
                return Some(job);
            }
            // Whoever is still asked may come back into the queue.
            if state.running == 0 {
                return None;
            }
            self.changed.wait(&mut state);
        }
    }

    fn ask(&self, mut job: Job, commands: &Commands, interrupted: &AtomicBool) {
        let reports_all = job.is_first || job.reports_all || job.claim.is_some();
        let known = self.state.lock().gathering.known().to_bytes(!reports_all);
        let answer = run_of(&job.host, commands, known, interrupted);
        let name = node_of_host(&job.host).to_owned();
        // Without the lock, because XML takes long to read.
        let has_run = answer.is_ok();
        let sent = answer.and_then(|sent| Sent::read(&job.host, &sent, Some(&name)));
        let mut state = self.state.lock();
        state.running -= 1;
        if std::mem::take(&mut job.is_first) {
            state.first_is_asked = false;
        }
        let added = sent.and_then(|sent| state.gathering.take(&job.host, sent));
        if let Some(class) = job.claim.take() {
            state.claimed.remove(&class);
            let waiting = state.waiting.remove(&class).unwrap_or_default();
            state.queue.extend(waiting);
        }
        match added {
            Ok(Added::Node) => {}
            Ok(Added::Class(class)) if job.questions < MOST_QUESTIONS => {
                job.questions += 1;
                let known = state.gathering.known();
                if known.has(class) {
                    state.queue.push_back(job);
                } else if !known.has_room() {
                    job.reports_all = true;
                    state.queue.push_front(job);
                } else if state.claimed.insert(class) {
                    job.claim = Some(class);
                    state.queue.push_front(job);
                } else {
                    state.waiting.entry(class).or_default().push(job);
                }
            }
            Ok(Added::Class(class)) => {
                let error = GatherError::NoBase { from: job.host, class };
                state.gathering.fail(Some(&name), &error);
            }
            // What a command has printed stays wrong however often it is asked.
            Err(_) if !has_run && job.tries > 0 && !interrupted.load(Relaxed) => {
                job.tries -= 1;
                state.queue.push_back(job);
            }
            Err(error) => state.gathering.fail(Some(&name), &error),
        }
        drop(state);
        self.changed.notify_all();
    }
}

/// Runs the command of a node, and returns what it printed.
fn run_of(
    host: &str,
    commands: &Commands,
    known: Vec<u8>,
    interrupted: &AtomicBool,
) -> Result<Vec<u8>, GatherError> {
    // A name goes into a command of a shell.
    let is_plain =
        |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.' | ':' | '@');
    let failed = |reason| GatherError::Failed { node: host.to_owned(), reason };
    if host.is_empty() || host.starts_with('-') || !host.chars().all(is_plain) {
        return Err(failed("is no name of a host".to_owned()));
    }
    let limits = Limits { time_out: commands.time_out, interrupted };
    run_command(&commands.template.replace("{host}", host), known, &limits).map_err(failed)
}
