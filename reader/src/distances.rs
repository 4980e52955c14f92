//! Distance matrices.

use crate::object::Object;
use crate::topology::Topology;
use topobroker_layout::archive::{ArchivedDistances, NONE};

impl<'a> Topology<'a> {
    /// Distance matrices. Counterpart: `hwloc_distances_get`.
    #[doc(alias = "hwloc_distances_get")]
    pub fn distances(self) -> impl ExactSizeIterator<Item = Distances<'a>> {
        self.archive.distances.iter().map(move |matrix| Distances::new(self, matrix))
    }
}

/// A matrix of values between objects. Counterpart: `struct hwloc_distances_s`.
#[derive(Clone, Copy)]
pub struct Distances<'a> {
    topology: Topology<'a>,
    matrix: &'a ArchivedDistances,
}

impl std::fmt::Debug for Distances<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Distances({:?}, {} objects)", self.name(), self.matrix.objects.len())
    }
}

impl<'a> Distances<'a> {
    pub(crate) fn new(topology: Topology<'a>, matrix: &'a ArchivedDistances) -> Self {
        Self { topology, matrix }
    }

    /// Name, such as `NUMALatency`. Counterpart: `hwloc_distances_get_name`.
    #[doc(alias = "hwloc_distances_get_name")]
    #[must_use]
    pub fn name(self) -> Option<&'a str> {
        let row = self.matrix.name.to_native();
        (row != NONE).then(|| self.topology.string(row))
    }

    /// Sum of `HWLOC_DISTANCES_KIND_*`: where the values come from and what they mean.
    #[must_use]
    pub fn kind(self) -> u64 {
        self.matrix.kind.to_native()
    }

    /// Whether its objects are of several types.
    #[must_use]
    pub fn is_heterogeneous(self) -> bool {
        /// `HWLOC_DISTANCES_KIND_HETEROGENEOUS_TYPES`.
        const HETEROGENEOUS: u64 = 1 << 4;
        self.kind() & HETEROGENEOUS != 0
    }

    /// The objects, in the order of rows and columns.
    pub fn objects(self) -> impl ExactSizeIterator<Item = Object<'a>> {
        let ids = &self.matrix.objects;
        (0..ids.len()).map(move |place| Object::new(self.topology, ids.get_u32(place)))
    }

    /// The value from the object of row `from` to that of column `to`; `None` outside the matrix.
    #[must_use]
    pub fn value(self, from: usize, to: usize) -> Option<u64> {
        let count = self.matrix.objects.len();
        (from < count && to < count).then(|| self.matrix.values.get(from * count + to))
    }
}
