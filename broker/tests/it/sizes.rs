//! How much smaller than hwloc's segments ours are.

use topobroker::hwloc::Input;
use topobroker_layout::{encode, header};
use topobroker_rival as rival;
use topobroker_samples::{SYNTHETIC_256, SYNTHETIC_2048, machines, shared};

/// Bytes of our segment and of hwloc's, and the number of objects.
fn sizes(input: &Input) -> (usize, usize, usize) {
    let topology = topobroker_samples::loaded(input);
    let description = topobroker::hwloc::capture(&topology).unwrap();
    let ours = header::segment_len(encode::to_bytes(&description).unwrap().len());
    (ours, rival::length(&topology).unwrap(), description.objects.len())
}

#[test]
fn a_segment_takes_at_most_an_eighth_of_hwlocs_and_a_tenth_on_synthetic_machines() {
    for text in [SYNTHETIC_256, SYNTHETIC_2048] {
        let (ours, theirs, _) = sizes(&Input::Synthetic(text.to_owned()));
        assert!(ours * 10 <= theirs, "{text}: {ours} of {theirs}");
    }
    let Some(shared) = shared() else { return };
    for machine in machines(&shared) {
        let (ours, theirs, objects) = sizes(&Input::Xml(machine.path));
        assert!(objects < 100 || ours * 8 <= theirs, "{}: {ours} of {theirs}", machine.name);
    }
}
