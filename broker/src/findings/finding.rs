//! A finding.

use std::fmt;

/// Something that is wrong, or worth knowing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What kind of thing it is.
    pub kind: Kind,
    /// Whether it is only worth knowing: it may be wanted.
    pub is_note: bool,
    /// What was found, what was expected, and what to do.
    pub text: String,
}

/// Kinds of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// No port of the OpenFabrics devices is active.
    NoActivePort,
    /// Several active ports have the subnet prefix that they were made with.
    DefaultPrefix,
    /// Ports on different networks have one subnet prefix.
    SharedPrefix,
    /// Processes may lock little memory.
    Memlock,
    /// The adapters can register less memory than the node has.
    RegisterableMemory,
    /// Ranks are bound far from every NIC that they may use.
    Far,
    /// Some PUs of a rank are far from every NIC, and others are not.
    Split,
    /// Ranks are not bound.
    Unbound,
    /// Ranks of one job have NICs of networks that do not reach each other.
    Networks,
    /// A NIC has another name than on other nodes of its class.
    NicName,
    /// A NIC has fewer active ports than on other nodes of its class.
    FewerPorts,
    /// A NIC has a lower rate than on other nodes of its class.
    Slow,
    /// A NIC is connected to the switch of another rail.
    Rail,
    /// A configured topology is not the fabric that is there.
    Topology,
}

impl Finding {
    /// Something that is wrong.
    #[must_use]
    pub fn new(kind: Kind, text: String) -> Self {
        Self { kind, is_note: false, text }
    }

    /// Something that is worth knowing.
    pub(super) fn note(kind: Kind, text: String) -> Self {
        Self { kind, is_note: true, text }
    }
}

impl Kind {
    /// Its name, such as `no-active-port`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NoActivePort => "no-active-port",
            Self::DefaultPrefix => "default-prefix",
            Self::SharedPrefix => "shared-prefix",
            Self::Memlock => "memlock",
            Self::RegisterableMemory => "registerable-memory",
            Self::Networks => "networks",
            Self::NicName => "nic-name",
            Self::FewerPorts => "fewer-ports",
            Self::Slow => "slow",
            Self::Rail => "rail",
            Self::Topology => "topology",
            Self::Far => "far",
            Self::Split => "split",
            Self::Unbound => "unbound",
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let note = if self.is_note { "note: " } else { "" };
        write!(f, "{note}{}: {}", self.kind.name(), self.text)
    }
}
