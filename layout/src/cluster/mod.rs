//! The format of a cluster: many nodes in one segment. Nodes that are alike but for some values are
//! a *class*, whose topology is stored once, as an ordinary segment. What differs is a few bytes a
//! node. `FORMAT.md` describes the parts.

pub mod blocks;
pub mod bytes;
pub mod delta;
pub mod directory;
pub mod field;
pub mod head;
pub mod nodes;
pub mod rules;
