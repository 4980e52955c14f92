//! A topology of Slurm, whatever file it is from.

use super::error::{SlurmError, SlurmErrorKind};
use super::hostlist::fold;
use crate::located::{Located, Unexpected};
use std::collections::{BTreeMap, HashMap, HashSet};
use topobroker_reader::cluster::GroupKind;

/// A switch or a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlurmGroup {
    /// Whether it is a switch, a block, a ring or a torus.
    pub kind: GroupKind,
    /// Name.
    pub name: String,
    /// Names of the switches below.
    pub children: Vec<String>,
    /// Names of the nodes directly below.
    pub nodes: Vec<String>,
    /// Speed of the links in the unit that the site uses, 0 if it is not given.
    pub speed: u32,
    /// Sizes of a torus, such as `2x2x4`, and of the parts of it that jobs are given, with blanks
    /// between; otherwise empty.
    pub sizes: String,
    /// Line of the file.
    pub line: usize,
}

/// Switches, which are a forest, or blocks, rings or toruses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SlurmTopology {
    pub(super) groups: Vec<SlurmGroup>,
    block_sizes: Vec<u32>,
    pub(super) notes: Vec<String>,
}

/// Highest number of bytes of a name. Slurm has the same limit.
const MAX_NAME: usize = 64;

/// Most nodes of a ring. Slurm has the same limit.
const MOST_IN_RING: usize = 16;

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
            false => {
                Err(Located::in_line(file, line, SlurmErrorKind::TooMany { limit: MOST_NAMES }))
            }
        }
    }

    /// Checks that groups are a forest, and puts each before those in it. What is below several, as
    /// below two spines, stays below the first of them.
    pub(super) fn checked(
        file: &str,
        mut groups: Vec<SlurmGroup>,
        block_sizes: Vec<u32>,
    ) -> Result<Self, SlurmError> {
        let wrong = |line, kind| Err(Located::in_line(file, line, kind));
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (place, group) in groups.iter().enumerate() {
            let (line, name) = (group.line, group.name.clone());
            if name.is_empty() || name.len() > MAX_NAME {
                let expected = "a name of 1 to 64 bytes";
                return wrong(line, Unexpected::new(&name, expected).into());
            }
            if let Some(first) = places.insert(&group.name, place) {
                let first = groups.get(first).map_or(0, |group| group.line);
                return wrong(line, SlurmErrorKind::Twice { name, first });
            }
            if group.kind == GroupKind::Ring && group.nodes.len() > MOST_IN_RING {
                let found = format!("{name} with {} nodes", group.nodes.len());
                let expected = "a ring of at most 16 nodes, as Slurm has them";
                return wrong(line, Unexpected::new(&found, expected).into());
            }
            if let Some(dims) = group.dims().filter(|dims| dims.count() != group.nodes.len() as u64)
            {
                let found = format!("{name} with {} nodes", group.nodes.len());
                let expected = format!("as many as {dims} has, which are {}", dims.count());
                return wrong(line, SlurmErrorKind::Torus { found, expected });
            }
            if !group.children.is_empty() && !group.nodes.is_empty() {
                return wrong(line, SlurmErrorKind::Content { name });
            }
        }
        let is_empty =
            |group: &SlurmGroup| group.kind == GroupKind::Block && group.nodes.is_empty();
        if let Some(first) = groups.first().filter(|_| groups.iter().all(is_empty))
            && block_sizes.is_empty()
        {
            let (line, found) = (first.line, first.name.clone());
            let expected = "a block with nodes, or BlockSizes";
            return wrong(line, Unexpected::new(&found, expected).into());
        }
        if let Some(lost) = in_a_circle(&groups, &places).and_then(|at| groups.get(at)) {
            let (line, name) = (lost.line, lost.name.clone());
            return wrong(line, SlurmErrorKind::NoRoot { name });
        }
        for group in &groups {
            if let Some(child) = group.children.iter().find(|it| !places.contains_key(it.as_str()))
            {
                let (line, name, child) = (group.line, group.name.clone(), child.clone());
                return wrong(line, SlurmErrorKind::Unknown { name, child });
            }
        }
        let was_empty: HashSet<String> =
            groups.iter().filter(|it| it.name_count() == 0).map(|it| it.name.clone()).collect();
        let notes = keep_first(&mut groups);
        leave_out_emptied(&mut groups, &was_empty);
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
        Ok(Self { groups, block_sizes, notes })
    }

    /// Names of the switches at the top. Slurm warns if there are several, because none reaches all
    /// nodes.
    #[must_use]
    pub fn tops(&self) -> Vec<&str> {
        let below: HashSet<&String> =
            self.groups.iter().flat_map(|group| &group.children).collect();
        let switches = self.groups.iter().filter(|group| group.kind == GroupKind::Switch);
        let tops = switches.filter(|group| !below.contains(&group.name));
        // One without anything below has nothing to reach.
        let tops = tops.filter(|group| group.name_count() > 0);
        tops.map(|group| group.name.as_str()).collect()
    }

    /// How many nodes are planned together: the least number of a block, and its multiples that
    /// blocks are joined to. Empty if the file says none: Slurm takes the size of the smallest
    /// block.
    #[must_use]
    pub fn block_sizes(&self) -> &[u32] {
        &self.block_sizes
    }

    /// What is below several switches, and which of them it was left below; topologies of the file
    /// that were not chosen.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Switches and blocks, each before those in it.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = &SlurmGroup> {
        self.groups.iter()
    }
}

/// Checks sizes of blocks as Slurm does: the first is 1 or more, and each other one is a power of
/// two times the first. `None` if they are not so.
pub(super) fn checked_sizes(words: &[&str]) -> Option<Vec<u32>> {
    let sizes = words.iter().map(|word| word.trim().parse().ok().filter(|size| *size > 0));
    let mut sizes: Vec<u32> = sizes.collect::<Option<_>>()?;
    let first = *sizes.first()?;
    let fits = |size: &u32| size.is_multiple_of(first) && (size / first).is_power_of_two();
    if !sizes.iter().all(fits) {
        return None;
    }
    sizes.sort_unstable();
    sizes.dedup();
    Some(sizes)
}

/// Leaves each switch and node below the first group that names it. Slurm accepts files with
/// several: silently for spines over the same leaves, with a warning for nodes at several leaves.
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
            "{names} {verb} below {kept} and below {other} of Slurm's topology; taken as below \
             {kept}"
        )
    };
    again.into_iter().map(note).collect()
}

/// Leaves out groups of which nothing is left, as a second spine.
fn leave_out_emptied(groups: &mut Vec<SlurmGroup>, was_empty: &HashSet<String>) {
    // Deeper trees are refused later.
    for _ in 0..64 {
        let is_emptied = |it: &&SlurmGroup| it.name_count() == 0 && !was_empty.contains(&it.name);
        let emptied: HashSet<String> =
            groups.iter().filter(is_emptied).map(|it| it.name.clone()).collect();
        if emptied.is_empty() {
            return;
        }
        groups.retain(|it| !emptied.contains(&it.name));
        for group in groups.iter_mut() {
            group.children.retain(|child| !emptied.contains(child));
        }
    }
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
    // Each group that is left has one above it that is left, so whoever goes up comes to the
    // circle.
    let is_left = |place: &usize| is_out.get(*place) == Some(&false);
    let mut parents: HashMap<usize, usize> = HashMap::new();
    for (place, group) in groups.iter().enumerate().filter(|(place, _)| is_left(place)) {
        parents.extend(below(group).into_iter().map(|child| (child, place)));
    }
    let first = is_out.iter().position(|it| !it)?;
    let up = |from| std::iter::successors(from, |place| parents.get(place).copied());
    let inside = up(Some(first)).nth(groups.len())?;
    up(Some(inside)).skip(1).take_while(|place| *place != inside).chain([inside]).min()
}
