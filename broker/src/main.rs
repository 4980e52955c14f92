//! The `topobroker` program: see [`topobroker::program`].
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    topobroker::program::main()
}
