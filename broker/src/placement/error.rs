//! Why ranks cannot be placed.

/// The ranks cannot be placed as the policy says.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum PlacementError {
    /// The topology has no objects of the type.
    #[error(
        "{option} {name}: {object} has no {name} with PUs; `topobroker info` lists what there is"
    )]
    NoObjects { option: &'static str, name: &'static str, object: String },
    /// More ranks than the policy has place for.
    #[error(
        "{ranks} ranks: {policy} has place for {expected}; ask for fewer ranks, or for more on \
         each object"
    )]
    TooMany { ranks: usize, policy: String, expected: usize },
    /// More ranks bound to an object than it has cores; or than it has PUs, if ranks are mapped by
    /// or bound to PUs or if it has no cores.
    #[error(
        "rank {rank}: {object} is full: as many ranks are bound to it as it has {name}, \
         {expected}; ask for fewer ranks, or add :overload-allowed to --bind-to"
    )]
    Overload { rank: usize, object: String, name: &'static str, expected: usize },
    /// More ranks than cores, or than PUs if ranks are mapped by or bound to PUs.
    #[error(
        "{ranks} ranks, {expected} {name}; ask for fewer, or add :OVERSUBSCRIBE to --map-by, \
         which places them anyway"
    )]
    Oversubscribed { ranks: usize, name: &'static str, expected: usize },
    /// The topology has no such device.
    #[error(
        "{option} {device}: there is no {what}; `topobroker devices --all` lists what there is"
    )]
    NoDevice { option: &'static str, device: String, what: &'static str },
    /// More ranks than there are CPUs for them.
    #[error(
        "{ranks} ranks: there are free CPUs for {expected}; ask for fewer, or add \
         :overload-allowed to --bind-to"
    )]
    NoCpus { ranks: usize, expected: usize },
    /// A policy for the ranks of one node, on several.
    #[error(
        "{policy}: this mapping, or --bind-to gpu with it, is for one node; use `topobroker job \
         add` there"
    )]
    OneNode { policy: String },
    /// Fewer devices than each rank is to have.
    #[error("{device}: there are {found}, expected {expected} or more, as NDEV={expected} says")]
    FewDevices { device: String, found: usize, expected: usize },
    /// Ranks are to be bound to a wider object than they are mapped to.
    #[error(
        "--bind-to {bind_to}: ranks are mapped to each {map_by}, which is in it; expected \
         {map_by}, or what is in it"
    )]
    BindsUpwards { bind_to: &'static str, map_by: &'static str },
    /// Ranks of several CPUs are to be mapped to an object that has one.
    #[error(
        "PE={expected}: a {map_by} is one CPU; map by slot, or by an object that has {expected}"
    )]
    MapsTooLow { map_by: &'static str, expected: usize },
    /// Ranks are to be numbered by objects, and are mapped by none.
    #[error("--rank-by {rank_by}: {map_by} maps to no objects; expected slot or node")]
    RanksByObjects { rank_by: &'static str, map_by: String },
    /// Ranks are to be bound to more than what is near their devices.
    #[error(
        "rank {rank}: {object} has PUs that are not near its device; bind to {near} or to what is \
         in it"
    )]
    Coarse { rank: usize, object: String, near: String },
    /// Not enough cores or hardware threads for one rank.
    #[error(
        "rank {rank}: {object} has {found} free {name}, expected {expected} as PE={expected} says"
    )]
    TooFew { rank: usize, object: String, name: &'static str, found: usize, expected: usize },
}
