//! A topology of Slurm, whatever file it is from.

use super::error::SlurmError;
use super::hostlist::fold;
use std::collections::{BTreeMap, HashMap, HashSet};
use topobroker_reader::cluster::GroupKind;

/// A switch or a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlurmGroup {
    /// Whether it is a switch, a block or a ring.
    pub kind: GroupKind,
    /// Name.
    pub name: String,
    /// Names of the switches below.
    pub children: Vec<String>,
    /// Names of the nodes directly below.
    pub nodes: Vec<String>,
    /// Speed of the links in the unit that the site uses, 0 if it is not told.
    pub speed: u32,
    /// Line of the file.
    pub line: usize,
}

/// Switches and blocks, which are a forest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SlurmTopology {
    pub(super) groups: Vec<SlurmGroup>,
    notes: Vec<String>,
}

/// Highest number of bytes of a name. Slurm has the same limit.
const MAX_NAME: usize = 64;

/// Most names that all lists of a file may have together.
const MOST_NAMES: usize = 1 << 21;

impl SlurmGroup {
    /// Number of switches and nodes directly below.
    pub(super) fn name_count(&self) -> usize {
        self.children.len() + self.nodes.len()
    }
}

impl SlurmTopology {
    /// Checks that the lists of a file have not too many names, up to a line.
    pub(super) fn check_count(file: &str, line: usize, names: usize) -> Result<(), SlurmError> {
        match names <= MOST_NAMES {
            true => Ok(()),
            false => Err(SlurmError::TooMany { file: file.to_owned(), line, limit: MOST_NAMES }),
        }
    }

    /// Checks that groups are a forest, and puts each before those in it. What is below several, as below
    /// two spines, stays below the first of them.
    pub(super) fn checked(file: &str, mut groups: Vec<SlurmGroup>) -> Result<Self, SlurmError> {
        let own = || file.to_owned();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (place, group) in groups.iter().enumerate() {
            let (line, name) = (group.line, group.name.clone());
            if name.is_empty() || name.len() > MAX_NAME {
                let expected = "a name of 1 to 64 bytes";
                return Err(SlurmError::Line { file: own(), line, found: name, expected });
            }
            if let Some(first) = places.insert(&group.name, place) {
                let first = groups.get(first).map_or(0, |group| group.line);
                return Err(SlurmError::Twice { file: own(), line, name, first });
            }
            if !group.children.is_empty() && !group.nodes.is_empty() {
                return Err(SlurmError::Content { file: own(), line, name });
            }
        }
        if let Some(lost) = in_a_circle(&groups, &places).and_then(|at| groups.get(at)) {
            let (line, name) = (lost.line, lost.name.clone());
            return Err(SlurmError::NoRoot { file: own(), line, name });
        }
        for group in &groups {
            if let Some(child) = group.children.iter().find(|it| !places.contains_key(it.as_str()))
            {
                let (line, name, child) = (group.line, group.name.clone(), child.clone());
                return Err(SlurmError::Unknown { file: own(), line, name, child });
            }
        }
        let notes = keep_first(&mut groups);
        let places: HashMap<&str, usize> =
            (0..).zip(&groups).map(|(place, group)| (group.name.as_str(), place)).collect();
        let below: HashSet<&String> = groups.iter().flat_map(|group| &group.children).collect();
        let is_root =
            |place: &usize| groups.get(*place).is_some_and(|it| !below.contains(&it.name));
        let mut order = Vec::new();
        let mut open: Vec<usize> = (0..groups.len()).rev().filter(is_root).collect();
        while let Some(place) = open.pop() {
            order.push(place);
            let children = groups.get(place).into_iter().flat_map(|group| &group.children);
            let children = children.rev().filter_map(|child| places.get(child.as_str()));
            open.extend(children);
        }
        let groups = order.into_iter().filter_map(|at| groups.get(at).cloned()).collect();
        Ok(Self { groups, notes })
    }

    /// Names of the switches at the top. Slurm warns if there are several, because none reaches all
    /// nodes.
    #[must_use]
    pub fn tops(&self) -> Vec<&str> {
        let below: HashSet<&String> =
            self.groups.iter().flat_map(|group| &group.children).collect();
        let tops = self.groups.iter().filter(|group| !below.contains(&group.name));
        // One without anything below has nothing to reach.
        let tops = tops.filter(|group| group.name_count() > 0);
        tops.map(|group| group.name.as_str()).collect()
    }

    /// What is below several switches, and which of them it was left below.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Switches and blocks, each before those in it.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = &SlurmGroup> {
        self.groups.iter()
    }
}

/// Leaves each switch and node below the first group that names it. Slurm takes files with several:
/// spines over the same leaves without a word, nodes on several leaves with a warning.
fn keep_first(groups: &mut [SlurmGroup]) -> Vec<String> {
    let mut first: HashMap<(bool, String), String> = HashMap::new();
    let mut again: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for group in groups {
        let name = &group.name;
        for (is_node, below) in [(false, &mut group.children), (true, &mut group.nodes)] {
            below.retain(|child| match first.get(&(is_node, child.clone())) {
                Some(kept) if kept == name => false,
                Some(kept) => {
                    again.entry((kept.clone(), name.clone())).or_default().push(child.clone());
                    false
                }
                None => {
                    first.insert((is_node, child.clone()), name.clone());
                    true
                }
            });
        }
    }
    let note = |((kept, other), names): ((String, String), Vec<String>)| {
        let verb = if names.len() == 1 { "is" } else { "are" };
        let names = fold(names.iter().map(String::as_str));
        format!(
            "{names} {verb} below {kept} and below {other} of Slurm's topology; taken as below {kept}"
        )
    };
    again.into_iter().map(note).collect()
}

/// The first group that is below itself.
fn in_a_circle(groups: &[SlurmGroup], places: &HashMap<&str, usize>) -> Option<usize> {
    let below = |group: &SlurmGroup| {
        let places = group.children.iter().filter_map(|child| places.get(child.as_str()));
        places.copied().collect::<Vec<usize>>()
    };
    let mut above = vec![0_usize; groups.len()];
    for place in groups.iter().flat_map(below) {
        above.iter_mut().skip(place).take(1).for_each(|count| *count += 1);
    }
    let mut open: Vec<usize> =
        above.iter().enumerate().filter(|(_, count)| **count == 0).map(|(at, _)| at).collect();
    let mut is_out = vec![false; groups.len()];
    while let Some(place) = open.pop() {
        is_out.iter_mut().skip(place).take(1).for_each(|it| *it = true);
        for child in groups.get(place).map(below).unwrap_or_default() {
            if let Some(count) = above.get_mut(child) {
                *count -= 1;
                open.extend((*count == 0).then_some(child));
            }
        }
    }
    is_out.iter().position(|it| !it)
}
