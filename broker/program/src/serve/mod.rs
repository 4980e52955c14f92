//! `topobroker serve`: the daemon of a node, and how it is watched.

mod cdi;
mod journal;
mod metrics;
mod watched;
mod whole_file;

use crate::output;
use crate::publish::What;
use crate::signals::Signals;
use anyhow::Context;
use clap::Args;
use journal::Priority;
use metrics::{Counts, Metrics};
use signal_hook::consts::SIGHUP;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use topobroker::node::daemon::{Folder, notify};
use topobroker::publish::{PublishOptions, SHM_FOLDER, Store, Whose, publish, sweep};
use topobroker_layout::description::Description;
use topobroker_layout::encode;
use topobroker_reader::{Keys, Source};
use watched::Watched;
use whole_file::WholeFile;

/// Publish the node's topology for all its processes, as the daemon of the node
///
/// Publishes again when the topology changes, until SIGTERM. SIGHUP makes it check at once
#[derive(Debug, Args)]
pub(super) struct Serve {
    #[command(flatten)]
    what: What,
    /// Folder to publish in, by default $TOPOBROKER_RUN, or /run/topobroker if that is not set;
    /// processes look only into the default folder on their own
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Seconds between checks for changes of the machine
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    interval: u64,
    /// At the end leave the published segment in the folder, for the next daemon
    #[arg(long)]
    keep: bool,
    /// Write metrics of the daemon to this file, for the textfile collector of node_exporter
    #[arg(long, value_name = "FILE")]
    metrics: Option<PathBuf>,
    /// Write the file by which Docker, Podman and Kubernetes give containers the topology, such as
    /// /etc/cdi/topobroker.json; the device is topobroker.io/topology=node
    #[arg(long, value_name = "FILE")]
    cdi: Option<PathBuf>,
}

impl Serve {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        // Signals are caught only when the input has been read, because reading may block for ever.
        let mut watched = Watched::new(&self.what.input);
        let first = self.what.capture()?;
        let signals = Signals::catch_for_daemon().context("signals")?;
        let folder =
            Folder::take(&self.folder.clone().unwrap_or_else(|| Keys::run_folder().into()))?;
        let metrics = self.metrics.as_ref().map(|file| Metrics::new(folder.path(), file));
        let cdi = self.cdi.as_deref().map(WholeFile::new);
        let counts = Counts::default();
        let (published, is_reading) = (None, Arc::default());
        let mut serving =
            Serving { options: &self, folder, metrics, cdi, published, counts, is_reading };
        let served = serving.serve(&mut watched, first, signals);
        serving.metrics.iter().for_each(Metrics::end);
        serving.cdi.iter().filter(|_| !self.keep).for_each(WholeFile::remove);
        let ended = match self.keep {
            true => {
                serving.folder.leave();
                Ok(())
            }
            false => serving.folder.withdraw(),
        };
        // An error of serving is reported before one of ending.
        served?;
        ended?;
        Ok(ExitCode::SUCCESS)
    }
}

/// A daemon that serves.
struct Serving<'a> {
    options: &'a Serve,
    folder: Folder,
    metrics: Option<Metrics>,
    cdi: Option<WholeFile>,
    /// What processes find now.
    published: Option<Description>,
    counts: Counts,
    /// Whether it waits for an input.
    is_reading: Arc<AtomicBool>,
}

impl Serving<'_> {
    /// Publishes, and publishes again when the machine has changed, until a signal asks this
    /// process to end.
    fn serve(
        &mut self,
        watched: &mut Watched,
        first: (Description, Source),
        mut signals: Signals,
    ) -> anyhow::Result<()> {
        self.publish(first, false)?;
        if let Some(file) = &mut self.cdi {
            cdi::write(file, self.folder.path())?;
        }
        notify(&format!("READY=1\n{}", self.status())).context("NOTIFY_SOCKET")?;
        let (sender, signalled) = channel();
        let is_reading = Arc::clone(&self.is_reading);
        std::thread::spawn(move || {
            // It ends with this process.
            let mut is_ending = false;
            loop {
                for signal in signals.wait_any() {
                    // The service may wait for an input that never answers.
                    if is_ending && signal != SIGHUP && is_reading.load(Ordering::Relaxed) {
                        std::process::exit(128 + signal);
                    }
                    is_ending |= signal != SIGHUP;
                    let _ = sender.send(signal);
                }
            }
        });
        loop {
            let looks = match signalled.recv_timeout(Duration::from_secs(self.options.interval)) {
                Ok(SIGHUP) => true,
                Err(RecvTimeoutError::Timeout) => {
                    self.clean();
                    self.published.as_ref().is_some_and(|it| watched.has_changed(it))
                }
                Ok(_) | Err(RecvTimeoutError::Disconnected) => break,
            };
            // A folder that cannot be put back, or that another daemon has by now, is not served
            // any more.
            let is_intact = self.folder.is_intact();
            let is_gone = !is_intact && self.folder.restore()?;
            let published = if looks || is_gone { self.look(is_gone) } else { Ok(()) };
            match published {
                Ok(()) => {
                    if looks || is_gone {
                        watched.remember();
                    }
                    if !is_intact {
                        self.count_repair();
                    }
                }
                // Nothing is remembered, so the next look tries again.
                Err(error) => {
                    journal::say(Priority::Error, &output::whole_message(&error), &[]);
                    self.note(|counts| counts.failures += 1);
                }
            }
            let _ = notify(&self.status());
            self.metrics.iter_mut().for_each(|it| it.write(self.counts));
        }
        let _ = notify("STOPPING=1\n");
        Ok(())
    }

    /// Captures the machine, and publishes it if it differs from what is published, or if that
    /// `is_gone`.
    fn look(&mut self, is_gone: bool) -> anyhow::Result<()> {
        self.is_reading.store(true, Ordering::Relaxed);
        let found = self.options.what.capture();
        self.is_reading.store(false, Ordering::Relaxed);
        self.publish(found?, is_gone)
    }

    fn publish(&mut self, found: (Description, Source), is_gone: bool) -> anyhow::Result<()> {
        let what = &self.options.what;
        let (description, source) = found;
        self.note(|counts| counts.looks += 1);
        if !is_gone && self.published.as_ref() == Some(&description) {
            return Ok(());
        }
        let options = PublishOptions {
            store: Store::Folder(self.folder.path().to_owned()),
            generation: self.folder.generation(),
            ..what.options(&description, source)
        };
        let objects = description.objects.len();
        let is_first = self.published.is_none();
        if is_first && self.folder.resume(&encode::to_bytes(&description)?, &options) {
            self.note(|counts| counts.objects = objects);
            self.say(&format!("goes on with generation {}", self.folder.generation() - 1), &[]);
        } else {
            let publication = publish(&description, &options)?;
            let bytes = publication.header().size;
            self.folder.announce(publication)?;
            self.note(|counts| {
                (counts.publications, counts.objects) = (counts.publications + 1, objects)
            });
            let generation = self.folder.generation() - 1;
            self.say(
                &format!("serves generation {generation}: {objects} objects in {bytes} bytes"),
                &[
                    ("GENERATION", generation.to_string()),
                    ("OBJECTS", objects.to_string()),
                    ("BYTES", bytes.to_string()),
                ],
            );
        }
        self.published = Some(description);
        Ok(())
    }

    fn count_repair(&mut self) {
        let repairs = self.folder.repairs();
        self.note(|counts| counts.repairs = repairs);
        self.say("files of this folder had been removed, and are put back", &[]);
    }

    /// Removes what others have left: jobs over what is served whose launcher is gone, and in
    /// shared memory all that killed processes have left, of all users if this is root.
    fn clean(&self) {
        self.folder.sweep_jobs();
        let is_root = rustix::process::geteuid().is_root();
        sweep(Path::new(SHM_FOLDER), if is_root { Whose::Everybody } else { Whose::Own });
    }

    fn note(&mut self, change: impl FnOnce(&mut Counts)) {
        change(&mut self.counts);
        self.metrics.iter_mut().for_each(|it| it.write_anew(self.counts));
    }

    fn status(&self) -> String {
        let repairs = match self.counts.repairs {
            0 => String::new(),
            count => format!(", put back {count} times"),
        };
        format!("STATUS=generation {} in use{repairs}\n", self.folder.generation() - 1)
    }

    fn say(&self, text: &str, fields: &[(&str, String)]) {
        journal::say(Priority::Info, &format!("{}: {text}", self.folder.path().display()), fields);
    }
}
