//! What processes pay for a topology that is not published: `loads PREFIX` compares `tb_load` of
//! the library that `scripts/install PREFIX` installed with hwloc's load, with and without I/O
//! devices, in programs that load and end: one alone, several one after the other, and many at
//! once.
#![forbid(unsafe_code)]

use anyhow::ensure;
use clap::Parser;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;
use topobroker_benches::times::median;

/// Compare `tb_load` with hwloc's load, where nothing is published
#[derive(Debug, Parser)]
struct Arguments {
    /// Where the libraries are installed
    prefix: PathBuf,
    /// How often each is measured
    #[arg(long, default_value_t = 15)]
    rounds: usize,
}

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/load_cost.c");

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let folder = tempfile::tempdir()?;
    let library = arguments.prefix.join("lib");
    let (include, library) = (arguments.prefix.join("include"), library.display());
    let options = format!("-I{} -L{library} -ltopobroker -Wl,-rpath,{library}", include.display());
    let ours = compile(folder.path(), "ours", &options)?;
    let theirs = compile(folder.path(), "theirs", "-DHWLOC=NONE -lhwloc")?;
    let with_io = compile(folder.path(), "with_io", "-DHWLOC=IMPORTANT -lhwloc")?;
    let with_all = compile(folder.path(), "with_all", "-DHWLOC=ALL -lhwloc")?;
    println!(
        "| processes | at once | topobroker ms | hwloc ms | with important I/O ms | with all objects ms |"
    );
    println!("| ---: | ---: | ---: | ---: | ---: | ---: |");
    for (processes, at_once) in [(1, 1), (20, 1), (16, 16), (64, 64), (256, 256)] {
        let mut found = [const { Vec::new() }; 4];
        for round in 0..arguments.rounds {
            forget(&ours)?;
            // Each is first as often as the others.
            let mut programs: Vec<_> =
                [&ours, &theirs, &with_io, &with_all].into_iter().zip(&mut found).collect();
            programs.rotate_left(round % 4);
            for (program, times) in programs {
                times.push(time(program, processes, at_once)?);
            }
        }
        let [ours, theirs, with_io, with_all] = found.map(median);
        println!(
            "| {processes} | {at_once} | {ours:.1} | {theirs:.1} | {with_io:.1} | {with_all:.1} |"
        );
    }
    forget(&ours)
}

/// Removes what earlier loads have left for others: a load for which they are too old does.
fn forget(ours: &Path) -> anyhow::Result<()> {
    let status = Command::new(ours).env("TOPOBROKER_LOAD_KEEPS", "0").status()?;
    ensure!(status.success(), "{}: {status}", ours.display());
    Ok(())
}

fn compile(folder: &Path, name: &str, options: &str) -> anyhow::Result<PathBuf> {
    let program = folder.join(name);
    let mut compiler = Command::new(std::env::var_os("CC").unwrap_or("cc".into()));
    compiler.args(["-std=c99", "-O2", "-o"]).arg(&program).arg(SOURCE);
    let status = compiler.args(options.split_ascii_whitespace()).status()?;
    ensure!(status.success(), "{compiler:?}: {status}");
    Ok(program)
}

/// Milliseconds until all of these processes have ended.
fn time(program: &Path, processes: usize, at_once: usize) -> anyhow::Result<f64> {
    let start = Instant::now();
    for _ in 0..processes / at_once {
        // Cargo sets it for tests.
        let spawn = || {
            let mut command = Command::new(program);
            command.env_remove("TOPOBROKER_LOAD_KEEPS").stdin(Stdio::null()).spawn()
        };
        let children: Vec<Child> = (0..at_once).map(|_| spawn()).collect::<Result<_, _>>()?;
        for mut child in children {
            let status = child.wait()?;
            ensure!(status.success(), "{}: {status}", program.display());
        }
    }
    Ok(start.elapsed().as_secs_f64() * 1000.0)
}
