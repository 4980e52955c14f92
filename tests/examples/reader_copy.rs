//! A library with its own copy of the reader, as plugins and language bindings have.

/// Adopts what the environment names; returns where the segment is mapped, 0 if that failed.
#[unsafe(no_mangle)]
pub extern "C" fn reader_copy_adopt() -> usize {
    topobroker_reader::adopt().map_or(0, |adopted| adopted.bytes().as_ptr().addr())
}
