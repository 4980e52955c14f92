//! The `topobroker` program: see [`topobroker_cli`].
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    topobroker_cli::main()
}
