//! `topobroker-discover load --for PID [--release FILE]`, as of the program `topobroker`. The wheel
//! has it, because it needs no more than hwloc's library.
#![forbid(unsafe_code)]

use std::path::Path;
use std::process::ExitCode;
use topobroker::node::{keys_for, release};
use topobroker_process::with_causes;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["load", "--for", pid, ref rest @ ..] => match (pid.parse(), rest) {
            (Ok(owner), []) => print_keys(owner),
            (Ok(owner), ["--release", file]) => {
                release(Path::new(file), owner);
                ExitCode::SUCCESS
            }
            _ => usage(),
        },
        _ => usage(),
    }
}

fn print_keys(owner: u32) -> ExitCode {
    match keys_for(owner) {
        Ok(keys) => {
            print!("{keys}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("topobroker: {}", with_causes(&error));
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: topobroker-discover load --for PID [--release FILE]");
    ExitCode::from(2)
}
