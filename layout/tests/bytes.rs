//! An archive has the same bytes on every machine that builds it. Miri runs this test as a machine
//! of 32 bits with the high byte first.

use topobroker_layout::encode::to_bytes;

#[cfg(test)]
#[path = "it/machine.rs"]
mod machine;

#[test]
fn an_archive_has_the_same_bytes_whatever_machine_builds_it() {
    let bytes = to_bytes(&machine::machine()).unwrap();
    // FNV-1a, which is the same on every machine.
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    });
    assert_eq!((bytes.len(), hash), (2016, 0x309d_235c_0491_14ba));
}
