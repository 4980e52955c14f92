//! The programs that tests of processes start, and segments that they adopt.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests say so by failing")]
#![allow(clippy::new_without_default, reason = "what is made has files; it fails as tests do")]

pub mod published_here;
pub mod segments;
