//! Mappings of this process, as `/proc/self/maps` lists them.

use core::ops::Range;
use rustix::fd::AsFd;

/// A mapping of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mapping {
    /// Its range of addresses.
    pub range: Range<u64>,
    /// Its permissions, and whether it is shared: `r--s`.
    pub permissions: [u8; 4],
    /// Offset of its start in its file, in bytes.
    pub offset: u64,
    /// Major and minor number of the device of its file.
    pub device: (u32, u32),
    /// Inode of its file; 0 for anonymous memory.
    pub inode: u64,
}

/// The mappings that `/proc/self/maps` lists, without their paths.
///
/// Nothing is allocated, because a heap page that is written here would be one in every process.
///
/// ```
/// let maps = std::fs::File::open("/proc/self/maps")?;
/// let local = 7;
/// let stack = std::ptr::from_ref(&local).addr() as u64;
/// assert!(topobroker_process::mappings(maps).any(|mapping| mapping.range.contains(&stack)));
/// # Ok::<(), std::io::Error>(())
/// ```
#[must_use = "mappings are read as they are asked for"]
pub fn mappings(maps: impl AsFd) -> impl Iterator<Item = Mapping> {
    lines(move |chunk| rustix::io::read(&maps, chunk).ok())
}

/// The mappings in a text that `read` puts into a chunk piece by piece.
fn lines(mut read: impl FnMut(&mut [u8]) -> Option<usize>) -> impl Iterator<Item = Mapping> {
    let (mut chunk, mut unread) = ([0; 1024], 0..0);
    let mut next = move || {
        if unread.is_empty() {
            unread = 0..read(&mut chunk)?;
        }
        chunk.get(unread.next()?).copied()
    };
    core::iter::from_fn(move || {
        loop {
            let mut line = LineStart::default();
            loop {
                match next()? {
                    b'\n' => break,
                    byte => line.push(byte),
                }
            }
            if let Some(mapping) = parse(line.text()) {
                return Some(mapping);
            }
        }
    })
}

/// Start address of a read-only shared mapping of exactly `size` bytes from the start of a file.
///
/// Another copy of the reader in this process (each library may link its own) makes such a mapping
/// and never unmaps it.
pub fn find_mapping(
    mut mappings: impl Iterator<Item = Mapping>,
    device: (u32, u32),
    inode: u64,
    size: u64,
) -> Option<u64> {
    let is_it = |mapping: &Mapping| {
        let length = mapping.range.end.checked_sub(mapping.range.start);
        (mapping.permissions, mapping.offset, mapping.device) == (*b"r--s", 0, device)
            && (mapping.inode, length) == (inode, Some(size))
    };
    mappings.find(is_it).map(|mapping| mapping.range.start)
}

/// The first 100 bytes of a line. They include all but the path, which may have any length and any
/// bytes.
struct LineStart {
    bytes: [u8; 100],
    length: usize,
}

impl Default for LineStart {
    fn default() -> Self {
        Self { bytes: [0; 100], length: 0 }
    }
}

impl LineStart {
    fn push(&mut self, byte: u8) {
        if let Some(next) = self.bytes.get_mut(self.length) {
            *next = byte;
            self.length += 1;
        }
    }

    fn text(&self) -> &str {
        let written = self.bytes.get(..self.length).unwrap_or_default();
        let ascii = written.split(|byte| !byte.is_ascii()).next().unwrap_or_default();
        core::str::from_utf8(ascii).unwrap_or_default()
    }
}

fn parse(line: &str) -> Option<Mapping> {
    let mut fields = line.split_ascii_whitespace();
    let hexadecimal = |digits| u64::from_str_radix(digits, 16).ok();
    let (start, end) = fields.next()?.split_once('-')?;
    let range = hexadecimal(start)?..hexadecimal(end)?;
    let permissions = fields.next()?.as_bytes().try_into().ok()?;
    let offset = hexadecimal(fields.next()?)?;
    let (major, minor) = fields.next()?.split_once(':')?;
    let number = |digits| u32::from_str_radix(digits, 16).ok();
    let device = (number(major)?, number(minor)?);
    let inode = fields.next()?.parse().ok()?;
    Some(Mapping { range, permissions, offset, device, inode })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn text(mut maps: &[u8]) -> impl Iterator<Item = Mapping> {
        lines(move |chunk| maps.read(chunk).ok())
    }

    const MAPS: &str = "\
550000000000-55000000c000 r--s 00000000 00:1a 77                         /dev/shm/topobroker-1
560000000000-560000001000 r--p 00000000 00:1a 78                         /usr/lib/x
7f0000000000-7f0000001000 r--s 00000000 00:1a 79                         /dev/shm/b
7f0000002000-7f0000003000 r--s 00001000 00:1a 80                         /dev/shm/c
7ffd00000000-7ffd00001000 rw-p 00000000 00:00 0                          [stack]
";

    #[test]
    fn a_mapping_is_found_by_device_and_inode() {
        assert_eq!(
            find_mapping(text(MAPS.as_bytes()), (0, 0x1a), 77, 0xc000),
            Some(0x5500_0000_0000)
        );
        assert_eq!(
            find_mapping(text(MAPS.as_bytes()), (0, 0x1a), 79, 0x1000),
            Some(0x7f00_0000_0000)
        );
    }

    #[test]
    fn mappings_behind_paths_of_any_length_and_any_bytes_are_found() {
        let mut maps = b"7e0000000000-7e0000001000 r--s 00000000 00:1a 76   /".to_vec();
        maps.extend([0xc3; 5000]);
        maps.push(b'\n');
        maps.extend(MAPS.bytes());
        assert_eq!(find_mapping(text(&maps), (0, 0x1a), 79, 0x1000), Some(0x7f00_0000_0000));
        assert_eq!(find_mapping(text(&maps), (0, 0x1a), 76, 0x1000), Some(0x7e00_0000_0000));
    }

    #[test]
    fn private_partial_longer_and_foreign_mappings_are_passed_over() {
        for (device, inode, size) in [
            ((0, 0x1a), 78, 0x1000),
            ((0, 0x1a), 80, 0x1000),
            ((0, 0x1b), 77, 0xc000),
            ((0, 0x1a), 77, 0xb000),
        ] {
            assert_eq!(find_mapping(text(MAPS.as_bytes()), device, inode, size), None);
        }
    }
}
