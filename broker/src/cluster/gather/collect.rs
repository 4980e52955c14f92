//! Collects reports into a cluster.

use super::error::GatherError;
use super::frame::{Body, Frame, MAGIC};
use super::report::Known;
use crate::cluster::builder::{ClusterBuilder, GroupId, PreparedNode};
use topobroker_layout::header;

/// A cluster that is being gathered.
#[derive(Default)]
pub struct Gathering {
    known: Known,
    cluster: ClusterBuilder,
    names: Vec<String>,
    /// Reports that came before the first of their class.
    waiting: Vec<(String, Frame)>,
}

impl Gathering {
    /// Nothing gathered yet.
    #[must_use]
    pub fn new() -> Self {
        Self { cluster: ClusterBuilder::new(), ..Self::default() }
    }

    /// The nodes that new ones can be told against.
    #[must_use]
    pub fn known(&self) -> &Known {
        &self.known
    }

    /// Takes note of nodes that reports refer to.
    pub(super) fn know(&mut self, known: Known) {
        self.known = known;
    }

    /// Adds what a node sent: a report, a segment, or hwloc XML. Text before it is left out, as
    /// remote shells print some. `from` is for errors; `name` is the node's name, if it is known
    /// better than by the node.
    ///
    /// # Errors
    ///
    /// [`GatherError`], with the cluster as it was.
    pub fn add(&mut self, from: &str, sent: &[u8], name: Option<&str>) -> Result<(), GatherError> {
        let find = |what: &[u8]| sent.windows(what.len()).position(|window| window == what);
        let rest = |at: usize| sent.get(at..).unwrap_or_default();
        if let Some(at) = find(MAGIC) {
            let mut frame = Frame::read(from, rest(at))?;
            name.into_iter().for_each(|name| name.clone_into(&mut frame.name));
            return self.add_frame(from, frame);
        }
        let node = if let Some(at) = find(&header::MAGIC) {
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
        self.add_node(node)
    }

    fn add_frame(&mut self, from: &str, frame: Frame) -> Result<(), GatherError> {
        if matches!(frame.body, Body::Difference(..)) && !self.known.has(frame.class) {
            self.waiting.push((from.to_owned(), frame));
            return Ok(());
        }
        if let Some(node) = self.known.node(from, frame)? {
            self.add_node(node)?;
        }
        Ok(())
    }

    fn add_node(&mut self, node: PreparedNode) -> Result<(), GatherError> {
        let name = node.name().to_owned();
        self.cluster.add(GroupId::CLUSTER, node)?;
        self.names.push(name);
        Ok(())
    }

    /// The cluster, and the names of the nodes among `expected` that are missing; the cluster has
    /// these as missing ones.
    ///
    /// # Errors
    ///
    /// [`GatherError::NoBase`] if a report came without that of the first node of its class.
    pub fn finish(
        mut self,
        expected: &[String],
    ) -> Result<(ClusterBuilder, Vec<String>), GatherError> {
        for (from, frame) in std::mem::take(&mut self.waiting) {
            if let Some(node) = self.known.node(&from, frame)? {
                self.add_node(node)?;
            }
        }
        let there: std::collections::HashSet<&String> = self.names.iter().collect();
        let missing: Vec<String> =
            expected.iter().filter(|name| !there.contains(name)).cloned().collect();
        missing.iter().for_each(|name| self.cluster.add_missing(name));
        Ok((self.cluster, missing))
    }
}
