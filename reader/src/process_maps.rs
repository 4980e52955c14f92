//! Mappings of this process, as `/proc/self/maps` lists them.

use std::io::Read;
use std::ops::Range;

/// Where a read-only shared mapping of exactly `size` bytes of the start of a file is in `maps`.
///
/// Another copy of the reader in this process (each library may link its own) leaves its mapping
/// like this, and never unmaps it. Nothing is allocated: a page written here is one in every process.
pub(crate) fn find(mut maps: impl Read, device: (u32, u32), inode: u64, size: u64) -> Option<u64> {
    let (mut chunk, mut line) = ([0; 1024], LineStart::default());
    loop {
        let read = maps.read(&mut chunk).ok().filter(|read| *read > 0)?;
        for byte in chunk.get(..read)? {
            if *byte != b'\n' {
                line.push(*byte);
                continue;
            }
            let range = parse(line.text(), device, inode);
            if let Some(range) = range
                && range.end.checked_sub(range.start) == Some(size)
            {
                return Some(range.start);
            }
            line = LineStart::default();
        }
    }
}

/// A line up to its path, which may have any length and any bytes.
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
        std::str::from_utf8(ascii).unwrap_or_default()
    }
}

fn parse(line: &str, (major, minor): (u32, u32), inode: u64) -> Option<Range<u64>> {
    let mut fields = line.split_ascii_whitespace();
    let (start, end) = fields.next()?.split_once('-')?;
    let (permissions, offset) = (fields.next()?, fields.next()?);
    let (found_major, found_minor) = fields.next()?.split_once(':')?;
    let same = permissions == "r--s"
        && u64::from_str_radix(offset, 16) == Ok(0)
        && u32::from_str_radix(found_major, 16) == Ok(major)
        && u32::from_str_radix(found_minor, 16) == Ok(minor)
        && fields.next()?.parse() == Ok(inode);
    let address = |digits| u64::from_str_radix(digits, 16).ok();
    if same { Some(address(start)?..address(end)?) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
550000000000-55000000c000 r--s 00000000 00:1a 77                         /dev/shm/topobroker-1
560000000000-560000001000 r--p 00000000 00:1a 78                         /usr/lib/x
7f0000000000-7f0000001000 r--s 00000000 00:1a 79                         /dev/shm/b
7f0000002000-7f0000003000 r--s 00001000 00:1a 80                         /dev/shm/c
7ffd00000000-7ffd00001000 rw-p 00000000 00:00 0                          [stack]
";

    #[test]
    fn a_mapping_is_found_by_device_and_inode() {
        assert_eq!(find(MAPS.as_bytes(), (0, 0x1a), 77, 0xc000), Some(0x5500_0000_0000));
        assert_eq!(find(MAPS.as_bytes(), (0, 0x1a), 79, 0x1000), Some(0x7f00_0000_0000));
    }

    #[test]
    fn mappings_behind_paths_of_any_length_and_any_bytes_are_found() {
        let mut maps = b"7e0000000000-7e0000001000 r--s 00000000 00:1a 76   /".to_vec();
        maps.extend([0xc3; 5000]);
        maps.push(b'\n');
        maps.extend(MAPS.bytes());
        assert_eq!(find(maps.as_slice(), (0, 0x1a), 79, 0x1000), Some(0x7f00_0000_0000));
        assert_eq!(find(maps.as_slice(), (0, 0x1a), 76, 0x1000), Some(0x7e00_0000_0000));
    }

    #[test]
    fn private_partial_longer_and_foreign_mappings_are_passed_over() {
        for (device, inode, size) in [
            ((0, 0x1a), 78, 0x1000),
            ((0, 0x1a), 80, 0x1000),
            ((0, 0x1b), 77, 0xc000),
            ((0, 0x1a), 77, 0xb000),
        ] {
            assert_eq!(find(MAPS.as_bytes(), device, inode, size), None);
        }
    }
}
