//! A node of a cluster.

use super::error::ClusterOpenError;
use super::{Cluster, part};
use crate::archive::Archive;
use crate::object::Object;
use alloc::borrow::{Cow, ToOwned};
use alloc::string::String;
use topobroker_layout::archive::ArchivedTopology;
use topobroker_layout::cluster::blocks::ClusterBytes;
use topobroker_layout::cluster::delta::{ClassFields, NodeValues};
use topobroker_layout::cluster::nodes::{ClassRow, NodeRow};

/// A node of a cluster. It is a handle: copy it freely.
#[derive(Clone, Copy)]
pub struct ClusterNode<'a> {
    cluster: &'a Cluster<'a>,
    number: u32,
}

impl core::fmt::Debug for ClusterNode<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "ClusterNode({}, class {})", self.name(), self.class())
    }
}

impl PartialEq for ClusterNode<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number && core::ptr::eq(self.cluster.file, other.cluster.file)
    }
}

impl Eq for ClusterNode<'_> {}

impl Cluster<'_> {
    /// Nodes in the order of their numbers: by name, unless the cluster was built otherwise.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = ClusterNode<'_>> {
        (0..self.node_count()).map(move |number| ClusterNode::new(self, number))
    }

    /// The node with a number.
    #[must_use]
    pub fn node(&self, number: u32) -> Option<ClusterNode<'_>> {
        (number < self.node_count()).then(|| ClusterNode::new(self, number))
    }

    /// The node with a name.
    #[must_use]
    #[inline]
    pub fn node_by_name(&self, name: &str) -> Option<ClusterNode<'_>> {
        Some(ClusterNode::new(self, self.head.find(self.file, name)?))
    }
}

impl<'a> ClusterNode<'a> {
    #[inline]
    pub(super) fn new(cluster: &'a Cluster<'a>, number: u32) -> Self {
        Self { cluster, number }
    }

    /// Number of the node in the cluster. Counterpart: the info `AssemblerIndex` of hwloc 1.
    #[doc(alias = "AssemblerIndex")]
    #[must_use]
    pub fn number(self) -> u32 {
        self.number
    }

    /// Name of the node in the cluster. Counterpart: the info `AssemblerName` of hwloc 1.
    #[doc(alias = "AssemblerName")]
    #[must_use]
    #[inline]
    pub fn name(self) -> &'a str {
        self.cluster.head.names.get(self.cluster.file, self.row().name).unwrap_or_default()
    }

    /// Number of the class of the node.
    #[must_use]
    pub fn class(self) -> u16 {
        self.row().class
    }

    /// The cluster.
    pub(super) fn cluster(self) -> &'a Cluster<'a> {
        self.cluster
    }

    /// Number of the group that the node is directly in.
    #[inline]
    pub(super) fn group_number(self) -> u32 {
        self.row().group
    }

    /// Boot in which the node's topology was published, `None` if it is not known.
    #[must_use]
    pub fn boot(self) -> Option<[u8; 16]> {
        let boot = self.cluster.head.boots.get(self.cluster.file, self.number)?;
        boot.first_chunk().copied().filter(|boot| *boot != [0; 16])
    }

    /// The topology of the node, with the values that are its own. The archive is that of its
    /// class, in place; only the node's own values are copied, a few kilobytes.
    ///
    /// # Errors
    ///
    /// [`ClusterOpenError`] if its class or its values are damaged.
    pub fn open(self) -> Result<NodeTopology<'a>, ClusterOpenError> {
        let class = self.class_row()?;
        let segment = part(self.cluster.file, &class.segment);
        let segment = segment.ok_or(ClusterOpenError::class_checksum(self.class()))?;
        let columns = topobroker_layout::open(segment);
        let (_, columns) =
            columns.map_err(|source| ClusterOpenError::Class { class: self.class(), source })?;
        Ok(NodeTopology { columns, values: self.values(&class)?, node: self })
    }

    /// The node's own values.
    fn values(self, class: &ClassRow) -> Result<NodeValues, ClusterOpenError> {
        let fields = part(self.cluster.file, &class.fields);
        let fields = fields.ok_or(ClusterOpenError::class_checksum(self.class()))?;
        values_of(&self.cluster.file, class, fields, self.row().member, self.name())
    }

    pub(super) fn class_row(self) -> Result<ClassRow, ClusterOpenError> {
        let classes = self.cluster.head.classes;
        let row = classes.get(self.cluster.file, self.class().into()).and_then(ClassRow::read);
        row.ok_or(ClusterOpenError::checksum("table of classes"))
    }

    #[inline]
    fn row(self) -> NodeRow {
        let row = self.cluster.head.nodes.get(self.cluster.file, self.number);
        let none = NodeRow { name: u32::MAX, class: 0, member: 0, group: 0 };
        row.and_then(NodeRow::read).unwrap_or(none)
    }
}

/// The values of a member of a class, from the bytes of a file.
pub(super) fn values_of<'s>(
    source: &impl ClusterBytes<'s>,
    class: &ClassRow,
    fields: &[u8],
    member: u32,
    name: &str,
) -> Result<NodeValues, ClusterOpenError> {
    let damaged = |what| ClusterOpenError::Values { node: name.to_owned(), what };
    let fields = ClassFields::read(fields).ok_or(damaged("have unknown codings"))?;
    if fields.row_len() != class.rows.record {
        return Err(damaged("have another length than their codings"));
    }
    let row = match class.rows.record {
        0 => Cow::default(),
        _ => class.rows.read(source, member).ok_or(damaged("have a wrong checksum"))?,
    };
    let stored = |place| class.texts.read(source, place);
    let values = fields.values(&row, name, stored).ok_or(damaged("do not fit their codings"))?;
    // Programs in C read texts up to the first zero.
    let has_zero = values.texts().any(|text| text.contains('\0'));
    if has_zero { Err(damaged("have a text with a zero byte")) } else { Ok(values) }
}

/// The topology of a node of a cluster: the archive of its class, and its own values.
pub struct NodeTopology<'a> {
    columns: &'a ArchivedTopology,
    values: NodeValues,
    node: ClusterNode<'a>,
}

impl core::fmt::Debug for NodeTopology<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "NodeTopology({}, {} own values)", self.node.name(), self.values.len())
    }
}

impl<'a> NodeTopology<'a> {
    /// The archive: its topology, objects and views have the node's own values.
    #[must_use]
    pub fn archive(&self) -> Archive<'_> {
        Archive::checked(self.columns).with_values(&self.values)
    }

    /// Whether an object is of this topology, or of a view of it.
    pub(super) fn has(&self, object: Object<'_>) -> bool {
        let index = object.index;
        // Nodes without own values are alike.
        let is_own = match index.values {
            Some(values) => core::ptr::eq(values, &raw const self.values),
            None => self.values.is_empty(),
        };
        core::ptr::eq(index.archive, self.columns) && is_own
    }

    /// The node.
    #[must_use]
    pub fn node(&self) -> ClusterNode<'a> {
        self.node
    }

    /// Name of the host, as hwloc found it out: the info `HostName` of the root, otherwise the name
    /// of the node in the cluster.
    #[must_use]
    pub fn host_name(&self) -> String {
        let archive = self.archive();
        archive.topology().root().info("HostName").unwrap_or(self.node.name()).to_owned()
    }
}
