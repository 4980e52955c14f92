//! One node of a cluster, read with the few pages that it needs, however many nodes there are.

use super::adopt::named_file;
use super::error::ClusterOpenError;
use super::identity::Identity;
use super::node::values_of;
use crate::adopt::{Candidate, candidate, map_part};
use crate::archive::Archive;
use crate::topology::Topology;
use alloc::borrow::{Cow, ToOwned};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec;
use topobroker_layout::cluster::blocks::ClusterBytes;
use topobroker_layout::cluster::delta::NodeValues;
use topobroker_layout::cluster::head::{HEAD_LEN, Head};
use topobroker_layout::header::MAX_CLUSTER_LEN;
use topobroker_process::{FilePath, Global};

/// A node of a cluster that this process reads as its own topology.
#[derive(Debug)]
pub struct OwnNode {
    name: String,
    number: u32,
    class: u16,
    archive: Archive<'static>,
    /// What the archive borrows. Kept here so that tools that look for leaks find it.
    _values: &'static NodeValues,
    file: FilePath,
}

static OWN: Global<OwnNode> = Global::new();

/// The own node in the cluster that the environment variable `TOPOBROKER_CLUSTER` names. The first
/// call reads a few kilobytes of the file and maps the topology of the node's class; every later
/// one returns the same.
///
/// # Errors
///
/// [`ClusterOpenError`]; [`ClusterOpenError::NoNode`] if this process's node is not in the cluster.
pub fn own_node() -> Result<&'static OwnNode, ClusterOpenError> {
    if let Some(own) = OWN.get() {
        return Ok(own);
    }
    let own = OwnNode::open(&named_file()?, &Identity::of_this_process())?;
    Ok(OWN.set(own))
}

impl OwnNode {
    /// Reads the node of an identity out of the cluster in a file. What is mapped stays for the
    /// life of the process.
    ///
    /// # Errors
    ///
    /// [`ClusterOpenError`].
    pub fn open(file: impl Into<FilePath>, identity: &Identity) -> Result<Self, ClusterOpenError> {
        let file = &file.into();
        let candidate = candidate(file, MAX_CLUSTER_LEN)?;
        let size = candidate.keys.size();
        let pieces = Pieces(&candidate);
        let page = pieces.bytes(0, usize::try_from(size).unwrap_or(HEAD_LEN).min(HEAD_LEN));
        let page = page.ok_or(ClusterOpenError::checksum("first page"))?;
        let (_, head) = Head::read(&page, size)?;
        let missing = |head: &Head| ClusterOpenError::NoNode {
            name: identity.host.clone(),
            count: head.nodes.count,
        };
        let mut found = None;
        for name in identity.names() {
            let node = head.look_up(&pieces, name).map_err(ClusterOpenError::checksum)?;
            found = node.map(|(number, row)| (name.to_owned(), number, row));
            if found.is_some() {
                break;
            }
        }
        let (name, number, row) = found.ok_or_else(|| missing(&head))?;
        let boot = match head.boots.count {
            0 => None,
            _ => {
                let boot = head.boots.read(&pieces, number);
                let boot = boot.ok_or(ClusterOpenError::checksum("table of boots"))?;
                boot.first_chunk().copied()
            }
        };
        if !identity.may_be_boot(boot.filter(|boot| *boot != [0; 16])) {
            return Err(ClusterOpenError::OtherBoot { name });
        }
        let class = head.class(&pieces, row.class);
        let class = class.ok_or(ClusterOpenError::checksum("table of classes"))?;
        let segment = map_part(&candidate, class.segment.at, class.segment.len)?;
        let opened = candidate.open_segment(segment);
        let (_, class_archive) =
            opened.map_err(|source| ClusterOpenError::Class { class: row.class, source })?;
        let length = usize::try_from(class.fields.len).unwrap_or(usize::MAX);
        let fields = pieces.bytes(class.fields.at, length).filter(|it| class.fields.is_sound(it));
        let fields = fields.ok_or(ClusterOpenError::class_checksum(row.class))?;
        let values = values_of(&pieces, &class, &fields, row.member, &name)?;
        let values: &'static NodeValues = Box::leak(Box::new(values));
        let archive = class_archive.with_values(values);
        let host = archive.topology().root().info("HostName");
        if !identity.may_be_host(host) {
            let found = host.unwrap_or_default().to_owned();
            return Err(ClusterOpenError::OtherHost { name, found });
        }
        let (class, file) = (row.class, file.clone());
        Ok(Self { name, number, class, archive, _values: values, file })
    }

    /// Name of the node.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of the node in the cluster.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Number of the class of the node.
    #[must_use]
    pub fn class(&self) -> u16 {
        self.class
    }

    /// The topology of the node.
    #[must_use]
    pub fn topology(&self) -> Topology<'_> {
        self.archive.topology()
    }

    /// The archive of the topology.
    #[must_use]
    pub fn archive(&self) -> &Archive<'static> {
        &self.archive
    }

    /// The file of the cluster.
    #[must_use]
    pub fn file(&self) -> &FilePath {
        &self.file
    }
}

/// Pieces of a file, read when they are asked for.
struct Pieces<'c>(&'c Candidate);

impl ClusterBytes<'static> for Pieces<'_> {
    fn bytes(&self, at: u64, len: usize) -> Option<Cow<'static, [u8]>> {
        // A damaged length must not make this allocate more than the file has.
        (at.checked_add(len as u64)? <= self.0.keys.size()).then_some(())?;
        let mut bytes = vec![0; len];
        self.0.read_at(at, &mut bytes).ok()?;
        Some(Cow::Owned(bytes))
    }
}
