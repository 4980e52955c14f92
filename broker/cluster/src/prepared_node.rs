//! Nodes that are ready to be added to a cluster.

use super::classes::Prepared;
use super::error::ClusterError;
use topobroker::aligned::aligned;
use topobroker::description::describe;
use topobroker_layout::encode::{AlignedVec, to_bytes};
use topobroker_layout::header::{HEADER_LEN, Source};
use topobroker_reader::{Object, RestrictFlags, View};

/// Highest number of bytes of the name of a node.
pub const MAX_NAME: usize = 255;

/// Highest number of bytes of a text of a node.
const MAX_TEXT: usize = 60_000;

/// A node that is ready to be added: the costly part, which can be done in another thread.
pub struct PreparedNode {
    pub(super) name: String,
    pub(super) input: String,
    pub(super) boot: [u8; 16],
    pub(super) prepared: Prepared,
}

impl PreparedNode {
    /// Prepares a node from the bytes of an archive. `input` says in errors where it is from.
    ///
    /// # Errors
    ///
    /// [`ClusterError`] if the archive cannot be used or the node has no name.
    pub fn of_archive(
        archive: AlignedVec,
        name: Option<&str>,
        input: &str,
    ) -> Result<Self, ClusterError> {
        let input = input.to_owned();
        let prepared = match Prepared::new(archive) {
            Ok(prepared) => prepared,
            Err(source) => return Err(ClusterError::Node { input, source }),
        };
        if let Some(found) = prepared.longest_text().filter(|length| *length > MAX_TEXT) {
            return Err(ClusterError::LongText { input, found, limit: MAX_TEXT });
        }
        let Some(name) = name.map(str::to_owned).or_else(|| prepared.host_name()) else {
            return Err(ClusterError::NoName { input });
        };
        if name.is_empty() || name.len() > MAX_NAME || name.chars().any(char::is_control) {
            return Err(ClusterError::Name { input, name });
        }
        Ok(Self { name, input, boot: [0; 16], prepared })
    }

    /// Prepares a node of which only a part is there: an object with what is below it, such as a
    /// package, and the devices that hang on it.
    ///
    /// ```
    /// use topobroker_cluster::{ClusterBuilder, GroupId, PreparedNode};
    /// use topobroker::hwloc::{Input, LoadOptions, capture, load};
    /// use topobroker_layout::encode::to_bytes;
    /// use topobroker_reader::{cluster::Cluster, Archive, ObjectType};
    /// let input = Input::Synthetic("Package:2 Core:4 PU:2".into());
    /// let machine = to_bytes(&capture(&load(&input, &LoadOptions::default())?)?)?;
    /// let opened = Archive::open(&machine)?;
    /// let mut builder = ClusterBuilder::new();
    /// for package in opened.topology().objects_with_type(ObjectType::Package) {
    ///     let name = format!("half{}", package.logical_index());
    ///     builder.add(GroupId::CLUSTER, PreparedNode::of_part(package, Some(&name), "a machine")?)?;
    /// }
    /// let bytes = builder.finish()?;
    /// assert_eq!(Cluster::open(&bytes)?.totals()?.cores, 8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Counterpart: `hwloc_custom_insert_topology` of hwloc 1 with an object as root. The root here
    /// is a machine all the same.
    ///
    /// # Errors
    ///
    /// [`ClusterError::Part`] if the object has no PUs; otherwise those of
    /// [`PreparedNode::of_archive`].
    #[doc(alias = "hwloc_custom_insert_topology")]
    pub fn of_part(
        object: Object<'_>,
        name: Option<&str>,
        input: &str,
    ) -> Result<Self, ClusterError> {
        let part = |source| ClusterError::Part { input: input.to_owned(), source };
        let pus = object.cpuset().unwrap_or_default();
        let view =
            View::new(object.topology(), &pus, RestrictFlags::REMOVE_CPULESS).map_err(part)?;
        Self::of_archive(to_bytes(&describe(view.topology()))?, name, input)
    }

    /// Prepares a node from the bytes of a segment, with the boot in which it was published if it
    /// is of the publisher's own machine.
    ///
    /// # Errors
    ///
    /// Those of [`PreparedNode::of_archive`].
    pub fn of_segment(
        segment: &[u8],
        name: Option<&str>,
        input: &str,
    ) -> Result<Self, ClusterError> {
        let segment = aligned(segment);
        let (header, _) = topobroker_layout::open(&segment)
            .map_err(|source| ClusterError::Node { input: input.to_owned(), source })?;
        let archive = aligned(segment.get(HEADER_LEN..).unwrap_or_default());
        let boot = Some(header.boot_id).filter(|_| is_of_own_machine(header.source));
        Ok(Self::of_archive(archive, name, input)?.with_boot(boot))
    }

    /// The archive of its topology.
    pub(super) fn archive(&self) -> &AlignedVec {
        self.prepared.archive()
    }

    pub(super) fn prepared(&self) -> &Prepared {
        &self.prepared
    }

    /// The boot in which it was published, zeros if it is not known.
    pub(super) fn boot(&self) -> [u8; 16] {
        self.boot
    }

    /// The node, published in the boot that runs.
    ///
    /// # Errors
    ///
    /// [`ClusterError::Publish`] if the kernel does not say which that is.
    pub fn in_this_boot(self) -> Result<Self, ClusterError> {
        Ok(self.with_boot(Some(topobroker::publish::boot_id()?)))
    }

    /// The node, published in a boot.
    pub(super) fn with_boot(self, boot: Option<[u8; 16]>) -> Self {
        Self { boot: boot.unwrap_or_default(), ..self }
    }

    /// Name of the node.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The hash that nodes of one class have in common, whoever computes it.
    #[must_use]
    pub fn class_hash(&self) -> u128 {
        self.prepared.hash()
    }
}

/// Whether a topology of this source is of the machine that it was published on. What a launcher
/// has loaded is.
pub(super) fn is_of_own_machine(source: Source) -> bool {
    matches!(source, Source::ThisMachine | Source::Loaded)
}
