//! Adoption, once per process: finds the keys, checks that their file can be trusted, maps the
//! segment, checks it, and keeps it in a global.

mod adopt;
mod beside;
#[allow(unsafe_code, reason = "borrowing a descriptor by its number is what this module is for")]
mod descriptor;
mod discover;
mod error;
mod file_key;
mod keys;
#[allow(unsafe_code, reason = "mapping a file is what this module is for")]
mod map;
mod meeting;
mod open;
#[allow(unsafe_code, reason = "calling the libpmix of the process is what this module is for")]
mod pmix_client;

pub use adopt::{Adopted, adopt, adopt_keys, adopted};
pub(crate) use beside::{beside, candidate};
pub use error::{AdoptError, KeysError};
pub use file_key::FileKey;
pub use keys::Keys;
pub use map::Placement;
pub(crate) use map::map_part;
pub(crate) use open::Candidate;
pub use pmix_client::{pmix_keys, pmix_value};
