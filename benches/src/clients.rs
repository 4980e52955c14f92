//! Client processes: each gets a topology in one of the ways, and then waits while it is measured.

use anyhow::{Context, bail};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A running client that has its topology.
#[derive(Debug)]
pub struct Client {
    child: Child,
    /// Time that the client took to get the topology.
    pub time: Duration,
    /// Number of PUs that the client counted.
    pub pus: usize,
}

/// Memory of one process or of several, in kB.
#[derive(Debug, Clone, Copy, Default)]
pub struct Memory {
    /// Private pages that were written.
    pub private_dirty: f64,
    /// Private pages that were not written.
    pub private_clean: f64,
    /// Proportional share of all pages (Pss).
    pub pss: f64,
    /// Page tables.
    pub page_tables: f64,
}

/// A program that is measured, without what Cargo sets for the programs that it runs: a long
/// `LD_LIBRARY_PATH` has the dynamic loader of each process take a page more, also without a
/// library.
pub(crate) fn measured(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_remove("LD_LIBRARY_PATH");
    command
}

impl Client {
    /// Starts `program` with arguments and waits until it says that it is ready.
    pub fn start<A: AsRef<std::ffi::OsStr>>(
        program: &Path,
        arguments: &[A],
        environment: &[(&str, &str)],
    ) -> anyhow::Result<Self> {
        let mut child = measured(program)
            .args(arguments)
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| program.display().to_string())?;
        let mut line = String::new();
        let out = child.stdout.take().context("its output")?;
        BufReader::new(out).read_line(&mut line)?;
        let mut words = line.split_ascii_whitespace().map(str::parse::<u64>);
        let (Some(Ok(time)), Some(Ok(pus))) = (words.next(), words.next()) else {
            let status = child.wait()?;
            bail!("{} failed with {status}", program.display());
        };
        let time = Duration::from_nanos(time);
        Ok(Self { child, time, pus: usize::try_from(pus)? })
    }

    /// The client's memory now.
    pub fn memory(&self) -> anyhow::Result<Memory> {
        let process = format!("/proc/{}", self.child.id());
        let rollup = std::fs::read_to_string(format!("{process}/smaps_rollup"))?;
        let status = std::fs::read_to_string(format!("{process}/status"))?;
        Ok(Memory {
            private_dirty: field(&rollup, "Private_Dirty:")?,
            private_clean: field(&rollup, "Private_Clean:")?,
            pss: field(&rollup, "Pss:")?,
            page_tables: field(&status, "VmPTE:")?,
        })
    }

    /// Time that the client has spent on a CPU.
    pub fn cpu_time(&self) -> anyhow::Result<Duration> {
        let text = std::fs::read_to_string(format!("/proc/{}/schedstat", self.child.id()))?;
        let nanos = text.split_ascii_whitespace().next().context("schedstat")?.parse()?;
        Ok(Duration::from_nanos(nanos))
    }

    /// Lets the client end, and waits for that.
    pub fn finish(mut self) -> anyhow::Result<()> {
        drop(self.child.stdin.take());
        let status = self.child.wait()?;
        anyhow::ensure!(status.success(), "client ended with {status}");
        Ok(())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // This fails if the client has ended already, which is the usual case.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn field(text: &str, name: &str) -> anyhow::Result<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)).context("its line")?;
    line.split_ascii_whitespace().next().context("its value")?.parse().context("its value")
}

/// Begins the heap at a different place in its page in each process, as in real programs. It is
/// chance whether a few more bytes take another page; this makes the chance the same with and
/// without a topology.
pub fn begin_heap_anywhere() {
    let bytes = std::process::id() % 256 * 16;
    let room = Vec::<u8>::with_capacity(usize::try_from(bytes).unwrap_or(0));
    std::mem::forget(std::hint::black_box(room));
}

/// Reports to the parent that this process is ready, and waits until it may end.
pub fn ready(time: Duration, pus: usize) -> anyhow::Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "{} {pus}", time.as_nanos())?;
    out.flush()?;
    // Without a buffer, because its place on the heap would depend on earlier allocations.
    let mut waits = File::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let _ = waits.read(&mut [0])?;
    Ok(())
}
