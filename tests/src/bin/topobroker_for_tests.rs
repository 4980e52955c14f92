//! The `topobroker` program, built where the tests of this package find it.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    topobroker::program::main()
}
