//! Links of a node: in the formats of other programs, and told to its processes.

mod dot;
mod json;
mod matrix;
mod nccl;
mod nccl_read;
mod pci_speed;
mod tell;
mod told;

pub use dot::dot;
pub use json::{jgf, json, json_path};
pub use matrix::matrix;
pub use nccl::{NcclError, nccl, rccl};
pub use nccl_read::{NcclDevice, NcclFile, NcclLink, NcclReadError};
pub use tell::{TellError, forget, tell};
pub use told::{ToldError, told};
