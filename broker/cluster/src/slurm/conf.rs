//! `topology.conf`, and what `scontrol show topology` prints.

use super::error::SlurmError;
use super::groups::{SlurmGroup, SlurmTopology, checked_sizes};
use super::hostlist::expand;
use super::torus::Dims;
use crate::located::{Located, Unexpected};
use std::io;
use std::path::Path;
use topobroker::file_bytes::FileBytes;
use topobroker_reader::cluster::GroupKind;

/// Maximum length of a file, in bytes.
const MOST: u64 = 1 << 26;

/// Reads a `topology.conf` of switches, blocks, rings or toruses, or the text of
/// `scontrol show topology`. Files that it includes are read, by their paths from its folder.
///
/// # Errors
///
/// [`SlurmError`] with file and line.
pub fn read_conf(file: &Path) -> Result<SlurmTopology, SlurmError> {
    let mut lines = Lines { folder: file.parent(), ..Lines::default() };
    lines.add_file(file, None)?;
    lines.topology(&file.display().to_string())
}

impl SlurmTopology {
    /// Parses the text of a `topology.conf` that includes no other file. `file` is for errors.
    ///
    /// # Errors
    ///
    /// [`SlurmError`] with the line.
    pub fn from_conf(file: &str, text: &str) -> Result<Self, SlurmError> {
        let mut lines = Lines::default();
        lines.add(file, text, None)?;
        lines.topology(file)
    }
}

/// How deep files may include others. Slurm's own are one deep.
const MOST_DEPTH: usize = 8;
/// How many files may be included.
const MOST_FILES: usize = 1000;

/// What the lines say up to here.
#[derive(Default)]
struct Lines<'f> {
    /// The folder from which included files are named; `None` if there is none.
    folder: Option<&'f Path>,
    groups: Vec<SlurmGroup>,
    block_sizes: Vec<u32>,
    names: usize,
    last: usize,
    depth: usize,
    files: usize,
}

impl Lines<'_> {
    fn add_file(&mut self, file: &Path, place: Option<usize>) -> Result<(), SlurmError> {
        let name = file.display().to_string();
        let failed = |error: io::Error| Located::in_file(&name, error);
        let bytes = FileBytes::open(file, MOST).map_err(failed)?;
        self.add(&name, &bytes.lossy_text(), place)
    }

    /// Reads lines. `place` is the line of the first file that includes these.
    fn add(&mut self, file: &str, text: &str, place: Option<usize>) -> Result<(), SlurmError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
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
            let place = place.unwrap_or(number);
            self.last = place;
            if let Some((word, other)) = line.split_once(char::is_whitespace)
                && word.eq_ignore_ascii_case("include")
            {
                let bad =
                    |expected| SlurmError::in_line(file, number, Unexpected::new(line, expected));
                let folder = self
                    .folder
                    .ok_or_else(|| bad("the lines of the other file in place of include"))?;
                self.depth += 1;
                self.files += 1;
                if self.depth > MOST_DEPTH || self.files > MOST_FILES {
                    return Err(bad("at most 1000 included files, 8 deep"));
                }
                self.add_file(&folder.join(other.trim().trim_matches('"')), Some(place))?;
                self.depth -= 1;
                continue;
            }
            let words = words(line).map_err(|found| {
                SlurmError::in_line(file, number, Unexpected::new(found, "KEY=VALUE"))
            })?;
            self.block_sizes.extend(sizes_of(file, number, &words)?);
            let Some(group) = group(file, number, line, &words, &mut self.groups)? else {
                continue;
            };
            self.names += group.name_count();
            self.groups.push(SlurmGroup { line: place, ..group });
            SlurmTopology::check_count(file, number, self.names)?;
        }
        Ok(())
    }

    fn topology(mut self, file: &str) -> Result<SlurmTopology, SlurmError> {
        self.block_sizes.sort_unstable();
        self.block_sizes.dedup();
        let words: Vec<String> = self.block_sizes.iter().map(u32::to_string).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if !words.is_empty() && checked_sizes(&words).is_none() {
            let found = words.join(",");
            return Err(Located::in_line(file, self.last, Unexpected::new(&found, SIZES)));
        }
        SlurmTopology::checked(file, self.groups, self.block_sizes)
    }
}

/// The keys and values of a line. Slurm takes blanks around `=`, and values in quotes. The error is
/// what is neither.
fn words(line: &str) -> Result<Vec<(&str, &str)>, &str> {
    let mut words = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let end = rest.find(|it: char| it.is_whitespace() || it == '=').unwrap_or(rest.len());
        let (key, after) = rest.split_at(end);
        let behind = after.trim_start().strip_prefix('=').ok_or(key)?.trim_start();
        let end = behind.find(|it: char| it.is_whitespace() || it == '=').unwrap_or(behind.len());
        let (value, after) = match behind.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').ok_or(behind)?,
            // `scontrol` prints keys without a value: then this is the next key.
            None if behind.get(end..).is_some_and(|rest| rest.starts_with('=')) => ("", behind),
            None => behind.split_at(end),
        };
        words.push((key, value));
        rest = after.trim_start();
    }
    Ok(words)
}

/// What is expected of sizes of blocks.
const SIZES: &str = "sizes from 1, each a power of two times the first, such as BlockSizes=4,8";

/// The sizes of blocks that a line says: one of `BlockSizes`, or one that `scontrol` printed of a
/// block.
fn sizes_of(file: &str, line: usize, words: &[(&str, &str)]) -> Result<Vec<u32>, SlurmError> {
    let is_it =
        |key: &str| ["BlockSizes", "BlockSize"].iter().any(|it| key.eq_ignore_ascii_case(it));
    let Some((_, list)) = words.iter().find(|(key, _)| is_it(key)) else { return Ok(Vec::new()) };
    let wrong = || Located::in_line(file, line, Unexpected::new(list, SIZES));
    checked_sizes(&list.split(',').collect::<Vec<_>>()).ok_or_else(wrong)
}

/// The group of a line, `None` for a line of other settings, or about a group of an earlier line.
fn group(
    file: &str,
    number: usize,
    line: &str,
    words: &[(&str, &str)],
    before: &mut [SlurmGroup],
) -> Result<Option<SlurmGroup>, SlurmError> {
    if words.is_empty() {
        return Ok(None);
    }
    let bad =
        |found: &str, expected| SlurmError::in_line(file, number, Unexpected::new(found, expected));
    let hosts =
        |value: &str| expand(value).map_err(|error| SlurmError::in_line(file, number, error));
    let mut found: Option<(GroupKind, String)> = None;
    let (mut children, mut nodes, mut speed) = (Vec::new(), Vec::new(), 0);
    let (mut sizes, mut placement, mut is_shown) = (String::new(), None, false);
    let mut keys: Vec<String> = Vec::new();
    for (key, value) in words {
        let word = &*format!("{key}={value}");
        let key = key.to_ascii_lowercase();
        // Slurm takes the last one; whoever wrote both meant something else.
        let kind = if key.ends_with("name") { "name".to_owned() } else { key.clone() };
        if keys.contains(&kind) {
            return Err(bad(word, "each key once, and one name"));
        }
        keys.push(kind);
        match key.as_str() {
            "switchname" => found = Some((GroupKind::Switch, (*value).to_owned())),
            "blockname" => found = Some((GroupKind::Block, (*value).to_owned())),
            "ringname" => found = Some((GroupKind::Ring, (*value).to_owned())),
            "torusname" => found = Some((GroupKind::Torus, (*value).to_owned())),
            "dims" => {
                let expected = "three sizes, such as Dims=2x2x4";
                sizes = Dims::parse(value).ok_or_else(|| bad(word, expected))?.to_string();
            }
            "placementdims" => {
                let dims = value.split('(').next().and_then(Dims::parse);
                placement = Some(dims.ok_or_else(|| bad(word, "PlacementDims=2x2x1(4)"))?);
            }
            "switches" => children = hosts(value)?,
            "nodes" => nodes = hosts(value)?,
            "linkspeed" => speed = number_of(value).ok_or_else(|| bad(word, "LinkSpeed=100"))?,
            // Read by themselves, in lines of their own.
            "blocksizes" | "aggregatedblock" if found.is_none() => return Ok(None),
            "level" => is_shown = true,
            "blockindex" | "blocksize" | "ringsize" | "anchors" => {}
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
    if let Some(dims) = placement {
        let torus = before.iter_mut().find(|it| it.kind == GroupKind::Torus && it.name == name);
        let torus =
            torus.ok_or_else(|| bad(line, "a line with the Dims of this torus before it"))?;
        torus.add_placement(dims);
        return Ok(None);
    }
    if (kind == GroupKind::Torus) == sizes.is_empty() {
        return Err(bad(line, "Dims with a TorusName, and with no other name"));
    }
    // scontrol also prints the nodes of all switches below.
    if is_shown && !children.is_empty() {
        nodes.clear();
    }
    Ok(Some(SlurmGroup { kind, name, children, nodes, speed, sizes, line: number }))
}

/// A number as Slurm reads it: 100, 0x64, 0144, 2k (2,048), or without a limit.
fn number_of(text: &str) -> Option<u32> {
    if ["unlimited", "infinite"].iter().any(|it| it.eq_ignore_ascii_case(text)) {
        return Some(u32::MAX);
    }
    let digits = text.strip_suffix(['k', 'K']).unwrap_or(text);
    // Rust reads a sign behind 0x too.
    if digits.contains('+') {
        return None;
    }
    let value = match digits.strip_prefix('0').filter(|rest| !rest.is_empty()) {
        None => digits.parse().ok(),
        Some(rest) => match rest.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok(),
            None => u32::from_str_radix(rest, 8).ok(),
        },
    };
    value?.checked_mul(if digits.len() < text.len() { 1024 } else { 1 })
}

#[cfg(test)]
mod tests {
    use super::number_of;

    #[test]
    fn link_speeds_are_those_that_slurmctld_shows() {
        for (text, shown) in [
            ("100", Some(100)),
            ("2k", Some(2048)),
            ("0x10", Some(16)),
            ("010", Some(8)),
            ("0", Some(0)),
            ("unlimited", Some(u32::MAX)),
            ("INFINITE", Some(u32::MAX)),
            ("4294967295", Some(u32::MAX)),
            ("4294967296", None),
            ("3m", None),
            ("-1", None),
            ("1.5", None),
            ("'100'", None),
            ("", None),
        ] {
            assert_eq!(number_of(text), shown, "{text}");
        }
    }
}
