//! What processes pay for a topology that nobody has published: `loads PREFIX` compares `tb_load` of the
//! library that `scripts/install PREFIX` installed with hwloc's load, in programs that load and end: one
//! alone, several one after the other, and many at once.
#![forbid(unsafe_code)]

use anyhow::ensure;
use clap::Parser;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// Compare `tb_load` with hwloc's load, where nothing is published
#[derive(Debug, Parser)]
struct Arguments {
    /// Where the libraries are installed
    prefix: PathBuf,
    /// How often each is measured
    #[arg(long, default_value_t = 11)]
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
    let theirs = compile(folder.path(), "theirs", "-DHWLOC -lhwloc")?;
    println!("| processes | at once | topobroker ms | hwloc ms | ratio |");
    println!("| ---: | ---: | ---: | ---: | ---: |");
    for (processes, at_once) in [(1, 1), (20, 1), (16, 16), (64, 64), (256, 256)] {
        let mut found = [Vec::new(), Vec::new()];
        for round in 0..arguments.rounds {
            // Processes with other settings of hwloc do not share what an earlier round has left.
            let settings = [("HWLOC_ROUND", format!("{processes} {round}"))];
            for (program, times) in [&ours, &theirs].into_iter().zip(&mut found) {
                times.push(time(program, processes, at_once, &settings)?);
            }
        }
        let [ours, theirs] = found.map(median);
        let ratio = ours / theirs;
        println!("| {processes} | {at_once} | {ours:.1} | {theirs:.1} | {ratio:.2} |");
    }
    // Removes what all rounds have left.
    time(&ours, 1, 1, &[("TOPOBROKER_LOAD_KEEPS", "0".to_owned())])?;
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
fn time(
    program: &Path,
    processes: usize,
    at_once: usize,
    settings: &[(&str, String)],
) -> anyhow::Result<f64> {
    let settings = || settings.iter().map(|(name, value)| (name, value));
    let start = Instant::now();
    for _ in 0..processes / at_once {
        let spawn = || Command::new(program).stdin(Stdio::null()).envs(settings()).spawn();
        let children: Vec<Child> = (0..at_once).map(|_| spawn()).collect::<Result<_, _>>()?;
        for mut child in children {
            let status = child.wait()?;
            ensure!(status.success(), "{}: {status}", program.display());
        }
    }
    Ok(start.elapsed().as_secs_f64() * 1000.0)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}
