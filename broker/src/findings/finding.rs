//! A finding, and how its text names ranks.

use std::fmt;

/// Something that is wrong, or worth knowing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What kind of thing it is.
    pub kind: FindingKind,
    /// Whether it is only worth knowing: it may be wanted.
    pub is_note: bool,
    /// What was found, what was expected, and what to do.
    pub text: String,
}

topobroker_layout::words! {
    /// Kinds of findings.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum FindingKind {
        /// No port of the OpenFabrics devices is active.
        NoActivePort => "no-active-port",
        /// Several active ports have the subnet prefix that they were made with.
        DefaultPrefix => "default-prefix",
        /// Ports on different networks have one subnet prefix.
        SharedPrefix => "shared-prefix",
        /// Processes may lock little memory.
        Memlock => "memlock",
        /// The adapters can register less memory than the node has.
        RegisterableMemory => "registerable-memory",
        /// Ranks are bound far from every NIC that they may use.
        Far => "far",
        /// Some PUs of a rank are far from every NIC, and others are not.
        Split => "split",
        /// Ranks are not bound.
        Unbound => "unbound",
        /// Ranks of one job have NICs of networks that do not reach each other.
        Networks => "networks",
        /// A GPU is idle while ranks share another one.
        IdleGpu => "idle-gpu",
        /// Ranks have no NIC, because there is no network for them.
        NoNetwork => "no-network",
        /// A NIC that is nearer to a rank is down.
        Down => "down",
        /// The CPU time of a cgroup is not enough for all ranks or threads.
        Quota => "quota",
        /// A NIC has another name than on other nodes of its class.
        NicName => "nic-name",
        /// A NIC has fewer active ports than on other nodes of its class.
        FewerPorts => "fewer-ports",
        /// A NIC has a lower rate than on other nodes of its class.
        Slow => "slow",
        /// A NIC is connected to the switch of another rail.
        Rail => "rail",
        /// A configured topology is not the fabric that is there.
        Topology => "topology",
    }
}

impl Finding {
    /// Something that is wrong.
    #[must_use]
    pub fn new(kind: FindingKind, text: String) -> Self {
        Self { kind, is_note: false, text }
    }

    /// Something that is worth knowing.
    #[must_use]
    pub fn note(kind: FindingKind, text: String) -> Self {
        Self { kind, is_note: true, text }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let note = if self.is_note { "note: " } else { "" };
        write!(f, "{note}{}: {}", self.kind.name(), self.text)
    }
}

/// Ranks, which ascend, as a list: `0-3,7`.
#[must_use]
pub fn rank_list(ranks: &[u32]) -> String {
    let runs = ranks.chunk_by(|one, next| one.checked_add(1) == Some(*next));
    let run = |run: &[u32]| match (run.first(), run.last()) {
        (Some(first), Some(last)) if first != last => format!("{first}-{last}"),
        (first, _) => first.map(u32::to_string).unwrap_or_default(),
    };
    runs.map(run).collect::<Vec<_>>().join(",")
}

/// Ranks as users name them: `rank 3 is`, `ranks 0-3,7 are`.
pub(super) fn ranks_are(ranks: &[u32]) -> String {
    let mut ranks = ranks.to_vec();
    ranks.sort_unstable();
    let list = rank_list(&ranks);
    if ranks.len() == 1 { format!("rank {list} is") } else { format!("ranks {list} are") }
}
