//! One object: its type and texts, its attributes, its relatives and its sets.

mod attributes;
mod children;
mod cpuset;
mod display;
mod object;
mod sets;
mod siblings;
mod symmetric;
mod type_name;

pub use children::Children;
pub use object::{Info, Object};
pub use type_name::TypeName;
