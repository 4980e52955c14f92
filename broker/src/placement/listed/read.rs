//! Reads rankfiles, sequences of hosts, LSF's affinity file, and hydra's list.

use super::error::ListError;
use super::{ListedCpus, ListedRank, RankList};
use crate::placement::error::PlacementError;
use std::collections::BTreeMap;
use topobroker_layout::archive::INDEX_LIMIT;
use topobroker_layout::job::MAX_RANKS;
use topobroker_layout::set::{Format, Set};

const RANKFILE: &str = "rank 0=HOST slot=0:1-2, a line for each rank";
const SEQUENCE: &str = "a host on each line";
const LSF: &str = "a host and the OS indexes of its PUs on each line: n1 0,1";
const HYDRA: &str = "OS indexes of PUs for each rank: 0,2+3 for PU 0, and PUs 2 and 3";

impl RankList {
    /// Reads a rankfile of PRRTE and Open MPI 5: `rank 0=n1 slot=0:1-2`, by logical index. A host
    /// is a name or `+n1`, the node after the first.
    ///
    /// # Errors
    ///
    /// [`ListError`] naming the line.
    pub fn rankfile(text: &str) -> Result<Self, ListError> {
        let text = without_comments(text, RANKFILE)?;
        let lines = lines(&text).map(|(line, text)| {
            let wrong = |reason| malformed(line, text, reason, RANKFILE);
            let rest = text.strip_prefix("rank").ok_or_else(|| wrong("not a rank"))?;
            let (rank, rest) = rest.split_once('=').ok_or_else(|| wrong("without a host"))?;
            let rank = rank.trim().parse().map_err(|_| wrong("without a number of the rank"))?;
            let (host, rest) = rest.trim().split_once([' ', '\t']).unwrap_or((rest.trim(), ""));
            let slots = rest.trim().strip_prefix("slots").or(rest.trim().strip_prefix("slot"));
            let slots = slots.and_then(|it| it.trim().strip_prefix('=')).map(str::trim);
            let slots = slots.filter(|it| !it.is_empty()).ok_or_else(|| wrong("without slots"))?;
            Ok((line, rank, host, ListedCpus::Slots(slots.to_owned())))
        });
        Self::of(lines, RANKFILE)
    }

    /// Reads the hosts of PRRTE's `seq`, one for each rank. What follows a host is not used, as
    /// there.
    ///
    /// # Errors
    ///
    /// [`ListError`] naming the line.
    pub fn sequence(text: &str) -> Result<Self, ListError> {
        let text = without_comments(text, SEQUENCE)?;
        let host = |((line, text), rank)| {
            let (host, _) = host_and_rest(text);
            Ok((line, rank, host, ListedCpus::ByPolicy))
        };
        Self::of(lines(&text).zip(0..).map(host), SEQUENCE)
    }

    /// Reads the file that LSF names by `LSB_AFFINITY_HOSTFILE`. NUMA nodes and memory policies
    /// that follow the PUs are not used.
    ///
    /// # Errors
    ///
    /// [`ListError`] naming the line.
    pub fn lsf(text: &str) -> Result<Self, ListError> {
        let text = without_comments(text, LSF)?;
        let host = |((line, text), rank)| {
            let (host, rest) = host_and_rest(text);
            let (pus, _) = host_and_rest(rest);
            let set = Set::parse(pus, Format::List).ok().filter(|it| !it.is_empty());
            let set = set.ok_or_else(|| malformed(line, text, "without a list of PUs", LSF))?;
            Ok((line, rank, host, ListedCpus::Os(set)))
        };
        Self::of(lines(&text).zip(0..).map(host), LSF)
    }

    /// Reads the list of hydra's `-bind-to user:LIST`, for `count` ranks; by default one for each
    /// entry. Ranks after the last entry are not bound, as there.
    ///
    /// # Errors
    ///
    /// [`ListError`] naming the entry.
    pub fn hydra(text: &str, count: Option<usize>) -> Result<Self, ListError> {
        let entries = text.split(',').zip(0..).map(|(entry, rank)| {
            let wrong = || malformed(1, entry, "not a list of PUs", HYDRA);
            let pus = entry.split('+').map(|pu| pu.parse().ok().filter(|pu| *pu < INDEX_LIMIT));
            let set: Option<Set> = pus.collect();
            Ok((1, rank, Self::HERE, ListedCpus::Os(set.ok_or_else(wrong)?)))
        });
        let mut list = Self::of(entries, HYDRA)?;
        if let Some(ranks) = count.filter(|count| *count > MAX_RANKS) {
            let (policy, expected) = (format!("user:{text}"), MAX_RANKS);
            return Err(PlacementError::TooMany { ranks, policy, expected }.into());
        }
        let unbound = ListedRank { host: Self::HERE.to_owned(), cpus: ListedCpus::None };
        for rank in (0..u32::MAX).take(count.unwrap_or(0)) {
            list.0.entry(rank).or_insert_with(|| unbound.clone());
        }
        Ok(list)
    }

    fn of<'t>(
        ranks: impl Iterator<Item = Result<(usize, u32, &'t str, ListedCpus), ListError>>,
        expected: &'static str,
    ) -> Result<Self, ListError> {
        let mut all = BTreeMap::new();
        for rank in ranks {
            let (line, rank, host, cpus) = rank?;
            let host = host.split_once('@').map_or(host, |(_, host)| host).to_owned();
            if all.insert(rank, ListedRank { host, cpus }).is_some() {
                return Err(ListError::Twice { line, rank });
            }
        }
        if all.is_empty() { Err(ListError::Empty { expected }) } else { Ok(Self(all)) }
    }
}

/// The lines that are not empty.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = (1..).zip(text.lines()).map(|(line, text)| (line, text.trim()));
    lines.filter(|(_, text)| !text.is_empty())
}

/// A text without the comments of PRRTE and Open MPI. What is left stays on its line.
fn without_comments(text: &str, expected: &'static str) -> Result<String, ListError> {
    let (mut kept, mut left) = (String::new(), text);
    while let Some(sign) = left.find(['#', '/']) {
        let (before, rest) = left.split_at(sign);
        kept.push_str(before);
        let (is_comment, length) = match rest.as_bytes() {
            [b'#', ..] | [b'/', b'/', ..] => (true, rest.find('\n').unwrap_or(rest.len())),
            [b'/', b'*', inner @ ..] => {
                let end = inner.windows(2).position(|it| it == b"*/").ok_or_else(|| {
                    let first = rest.lines().next().unwrap_or_default();
                    let line = kept.matches('\n').count() + 1;
                    malformed(line, first, "a comment without its end, */", expected)
                })?;
                (true, end + "/**/".len())
            }
            _ => (false, 1),
        };
        let (read, after) = rest.split_at(length);
        kept.extend(read.chars().filter(|it| !is_comment || *it == '\n'));
        left = after;
    }
    Ok(kept + left)
}

fn host_and_rest(text: &str) -> (&str, &str) {
    let (first, rest) = text.split_once([' ', '\t']).unwrap_or((text, ""));
    (first, rest.trim_start())
}

fn malformed(line: usize, found: &str, reason: &'static str, expected: &'static str) -> ListError {
    ListError::Malformed { line, found: found.to_owned(), reason, expected }
}
