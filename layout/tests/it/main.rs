//! Archives as a whole: what is refused when building and when opening.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests say so by failing")]

mod building;
mod machine;
mod opening;
