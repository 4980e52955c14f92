//! Type filters: which objects of a type hwloc keeps.

/// Which objects of a type hwloc keeps when it loads a topology. Counterpart:
/// `enum hwloc_type_filter_e`, with the same numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum TypeFilter {
    /// All objects. Counterpart: `HWLOC_TYPE_FILTER_KEEP_ALL`.
    #[default]
    All = 0,
    /// No objects. Counterpart: `HWLOC_TYPE_FILTER_KEEP_NONE`.
    None = 1,
    /// Objects that add to the structure of the tree. Counterpart:
    /// `HWLOC_TYPE_FILTER_KEEP_STRUCTURE`.
    Structure = 2,
    /// Important I/O devices, and all objects of other types. Counterpart:
    /// `HWLOC_TYPE_FILTER_KEEP_IMPORTANT`.
    Important = 3,
}

impl TypeFilter {
    /// The filter with hwloc's number, `None` if hwloc has no such filter.
    #[must_use]
    pub const fn from_raw(raw: u8) -> Option<Self> {
        Some(match raw {
            0 => Self::All,
            1 => Self::None,
            2 => Self::Structure,
            3 => Self::Important,
            _ => return None,
        })
    }

    /// hwloc's number of the filter.
    #[must_use]
    pub const fn raw(self) -> u8 {
        self as u8
    }
}
