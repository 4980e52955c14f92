//! Tests of sets, which are compared index by index.

use super::Set;
use proptest::prelude::*;

#[test]
fn equal_sets_are_equal_values_however_they_were_made() {
    assert_eq!(Set::from_words([5, 0, 0], false), Set::from_words([5], false));
    assert_eq!(Set::from_words([5, u64::MAX], true), Set::from_words([5], true));
    assert_ne!(Set::from_words([5], true), Set::from_words([5], false));
}

#[test]
fn an_infinite_set_has_every_late_index_and_no_weight() {
    let set = Set::from_words([6], true);
    assert!(set.contains(1) && !set.contains(3) && set.contains(100_000));
    assert_eq!(set.weight(), None);
    assert!(Set::from_words([2], false).is_included_in(&set));
    assert!(!set.is_included_in(&Set::from_words([6], false)));
}

#[test]
fn iteration_gives_back_the_indexes_in_order() {
    let indexes = [0, 63, 64, 200, 1500];
    let set: Set = indexes.into_iter().rev().collect();
    assert_eq!(set.iter().collect::<Vec<_>>(), indexes);
}

/// Indexes of a set below 400, each looked up by itself: slow, but simple.
fn indexes(set: &Set) -> Vec<u32> {
    (0..400).filter(|index| set.contains(*index)).collect()
}

fn any_set() -> impl Strategy<Value = Set> {
    let words = proptest::collection::vec(prop_oneof![Just(0), Just(u64::MAX), any::<u64>()], 0..5);
    (words, any::<bool>()).prop_map(|(words, infinite)| Set::from_words(words, infinite))
}

proptest! {
    #[test]
    fn operations_hold_index_by_index(a in any_set(), b in any_set()) {
        let expect = |set: &Set, holds: &dyn Fn(bool, bool) -> bool| {
            (0..400).all(|i| set.contains(i) == holds(a.contains(i), b.contains(i)))
        };
        prop_assert!(expect(&(&a & &b), &|a, b| a && b));
        prop_assert!(expect(&(&a | &b), &|a, b| a || b));
        prop_assert!(expect(&(&a ^ &b), &|a, b| a != b));
        prop_assert!(expect(&a.and_not(&b), &|a, b| a && !b));
        prop_assert!(expect(&!&a, &|a, _| !a));
        let mut copy = b.clone();
        copy.clone_from(&a);
        prop_assert_eq!(&copy, &a);
        prop_assert_eq!(a.intersects(&b), !(&a & &b).is_empty());
        prop_assert_eq!(a.is_included_in(&b), (&a & &b) == a);
    }

    #[test]
    fn walks_and_ends_hold_index_by_index(set in any_set(), from in 0u32..330) {
        let indexes = indexes(&set);
        prop_assert_eq!(set.first(), indexes.first().copied());
        if !set.is_infinite() {
            prop_assert_eq!(set.last(), indexes.last().copied());
            prop_assert_eq!(set.iter().collect::<Vec<_>>(), indexes.clone());
        }
        let next = indexes.iter().copied().find(|index| *index > from);
        prop_assert_eq!(set.next_after(from), next);
        prop_assert_eq!(set.singlify().weight(), Some(u32::from(!set.is_empty())));
    }

    #[test]
    fn what_is_put_in_is_in_and_what_is_taken_out_is_not(
        set in any_set(),
        first in 0u32..300,
        length in 0u32..99,
    ) {
        let range = first..=first + length;
        let mut more = set.clone();
        more.insert_range(range.clone());
        let mut less = set.clone();
        range.clone().for_each(|index| less.remove(index));
        let mut rest = set.clone();
        rest.insert_from(first);
        for index in 0..400 {
            let (had, inside) = (set.contains(index), range.contains(&index));
            prop_assert_eq!(more.contains(index), had || inside);
            prop_assert_eq!(less.contains(index), had && !inside);
            prop_assert_eq!(rest.contains(index), had || index >= first);
        }
    }
}
