//! A line on a terminal about work that takes more than a second.

use super::output;
use std::io::{IsTerminal, Write, stderr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Shows how far work is, until it is dropped. Where standard error is no terminal, or is to be
/// quiet, it shows nothing.
pub(crate) struct Progress {
    done: Arc<AtomicUsize>,
    line: Option<(Sender<()>, JoinHandle<()>)>,
}

/// How long work takes before it is shown, and how often it is.
const FIRST: Duration = Duration::from_secs(1);
const NEXT: Duration = Duration::from_millis(200);

impl Progress {
    /// Begins to show work, such as "nodes are read", of so many steps; of none, if they are not
    /// known.
    pub(crate) fn of(what: &'static str, steps: usize) -> Self {
        let done = Arc::new(AtomicUsize::new(0));
        let is_shown = stderr().is_terminal() && !output::is_quiet();
        let line = is_shown.then(|| {
            let (end, ended) = channel();
            let counted = Arc::clone(&done);
            output::IS_LINE_SHOWN.store(true, Ordering::Relaxed);
            let show = move || {
                let mut wait = FIRST;
                while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                    let done = counted.load(Ordering::Relaxed).min(steps);
                    let text = match steps {
                        0 => format!("{what} ..."),
                        _ => format!("{what}: {done} of {steps}"),
                    };
                    // A terminal that is gone is no error of the work.
                    let _ = write!(stderr(), "\r{text}\u{1b}[K").and_then(|()| stderr().flush());
                    wait = NEXT;
                }
                if wait == NEXT {
                    let _ = write!(stderr(), "\r\u{1b}[K");
                }
            };
            (end, std::thread::spawn(show))
        });
        Self { done, line }
    }

    /// The number of steps that are done.
    pub(crate) fn done(&self) -> &AtomicUsize {
        &self.done
    }

    /// One more step is done.
    pub(crate) fn step(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.line.take() {
            output::IS_LINE_SHOWN.store(false, Ordering::Relaxed);
            drop(end);
            // It cannot panic, and nothing is lost if it did.
            let _ = thread.join();
        }
    }
}
