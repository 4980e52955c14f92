//! The graph of links in the formats of other programs.

mod dot;
mod json;
mod matrix;
mod nccl;
mod nccl_read;
mod pci_speed;
mod told;

pub use dot::dot;
pub use json::{jgf, json, json_path};
pub use matrix::matrix;
pub use nccl::{NcclError, nccl, rccl};
pub use nccl_read::{NcclDevice, NcclFile, NcclLink, NcclReadError};
pub use told::{ToldError, told};
