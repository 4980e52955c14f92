//! Adoption, once per process: finds the keys, checks that their file can be trusted, maps the
//! segment, checks it, and keeps it in a global.

mod adopt;
mod beside;
mod bounded;
#[allow(unsafe_code, reason = "borrowing a descriptor by its number is what this module is for")]
mod descriptor;
mod discover;
#[allow(unsafe_code, reason = "the C library is asked with what rights the kernel started this")]
mod environment;
mod error;
mod file_error;
mod file_key;
mod file_path;
mod gate;
mod keys;
#[allow(unsafe_code, reason = "mapping a file is what this module is for")]
mod map;
mod meeting;
#[allow(unsafe_code, reason = "a global behind an atomic pointer is what this module is for")]
mod once;
mod open;
#[allow(unsafe_code, reason = "the C library is asked for the text of an error")]
mod os_error;
mod owner;
pub mod pmix_abi;
#[allow(unsafe_code, reason = "calling the libpmix of the process is what this module is for")]
mod pmix_client;
mod proc_maps;

pub use adopt::{Adopted, adopt, adopt_keys, adopted};
pub(crate) use beside::{beside, candidate};
pub(crate) use bounded::file_within;
pub use bounded::{bytes_within, text_within};
pub use environment::trusted_var;
pub(crate) use environment::variable;
pub use error::{AdoptError, KeysError};
pub use file_error::FileError;
pub use file_key::FileKey;
pub use file_path::FilePath;
pub use gate::{Gate, Turn};
pub use keys::Keys;
pub use map::Placement;
pub(crate) use map::map_part;
pub use once::Global;
pub(crate) use open::Candidate;
pub use open::open_trusted;
pub use os_error::OsError;
pub use pmix_client::{pmix_keys, pmix_value};
pub use proc_maps::{Mapping, mappings};
