//! Bytes that gzip, xz, zstd or bzip2 have compressed.

use std::io;
#[cfg(feature = "compressed")]
use std::io::Read;
use topobroker_reader::FileError;

/// What compressed bytes hold, at most `most` bytes; `None` if they are not compressed.
pub(crate) fn decompressed(bytes: &[u8], most: u64) -> Option<io::Result<Vec<u8>>> {
    let name = compressor(bytes)?;
    let whole = unpacked(name, bytes, most)
        .map_err(|error| io::Error::new(error.kind(), format!("{name} cannot unpack it: {error}")));
    Some(whole.and_then(|whole| match whole.len() as u64 > most {
        true => Err(FileError::TooLong { limit: most }.into()),
        false => Ok(whole),
    }))
}

/// The program that has compressed bytes, by what they begin with.
fn compressor(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x1f, 0x8b, 8, ..] => Some("gzip"),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some("xz"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some("zstd"),
        // The level, then the number that a block begins with.
        [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..] => Some("bzip2"),
        _ => None,
    }
}

/// At most one byte more than `most`.
#[cfg(feature = "compressed")]
fn unpacked(name: &str, bytes: &[u8], most: u64) -> io::Result<Vec<u8>> {
    /// Limit of the memory for what an xz file refers back to, in KiB: four times that of `xz -9`.
    const MOST_KIB: u32 = 256 << 10;
    let limit = most.saturating_add(1);
    let mut whole = Vec::new();
    match name {
        "gzip" => {
            flate2::read::MultiGzDecoder::new(bytes).take(limit).read_to_end(&mut whole)?;
        }
        "xz" => {
            let decoder = lzma_rust2::XzReader::new_mem_limit(bytes, true, MOST_KIB);
            decoder.take(limit).read_to_end(&mut whole)?;
        }
        "zstd" => frames(bytes, limit, &mut whole)?,
        _ => {
            bzip2::read::MultiBzDecoder::new(bytes).take(limit).read_to_end(&mut whole)?;
        }
    }
    Ok(whole)
}

/// Reads all frames of zstd. Some hold nothing: their length is behind their number.
#[cfg(feature = "compressed")]
fn frames(mut bytes: &[u8], limit: u64, whole: &mut Vec<u8>) -> io::Result<()> {
    while !bytes.is_empty() && (whole.len() as u64) < limit {
        if let [0x50..=0x5f, 0x2a, 0x4d, 0x18, a, b, c, d, rest @ ..] = bytes {
            let length = u32::from_le_bytes([*a, *b, *c, *d]) as usize;
            bytes = rest.get(length..).ok_or(io::ErrorKind::UnexpectedEof)?;
            continue;
        }
        let left = limit.saturating_sub(whole.len() as u64);
        let decoder = ruzstd::decoding::StreamingDecoder::new(&mut bytes);
        decoder.map_err(io::Error::other)?.take(left).read_to_end(whole)?;
    }
    Ok(())
}

#[cfg(not(feature = "compressed"))]
fn unpacked(_: &str, _: &[u8], _: u64) -> io::Result<Vec<u8>> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this library reads no compressed files"))
}
