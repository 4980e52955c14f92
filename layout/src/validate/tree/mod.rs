//! Checks the rules of the tree.

mod regular;
mod rows;
mod tree;

pub(super) use tree::check;
