//! Bytes that gzip, xz, zstd or bzip2 have compressed.

use std::io::{self, Read};
use topobroker_reader::FileError;

/// The names of the programs that compress, and the bytes that what they write begins with.
const MAGICS: [(&str, &[u8]); 4] = [
    ("gzip", &[0x1f, 0x8b, 8]),
    ("xz", &[0xfd, b'7', b'z', b'X', b'Z', 0]),
    ("zstd", &[0x28, 0xb5, 0x2f, 0xfd]),
    ("bzip2", b"BZh"),
];

/// What compressed bytes hold, at most `most` bytes; `None` if they are not compressed.
pub(crate) fn decompressed(bytes: &[u8], most: u64) -> Option<io::Result<Vec<u8>>> {
    let (name, _) = MAGICS.into_iter().find(|(_, magic)| bytes.starts_with(magic))?;
    let whole = decoder(name, bytes).and_then(|decoder| {
        let mut whole = Vec::new();
        decoder.take(most.saturating_add(1)).read_to_end(&mut whole).map_err(|error| {
            io::Error::new(io::ErrorKind::InvalidData, format!("{name} cannot unpack it: {error}"))
        })?;
        match whole.len() as u64 > most {
            true => Err(FileError::TooLong { limit: most }.into()),
            false => Ok(whole),
        }
    });
    Some(whole)
}

#[cfg(feature = "compressed")]
fn decoder<'b>(name: &str, bytes: &'b [u8]) -> io::Result<Box<dyn Read + 'b>> {
    /// Limit of the memory for what an xz file refers back to, in KiB: four times that of `xz -9`.
    const MOST_KIB: u32 = 256 << 10;
    Ok(match name {
        "gzip" => Box::new(flate2::read::MultiGzDecoder::new(bytes)),
        "xz" => Box::new(lzma_rust2::XzReader::new_mem_limit(bytes, true, MOST_KIB)),
        "zstd" => {
            let decoder = ruzstd::decoding::StreamingDecoder::new(bytes);
            Box::new(decoder.map_err(io::Error::other)?)
        }
        _ => Box::new(bzip2::read::MultiBzDecoder::new(bytes)),
    })
}

#[cfg(not(feature = "compressed"))]
fn decoder<'b>(name: &str, _: &'b [u8]) -> io::Result<Box<dyn Read + 'b>> {
    let reason = format!("it is compressed by {name}; expected it unpacked");
    Err(io::Error::new(io::ErrorKind::Unsupported, reason))
}
