//! Hardware resources: which ranks of a job are on the same ones.

use crate::answer::{Handle, answer};
use crate::call::call;
use crate::given::{Found, Given};
use crate::job::tb_job;
use crate::object::tb_obj;
use crate::pointers::{Buffer, List, Out, Room, Text};
use crate::status::tb_status;
use crate::structs::Structs;
use crate::topology::tb_topology;
use alloc::format;
use alloc::string::ToString;
use core::ffi::c_char;
use core::fmt::{self, Write};
use topobroker_reader::{
    Object,
    groups::{Unguided, Uri},
};

/// An instance of a hardware resource that a rank is on.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct tb_hw_group {
    /// The instance, such as hwloc://L3Cache/2, with a zero at its end.
    pub uri: [c_char; 48],
    /// Number of ranks on it.
    pub size: u32,
    /// Number of the group: instances with the same ranks have the same one.
    pub group: u32,
}

/// A type of hardware resource. Counterpart: a key and value of MPI_Get_hw_resource_info.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct tb_hw_resource {
    /// The type, such as hwloc://L3Cache, with a zero at its end.
    pub uri: [c_char; 48],
    /// Whether the rank is on one instance of it.
    pub is_restricted: bool,
}

/// Stores up to `capacity` instances of hardware resources that a rank is on with `least` ranks or
/// more, itself among them, those with the most ranks first; and the number of all of them in
/// `count` (may be NULL). With `least` 2, only those that it shares with others. TB_ERR_NOT_FOUND
/// if the rank is not on this node. Counterpart: MPI_Hw_groups_get of the proposal to the MPI
/// Forum.
#[unsafe(no_mangle)]
pub extern "C" fn tb_hw_groups(
    job: Option<&tb_job>,
    rank: u32,
    least: usize,
    groups: Structs<'_, tb_hw_group>,
    element_size: usize,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    answer!(groups(element_size, capacity, count), |job| {
        let all = job.hw_resources().groups_of(rank, least)?;
        let row = |it: topobroker_reader::groups::RankGroup| tb_hw_group {
            uri: letters(it.uri),
            size: it.size,
            group: it.group,
        };
        all.map(row)
    })
}

/// Stores up to `capacity` ranks that are on an instance of a hardware resource, such as
/// hwloc://NUMANode/2, in the order of local ranks, and the number of all of them in `count` (may
/// be NULL). If `uri` has no instance, the ranks that are on any. TB_ERR_TEXT if `uri` is no URI,
/// or has a type that means several.
#[unsafe(no_mangle)]
pub extern "C" fn tb_hw_ranks(
    job: Option<&tb_job>,
    uri: Text<'_>,
    ranks: Room<'_, u32>,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    call(|| {
        let (resources, uri) =
            (job.given("job")?.means().hw_resources(), Uri::parse(uri.get("uri")?)?);
        ranks.fill(resources.ranks_on(uri)?, capacity, count)
    })
}

/// Stores which instance of a type of hardware resource each rank on this node is on, in the order
/// of local ranks: -1 if it is on none or on several. Stores up to `capacity` values, and the
/// number of ranks in `count` (may be NULL). If `uri` has an instance, all others are -1. The types
/// are Machine, Package, Die, NUMANode, MemCache, L1Cache to L5Cache, L1iCache to L3iCache, Core,
/// PU and Group0, Group1... behind hwloc://, and Job, HostBridge, PCISwitch, NVLinkDomain,
/// XGMIHive, NIC, GPU and Binding behind topobroker://; the words of MPICH and Open MPI are known
/// too. TB_ERR_TEXT if `uri` is no URI, or has a type that means several. Counterpart: the colours
/// of MPI_Comm_split_type with MPI_COMM_TYPE_HW_GUIDED.
#[unsafe(no_mangle)]
pub extern "C" fn tb_hw_guided(
    job: Option<&tb_job>,
    uri: Text<'_>,
    colours: Room<'_, i32>,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    call(|| {
        let (resources, uri) =
            (job.given("job")?.means().hw_resources(), Uri::parse(uri.get("uri")?)?);
        let instances = resources.instances(uri)?;
        colours.fill(instances.iter().map(colour), capacity, count)
    })
}

/// Splits some ranks by the outermost resource of which not all of them are on the same instance.
/// Stores a colour for each of them, as far as `capacity` allows, and their number in `count` (may
/// be NULL): ranks with the same colour are in the same part, and -1 is in none. Each part has
/// fewer ranks than there were. TB_ERR_NOT_FOUND if one of them is not on this node. Counterpart:
/// the colours of MPI_Comm_split_type with MPI_COMM_TYPE_HW_UNGUIDED.
#[unsafe(no_mangle)]
pub extern "C" fn tb_hw_unguided(
    job: Option<&tb_job>,
    ranks: List<'_, u32>,
    rank_count: usize,
    colours: Room<'_, i32>,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    call(|| {
        let resources = job.given("job")?.means().hw_resources();
        let ranks = ranks.get(rank_count, "ranks")?;
        let split = resources.unguided(ranks)?;
        let parts = ranks.iter().map(|rank| colour(split.part(*rank).map(Object::id)));
        colours.fill(parts, capacity, count)
    })
}

/// Writes the instance by which tb_hw_unguided separates a rank from others of `ranks`, such as
/// hwloc://Package/1, with a zero at its end. TB_ERR_NOT_FOUND if the rank is in no part. `length`
/// (may be NULL) is set to the bytes of the text without the zero, also with TB_ERR_TRUNCATED.
#[unsafe(no_mangle)]
pub extern "C" fn tb_hw_unguided_uri(
    job: Option<&tb_job>,
    ranks: List<'_, u32>,
    rank_count: usize,
    rank: u32,
    buffer: Buffer<'_>,
    size: usize,
    length: Out<'_, usize>,
) -> tb_status {
    call(|| {
        let resources = job.given("job")?.means().hw_resources();
        let split = resources.unguided(ranks.get(rank_count, "ranks")?)?;
        let uri = split.part(rank).and_then(Unguided::uri);
        let uri = uri.found(|| format!("rank {rank} is in no part"))?;
        let (letters, len) = written(uri);
        buffer.fill(
            core::str::from_utf8(letters.get(..len).unwrap_or_default()).unwrap_or_default(),
            size,
            length,
        )
    })
}

/// Stores whether a rank is on one instance of each type of hardware resource that there is: up to
/// `capacity` types, and the number of all of them in `count` (may be NULL). TB_ERR_NOT_FOUND if
/// the rank is not on this node. Counterpart: MPI_Get_hw_resource_info.
#[unsafe(no_mangle)]
pub extern "C" fn tb_hw_resource_info(
    job: Option<&tb_job>,
    rank: u32,
    types: Structs<'_, tb_hw_resource>,
    element_size: usize,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    call(|| {
        let resources = job.given("job")?.means().hw_resources();
        let row = |(it, is_restricted)| tb_hw_resource { uri: letters(Uri::of(it)), is_restricted };
        types.fill(resources.info(rank)?.map(row), element_size, capacity, count)
    })
}

/// Stores up to `capacity` objects of an instance of a hardware resource, or of a type, and the
/// number of all of them in `count` (may be NULL). Those of an NVLink domain or XGMI hive are its
/// GPUs; a binding and a job have none. Instances of types of hwloc are numbered as in a job's view
/// (tb_job_view), devices as in the adopted topology: pass the view for the former, the adopted
/// topology for the latter. TB_ERR_TEXT if `uri` is no URI.
#[unsafe(no_mangle)]
pub extern "C" fn tb_hw_objects(
    topology: Option<&tb_topology>,
    uri: Text<'_>,
    objects: Room<'_, tb_obj>,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    answer!(objects(capacity, count), |topology, uri| {
        let uri = Uri::parse(uri)?;
        topology.resource_objects(uri).map(Object::id)
    })
}

/// Writes a URI of a hardware resource as this library writes it, with a zero at its end: l3cache
/// and HWLOC://l3 become hwloc://L3Cache. Two URIs are the same if these texts are. TB_ERR_TEXT if
/// `text` is no URI. `length` (may be NULL) is set to the bytes of the text without the zero, also
/// with TB_ERR_TRUNCATED.
#[unsafe(no_mangle)]
pub extern "C" fn tb_hw_uri(
    text: Text<'_>,
    buffer: Buffer<'_>,
    size: usize,
    length: Out<'_, usize>,
) -> tb_status {
    answer!(buffer(size, length), |text| &Uri::parse(text)?.to_string())
}

/// MPI has no more colours than this.
fn colour(instance: Option<u32>) -> i32 {
    instance.and_then(|it| i32::try_from(it).ok()).unwrap_or(-1)
}

/// The text of a URI of an instance as an array of C, which is long enough for each.
fn letters(uri: Uri<'_>) -> [c_char; 48] {
    let (bytes, _) = written(uri);
    bytes.map(|byte| c_char::try_from(byte).unwrap_or_default())
}

/// The text of a URI of an instance with zeros behind it, and its length. The longest name of a
/// type has 12 letters, and a number 10.
fn written(uri: Uri<'_>) -> ([u8; 48], usize) {
    struct Written {
        bytes: [u8; 48],
        len: usize,
    }

    impl Write for Written {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            // The last one stays zero.
            let room = self.bytes.get_mut(self.len..47).unwrap_or_default();
            room.get_mut(..text.len()).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
            self.len += text.len();
            Ok(())
        }
    }

    let mut written = Written { bytes: [0; 48], len: 0 };
    let _ = write!(written, "{uri}");
    (written.bytes, written.len)
}
