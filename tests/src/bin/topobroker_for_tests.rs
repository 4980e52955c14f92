//! The `topobroker` program, built as part of this package so that its tests find it.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    topobroker_cli::main()
}
