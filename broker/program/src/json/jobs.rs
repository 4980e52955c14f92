//! Jobs and their ranks.

use super::object::{Set, ShortObject};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A job over the adopted topology.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Job<'a> {
    pub(crate) name: &'a str,
    pub(crate) file: String,
    pub(crate) size: u64,
    pub(crate) ranks: Option<usize>,
    pub(crate) launcher: Option<u32>,
    pub(crate) error: Option<String>,
}

/// Where a rank is bound.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct RankOfJob {
    pub(crate) rank: u32,
    pub(crate) cpuset: Option<Set>,
    pub(crate) objects: Vec<ShortObject>,
}

/// What a rank shares with others.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct RankLocality {
    pub(crate) rank: u32,
    pub(crate) bound: bool,
    /// PMIx's locality string.
    pub(crate) string: Option<String>,
    pub(crate) peers: Vec<Peer>,
}

/// What another rank shares with it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Peer {
    pub(crate) rank: u32,
    /// PMIx's bits.
    pub(crate) pmix: u16,
    /// Open MPI's bits.
    pub(crate) opal: u16,
    pub(crate) names: Vec<String>,
}

/// The NICs and GPUs of a rank.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct NicsOfRank<'a> {
    pub(crate) rank: u32,
    pub(crate) nics: Vec<Cow<'a, str>>,
    pub(crate) gpus: Vec<Cow<'a, str>>,
}

/// The GPUs of a rank.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct GpusOfRank<'a> {
    pub(crate) rank: u32,
    pub(crate) gpus: Vec<Cow<'a, str>>,
}

/// The ranks on the same hardware resources.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Ranks {
    pub(crate) ranks: Vec<u32>,
    pub(crate) uris: Vec<String>,
}

/// The instance of a resource that a rank is on.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct InstanceOfRank {
    pub(crate) rank: u32,
    pub(crate) instance: Option<u32>,
}

/// The resources by which a rank is separated from others, the outermost first.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct UrisOfRank {
    pub(crate) rank: u32,
    pub(crate) uris: Vec<String>,
}

/// Of which types a rank is on one instance.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct InfoOfRank {
    pub(crate) rank: u32,
    pub(crate) info: BTreeMap<String, bool>,
}

/// What `job groups` prints by its question.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub(crate) enum Groups {
    OfRanks(Vec<Ranks>),
    /// With --uri, without an instance.
    Instances {
        uri: String,
        ranks: Vec<InstanceOfRank>,
    },
    /// With --uri, of one instance.
    Instance {
        uri: String,
        ranks: Vec<u32>,
    },
    /// With --unguided.
    Unguided(Vec<UrisOfRank>),
    /// With --info.
    Info(Vec<InfoOfRank>),
}
