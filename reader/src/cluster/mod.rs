//! Clusters: many nodes and what is above them, in one segment.
//!
//! [`adopt_cluster`] adopts the cluster that `TOPOBROKER_CLUSTER` names. A [`ClusterNode`] is
//! opened to be asked as any topology; its sets are for binding only on the node itself
//! ([`NodeTopology::bindable`]). [`NodeGroups`] are switches, blocks and racks; the [`Fabric`] has
//! their ports and links. A process that wants its own node alone asks for [`own_node`].
//!
//! ```no_run
//! use topobroker_reader::cluster::adopt_cluster;
//! let cluster = adopt_cluster()?;
//! let (fabric, node) = (cluster.fabric()?, cluster.node_by_name("n7").expect("a node"));
//! for other in cluster.nodes() {
//!     println!("{} {:?}", other.name(), fabric.hops_of_nodes(node, other));
//! }
//! # Ok::<(), topobroker_reader::cluster::ClusterOpenError>(())
//! ```

mod above;
mod adopt;
mod distance;
mod error;
mod fabric;
mod identity;
mod local;
mod node;
mod own;
mod totals;

pub use above::{GroupKind, NodeGroup, NodeGroups};
pub use adopt::{adopt_cluster, adopt_cluster_file, adopted_cluster};
pub use distance::{FabricPath, NodeDistances};
pub use error::ClusterOpenError;
pub use fabric::{Fabric, FabricLink, FabricVertex};
pub use identity::Identity;
pub use local::{NotLocal, Place};
pub use node::{ClusterNode, NodeTopology};
pub use own::{OwnNode, own_node};
pub use totals::Totals;

use alloc::vec::Vec;
use core::ops::Range;
use error::CHECKSUM;
use topobroker_layout::cluster::directory::ArchivedDirectory;
use topobroker_layout::cluster::head::{HEAD_LEN, Head, Part};
use topobroker_layout::cluster::nodes::{ClassRow, NodeRow};
use topobroker_layout::cluster::rules;
use topobroker_layout::header::Header;
use topobroker_layout::packed_texts::text_at;
use topobroker_layout::{OpenError, RULES, ValidationError};

/// Many nodes in one segment. Nodes that are alike have one topology and a few values each.
///
/// Counterpart: a topology that hwloc 1 assembled. Unlike there, the objects of a node stay in the
/// topology of that node, so every query answers as on the node itself.
///
/// ```no_run
/// use topobroker_reader::cluster::adopt_cluster;
/// let cluster = adopt_cluster()?;
/// for node in cluster.nodes() {
///     let topology = node.open()?;
///     println!("{}: {} objects", node.name(), topology.archive().topology().object_count());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Cluster<'a> {
    file: &'a [u8],
    header: Header,
    head: Head,
    directory: Result<&'a ArchivedDirectory, ValidationError>,
}

impl core::fmt::Debug for Cluster<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Cluster({} nodes, {} classes)", self.node_count(), self.class_count())
    }
}

impl<'a> Cluster<'a> {
    /// Opens the bytes of a cluster in memory, at an address that is a multiple of 16, and checks
    /// names, nodes and groups. Classes are checked when a node of them is opened, and so are its
    /// values.
    ///
    /// # Errors
    ///
    /// [`ClusterOpenError::Head`], [`ClusterOpenError::Nodes`], or [`ClusterOpenError::Damaged`]
    /// for the part without which no node is found.
    pub fn open(file: &'a [u8]) -> Result<Self, ClusterOpenError> {
        Self::open_certified(file, false)
    }

    /// [`Cluster::open`] of a file whose builder may be trusted. If it is, and the header says that
    /// it has checked the nodes by the rules of this version, they are not checked again.
    ///
    /// # Errors
    ///
    /// Those of [`Cluster::open`].
    pub fn open_certified(file: &'a [u8], is_trusted: bool) -> Result<Self, ClusterOpenError> {
        let page = file.get(..HEAD_LEN).unwrap_or(file);
        let (header, head) = Head::read(page, file.len() as u64)?;
        let records = [
            (head.nodes, "table of nodes"),
            (head.places, "table of names"),
            (head.boots, "table of boots"),
            (head.classes, "table of classes"),
        ];
        for (records, part) in records {
            if !records.are_sound(file) {
                return Err(ClusterOpenError::checksum(part));
            }
        }
        if !head.names.are_sound(file) {
            return Err(ClusterOpenError::checksum("names"));
        }
        let is_certified = is_trusted && header.certificate == RULES;
        let directory = match open_directory(file, &head, is_certified) {
            Ok(directory) => Ok(directory),
            Err(OpenError::Invalid(rule)) => Err(rule),
            Err(_) => Err(ValidationError { rule: "is an archive", ..DIRECTORY }),
        };
        if !is_certified {
            let groups = directory.ok().map(|it| it.groups.of_nodes());
            check_nodes(file, &head, groups.as_deref()).map_err(ClusterOpenError::Nodes)?;
        }
        Ok(Self { file, header, head, directory })
    }

    /// Header of the segment: when it was built.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Number of nodes.
    #[must_use]
    pub fn node_count(&self) -> u32 {
        self.head.nodes.count
    }

    /// Number of classes. Nodes of one class differ only in texts and sizes, not in structure.
    #[must_use]
    pub fn class_count(&self) -> u32 {
        self.head.classes.count
    }

    /// Names of nodes that should have been in the cluster when it was gathered.
    ///
    /// # Errors
    ///
    /// [`ClusterOpenError::Directory`].
    pub fn missing(&self) -> Result<impl ExactSizeIterator<Item = &'a str>, ClusterOpenError> {
        let groups = &self.directory()?.groups;
        let name = |row| text_at(&groups.missing_end, &groups.missing, row);
        Ok((0..groups.missing_end.len()).map(name))
    }

    /// Offsets of a class in the file: of its topology. A program can map it alone.
    #[must_use]
    pub fn class_bytes(&self, class: u16) -> Option<Range<u64>> {
        let row = ClassRow::read(self.head.classes.get(self.file, class.into())?)?;
        Some(row.segment.at..row.segment.at.checked_add(row.segment.len)?)
    }

    fn directory(&self) -> Result<&'a ArchivedDirectory, ClusterOpenError> {
        self.directory.map_err(|rule| ClusterOpenError::Directory(rule.into()))
    }
}

/// What errors of groups and links name.
const DIRECTORY: ValidationError =
    ValidationError { column: "cluster.directory", row: 0, rule: CHECKSUM };

fn open_directory<'a>(
    file: &'a [u8],
    head: &Head,
    is_certified: bool,
) -> Result<&'a ArchivedDirectory, OpenError> {
    let bytes = part(file, &head.directory).ok_or(DIRECTORY)?;
    rules::open(bytes, head.nodes.count, is_certified)
}

/// Checks the rows of nodes: their names, classes and groups are there. `groups` has the group of
/// each node, if the table of groups can be used.
fn check_nodes(file: &[u8], head: &Head, groups: Option<&[u32]>) -> Result<(), ValidationError> {
    let mut members = Members::of(file, head)?;
    for number in 0..head.nodes.count {
        let broken = |rule| ValidationError {
            column: "cluster.nodes",
            row: usize::try_from(number).unwrap_or(usize::MAX),
            rule,
        };
        let ensure = |is_kept, rule| if is_kept { Ok(()) } else { Err(broken(rule)) };
        let row = head.nodes.get(file, number).and_then(NodeRow::read);
        let row = row.ok_or_else(|| broken("has the bytes of a row"))?;
        ensure(u32::from(row.class) < head.classes.count, "the class is there")?;
        let group = groups.and_then(|groups| groups.get(number as usize));
        ensure(group.is_none_or(|group| *group == row.group), "the group has the node")?;
        let name = head.names.get(file, row.name).ok_or_else(|| broken("the name is there"))?;
        let is_plain = !name.chars().any(char::is_control);
        ensure(is_plain, "the name has no control characters")?;
        let found = head.find(file, name);
        ensure(found == Some(number), "is found by its name, which no other one has")?;
        ensure(members.take(row.class, row.member), "is one of the nodes of its class")?;
    }
    Ok(())
}

/// The nodes of each class that were not met yet.
struct Members(Vec<Vec<bool>>);

impl Members {
    /// Those of all classes: as many as there are nodes.
    fn of(file: &[u8], head: &Head) -> Result<Self, ValidationError> {
        let broken =
            |row, rule| ValidationError { column: "cluster.classes", row: row as usize, rule };
        let (mut all, mut left) = (Vec::new(), head.nodes.count);
        for class in 0..head.classes.count {
            let row = head.classes.get(file, class).and_then(ClassRow::read);
            let row = row.ok_or_else(|| broken(class, "has the bytes of a row"))?;
            let rest = left.checked_sub(row.members);
            left =
                rest.ok_or_else(|| broken(class, "all classes have as many nodes as there are"))?;
            all.push(alloc::vec![true; row.members as usize]);
        }
        Ok(Self(all))
    }

    /// Takes a node of a class; whether it was there.
    fn take(&mut self, class: u16, member: u32) -> bool {
        let class = self.0.get_mut(usize::from(class));
        let member = class.and_then(|class| class.get_mut(member as usize));
        member.is_some_and(core::mem::take)
    }
}

/// The bytes of a part, if they are those that were written.
fn part<'a>(file: &'a [u8], part: &Part) -> Option<&'a [u8]> {
    let at = usize::try_from(part.at).ok()?;
    let bytes = file.get(at..at.checked_add(usize::try_from(part.len).ok()?)?)?;
    part.is_sound(bytes).then_some(bytes)
}
