//! What differs between the nodes of one class: each class has fields, each field a coding, and
//! each node a few bytes from which its values are made.

mod bits;
mod class;
mod coding;
mod digits;
mod fit;
mod values;

pub use class::ClassFields;
pub use fit::{Column, Fitted, fit};
pub use values::{FieldValue, NodeValues};
