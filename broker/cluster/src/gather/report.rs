//! What a node sends about itself.

use super::error::{GatherError, MAX_REPORT};
use super::frame::{Body, Frame};
use crate::difference::{apply_difference, difference};
use crate::prepared_node::PreparedNode;
use std::collections::HashMap;
use topobroker::aligned::aligned;
use topobroker_layout::encode::AlignedVec;
use xxhash_rust::xxh3::xxh3_64;

/// A node that is ready to send its report.
pub struct NodeReport {
    node: PreparedNode,
}

/// What a process brings to an exchange.
pub enum Contribution {
    /// Nothing: another process of the node does.
    Nothing,
    /// The report of its node.
    Report(NodeReport),
    /// Its node cannot be reported.
    Failure {
        /// Name of the node.
        name: String,
        /// Why.
        reason: String,
    },
}

/// Most bytes of the archives that are sent to others: less than what they read.
const MOST_BYTES: usize = 1 << 25;

/// The first node of each class that is known, by the hash of the class.
#[derive(Default)]
pub struct Known {
    bases: HashMap<u128, Base>,
    /// Bytes of their archives.
    bytes: usize,
    /// Whether nodes of other classes are to send only their class.
    asks_for_classes: bool,
}

struct Base {
    node: PreparedNode,
    hash: u64,
}

impl NodeReport {
    /// The report of a node.
    #[must_use]
    pub fn new(node: PreparedNode) -> Self {
        Self { node }
    }

    /// Name of the node.
    #[must_use]
    pub fn name(&self) -> &str {
        self.node.name()
    }

    /// The hash of the node's class, which every node computes alone.
    #[must_use]
    pub fn class(&self) -> u128 {
        self.node.class_hash()
    }

    /// Only the class, 16 bytes, with name and boot.
    #[must_use]
    pub fn hash_only(&self) -> Vec<u8> {
        self.frame(Body::Hash).to_bytes()
    }

    /// The whole topology.
    #[must_use]
    pub fn whole(&self) -> Vec<u8> {
        self.frame(Body::Whole(self.node.archive().to_vec())).to_bytes()
    }

    /// What differs from the known node of the same class; otherwise the whole topology, or only
    /// the class if that is what is asked for.
    #[must_use]
    pub fn against(&self, known: &Known) -> Vec<u8> {
        match known.bases.get(&self.class()) {
            Some(base) => {
                let values = difference(base.node.prepared(), self.node.prepared());
                self.frame(Body::Difference(base.hash, values)).to_bytes()
            }
            None if known.asks_for_classes => self.hash_only(),
            None => self.whole(),
        }
    }

    fn frame(&self, body: Body) -> Frame {
        let (name, boot) = (self.node.name().to_owned(), self.node.boot());
        Frame { name, boot, class: self.class(), body }
    }
}

/// The node of a whole report.
///
/// # Errors
///
/// [`GatherError`]. `from` is for that.
pub fn node_of_report(from: &str, sent: &[u8]) -> Result<PreparedNode, GatherError> {
    match Known::default().node(from, Frame::read(from, sent)?)? {
        Reported::Node(node) => Ok(*node),
        Reported::Class(_) => Err(GatherError::only_a_class(from)),
    }
}

/// What a report says.
pub(super) enum Reported {
    /// A node.
    Node(Box<PreparedNode>),
    /// Only its class.
    Class(u128),
}

impl Known {
    /// Takes note of the nodes in whole reports that follow each other, such as those that were
    /// sent to a node. `from` is for errors.
    ///
    /// # Errors
    ///
    /// [`GatherError`] if one cannot be used.
    pub fn read(from: &str, reports: &[u8]) -> Result<Self, GatherError> {
        let mut known = Self::default();
        known.take_note(from, reports)?;
        Ok(known)
    }

    /// Takes note of the nodes in whole reports that follow each other.
    pub(super) fn take_note(&mut self, from: &str, reports: &[u8]) -> Result<(), GatherError> {
        for frame in Frame::read_all(from, reports)? {
            if let Reported::Class(0) = self.node(from, frame)? {
                self.asks_for_classes = true;
            }
        }
        Ok(())
    }

    /// Whether a node of a class is known.
    #[must_use]
    pub fn has(&self, class: u128) -> bool {
        self.bases.contains_key(&class)
    }

    /// Whether one more node can be known. If not, nodes of other classes send their whole
    /// topology.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.bytes + MAX_REPORT <= MOST_BYTES
    }

    /// The whole reports of all known nodes, for [`Known::read`]. With `asks_for_classes`, nodes of
    /// other classes are to send only their class.
    #[must_use]
    pub fn to_bytes(&self, asks_for_classes: bool) -> Vec<u8> {
        let question =
            Frame { name: String::new(), boot: [0; 16], class: 0, body: Body::Hash }.to_bytes();
        let mut all: Vec<(&u128, &Base)> = self.bases.iter().collect();
        all.sort_by_key(|(class, _)| **class);
        let frames = all.into_iter().map(|(class, base)| Frame {
            name: base.node.name().to_owned(),
            boot: base.node.boot(),
            class: *class,
            body: Body::Whole(base.node.archive().to_vec()),
        });
        let reports = frames.flat_map(|frame| frame.to_bytes());
        reports.chain(question.into_iter().filter(|_| asks_for_classes)).collect()
    }

    /// What a report says. A node of a class that was not known is known from now on.
    pub(super) fn node(&mut self, from: &str, frame: Frame) -> Result<Reported, GatherError> {
        let Frame { name, boot, class, body } = frame;
        let damaged = |what| GatherError::Damaged { from: from.to_owned(), what };
        let archive = match body {
            Body::Hash => return Ok(Reported::Class(class)),
            Body::Failed(reason) => return Err(GatherError::Failed { node: name, reason }),
            Body::Whole(bytes) if bytes.len() > MAX_REPORT => {
                return Err(GatherError::TooLarge { from: from.to_owned(), found: bytes.len() });
            }
            Body::Whole(bytes) => aligned(&bytes),
            Body::Difference(hash, values) => {
                let base = self.bases.get(&class);
                let base =
                    base.ok_or_else(|| GatherError::NoBase { from: from.to_owned(), class })?;
                if base.hash != hash {
                    return Err(damaged("is of another first node of its class"));
                }
                apply_difference(base.node.prepared(), &values)
                    .ok_or_else(|| damaged("has values that do not fit its class"))?
            }
        };
        let prepare = |archive: &AlignedVec| {
            PreparedNode::of_archive(archive.clone(), Some(&name), from)
                .map(|it| it.with_boot(Some(boot)))
        };
        let node = prepare(&archive)?;
        if node.class_hash() != class {
            return Err(damaged("is of another class than it says"));
        }
        if !self.has(class) && self.has_room() {
            let hash = xxh3_64(&archive);
            self.bytes += archive.len();
            self.bases.insert(class, Base { node: prepare(&archive)?, hash });
        }
        Ok(Reported::Node(Box::new(node)))
    }
}
