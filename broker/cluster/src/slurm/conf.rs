//! `topology.conf`, and what `scontrol show topology` prints.

use super::error::SlurmError;
use super::groups::{SlurmGroup, SlurmTopology, checked_sizes};
use super::hostlist::expand;
use crate::located::{Located, Unexpected};
use std::io;
use std::path::Path;
use topobroker::file_bytes::FileBytes;
use topobroker_reader::cluster::GroupKind;

/// Maximum length of a file, in bytes.
const MOST: u64 = 1 << 26;

/// Reads a `topology.conf` of switches, blocks, rings or toruses, or the text of `scontrol show topology`.
///
/// # Errors
///
/// [`SlurmError`] with file and line.
pub fn read_conf(file: &Path) -> Result<SlurmTopology, SlurmError> {
    let name = file.display().to_string();
    let failed = |error: io::Error| Located::in_file(&name, error);
    let bytes = FileBytes::open(file, MOST).map_err(failed)?;
    SlurmTopology::from_conf(&name, &bytes.lossy_text())
}

impl SlurmTopology {
    /// Parses the text of a `topology.conf`. `file` is for errors.
    ///
    /// # Errors
    ///
    /// [`SlurmError`] with the line.
    pub fn from_conf(file: &str, text: &str) -> Result<Self, SlurmError> {
        let mut groups: Vec<SlurmGroup> = Vec::new();
        let mut block_sizes: Vec<u32> = Vec::new();
        let mut names = 0;
        let mut lines = text.lines().zip(1..);
        while let Some((line, number)) = lines.next() {
            let mut line = line.split('#').next().unwrap_or_default().trim_end().to_owned();
            // A backslash at the end continues a line.
            while line.ends_with('\\') {
                line.pop();
                let next = lines.next().map(|(next, _)| next).unwrap_or_default();
                line += next.split('#').next().unwrap_or_default().trim_end();
            }
            let line = line.trim();
            block_sizes.extend(sizes_of(file, number, line)?);
            if !line.is_empty() {
                groups.extend(group(file, number, line)?);
                let last = groups.last().filter(|group| group.line == number);
                names += last.map_or(0, SlurmGroup::name_count);
                Self::check_count(file, number, names)?;
            }
        }
        block_sizes.sort_unstable();
        block_sizes.dedup();
        let words: Vec<String> = block_sizes.iter().map(u32::to_string).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if !words.is_empty() && checked_sizes(&words).is_none() {
            let (line, found) = (text.lines().count(), words.join(","));
            return Err(Located::in_line(file, line, Unexpected::new(&found, SIZES)));
        }
        Self::checked(file, groups, block_sizes)
    }
}

/// What is expected of sizes of blocks.
const SIZES: &str = "sizes from 1, each a power of two times the first, such as BlockSizes=4,8";

/// The sizes of blocks that a line says: one of `BlockSizes`, or one that `scontrol` printed of a block.
fn sizes_of(file: &str, line: usize, text: &str) -> Result<Vec<u32>, SlurmError> {
    let told = |word: &str| {
        let (key, value) = word.split_once('=')?;
        let is_it = ["BlockSizes", "BlockSize"].iter().any(|it| key.eq_ignore_ascii_case(it));
        is_it.then(|| value.to_owned())
    };
    let Some(list) = text.split_whitespace().find_map(told) else { return Ok(Vec::new()) };
    let wrong = || Located::in_line(file, line, Unexpected::new(&list, SIZES));
    checked_sizes(&list.split(',').collect::<Vec<_>>()).ok_or_else(wrong)
}

/// The group of a line, `None` for a line of other settings.
fn group(file: &str, number: usize, line: &str) -> Result<Option<SlurmGroup>, SlurmError> {
    let bad =
        |found: &str, expected| SlurmError::in_line(file, number, Unexpected::new(found, expected));
    let hosts =
        |value: &str| expand(value).map_err(|error| SlurmError::in_line(file, number, error));
    let mut found: Option<(GroupKind, String)> = None;
    let (mut children, mut nodes, mut speed) = (Vec::new(), Vec::new(), 0);
    let mut sizes = String::new();
    let mut keys: Vec<String> = Vec::new();
    for word in line.split_whitespace() {
        if word.eq_ignore_ascii_case("include") {
            return Err(bad(line, "the lines of the other file in place of include"));
        }
        let (key, value) = word.split_once('=').ok_or_else(|| bad(word, "KEY=VALUE"))?;
        let key = key.to_ascii_lowercase();
        // Slurm takes the last one; whoever wrote both meant something else.
        let kind = if key.ends_with("name") { "name".to_owned() } else { key.clone() };
        if keys.contains(&kind) {
            return Err(bad(word, "each key once, and one name"));
        }
        keys.push(kind);
        match key.as_str() {
            "switchname" => found = Some((GroupKind::Switch, value.to_owned())),
            "blockname" => found = Some((GroupKind::Block, value.to_owned())),
            "ringname" => found = Some((GroupKind::Ring, value.to_owned())),
            "torusname" => found = Some((GroupKind::Torus, value.to_owned())),
            "dims" => {
                let is_size = |word: &str| word.parse::<u32>().is_ok_and(|size| size > 0);
                if value.split('x').count() != 3 || !value.split('x').all(is_size) {
                    return Err(bad(word, "three sizes, such as Dims=2x2x4"));
                }
                value.clone_into(&mut sizes);
            }
            "switches" => children = hosts(value)?,
            "nodes" => nodes = hosts(value)?,
            // Slurm takes any number; what is no number is only a note of the site.
            "linkspeed" => speed = value.parse().unwrap_or(0),
            // Read by themselves, in lines of their own.
            "blocksizes" | "aggregatedblock" if found.is_none() => return Ok(None),
            "level" | "blockindex" | "blocksize" | "ringsize" => {}
            _ => {
                return Err(bad(
                    word,
                    "SwitchName, Switches, Nodes, LinkSpeed, BlockName, RingName or TorusName",
                ));
            }
        }
    }
    let (kind, name) =
        found.ok_or_else(|| bad(line, "SwitchName, BlockName, RingName or TorusName"))?;
    if (kind == GroupKind::Torus) == sizes.is_empty() {
        return Err(bad(line, "Dims with a TorusName, and with no other name"));
    }
    // scontrol also prints the nodes of all switches below.
    let is_shown = line.split_whitespace().any(|word| word.starts_with("Level="));
    if is_shown && !children.is_empty() {
        nodes.clear();
    }
    Ok(Some(SlurmGroup { kind, name, children, nodes, speed, sizes, line: number }))
}
