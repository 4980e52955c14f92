//! Any text is refused as a hostlist, or its names fold into one that has the same names.
#![no_main]

use libfuzzer_sys::fuzz_target;
use topobroker_cluster::{MAX_HOSTS, expand, fold};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(mut names) = expand(text) else { return };
    assert!(names.len() <= MAX_HOSTS);
    if names.len() > 1000 || names.iter().any(|name| name.trim() != *name || name.is_empty()) {
        return;
    }
    let folded = fold(names.iter().map(String::as_str));
    let mut again = expand(&folded).expect("what is folded is expanded");
    names.sort();
    names.dedup();
    again.sort();
    assert_eq!(names, again, "{folded}");
});
