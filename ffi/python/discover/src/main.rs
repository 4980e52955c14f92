//! `discover load --for PID` and `discover load --release FILE`, as of the program `topobroker`. The
//! wheel has it, because it needs no more than hwloc's library.
#![forbid(unsafe_code)]

use std::path::Path;
use std::process::ExitCode;
use topobroker::causes::with_causes;
use topobroker::node::{keys_for, release};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["load", "--release", file] => {
            release(Path::new(file));
            ExitCode::SUCCESS
        }
        ["load", "--for", pid] if pid.parse::<u32>().is_ok() => {
            match keys_for(pid.parse().unwrap_or_default()) {
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
        _ => {
            eprintln!("usage: discover load --for PID | load --release FILE");
            ExitCode::from(2)
        }
    }
}
