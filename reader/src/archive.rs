//! An archive in memory.

use crate::index::Index;
use crate::topology::Topology;
use alloc::boxed::Box;
use topobroker_layout::archive::ArchivedTopology;
use topobroker_layout::cluster::delta::NodeValues;
use topobroker_layout::header::Header;
use topobroker_layout::{Checked, OpenError};

/// The checked archive of a topology in memory. [`Topology`] handles borrow from it. For an adopted
/// segment, [`Adopted`](crate::Adopted) holds one.
///
/// ```
/// use topobroker_layout::encode::AlignedVec;
/// use topobroker_reader::Archive;
/// # fn bytes() -> AlignedVec { AlignedVec::new() }
/// // As `layout::encode::to_bytes` makes them.
/// let bytes: AlignedVec = bytes();
/// match Archive::open(&bytes) {
///     Ok(archive) => println!("{} objects", archive.topology().object_count()),
///     Err(error) => println!("no archive: {error}"),
/// }
/// ```
#[derive(Clone)]
pub struct Archive<'a>(Box<Index<'a>>);

impl<'a> Archive<'a> {
    /// Checks the bytes of an archive, such as [`topobroker_layout::encode::to_bytes`] writes.
    ///
    /// # Errors
    ///
    /// [`OpenError`] if the bytes are not a valid archive.
    pub fn open(bytes: &'a [u8]) -> Result<Self, OpenError> {
        Ok(Self::checked(topobroker_layout::open_archive(bytes)?))
    }

    /// The archive of a whole segment whose publisher is trusted, and its header: see
    /// [`topobroker_layout::open_certified`].
    ///
    /// # Errors
    ///
    /// [`OpenError`] of the first check that fails.
    pub fn of_certified(segment: &'a [u8]) -> Result<(Header, Self), OpenError> {
        let (header, archive, checked) = topobroker_layout::open_certified(segment, true)?;
        Ok((header, Self::certified(archive, checked)))
    }

    /// Wraps an archive that has been checked as far as `checked` says.
    #[inline(never)]
    pub(crate) fn certified(archive: &'a ArchivedTopology, checked: Checked) -> Self {
        match checked {
            Checked::Whole => Self::checked(archive),
            Checked::Needed => Self(Box::new(Index::of_certified(archive))),
        }
    }

    /// Wraps an archive that has been checked already. Not inlined, because the check uses the
    /// deepest stack of an adoption, and this function must not add to it.
    #[inline(never)]
    pub(crate) fn checked(archive: &'a ArchivedTopology) -> Self {
        Self(Box::new(Index::new(archive)))
    }

    /// The archive of a node of a cluster: this one, which is its class, with the values of the
    /// node in place of those of the class. Values that this archive has already count no more.
    ///
    /// ```
    /// use topobroker_layout::cluster::delta::NodeValues;
    /// # fn of<'a>(class: &topobroker_reader::Archive<'a>, values: &'a NodeValues) {
    /// // The values come from `ClassFields::values`, or from `NodeValues::new`.
    /// let node = class.with_values(values);
    /// assert_eq!(node.topology().object_count(), class.topology().object_count());
    /// # }
    /// ```
    #[must_use]
    pub fn with_values(&self, values: &'a NodeValues) -> Self {
        Self(Box::new(self.0.with_values(values)))
    }

    /// The columns of the archive. Those of a node of a cluster are the columns of its class.
    #[must_use]
    pub fn columns(&self) -> &'a ArchivedTopology {
        self.0.archive
    }

    /// The topology.
    #[must_use]
    pub fn topology(&self) -> Topology<'_> {
        Topology::of(&self.0)
    }
}

impl core::fmt::Debug for Archive<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Archive({} objects)", self.topology().object_count())
    }
}
