//! Which ways through a vertex data can go.

use topobroker_layout::links::{LinkClass, VertexKind};

/// What a way through a vertex takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transit {
    /// There is none.
    No,
    /// What the vertex is built for.
    Yes,
    /// A GPU that forwards data between two others, which costs its own bandwidth. A path has one
    /// at most, if at all. Counterpart: `NVB` of NCCL.
    Relay,
}

/// Whether data that comes by one class of links may leave by another: the same in both directions.
pub(super) fn transit(kind: VertexKind, one: LinkClass, other: LinkClass) -> Transit {
    use LinkClass::{C2c, Cpu, Fabric, Loc, Mem, NvLink, Pci, XeLink, Xgmi};
    let are = |first: &[LinkClass], second: &[LinkClass]| {
        (first.contains(&one) && second.contains(&other))
            || (first.contains(&other) && second.contains(&one))
    };
    let is_allowed = match kind {
        VertexKind::Cpu | VertexKind::Mesh => one != Fabric && other != Fabric,
        VertexKind::HostBridge | VertexKind::PciSwitch => are(&[Pci], &[Pci, Cpu]),
        // A GPU gives others its memory, and forwards nothing; parts of one GPU are others too.
        VertexKind::Gpu => are(&[Mem], &[Pci, NvLink, Xgmi, XeLink, C2c, Loc]),
        VertexKind::Nic => are(&[Pci], &[Fabric]),
        VertexKind::NvSwitch => are(&[NvLink], &[NvLink]),
        VertexKind::NetSwitch => are(&[Fabric], &[Fabric]),
        VertexKind::Memory | VertexKind::Block | VertexKind::Remote => false,
    };
    let is_relay = kind == VertexKind::Gpu && one == other && [NvLink, Xgmi, XeLink].contains(&one);
    match (is_allowed, is_relay) {
        (true, _) => Transit::Yes,
        (false, true) => Transit::Relay,
        (false, false) => Transit::No,
    }
}
