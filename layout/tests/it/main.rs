//! Tests of whole archives: which descriptions and which bytes are refused.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests say so by failing")]

mod building;
mod columns;
mod directory;
mod machine;
mod opening;
