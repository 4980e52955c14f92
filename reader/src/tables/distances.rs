//! Distance matrices.

use crate::object::Object;
use crate::topology::Topology;
use topobroker_layout::archive::{ArchivedDistances, NONE};
use topobroker_layout::cluster::field::{Field, Property};
use topobroker_layout::object_type::ObjectType;

impl<'a> Topology<'a> {
    /// Distance matrices. Counterpart: `hwloc_distances_get`.
    #[doc(alias = "hwloc_distances_get")]
    pub fn distances(self) -> impl Iterator<Item = Distances<'a>> {
        let all =
            self.index.archive.distances.iter().map(move |matrix| Distances::new(self, matrix));
        // A matrix with fewer than two visible objects has no distances.
        all.filter(move |matrix| self.index.overlay.is_none() || matrix.rows().count() > 1)
    }

    /// Distance matrices with a name. Counterpart: `hwloc_distances_get_by_name`.
    #[doc(alias = "hwloc_distances_get_by_name")]
    pub fn distances_with_name(self, name: &str) -> impl Iterator<Item = Distances<'a>> {
        self.distances().filter(move |matrix| matrix.name() == Some(name))
    }

    /// Distance matrices between objects of one type. Counterpart: `hwloc_distances_get_by_type`.
    #[doc(alias = "hwloc_distances_get_by_type")]
    pub fn distances_of_type(self, object_type: ObjectType) -> impl Iterator<Item = Distances<'a>> {
        self.distances().filter(move |matrix| matrix.is_of_type(object_type))
    }
}

/// A matrix of values between objects. Counterpart: `struct hwloc_distances_s`.
#[derive(Clone, Copy)]
pub struct Distances<'a> {
    topology: Topology<'a>,
    matrix: &'a ArchivedDistances,
}

impl core::fmt::Debug for Distances<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Distances({:?}, {} objects)", self.name(), self.matrix.objects.len())
    }
}

impl<'a> Distances<'a> {
    pub(crate) fn new(topology: Topology<'a>, matrix: &'a ArchivedDistances) -> Self {
        Self { topology, matrix }
    }

    /// Whether the matrix is between objects of one type.
    #[must_use]
    pub fn is_of_type(self, object_type: ObjectType) -> bool {
        let first = self.objects().next();
        !self.is_heterogeneous() && first.is_some_and(|first| first.object_type() == object_type)
    }

    /// Name, such as `NUMALatency`. Counterpart: `hwloc_distances_get_name`.
    #[doc(alias = "hwloc_distances_get_name")]
    #[must_use]
    pub fn name(self) -> Option<&'a str> {
        let row = self.matrix.name.to_native();
        (row != NONE).then(|| self.topology.index.string(row))
    }

    /// Sum of `HWLOC_DISTANCES_KIND_*`: where the values come from and what they mean.
    #[must_use]
    pub fn kind(self) -> u64 {
        self.matrix.kind.to_native()
    }

    /// Whether the objects are of several types.
    #[must_use]
    pub fn is_heterogeneous(self) -> bool {
        /// `HWLOC_DISTANCES_KIND_HETEROGENEOUS_TYPES`.
        const HETEROGENEOUS: u64 = 1 << 4;
        self.kind() & HETEROGENEOUS != 0
    }

    /// The objects, in the order of rows and columns.
    pub fn objects(self) -> impl Iterator<Item = Object<'a>> {
        let ids = &self.matrix.objects;
        self.rows().map(move |row| Object::new(self.topology.index, ids.get_u32(row)))
    }

    /// Rows of the stored matrix that belong to visible objects.
    fn rows(self) -> impl Iterator<Item = usize> {
        let ids = &self.matrix.objects;
        (0..ids.len()).filter(move |row| self.topology.index.is_visible(ids.get_u32(*row)))
    }

    /// The field of a stored value.
    fn field(self, place: usize) -> Field {
        let mut all = self.topology.index.archive.distances.iter();
        let number = all.position(|matrix| core::ptr::eq(matrix, self.matrix));
        let [number, place] = [number.unwrap_or(usize::MAX), place];
        let small = |number| u32::try_from(number).unwrap_or(u32::MAX);
        Field::new(Property::DISTANCE, small(number), small(place))
    }

    /// The stored row for a row of the visible matrix.
    fn row(self, row: usize) -> Option<usize> {
        match self.topology.index.overlay {
            None => Some(row).filter(|row| *row < self.matrix.objects.len()),
            Some(_) => self.rows().nth(row),
        }
    }

    /// Row and column of an object, `None` if it is not in the matrix. Counterpart:
    /// `hwloc_distances_obj_index`.
    #[doc(alias = "hwloc_distances_obj_index")]
    #[must_use]
    pub fn index_of(self, object: Object<'a>) -> Option<usize> {
        self.objects().position(|other| other == object)
    }

    /// The value from one object to another; `None` if one of them is not in the matrix.
    /// Counterpart: `hwloc_distances_obj_pair_values`, which returns both directions.
    ///
    /// ```
    /// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documentation/example_machine.rs"));
    /// let nodes = topology.objects_with_type(topobroker_reader::ObjectType::NUMANode);
    /// let nodes: Vec<_> = nodes.take(2).collect();
    /// for latency in topology.distances_with_name("NUMALatency") {
    ///     println!("{:?}", latency.between(nodes[0], nodes[1]));
    /// }
    /// # Ok::<(), topobroker_reader::AdoptError>(())
    /// ```
    #[doc(alias = "hwloc_distances_obj_pair_values")]
    #[must_use]
    pub fn between(self, from: Object<'a>, to: Object<'a>) -> Option<u64> {
        self.value(self.index_of(from)?, self.index_of(to)?)
    }

    /// The values in place, row by row, and how many little-endian bytes each has. `None` if the
    /// archive has them packed otherwise, a view hides objects of the matrix, or a node of a
    /// cluster has values of its own.
    #[must_use]
    pub fn stored_values(self) -> Option<(&'a [u8], usize)> {
        let is_whole = self.rows().count() == self.matrix.objects.len();
        let is_alone = is_whole && self.topology.index.values.is_none();
        self.matrix.values.as_bytes().filter(|_| is_alone)
    }

    /// The value from the object of row `from` to that of column `to`; `None` if one is outside the
    /// matrix.
    #[must_use]
    pub fn value(self, from: usize, to: usize) -> Option<u64> {
        let count = self.matrix.objects.len();
        let (from, to) = (self.row(from)?, self.row(to)?);
        let place = from * count + to;
        let stored = self.matrix.values.get(place);
        Some(self.topology.index.number(|| self.field(place), stored))
    }
}
