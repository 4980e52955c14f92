//! Why ranks cannot be placed.

/// The ranks cannot be placed as the policy says.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlacementError {
    /// The topology has no objects of the type.
    #[error(
        "{option} {name}: {object} has no {name} with PUs; `topobroker info` lists what there is"
    )]
    NoObjects {
        /// The option that asks for them: `--map-by` or `--bind-to`.
        option: &'static str,
        /// Name of the type.
        name: &'static str,
        /// The object that a rank is mapped to.
        object: String,
    },
    /// More ranks than the policy has place for.
    #[error(
        "{ranks} ranks: {policy} has place for {expected}; ask for fewer, or for more an object"
    )]
    TooMany {
        /// Number of ranks.
        ranks: usize,
        /// The policy.
        policy: String,
        /// Number of ranks that there is place for.
        expected: usize,
    },
    /// More ranks bound to an object than it has cores; or than it has PUs, if ranks are mapped by
    /// or bound to PUs or if it has no cores.
    #[error(
        "rank {rank}: {object} is full: as many ranks are bound to it as it has {name}, {expected}; ask for fewer ranks, or add overload-allowed to --bind-to"
    )]
    Overload {
        /// The first rank for which there is no PU.
        rank: usize,
        /// The object.
        object: String,
        /// What is counted: cores or PUs.
        name: &'static str,
        /// How many of them it has.
        expected: usize,
    },
    /// More ranks than cores, or than PUs if ranks are mapped by or bound to PUs.
    #[error(
        "{ranks} ranks, {expected} {name}; ask for fewer, or add :OVERSUBSCRIBE to --map-by, which places them anyway"
    )]
    Oversubscribed {
        /// Number of ranks.
        ranks: usize,
        /// What is counted: cores or PUs.
        name: &'static str,
        /// How many of them there are.
        expected: usize,
    },
    /// The topology has no such device.
    #[error(
        "{option} {device}: there is no {what}; `topobroker devices --all` lists what there is"
    )]
    NoDevice {
        /// The option that asks for one.
        option: &'static str,
        /// What it asks for.
        device: String,
        /// What there is none of.
        what: &'static str,
    },
    /// Ranks are to be bound to more than what is near their devices.
    #[error(
        "rank {rank}: {object} has PUs that are not near its device; bind to {near} or to what is in it"
    )]
    Coarse {
        /// The rank.
        rank: usize,
        /// The object that it would be bound to.
        object: String,
        /// The object that is near the device.
        near: String,
    },
    /// Not enough cores or hardware threads for one rank.
    #[error(
        "rank {rank}: {object} has {found} free {name}, expected {expected} as PE={expected} says"
    )]
    TooFew {
        /// The rank.
        rank: usize,
        /// The object that it is mapped to.
        object: String,
        /// The type that it is given: core or hwthread.
        name: &'static str,
        /// How many are free.
        found: usize,
        /// How many it needs.
        expected: usize,
    },
}
