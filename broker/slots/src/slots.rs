//! The file with hwloc's own segments that the hwloc guard serves. Its first page says for which
//! loads they were written, and under which conditions.
//!
//! A slot is one such segment, at an address of its own. A process that loads the same topology
//! twice takes two slots, so that what it writes into the objects of one does not show in the
//! other.

use crate::conditions::{CgroupPlace, Conditions};
use crate::load_key::{LoadKey, OBJECT_TYPES};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use xxhash_rust::xxh3::xxh3_64;

/// First bytes of the file.
const MAGIC: [u8; 8] = *b"TOPOSLOT";

/// Version of the format. Readers refuse any other.
const VERSION: u32 = 2;

/// Ending of the file's name, after the name of the segment that it is next to.
pub const SLOTS_ENDING: &str = "+slots";

/// Length in bytes of the page that says which slots there are.
pub const FIRST_PAGE: usize = 4096;

/// The slots for one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotsOfKey {
    /// The key.
    pub key: LoadKey,
    /// Whether the key need not say anything about `gl`, because there is no display.
    pub any_gl: bool,
    /// Number of slots.
    pub count: u32,
    /// Place of the first slot in the file.
    pub offset: u64,
    /// Address of the first slot.
    pub address: u64,
    /// Length of each slot, as hwloc wrote it.
    pub length: u64,
    /// The types of objects of which some have a name or a subtype: bit N is the Nth type of hwloc.
    pub named_types: u32,
}

impl SlotsOfKey {
    /// Place in the file and address of each slot.
    pub fn slots(self) -> impl Iterator<Item = (u64, u64)> {
        let Self { offset, address, length, .. } = self;
        (0..u64::from(self.count))
            .map(move |slot| (offset + slot * length, address + slot * length))
    }

    /// Whether the slots are for a load with a key.
    #[must_use]
    pub fn is_for(&self, key: &LoadKey) -> bool {
        let same_gl = self.any_gl || self.key.without_gl == key.without_gl;
        self.key.flags == key.flags && self.key.filters == key.filters && same_gl
    }
}

/// What the first page of the file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slots {
    /// [`hash_of_file`] of the hwloc library that has written the slots. Another one, even of the
    /// same version, may find other things.
    pub library: u64,
    /// Under which conditions the slots were written.
    pub conditions: Conditions,
    /// Where the publisher has found its cgroup.
    pub cgroup: CgroupPlace,
    /// The libraries and programs whose loads are served: see [`is_tried`](crate::is_tried).
    pub callers: Vec<String>,
    /// The slots for each key.
    pub keys: Vec<SlotsOfKey>,
}

/// Bytes for the folder of a cgroup, with a zero at the end.
const FOLDER: usize = 448;
/// Bytes for the names of callers, a line each.
pub const CALLERS_LEN: usize = 1536;
/// Bytes in front of the keys.
const HEAD: usize = 16 + 32 + 8 + 8 + FOLDER + CALLERS_LEN;
/// Bytes of a key.
const ENTRY: usize = 64;

impl Slots {
    /// Number of keys that have room.
    pub const MOST: usize = (FIRST_PAGE - HEAD) / ENTRY;

    /// The first page. Keys beyond [`Slots::MOST`], and callers beyond [`CALLERS_LEN`] bytes, are
    /// left out.
    #[must_use]
    pub fn to_page(&self) -> [u8; FIRST_PAGE] {
        let keys: Vec<_> = self.keys.iter().take(Self::MOST).collect();
        let Conditions { environment, published_environment, cgroup, affinity } = self.conditions;
        let count = u32::try_from(keys.len()).unwrap_or(0);
        let mut bytes = Vec::from(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(count.to_le_bytes());
        for hash in [environment, published_environment, cgroup, affinity] {
            bytes.extend(hash.to_le_bytes());
        }
        bytes.extend(self.library.to_le_bytes());
        bytes.extend(self.cgroup.member.to_le_bytes());
        let folder = Some(&self.cgroup.folder).filter(|folder| folder.len() < FOLDER);
        bytes.extend(folder.map(Vec::as_slice).unwrap_or_default());
        bytes.resize(HEAD - CALLERS_LEN, 0);
        for caller in &self.callers {
            if bytes.len() + caller.len() < HEAD {
                bytes.extend(caller.bytes().chain([b'\n']));
            }
        }
        bytes.resize(HEAD, 0);
        for SlotsOfKey { key, any_gl, count, offset, address, length, named_types } in keys {
            for number in [key.flags, *offset, *address, *length] {
                bytes.extend(number.to_le_bytes());
            }
            bytes.extend(count.to_le_bytes());
            bytes.extend([u8::from(key.without_gl), u8::from(*any_gl)]);
            bytes.extend(key.filters);
            bytes.extend(named_types.to_le_bytes());
            bytes.resize(bytes.len() + ENTRY - 32 - 6 - OBJECT_TYPES - 4, 0);
        }
        bytes.resize(FIRST_PAGE, 0);
        bytes.try_into().unwrap_or([0; FIRST_PAGE])
    }

    /// Reads the first page of a file of `length` bytes. `None` if it is not such a page, if it has
    /// another version, or if a slot is not inside the file.
    #[must_use]
    pub fn read(page: &[u8], length: u64) -> Option<Self> {
        let (magic, rest) = page.split_first_chunk::<8>()?;
        let (version, rest) = rest.split_first_chunk()?;
        let (count, rest) = rest.split_first_chunk()?;
        if *magic != MAGIC || u32::from_le_bytes(*version) != VERSION {
            return None;
        }
        let (hashes, rest) = numbers(rest)?;
        let (library, rest) = rest.split_first_chunk()?;
        let library = u64::from_le_bytes(*library);
        let (member, rest) = rest.split_first_chunk()?;
        let (folder, rest) = rest.split_first_chunk::<FOLDER>()?;
        let (callers, entries) = rest.split_first_chunk::<CALLERS_LEN>()?;
        let callers = core::str::from_utf8(callers).ok()?.trim_end_matches('\0');
        let callers = callers.lines().map(str::to_string).collect();
        let folder = folder.split(|byte| *byte == 0).next()?.to_vec();
        let place = CgroupPlace { member: u64::from_le_bytes(*member), folder };
        let [environment, published_environment, cgroup, affinity] = hashes;
        let conditions = Conditions { environment, published_environment, cgroup, affinity };
        let count = usize::try_from(u32::from_le_bytes(*count)).ok()?;
        let (entries, _) = entries.as_chunks::<ENTRY>();
        let keys = entries.get(..count)?.iter().map(|entry| read_entry(entry, length));
        let keys = keys.collect::<Option<_>>()?;
        Some(Self { library, conditions, cgroup: place, callers, keys })
    }
}

fn read_entry(entry: &[u8; ENTRY], file: u64) -> Option<SlotsOfKey> {
    let ([flags, offset, address, length], rest) = numbers(entry)?;
    let (count, rest) = rest.split_first_chunk()?;
    let ([without_gl, any_gl], rest) = rest.split_first_chunk()?;
    let (filters, rest) = rest.split_first_chunk()?;
    let (named_types, _) = rest.split_first_chunk()?;
    let (count, align) = (u32::from_le_bytes(*count), FIRST_PAGE as u64);
    let all = length.checked_mul(count.into())?;
    let is_aligned = [offset, address, length].iter().all(|number| number % align == 0);
    let is_inside = offset >= align && offset.checked_add(all)? <= file;
    address.checked_add(all)?;
    let key = LoadKey { flags, filters: *filters, without_gl: *without_gl != 0 };
    (is_aligned && is_inside && length > 0 && address > 0).then_some(SlotsOfKey {
        key,
        any_gl: *any_gl != 0,
        count,
        offset,
        address,
        length,
        named_types: u32::from_le_bytes(*named_types),
    })
}

/// Four numbers, and the bytes behind them.
fn numbers(bytes: &[u8]) -> Option<([u64; 4], &[u8])> {
    let (numbers, rest) = bytes.split_at_checked(32)?;
    let (numbers, _) = numbers.as_chunks::<8>();
    let numbers: [[u8; 8]; 4] = numbers.try_into().ok()?;
    Some((numbers.map(u64::from_le_bytes), rest))
}

/// A hash of a file, by device and inode.
#[must_use]
pub fn hash_of_file(device: u64, inode: u64) -> u64 {
    xxh3_64([device.to_le_bytes(), inode.to_le_bytes()].as_flattened())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Slots {
        let key = LoadKey {
            flags: 2,
            filters: [0, 1, 2, 3].repeat(5).try_into().unwrap(),
            without_gl: true,
        };
        let first = SlotsOfKey {
            key,
            any_gl: false,
            count: 3,
            offset: 4096,
            address: 1 << 40,
            length: 8192,
            named_types: 1 << 16,
        };
        let second =
            SlotsOfKey { key: LoadKey { flags: 0, ..key }, any_gl: true, offset: 28672, ..first };
        let conditions =
            Conditions { environment: 1, published_environment: 2, cgroup: 3, affinity: 4 };
        let cgroup = CgroupPlace { member: 5, folder: b"/sys/fs/cgroup/a".to_vec() };
        let callers = ["libopen-pal.so.40", "*"].map(str::to_string).into();
        Slots { library: 6, conditions, cgroup, callers, keys: [first, second].into() }
    }

    #[test]
    fn a_page_is_read_as_it_was_written() {
        let slots = example();
        assert_eq!(Slots::read(&slots.to_page(), 53248), Some(slots.clone()));
        let places: Vec<_> = slots.keys[0].slots().collect();
        assert_eq!(
            places,
            [(4096, 1 << 40), (12288, (1 << 40) + 8192), (20480, (1 << 40) + 16384)]
        );
    }

    #[test]
    fn a_page_that_is_cut_or_damaged_or_names_bytes_behind_the_file_is_refused() {
        let page = example().to_page();
        assert_eq!(Slots::read(&page, 53247), None);
        for length in 0..HEAD + 2 * ENTRY {
            assert_eq!(Slots::read(&page[..length], 53248), None, "{length}");
        }
        for (at, value) in [
            (0, 0),
            (8, 3),
            (12, 200),
            (HEAD + 8, 1),
            (HEAD + 15, 255),
            (HEAD + 31, 255),
            (HEAD + 35, 255),
        ] {
            let mut damaged = page;
            damaged[at] = value;
            assert_eq!(Slots::read(&damaged, 53248), None, "{at}");
        }
    }

    #[test]
    fn slots_are_for_loads_with_the_same_flags_and_filters_and_gl_if_there_is_a_display() {
        let [first, second] = example().keys.try_into().unwrap();
        let other = LoadKey { without_gl: false, ..first.key };
        assert!(first.is_for(&first.key) && !first.is_for(&other) && !first.is_for(&second.key));
        assert!(second.is_for(&LoadKey { flags: 0, ..other }) && second.is_for(&second.key));
    }
}
