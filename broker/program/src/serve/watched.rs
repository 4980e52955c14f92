//! What the daemon looks at, and when it has changed.

use crate::input::Input;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use topobroker::linux::{Root, refresh_driver_facts, refresh_facts, sorted_facts};
use topobroker::node::daemon::fingerprint;
use topobroker_layout::description::{Description, Object};

/// What says that the machine may have changed: the file of its topology, or which PUs and NUMA
/// nodes are online and allowed; and the facts of its devices that change.
pub(super) struct Watched {
    file: Option<PathBuf>,
    root: Option<Root>,
    is_saved: bool,
    /// The fingerprint of when the machine was last captured, and that of now.
    fingerprints: [String; 2],
    /// The published objects, with the facts that they had at the last look.
    objects: Option<Vec<Object>>,
    /// These facts, if they differed from those that are published.
    differed: Option<Vec<Vec<(String, String)>>>,
    driver_asked: Instant,
}

/// How long what a driver said is taken to be true: asking it may start it.
const DRIVER: Duration = Duration::from_secs(60);

impl Watched {
    pub(super) fn new(input: &Input) -> Self {
        let file = input.input.clone().map(PathBuf::from);
        let now = fingerprint(file.as_deref());
        let fingerprints = [now.clone(), now];
        Self {
            root: input.root(),
            is_saved: input.is_saved(),
            file,
            fingerprints,
            objects: None,
            differed: None,
            driver_asked: Instant::now(),
        }
    }

    /// Whether the machine is to be captured again. Facts count if they differ from those of the
    /// published objects, and are the same as at the look before: so a port that comes and goes
    /// does not publish each time.
    pub(super) fn has_changed(&mut self, published: &Description) -> bool {
        let [seen, now] = &mut self.fingerprints;
        *now = fingerprint(self.file.as_deref());
        if seen != now {
            return true;
        }
        let is_here = self.is_saved || published.is_this_system;
        let Some(root) = self.root.as_ref().filter(|_| is_here) else { return false };
        // What the driver said stays until it is asked again.
        let objects = self.objects.get_or_insert_with(|| published.objects.clone());
        refresh_facts(objects, root);
        if self.driver_asked.elapsed() >= DRIVER {
            refresh_driver_facts(objects, root);
            self.driver_asked = Instant::now();
        }
        let now =
            Some(sorted_facts(objects)).filter(|now| *now != sorted_facts(&published.objects));
        let is_steady = now.is_some() && now == self.differed;
        self.differed = now;
        is_steady
    }

    /// Notes that the machine was captured as it was at the last look.
    pub(super) fn remember(&mut self) {
        let [seen, now] = &mut self.fingerprints;
        seen.clone_from(now);
        (self.objects, self.differed) = (None, None);
    }
}
