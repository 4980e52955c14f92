//! Memory pages of NUMA nodes.

/// Memory pages of one size. Counterpart: `struct hwloc_memory_page_type_s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct PageType {
    /// Size of a page in bytes.
    pub size: u64,
    /// Number of pages.
    pub count: u64,
}
