//! What the hwloc guard saves unmodified programs: `guard PREFIX` runs MPI jobs and single calls of
//! hwloc with and without the guard that `scripts/install PREFIX` installed.
//!
//! A large machine is stood in for by `HWLOC_XMLFILE` and `HWLOC_THISSYSTEM=1`.
#![forbid(unsafe_code)]

use anyhow::{Context, ensure};
use clap::Parser;
use std::path::{Path, PathBuf};
use std::process::Command;
use topobroker_benches::times::median;

/// Measure what the hwloc guard saves unmodified programs
#[derive(Debug, Parser)]
struct Arguments {
    /// Where topobroker is installed
    prefix: PathBuf,
    /// XML files of large machines; this machine comes first
    machines: Vec<PathBuf>,
    /// Folder with the programs of Open MPI 5
    #[arg(long)]
    open_mpi_5: Option<PathBuf>,
    /// Ranks of a job
    #[arg(long, default_value_t = 4)]
    ranks: usize,
    /// Jobs of each kind
    #[arg(long, default_value_t = 5)]
    rounds: usize,
}

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/guard_cost.c");
const PMIX_SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/guard_pmix.c");

/// A library that loads topologies, and the job that is measured: a program and what comes before
/// and behind it.
struct Stack {
    name: &'static str,
    launch: Vec<String>,
    program: PathBuf,
    behind: Vec<String>,
}

impl Stack {
    /// Builds the program of an MPI. `None` if this MPI is not installed.
    fn mpi(
        name: &'static str,
        folder: &Path,
        compiler: &Path,
        launch: &[&str],
        ranks: usize,
    ) -> anyhow::Result<Option<Self>> {
        let program = folder.join(name.replace(' ', "-"));
        let mut compile = Command::new(compiler);
        compile.args(["-O1", "-DWITH_MPI", "-o"]).arg(&program).arg(SOURCE);
        let Ok(status) = compile.status() else { return Ok(None) };
        ensure!(status.success(), "{compile:?}: {status}");
        let launch = launch.iter().map(|&it| it.to_owned());
        let launch = launch.chain(["-n".to_owned(), ranks.to_string()]).collect();
        Ok(Some(Self { name, launch, program, behind: Vec::new() }))
    }

    /// Builds a PMIx server that starts clients. `None` if PMIx is not installed.
    fn pmix(folder: &Path, clients: usize) -> anyhow::Result<Option<Self>> {
        let program = folder.join("guard_pmix");
        let flags = Command::new("pkg-config").args(["--cflags", "--libs", "pmix"]).output();
        let Some(flags) = flags.ok().filter(|it| it.status.success()) else { return Ok(None) };
        let flags = String::from_utf8(flags.stdout)?;
        let mut compile = Command::new("cc");
        compile.args(["-O1", "-o"]).arg(&program).arg(PMIX_SOURCE).args(flags.split_whitespace());
        let status = compile.status()?;
        ensure!(status.success(), "{compile:?}: {status}");
        let behind = vec![clients.to_string()];
        Ok(Some(Self { name: "PMIx client", launch: Vec::new(), program, behind }))
    }

    /// Median growth in kB and median time in ms of what gives a process its topology.
    fn run(&self, below: &Below<'_>, arguments: &Arguments) -> anyhow::Result<(f64, f64)> {
        let mut lines = Vec::new();
        for _ in 0..arguments.rounds {
            let mut command = below.command();
            command.args(&self.launch).arg(&self.program).args(&self.behind);
            lines.extend(numbers(command)?);
        }
        let column = |at| lines.iter().filter_map(|line| line.get(at)).copied().collect();
        Ok((median(column(0)), median(column(1)) / 1000.0))
    }
}

/// Where a command runs: on which machine, and whether the guard is there.
struct Below<'a> {
    prefix: &'a Path,
    machine: Option<&'a Path>,
    guarded: bool,
}

impl Below<'_> {
    fn command(&self) -> Command {
        let mut command = Command::new("env");
        if let Some(machine) = self.machine {
            command.env("HWLOC_XMLFILE", machine).env("HWLOC_THISSYSTEM", "1");
        }
        if self.guarded {
            command.arg(self.prefix.join("bin/topobroker")).args(["run", "--guard", "--"]);
        }
        command
    }
}

/// The numbers in each line that a command prints.
fn numbers(mut command: Command) -> anyhow::Result<Vec<Vec<f64>>> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {}\n{said}", output.status);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines = text.lines().map(|line| line.split(' ').filter_map(|it| it.parse().ok()).collect());
    Ok(lines.collect())
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let folder = tempfile::tempdir()?;
    let open_mpi =
        ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"];
    let ranks = arguments.ranks;
    let mut all = vec![
        Stack::mpi("Open MPI 4", folder.path(), "mpicc.openmpi".as_ref(), &open_mpi, ranks)?,
        Stack::mpi("MPICH 4", folder.path(), "mpicc.mpich".as_ref(), &["mpirun.mpich"], ranks)?,
        Stack::pmix(folder.path(), ranks)?,
    ];
    if let Some(programs) = &arguments.open_mpi_5 {
        let mpirun = programs.join("mpirun").display().to_string();
        let launch = [&mpirun, "--allow-run-as-root", "--map-by", ":oversubscribe"];
        let mpicc = programs.join("mpicc");
        all.push(Stack::mpi("Open MPI 5", folder.path(), &mpicc, &launch, ranks)?);
    }
    let machines =
        std::iter::once(None).chain(arguments.machines.iter().map(|it| Some(it.as_path())));
    println!(
        "| machine | of | kB over MPI_Init | with the guard | ms of MPI_Init | with the guard |"
    );
    println!("| --- | --- | --- | --- | --- | --- |");
    for machine in machines.clone() {
        for stack in all.iter().flatten() {
            let [alone, guarded] = [false, true].map(|guarded| {
                stack.run(&Below { prefix: &arguments.prefix, machine, guarded }, &arguments)
            });
            let ((kb, ms), (own_kb, own_ms)) = (alone?, guarded?);
            let (machine, stack) = (name(machine), stack.name);
            println!("| {machine} | {stack} | {kb:.0} | {own_kb:.0} | {ms:.1} | {own_ms:.1} |");
        }
    }
    calls(&arguments, folder.path(), machines)
}

fn name(machine: Option<&Path>) -> String {
    let stem = machine.and_then(Path::file_stem);
    stem.map_or("this machine".to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// Single calls of hwloc, each in a fresh process.
fn calls<'a>(
    arguments: &Arguments,
    folder: &Path,
    machines: impl Iterator<Item = Option<&'a Path>>,
) -> anyhow::Result<()> {
    // Shares copies, because of its name.
    let (program, segment) = (folder.join("libpmix-like"), folder.join("segment"));
    let mut compile = Command::new("cc");
    let status = compile.args(["-O1", "-o"]).arg(&program).args([SOURCE, "-lhwloc"]).status()?;
    ensure!(status.success(), "{compile:?}: {status}");
    println!(
        "\n| machine | guard | load us | bytes | second adoption us | bytes | libpmix's copy us | bytes |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for machine in machines {
        for guarded in [false, true] {
            let below = Below { prefix: &arguments.prefix, machine, guarded };
            let mut write = Below { guarded: false, ..below }.command();
            numbers({
                write.arg(&program).arg(&segment).arg("0x559000000000");
                write
            })?;
            let mut command = below.command();
            let script =
                format!("for i in $(seq {}); do \"$0\" \"$1\"; done", 20 * arguments.rounds);
            command.args(["sh", "-c", &script]).arg(&program).arg(&segment);
            let lines = numbers(command)?;
            let columns = (0..6).map(|at| {
                let found = median(lines.iter().filter_map(|line| line.get(at)).copied().collect());
                if found < 0.0 { "refused".to_owned() } else { format!("{found:.0}") }
            });
            let columns: Vec<String> = columns.collect();
            let (machine, guard) = (name(machine), if guarded { "with" } else { "without" });
            println!("| {machine} | {guard} | {} |", columns.join(" | "));
        }
    }
    Ok(())
}
