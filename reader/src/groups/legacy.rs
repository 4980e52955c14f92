//! The words of Open MPI and MPICH for types of hardware resources. Both also take what only begins
//! with a word or is like it; here the whole word counts. Words for all nodes (`cluster`, `cu`),
//! for kinds of networks (`ib`, `eth`) and for single devices (`gpu0`, `pci:...`) are not among
//! them: they name no type of a node.

use super::resource_type::ResourceType;
use topobroker_layout::object_type::ObjectType;

/// What a word means.
pub(super) enum Meaning {
    /// A type.
    Type(ResourceType),
    /// NUMA nodes of a subtype.
    Memory(&'static str),
    /// Different types to different programs.
    Ambiguous,
}

/// The meaning of a word, if it has one. Case does not matter, as in MPICH.
pub(super) fn meaning(word: &str) -> Option<Meaning> {
    // No word is longer than this.
    let mut letters = [0; 20];
    let letters = letters.get_mut(..word.len())?;
    letters.copy_from_slice(word.as_bytes());
    letters.make_ascii_lowercase();
    let object = ResourceType::Object;
    Some(Meaning::Type(match &*letters {
        b"node" => return Some(Meaning::Ambiguous),
        b"ddr" => return Some(Meaning::Memory("DRAM")),
        b"hbm" => return Some(Meaning::Memory("HBM")),
        b"machine" | b"host" | b"board" | b"mpi_shared_memory" => object(ObjectType::Machine),
        b"package" | b"socket" | b"cpu" => object(ObjectType::Package),
        b"die" => object(ObjectType::Die),
        b"group" => ResourceType::Group(None),
        b"numanode" | b"numa" => object(ObjectType::NUMANode),
        b"l1cache" | b"l1dcache" | b"l1ucache" => object(ObjectType::L1Cache),
        b"l2cache" | b"l2dcache" | b"l2ucache" => object(ObjectType::L2Cache),
        b"l3cache" | b"l3dcache" | b"l3ucache" => object(ObjectType::L3Cache),
        b"l4cache" | b"l4dcache" | b"l4ucache" => object(ObjectType::L4Cache),
        b"l5cache" | b"l5dcache" | b"l5ucache" => object(ObjectType::L5Cache),
        b"l1icache" => object(ObjectType::L1ICache),
        b"l2icache" => object(ObjectType::L2ICache),
        b"l3icache" => object(ObjectType::L3ICache),
        b"core" => object(ObjectType::Core),
        b"hwthread" | b"pu" => object(ObjectType::PU),
        b"nvlink" => ResourceType::NvLinkDomain,
        b"gpu" => ResourceType::Gpu,
        b"bindset" => ResourceType::Binding,
        _ => return None,
    }))
}
