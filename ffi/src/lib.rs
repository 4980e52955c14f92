//! C interface over the reader, and over the broker.
//!
//! Nothing is exported yet. What the other crates already keep to, so that it can be: handles that
//! are one pointer, objects that are numbers (`Object::id`), strings that end with a zero in the
//! archive itself, and errors that are enums.
#![deny(unsafe_code)]

#[doc(no_inline)]
pub use topobroker_reader as reader;
