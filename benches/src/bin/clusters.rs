//! What clusters cost: `clusters [NODES...]` builds clusters of nodes like one of avakas (or like a
//! small synthetic node, without the reference data), and asks them.
//!
//! Each size is built by a process of its own, so that its memory is its own.
#![forbid(unsafe_code)]

use anyhow::Context;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use topobroker::hwloc::{Input, LoadOptions, capture, load};
use topobroker::publish::{PublishOptions, publish};
use topobroker_benches::cluster_questions::{TIMES, TREE, questions};
use topobroker_benches::times::{best, median};
use topobroker_cluster::Owners;
use topobroker_cluster::{
    ClusterBuilder, GroupId, Like, NodeFile, SwitchTree, prepare_all, write_file,
};
use topobroker_layout::encode::{AlignedVec, to_bytes};
use topobroker_reader::text::xml;
use topobroker_reader::{
    Archive, FilePath, adopt,
    cluster::{Cluster, Identity, OwnNode, own_node},
};
use topobroker_samples::shared_folder;

/// Of switches with 64 ports.
const LARGE_TREE: SwitchTree = SwitchTree { nodes_a_leaf: 32, leaves_a_pod: 32, spines_a_pod: 32 };

/// From so many nodes on, they are of this many classes below a larger tree, and are made in
/// memory.
const LARGE: u32 = 1_000_000;
const CLASSES: u32 = 40;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [client] = &arguments[..]
        && ["own", "adopt"].contains(&client.as_str())
    {
        return fresh(client == "own");
    }
    if let [how, count, file] = &arguments[..]
        && ["segments", "xml", "small", "memory"].contains(&how.as_str())
    {
        return build(how, count.parse()?, Path::new(file));
    }
    let sizes: Vec<u32> = match &arguments[..] {
        [] => vec![100, 10_000, 100_000],
        sizes => sizes.iter().map(|size| size.parse()).collect::<Result<_, _>>()?,
    };
    let folder = tempfile::tempdir()?;
    println!("| nodes | from | built s | memory of the builder MB | file kB | bytes a node |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for size in &sizes {
        let hows: &[&str] = match *size {
            ..=10_000 => &["segments", "xml"],
            LARGE.. => &["memory"],
            _ => &["segments"],
        };
        for how in hows {
            let file = folder.path().join(format!("{how}-{size}"));
            let status = Command::new(std::env::current_exe()?)
                .args([how, size.to_string().as_str()])
                .arg(&file)
                .status()?;
            anyhow::ensure!(status.success(), "building {size} from {how}");
        }
    }
    println!();
    println!(
        "| nodes | opened us | with all rules us | node by name ns | common group ns | links between two ports ns | links between two nodes ns | own node us | own node, fresh process us | adoption, fresh process us |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for size in &sizes {
        let how = if *size >= LARGE { "memory" } else { "segments" };
        ask(*size, &folder.path().join(format!("{how}-{size}")))?;
    }
    Ok(())
}

/// A node of avakas, otherwise a synthetic one.
fn example() -> anyhow::Result<Like> {
    let avakas = std::env::var_os("TOPOBROKER_EXAMPLE_NODE").map(PathBuf::from);
    let input = match avakas.or_else(unpacked) {
        Some(file) => Input::Xml(file),
        None => {
            Input::Synthetic("NUMANode:2 L3Cache:1 L2Cache:6 L1dCache:1 Core:1 PU:1".to_owned())
        }
    };
    Ok(Like::new(capture(&load(&input, &LoadOptions::default())?)?))
}

/// A node of avakas out of the reference data.
fn unpacked() -> Option<PathBuf> {
    let archive = shared_folder()?.join("clusters/avakas-full.tar.xz");
    let folder = std::env::temp_dir();
    let name = "avakas/node001.xml";
    let status =
        Command::new("tar").arg("xJf").arg(archive).arg("-C").arg(&folder).arg(name).status();
    status.is_ok_and(|status| status.success()).then(|| folder.join(name))
}

/// Builds a cluster and prints a row. Only what follows the reading of inputs is timed for
/// `segments` in memory; `xml` are files.
fn build(how: &str, count: u32, file: &Path) -> anyhow::Result<()> {
    let like = example()?;
    if how == "memory" {
        return build_in_memory(&like, count, file);
    }
    let folder = tempfile::tempdir()?;
    let mut files = Vec::new();
    for number in 0..count {
        let archive = to_bytes(&like.node(number))?;
        let path = folder.path().join(Like::name(number));
        match how {
            "xml" => {
                let opened = Archive::open(&archive)?;
                std::fs::write(&path, xml::export(opened.topology()))?;
            }
            _ => std::fs::write(&path, segment(&archive)?)?,
        }
        files.push(NodeFile { file: path, name: None, owners: Owners::Trusted });
    }
    let before = peak();
    let start = Instant::now();
    let mut cluster = ClusterBuilder::new();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    prepare_all(&files, threads, |_, nodes| -> anyhow::Result<()> {
        for node in nodes? {
            cluster.add(GroupId::CLUSTER, node)?;
        }
        Ok(())
    })?;
    TREE.add_to(&mut cluster, count)?;
    finish(cluster, count, how, start, before, file)
}

/// [`build`] of many nodes of several classes, which are made while they are added.
fn build_in_memory(like: &Like, count: u32, file: &Path) -> anyhow::Result<()> {
    let (before, start) = (peak(), Instant::now());
    let mut cluster = ClusterBuilder::new();
    for number in 0..count {
        let mut node = like.node(number);
        if let Some(root) = node.objects.first_mut() {
            root.infos.push((format!("Class{}", number % CLASSES), "yes".to_owned()));
        }
        cluster.add_node(GroupId::CLUSTER, Some(&Like::name(number)), &node)?;
    }
    LARGE_TREE.add_to(&mut cluster, count)?;
    finish(cluster, count, "memory", start, before, file)
}

fn finish(
    cluster: ClusterBuilder,
    count: u32,
    how: &str,
    start: Instant,
    before: f64,
    file: &Path,
) -> anyhow::Result<()> {
    let bytes = cluster.finish()?;
    let took = start.elapsed();
    write_file(file, &bytes, 0o400, false)?;
    println!(
        "| {count} | {how} | {:.2} | {:.0} (before: {:.0}) | {:.0} | {:.0} |",
        took.as_secs_f64(),
        peak(),
        before,
        bytes.len() as f64 / 1e3,
        bytes.len() as f64 / f64::from(count)
    );
    Ok(())
}

/// The segment of an archive, as a broker publishes it.
fn segment(archive: &AlignedVec) -> anyhow::Result<Vec<u8>> {
    use topobroker_layout::header::{Header, mark_ready, segment_len};
    let folder = tempfile::tempdir()?;
    let options = PublishOptions::default();
    static HEADER: std::sync::OnceLock<Header> = std::sync::OnceLock::new();
    let header = match HEADER.get() {
        Some(header) => *header,
        None => {
            let machine = load(&Input::Synthetic("PU:1".to_owned()), &LoadOptions::default())?;
            let publication = publish(&capture(&machine)?, &options)?;
            let bytes = std::fs::read(publication.keys().file().context("a file")?.as_path())?;
            *HEADER.get_or_init(|| Header::read(&bytes).expect("a header"))
        }
    };
    drop(folder);
    let mut segment = vec![0; segment_len(archive.len())];
    header.write(archive, &mut segment)?;
    mark_ready(&mut segment);
    Ok(segment)
}

fn ask(count: u32, file: &Path) -> anyhow::Result<()> {
    let mut bytes = AlignedVec::<16>::new();
    bytes.extend_from_slice(&std::fs::read(file)?);
    let opened = |is_trusted| {
        best(5, || _ = black_box(Cluster::open_certified(black_box(&bytes), is_trusted)))
    };
    print!("| {count} | {:.0} | {:.0} |", opened(true), opened(false));
    let cluster = Cluster::open(&bytes)?;
    for mut question in questions(&cluster)? {
        let each = best(20, || _ = black_box((question.ask)())) / TIMES as f64 * 1e3;
        print!(" {each:.1} |");
    }
    let path = FilePath::from_bytes(file.as_os_str().as_encoded_bytes());
    let identity = |number: u32| Identity { host: Like::name(number), ..Identity::default() };
    let own = best(50, || {
        let node = OwnNode::open(&path, &identity(fastrand::u32(..count))).expect("a node");
        black_box(node.topology().object_count());
    });
    let (fresh, usual) = fresh_processes(file, count)?;
    println!(" {own:.1} | {fresh:.1} | {usual:.1} |");
    Ok(())
}

/// Adopts a cluster's own node, or a node that is published alone, and prints how many nanoseconds
/// that took.
fn fresh(is_own: bool) -> anyhow::Result<()> {
    let start = Instant::now();
    let topology = match is_own {
        true => own_node()?.topology(),
        false => adopt()?.topology(),
    };
    let took = start.elapsed();
    anyhow::ensure!(topology.object_count() > 0);
    println!("{}", took.as_nanos());
    Ok(())
}

/// The median times of both in fresh processes, in turns, in microseconds.
fn fresh_processes(file: &Path, count: u32) -> anyhow::Result<(f64, f64)> {
    let publication = publish(&example()?.node(0), &PublishOptions::default())?;
    let keys = publication.keys().to_env();
    let (mut own, mut usual) = (Vec::new(), Vec::new());
    for _ in 0..300 {
        for (what, times) in [("own", &mut own), ("adopt", &mut usual)] {
            let mut command = Command::new(std::env::current_exe()?);
            command.arg(what).env("TOPOBROKER_CLUSTER", file);
            command.env("TOPOBROKER_HOST", Like::name(fastrand::u32(..count)));
            let output = command.envs(keys.iter().map(|(key, value)| (key, value))).output()?;
            let text = String::from_utf8(output.stdout)?;
            times.push(text.trim().parse::<f64>().context("a client that fails")? / 1e3);
        }
    }
    Ok((median(own), median(usual)))
}

/// Peak of this process's memory in MB.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    let kilobytes = line.split_whitespace().nth(1).and_then(|it| it.parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) / 1e3
}
