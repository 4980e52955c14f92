//! Compares printed names and sets with hwloc's.

use proptest::prelude::*;
use topobroker_layout::set::Format;
use topobroker_reader::Set;
use topobroker_reader::text::pci_class_name;
use topobroker_rival as rival;

#[test]
fn every_pci_class_has_hwlocs_name() {
    for class_id in 0..=u16::MAX {
        assert_eq!(pci_class_name(class_id), rival::pci_class_name(class_id), "{class_id:#06x}");
    }
}

/// Words of a set: those that machines typically have, and arbitrary ones.
fn words() -> impl Strategy<Value = Vec<u64>> {
    let word = prop_oneof![
        Just(0),
        Just(u64::MAX),
        Just(1),
        Just(1 << 63),
        Just(0xffff_ffff),
        Just(0xff00_ff00_0000_0000),
        any::<u64>()
    ];
    proptest::collection::vec(word, 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn every_set_is_printed_as_hwloc_prints_it_and_read_back(words in words(), infinite: bool) {
        let set = Set::from_words(words.iter().copied(), infinite);
        for format in [Format::Hwloc, Format::List, Format::Taskset] {
            let text = set.to_text(format);
            prop_assert_eq!(&text, &rival::set_text(set.words(), infinite, format));
            prop_assert_eq!(Set::parse(&text, format).unwrap(), set.clone());
        }
    }
}
