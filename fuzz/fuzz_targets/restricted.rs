//! Views are equal to hwloc's restricted duplicates, and answer every query like them. The
//! generators of the tests pick the machine, the sets and the flags, from a seed that the fuzzer
//! gives.
#![no_main]
#![allow(
    dead_code,
    unused_imports,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the tests' own files"
)]

use libfuzzer_sys::fuzz_target;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use topobroker::hwloc::Input;

#[path = "../../broker/tests/it/queries.rs"]
mod queries;
#[path = "../../broker/tests/it/random_cases.rs"]
mod random_cases;
#[path = "../../broker/tests/it/views.rs"]
mod views;

fuzz_target!(|seed: [u8; 32]| {
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let mut runner = TestRunner::new_with_rng(Config::default(), random);
    let cases = (random_cases::synthetic(), proptest::collection::vec(views::cuts(), 1..4usize));
    let Ok(case) = cases.new_tree(&mut runner) else { return };
    let (text, cuts) = case.current();
    views::check(&Input::Synthetic(text), &cuts);
});
