//! Collects reports into a cluster.

use super::error::{GatherError, MAX_REPORT};
use super::frame::{Body, Frame, MAGIC};
use super::report::{Known, Reported};
use crate::builder::{ClusterBuilder, GroupId};
use crate::prepared_node::PreparedNode;
use std::collections::{BTreeSet, HashSet};
use topobroker_layout::header;
use topobroker_process::with_causes;

/// A cluster that is being gathered.
#[derive(Default)]
pub struct Gathering {
    known: Known,
    cluster: ClusterBuilder,
    names: Vec<String>,
    /// Reports that came before the first of their class.
    waiting: Vec<(String, Frame)>,
    failures: Vec<Failure>,
}

/// A node, or a file or process that should have sent one, of which nothing can be used.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Failure {
    /// Name of the node, if it is known.
    pub node: Option<String>,
    /// What is wrong, with the name of the node, file or process.
    pub what: String,
}

/// What was gathered.
pub struct Gathered {
    /// The cluster. It has the names of missing nodes.
    pub cluster: ClusterBuilder,
    /// Names of the nodes that are missing, sorted: expected ones, and those that failed.
    pub missing: Vec<String>,
    /// What failed, sorted.
    pub failures: Vec<Failure>,
}

/// What was added to a cluster that is being gathered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    /// A node, or a report that waits for the first one of its class.
    Node,
    /// Nothing: only a class was sent.
    Class(u128),
}

/// What a node sent, taken apart. Reading it needs no lock on what is gathered.
pub struct Sent(Read);

enum Read {
    Report(Frame),
    Node(Box<PreparedNode>),
}

impl Sent {
    /// Reads a report, a segment, or hwloc XML. Text before it is left out, as remote shells print
    /// some. `from` is for errors; `name` is the node's name, if it is known better than by the
    /// node.
    ///
    /// # Errors
    ///
    /// [`GatherError`]; [`GatherError::TooLarge`] above [`MAX_REPORT`].
    pub fn read(from: &str, sent: &[u8], name: Option<&str>) -> Result<Self, GatherError> {
        let find = |what: &[u8]| sent.windows(what.len()).position(|window| window == what);
        let rest = |at: usize| sent.get(at..).unwrap_or_default();
        if let Some(at) = find(MAGIC) {
            let mut frame = Frame::read(from, rest(at))?;
            name.into_iter().for_each(|name| name.clone_into(&mut frame.name));
            check_length(from, frame.length())?;
            return Ok(Self(Read::Report(frame)));
        }
        let node = if let Some(at) = find(&header::MAGIC) {
            check_length(from, rest(at).len())?;
            PreparedNode::of_segment(rest(at), name, from)?
        } else if let Some(at) = find(b"<?xml").or_else(|| find(b"<topology")) {
            PreparedNode::of_xml(rest(at).to_vec(), name, from)?
        } else {
            let text = String::from_utf8_lossy(sent);
            let found = match text.trim() {
                "" => "nothing".to_owned(),
                text => format!("{:?}", text.chars().take(80).collect::<String>()),
            };
            return Err(GatherError::NotAReport { from: from.to_owned(), found });
        };
        check_length(from, node.archive().len())?;
        Ok(Self(Read::Node(Box::new(node))))
    }

    /// The name of the node.
    #[must_use]
    pub fn name(&self) -> &str {
        match &self.0 {
            Read::Report(frame) => &frame.name,
            Read::Node(node) => node.name(),
        }
    }
}

fn check_length(from: &str, found: usize) -> Result<(), GatherError> {
    match found <= MAX_REPORT {
        true => Ok(()),
        false => Err(GatherError::TooLarge { from: from.to_owned(), found }),
    }
}

impl Gathering {
    /// Nothing gathered yet.
    #[must_use]
    pub fn new() -> Self {
        Self { cluster: ClusterBuilder::new(), ..Self::default() }
    }

    /// The nodes that new ones can be compared with.
    #[must_use]
    pub fn known(&self) -> &Known {
        &self.known
    }

    /// Takes note of nodes that reports refer to.
    pub(super) fn know(&mut self, from: &str, reports: &[u8]) -> Result<(), GatherError> {
        self.known.take_note(from, reports)
    }

    /// Takes note of a failure. The node, if it is known, is missing unless it is added later.
    pub fn fail(&mut self, node: Option<&str>, error: &dyn std::error::Error) {
        let node = node.map(str::to_owned);
        self.failures.push(Failure { node, what: with_causes(error) });
    }

    /// Adds what a node sent: [`Sent::read`], then [`Gathering::take`].
    ///
    /// # Errors
    ///
    /// [`GatherError`], with the cluster as it was.
    pub fn add(
        &mut self,
        from: &str,
        sent: &[u8],
        name: Option<&str>,
    ) -> Result<Added, GatherError> {
        self.take(from, Sent::read(from, sent, name)?)
    }

    /// Adds what was read of a node. `from` is for errors.
    ///
    /// # Errors
    ///
    /// [`GatherError`], with the cluster as it was.
    pub fn take(&mut self, from: &str, sent: Sent) -> Result<Added, GatherError> {
        match sent.0 {
            Read::Report(frame) => self.add_frame(from, frame),
            Read::Node(node) => self.add_node(*node),
        }
    }

    fn add_frame(&mut self, from: &str, frame: Frame) -> Result<Added, GatherError> {
        if matches!(frame.body, Body::Difference(..)) && !self.known.has(frame.class) {
            self.waiting.push((from.to_owned(), frame));
            return Ok(Added::Node);
        }
        self.add_known(from, frame)
    }

    /// Adds a report of a class that is known, or one that sends its class.
    fn add_known(&mut self, from: &str, frame: Frame) -> Result<Added, GatherError> {
        match self.known.node(from, frame)? {
            Reported::Node(node) => self.add_node(*node),
            Reported::Class(class) => Ok(Added::Class(class)),
        }
    }

    fn add_node(&mut self, node: PreparedNode) -> Result<Added, GatherError> {
        let name = node.name().to_owned();
        self.cluster.add(GroupId::CLUSTER, node)?;
        self.names.push(name);
        Ok(Added::Node)
    }

    /// The cluster, and what is missing of the nodes that were expected. Nothing that failed keeps
    /// others out.
    #[must_use]
    pub fn finish(mut self, expected: &[String]) -> Gathered {
        for (from, frame) in std::mem::take(&mut self.waiting) {
            let name = frame.name.clone();
            if let Err(error) = self.add_known(&from, frame) {
                self.fail(Some(&name), &error);
            }
        }
        let there: HashSet<&String> = self.names.iter().collect();
        let failed = self.failures.iter().filter_map(|failure| failure.node.as_ref());
        let wanted: BTreeSet<&String> = expected.iter().chain(failed).collect();
        let missing: Vec<String> =
            wanted.into_iter().filter(|name| !there.contains(name)).cloned().collect();
        missing.iter().for_each(|name| self.cluster.add_missing(name));
        self.failures.sort();
        Gathered { cluster: self.cluster, missing, failures: self.failures }
    }
}
