//! Text files that users name.

use anyhow::Context;
use std::path::Path;
use topobroker::file_bytes::FileBytes;

/// Reads a text of at most `most` bytes; `-` is standard input. All errors name the file.
pub(crate) fn read_text<T, E>(
    file: &Path,
    most: u64,
    read: impl FnOnce(&str) -> Result<T, E>,
) -> anyhow::Result<T>
where
    Result<T, E>: Context<T, E>,
{
    let name = || file.display().to_string();
    let bytes = match file == Path::new("-") {
        true => FileBytes::read(std::io::stdin(), most),
        false => FileBytes::open(file, most),
    };
    let bytes = bytes.with_context(name)?;
    read(bytes.text().with_context(name)?).with_context(name)
}
