//! Any bytes are refused or can be read to the last field: bytes -> open -> every accessor.
#![no_main]

use libfuzzer_sys::fuzz_target;
use topobroker_cli::console::{Contents, Style, print};
use topobroker_reader::Archive;
use topobroker_reader::text::xml::export;

fuzz_target!(|data: &[u8]| {
    // Reading a header works on any bytes.
    let _ = topobroker_layout::open(data);
    let Some(bytes) = topobroker_fuzz::archive(data) else { return };
    let Ok(opened) = Archive::open(&bytes) else { return };
    let topology = opened.topology();
    let _ = export(topology);
    for contents in
        [Contents::Tree, Contents::Summary, Contents::Distances, Contents::MemoryAttributes]
    {
        let _ = print(topology, &Style { contents, verbosity: 2, ..Style::default() });
    }
    for object in topology.objects() {
        let _ = (object.next_sibling(), object.prev_sibling(), object.next_cousin());
        let _ = object.os_index().map(|index| topology.pu_by_os_index(index));
        assert_eq!(topology.object_at_depth(object.depth(), object.logical_index()), Some(object));
    }
});
