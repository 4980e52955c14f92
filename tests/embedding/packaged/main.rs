//! Tests of what only the optimised installation can show: bytes, pages, symbols of glibc, and PNG,
//! which takes long to compile. `scripts/test --all` runs them.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests say so by failing")]

mod memory;
mod png;
mod symbols;
