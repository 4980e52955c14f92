//! Environment variables from which libraries read which NICs and GPUs a process is to use.

mod gpus;
mod nics;

pub use gpus::{Interface, of_gpus, of_gpus_of_rank};
pub use nics::{Library, numbered_by_mpich, of_nics, of_nics_of_rank};
