//! Counts the instructions of every query, of the check of an archive, and of questions to a
//! cluster, and compares them with those that are kept in `instructions.csv`:
//! `cargo run --profile packaged -p topobroker-benches --bin instructions`, as `scripts/install`
//! compiles. It fails if one takes more than was kept, beyond `TOLERANCE`. With the argument `keep`
//! it keeps what it counts.
//!
//! Times vary on a machine that others use; instructions do not. They do with the compiler, so the
//! file says of which it is, and counts of another one are printed and not compared.
#![allow(missing_docs, reason = "a program")]

use anyhow::{Context, bail, ensure};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use topobroker::hwloc::{Input, LoadOptions, capture, load};
use topobroker::publish::{PublishOptions, Store, publish};
use topobroker_benches::cluster_questions::{TIMES, TREE, questions};
use topobroker_benches::machines;
use topobroker_benches::queries::{Case, Pair, case, every_query};
use topobroker_cluster::{ClusterBuilder, GroupId, Like};
use topobroker_layout::description::Description;
use topobroker_layout::encode::{AlignedVec, to_bytes};
use topobroker_reader::Archive;
use topobroker_reader::cluster::Cluster;

/// How often a query is run for one count.
const RUNS: usize = 10;

/// How much more than the kept count is no loss, and as a number, for queries of few instructions.
const TOLERANCE: (f64, u64) = (1.02, 20);

/// The function whose instructions valgrind counts, query by query.
const COUNTED: &str = "instructions::run_of_counted_query";

fn main() -> anyhow::Result<()> {
    match std::env::args().nth(1).as_deref() {
        None => compare(&counts()?),
        Some("keep") => Ok(std::fs::write(kept_file(), text_of(&counts()?)?)?),
        Some("run") => run(run_of_counted_query),
        Some(_) => bail!("usage: instructions [keep]"),
    }
}

/// Calls `each` with every query, in an order that is always the same.
fn run(mut each: impl FnMut(&mut Case<'_>)) -> anyhow::Result<()> {
    ask_a_cluster(&mut each)?;
    let machine = machines::standard().into_iter().nth(1).context("the second machine")?;
    let hwloc = machine.load()?;
    let description = capture(&hwloc)?;
    let bytes = to_bytes(&description)?;
    let check = || Archive::open(&bytes).map_or(0, |it| u64::from(it.topology().depth()));
    each(&mut case("check of an archive", 1, check, || 0));
    let segment = published(&description)?;
    let open =
        || Archive::of_certified(&segment).map_or(0, |(_, it)| u64::from(it.topology().depth()));
    each(&mut case("opening of a certified segment", 1, open, || 0));
    Pair::with_both(&hwloc, |whole, half| {
        every_query(whole).iter_mut().for_each(&mut each);
        for mut case in every_query(half) {
            if case.name.starts_with("covering") || case.name.starts_with("traversal") {
                each(&mut case);
            }
        }
    })
}

/// The segment that processes adopt.
fn published(description: &Description) -> anyhow::Result<AlignedVec> {
    let folder = tempfile::tempdir()?;
    let store = Store::Folder(folder.path().to_owned());
    let published = publish(description, &PublishOptions { store, ..Default::default() })?;
    let mut segment = AlignedVec::new();
    segment.extend_from_slice(&std::fs::read(published.keys().path().context("a file")?)?);
    Ok(segment)
}

/// Nodes of the cluster that is asked.
const NODES: u32 = 1000;

/// Calls `each` with the opening of a cluster, and with the questions to it.
fn ask_a_cluster(each: &mut impl FnMut(&mut Case<'_>)) -> anyhow::Result<()> {
    let node = Input::Synthetic("NUMANode:2 Core:4 PU:2".to_owned());
    let like = Like::new(capture(&load(&node, &LoadOptions::default())?)?);
    let mut cluster = ClusterBuilder::new();
    for number in 0..NODES {
        cluster.add_node(GroupId::CLUSTER, Some(&Like::name(number)), &like.node(number))?;
    }
    TREE.add_to(&mut cluster, NODES)?;
    let bytes = cluster.finish()?;
    let open = || Cluster::open(&bytes).map_or(0, |it| u64::from(it.node_count()));
    each(&mut case("opening a cluster", 1, open, || 0));
    let open = || Cluster::open_certified(&bytes, true).map_or(0, |it| u64::from(it.node_count()));
    each(&mut case("opening a certified cluster", 1, open, || 0));
    let cluster = Cluster::open(&bytes)?;
    for question in questions(&cluster)? {
        each(&mut case(question.name, TIMES, question.ask, || 0));
    }
    Ok(())
}

#[inline(never)]
fn run_of_counted_query(case: &mut Case<'_>) {
    for _ in 0..RUNS {
        black_box((case.ours)());
    }
}

/// Instructions of one run of each query, by name. Those on a view come second.
fn counts() -> anyhow::Result<BTreeMap<String, u64>> {
    let mut names: Vec<String> = Vec::new();
    run(|case| {
        let view = if names.iter().any(|name| name == case.name) { ", on a view" } else { "" };
        names.push(format!("{}{view}", case.name));
    })?;
    let folder = tempfile::tempdir()?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--collect-atstart=no"])
        .args([format!("--toggle-collect={COUNTED}"), format!("--dump-after={COUNTED}")])
        .arg(format!("--callgrind-out-file={}/out", folder.path().display()))
        .arg(std::env::current_exe()?)
        .arg("run")
        .output()
        .context("valgrind: install it")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let count = |number: usize| -> anyhow::Result<u64> {
        let file = folder.path().join(format!("out.{}", number + 1));
        let text = std::fs::read_to_string(&file).with_context(|| format!("{}", file.display()))?;
        let total = text.lines().find_map(|line| line.strip_prefix("summary: "));
        Ok(total.context("no summary in callgrind's output")?.trim().parse::<u64>()? / RUNS as u64)
    };
    names.iter().enumerate().map(|(number, name)| Ok((name.clone(), count(number)?))).collect()
}

fn compare(counts: &BTreeMap<String, u64>) -> anyhow::Result<()> {
    let kept = std::fs::read_to_string(kept_file())?;
    let mut lines = kept.lines();
    let is_same_compiler = lines.next() == Some(compiler()?.as_str());
    let kept: BTreeMap<&str, u64> = lines
        .filter_map(|line| line.rsplit_once(';'))
        .map(|(name, count)| Ok((name, count.parse()?)))
        .collect::<anyhow::Result<_>>()?;
    ensure!(kept.keys().eq(counts.keys()), "other queries than were kept: run it with `keep`");
    let mut more = Vec::new();
    for (name, count) in counts {
        let before = kept.get(name.as_str()).copied().unwrap_or(0);
        #[allow(clippy::cast_precision_loss, reason = "counts are small")]
        let ratio = *count as f64 / before as f64;
        println!("{name:<45} {before:>10} {count:>10} {ratio:>6.3}");
        if ratio > TOLERANCE.0 && *count > before + TOLERANCE.1 {
            more.push(format!("{name}: {count} instructions, {before} before"));
        }
    }
    if !is_same_compiler {
        println!("not compared: the kept counts are of another compiler");
        return Ok(());
    }
    ensure!(more.is_empty(), "queries take more than was kept:\n{}", more.join("\n"));
    Ok(())
}

fn text_of(counts: &BTreeMap<String, u64>) -> anyhow::Result<String> {
    let mut text = compiler()?;
    for (name, count) in counts {
        write!(text, "\n{name};{count}")?;
    }
    Ok(text + "\n")
}

/// The compiler and the processor that code is made for.
fn compiler() -> anyhow::Result<String> {
    let output = Command::new("rustc").arg("--version").output()?;
    let version = String::from_utf8(output.stdout)?;
    Ok(format!("{} {}", version.trim(), std::env::consts::ARCH))
}

fn kept_file() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("instructions.csv")
}
