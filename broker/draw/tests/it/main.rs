//! Tests of pictures: what is in them, and pages in a real browser.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests say so by failing")]

mod browser;
mod docs;
mod lines;
mod pictures;
mod sheet;
