//! How things are printed, against hwloc itself.

use proptest::prelude::*;
use topobroker::console::pci_class_name;
use topobroker_benches::rival;
use topobroker_reader::Set;

#[test]
fn every_pci_class_has_hwlocs_name() {
    for class_id in 0..=u16::MAX {
        assert_eq!(pci_class_name(class_id), rival::pci_class_name(class_id), "{class_id:#06x}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn every_set_is_printed_as_hwloc_prints_it(
        words in proptest::collection::vec(
            prop_oneof![Just(0), Just(u64::MAX), Just(1), Just(1 << 63), Just(0xffff_ffff), any::<u64>()],
            0..6,
        ),
        infinite: bool,
    ) {
        let ours = Set::from_words(words.iter().copied(), infinite).to_string();
        prop_assert_eq!(ours, rival::mask(&words, infinite));
    }
}
