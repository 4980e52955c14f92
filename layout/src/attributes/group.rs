//! Attributes of groups.

/// Attributes of a group. Counterpart: `struct hwloc_group_attr_s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Group {
    /// Level among the levels of groups; 0 is the outermost. It is the number in `Group0`.
    pub depth: u32,
    /// hwloc's internal kind of group.
    pub kind: u32,
    /// hwloc's internal subkind, which distinguishes levels of one kind.
    pub subkind: u32,
    /// Whether the group must not be merged with another object, even if it adds nothing to the
    /// structure.
    pub dont_merge: bool,
}

table! {
    /// Attributes of groups.
    Groups, ArchivedGroups, "groups" of Group;
    depth = (depth)
    kind = (kind)
    subkind = (subkind)
    dont_merge = (dont_merge)
}
