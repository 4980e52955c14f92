//! A library with its own copy of the reader, as plugins and language bindings have.

/// Adopts the segment that the environment names. Returns the address of its mapping, 0 if adoption
/// failed.
#[unsafe(no_mangle)]
pub extern "C" fn reader_copy_adopt() -> usize {
    topobroker_reader::adopt().map_or(0, |adopted| adopted.bytes().as_ptr().addr())
}
