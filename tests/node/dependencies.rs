//! The reader is loaded into every process, so it depends on few packages, and not on hwloc.

use std::collections::BTreeSet;
use std::process::Command;

/// All packages in the reader, without those that only run while it is compiled.
const OF_THE_READER: [&str; 18] = [
    "bitflags",
    "bytecheck",
    "hashbrown",
    "libc",
    "linux-raw-sys",
    "munge",
    "ptr_meta",
    "rancor",
    "rend",
    "rkyv",
    "rustix",
    "simdutf8",
    "smallvec",
    "thiserror",
    "topobroker-layout",
    "topobroker-process",
    "topobroker-reader",
    "xxhash-rust",
];

// On other architectures rustix may use the C library instead of `linux-raw-sys`.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[test]
fn the_reader_is_built_of_few_packages_and_none_of_them_is_hwloc() {
    let mut tree = Command::new(env!("CARGO"));
    tree.args([
        "tree",
        "--locked",
        "--package",
        "topobroker-reader",
        "--edges",
        "normal,no-proc-macro",
    ]);
    tree.args(["--prefix", "none", "--format", "{p}"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = tree.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let found: BTreeSet<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(found, OF_THE_READER.into_iter().collect());
}
