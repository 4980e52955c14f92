//! `topobroker serve`: the daemon of a node, and how it is watched.

mod cdi;
mod journal;
mod metrics;
mod whole_file;

use crate::output;
use crate::publish::What;
use crate::signals::Signals;
use anyhow::Context;
use clap::Args;
use journal::Priority;
use metrics::Metrics;
use parking_lot::Mutex;
use rustix::process::{Signal, getpid, kill_process};
use signal_hook::consts::SIGHUP;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use topobroker::node::daemon::{Folder, fingerprint, notify};
use topobroker::publish::job::sweep_beside;
use topobroker::publish::{PublishOptions, Store, publish};
use topobroker_layout::description::Description;
use topobroker_reader::Keys;

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
        let mut signals = Signals::catch_for_daemon().context("signals")?;
        let mut folder =
            Folder::take(&self.folder.clone().unwrap_or_else(|| Keys::run_folder().into()))?;
        let metrics = self.metrics.as_ref().map(|file| Arc::new(Metrics::new(folder.path(), file)));
        let served = self.serve(&mut folder, &mut signals, metrics.as_ref());
        if let Some(metrics) = &metrics {
            metrics.end();
        }
        if let Some(file) = self.cdi.as_ref().filter(|_| !self.keep) {
            let _ = std::fs::remove_file(file);
        }
        let ended = match self.keep {
            true => {
                folder.leave();
                Ok(())
            }
            false => folder.withdraw(),
        };
        // An error of serving is reported before one of ending.
        served?;
        ended?;
        Ok(ExitCode::SUCCESS)
    }

    /// Publishes, and publishes again when the machine has changed, until a signal asks this
    /// process to end.
    fn serve(
        &self,
        folder: &mut Folder,
        signals: &mut Signals,
        metrics: Option<&Arc<Metrics>>,
    ) -> anyhow::Result<()> {
        let input = self.what.input.input.clone().map(PathBuf::from);
        let look = move || fingerprint(input.as_deref());
        // The fingerprint of the machine when it was last published.
        let seen = Arc::new(Mutex::new(look()));
        let mut published = self.publish(folder, None, metrics)?;
        if let Some(file) = &self.cdi {
            cdi::write(file, folder.path())?;
        }
        let status = |generation: u64| format!("STATUS=generation {generation} in use\n");
        notify(&format!("READY=1\n{}", status(folder.generation() - 1)))
            .context("NOTIFY_SOCKET")?;
        self.watch(folder.path(), look.clone(), Arc::clone(&seen), metrics.cloned());
        loop {
            let got = signals.wait_any();
            if got.iter().any(|signal| *signal != SIGHUP) {
                break;
            }
            if got.is_empty() {
                continue;
            }
            let now = look();
            match self.publish(folder, Some(&published), metrics) {
                Ok(description) => {
                    published = description;
                    *seen.lock() = now;
                }
                // `seen` stays unchanged, so the next check tries again.
                Err(error) => {
                    journal::say(Priority::Error, &output::whole_message(&error), &[]);
                    metrics.inspect(|it| it.note(|counts| counts.failures += 1));
                }
            }
            let _ = notify(&status(folder.generation() - 1));
        }
        let _ = notify("STOPPING=1\n");
        Ok(())
    }

    /// Captures the machine, and publishes it if it differs from `published`.
    fn publish(
        &self,
        folder: &mut Folder,
        published: Option<&Description>,
        metrics: Option<&Arc<Metrics>>,
    ) -> anyhow::Result<Description> {
        let (description, source) = self.what.capture()?;
        if published == Some(&description) {
            metrics.inspect(|it| it.note(|counts| counts.looks += 1));
            return Ok(description);
        }
        let options = PublishOptions {
            store: Store::Folder(folder.path().to_owned()),
            generation: folder.generation(),
            ..self.what.options(&description, source)
        };
        let publication = publish(&description, &options)?;
        let (objects, bytes) = (description.objects.len(), publication.header().size);
        folder.announce(publication)?;
        metrics.inspect(|it| {
            it.note(|counts| {
                (counts.looks, counts.publications) = (counts.looks + 1, counts.publications + 1);
                counts.objects = objects;
            });
        });
        let (place, generation) = (folder.path().display(), folder.generation() - 1);
        journal::say(
            Priority::Info,
            &format!("{place}: serves generation {generation}: {objects} objects in {bytes} bytes"),
            &[
                ("GENERATION", generation.to_string()),
                ("OBJECTS", objects.to_string()),
                ("BYTES", bytes.to_string()),
            ],
        );
        Ok(description)
    }

    /// Starts a thread that sends SIGHUP to this process if the machine's fingerprint is no longer
    /// `seen`, and that removes jobs whose launcher is gone.
    fn watch(
        &self,
        folder: &Path,
        look: impl Fn() -> String + Send + 'static,
        seen: Arc<Mutex<String>>,
        metrics: Option<Arc<Metrics>>,
    ) {
        let (every, folder) = (Duration::from_secs(self.interval), folder.to_owned());
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(every);
                metrics.iter().for_each(|it| it.tell());
                if *seen.lock() != look() {
                    let _ = kill_process(getpid(), Signal::HUP);
                }
                let keys = std::fs::read_to_string(Keys::file_in(&folder.as_path().into())).ok();
                if let Some(keys) = keys.and_then(|keys| Keys::from_lines(&keys).ok())
                    && let Some(file) = keys.path()
                {
                    // If the folder cannot be listed now, the next round tries again.
                    let _ = sweep_beside(file);
                }
            }
        });
    }
}
