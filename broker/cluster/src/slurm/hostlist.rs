//! Hostlists: `n[1-4,7],r[0-1]n[01-16]`.

use crate::natural::natural;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Highest number of names that a hostlist may have. Slurm has the same limit.
pub const MAX_HOSTS: usize = 262_144;

/// Highest number of bytes of a name: that of a node.
const MOST_LETTERS: usize = crate::MAX_NAME;

/// Why a hostlist cannot be expanded.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum HostlistError {
    /// A bracket is not closed, or closed but not opened.
    #[error("{text:?}: a bracket has no counterpart")]
    Bracket { text: String },
    /// What is in brackets is no range.
    #[error("{text:?}: found {found:?} in brackets, expected numbers and ranges such as 1-4,7")]
    Range { text: String, found: String },
    /// A name is empty.
    #[error("{text:?}: a name is empty")]
    Empty { text: String },
    /// A name is too long.
    #[error("{text:?}: a name has more than {MOST_LETTERS} bytes")]
    Long { text: String },
    /// There are too many names.
    #[error("{text:?}: has more than {MAX_HOSTS} names")]
    TooMany { text: String },
}

/// The names of a hostlist, in its order.
///
/// ```
/// use topobroker_cluster::expand;
/// assert_eq!(expand("n[1-2,7],a")?, ["n1", "n2", "n7", "a"]);
/// assert_eq!(expand("r[0-1]n[08-09]")?, ["r0n08", "r0n09", "r1n08", "r1n09"]);
/// assert!(expand("n[1-999999999]").is_err());
/// # Ok::<(), topobroker_cluster::HostlistError>(())
/// ```
///
/// # Errors
///
/// [`HostlistError`].
pub fn expand(text: &str) -> Result<Vec<String>, HostlistError> {
    let mut names = Vec::new();
    if text.trim().is_empty() {
        return Ok(names);
    }
    for word in words(text)? {
        let word = word.trim();
        if word.is_empty() {
            return Err(HostlistError::Empty { text: short(text) });
        }
        names.extend(expand_word(word, text, MAX_HOSTS - names.len())?);
    }
    Ok(names)
}

/// The words between commas that are not in brackets.
fn words(text: &str) -> Result<Vec<&str>, HostlistError> {
    let bracket = || HostlistError::Bracket { text: short(text) };
    let (mut words, mut start, mut is_open) = (Vec::new(), 0, false);
    for (at, letter) in text.char_indices() {
        match (letter, is_open) {
            ('[', false) => is_open = true,
            (']', true) => is_open = false,
            ('[' | ']', _) => return Err(bracket()),
            (',', false) => {
                words.extend(text.get(start..at));
                start = at + 1;
            }
            _ => {}
        }
    }
    words.extend(text.get(start..));
    if is_open { Err(bracket()) } else { Ok(words) }
}

fn expand_word(word: &str, text: &str, most: usize) -> Result<Vec<String>, HostlistError> {
    let mut names = vec![String::new()];
    let mut rest = word;
    while let Some((before, after)) = rest.split_once('[') {
        let (inside, after) =
            after.split_once(']').ok_or_else(|| HostlistError::Bracket { text: short(text) })?;
        let mut numbers = Vec::new();
        for range in inside.split(',') {
            let room = (most / names.len()).saturating_sub(numbers.len());
            add_range(range, text, room, &mut numbers)?;
        }
        // Before names are multiplied by numbers.
        let longest = |all: &[String]| all.iter().map(String::len).max().unwrap_or(0);
        check_length(longest(&names) + before.len() + longest(&numbers), text)?;
        let all = names
            .iter()
            .flat_map(|name| numbers.iter().map(move |number| format!("{name}{before}{number}")));
        names = all.collect();
        rest = after;
    }
    let longest = names.iter().map(String::len).max().unwrap_or(0);
    check_length(longest + rest.len(), text)?;
    names.iter_mut().for_each(|name| name.push_str(rest));
    if names.len() > most {
        return Err(HostlistError::TooMany { text: short(text) });
    }
    Ok(names)
}

fn check_length(length: usize, text: &str) -> Result<(), HostlistError> {
    if length > MOST_LETTERS { Err(HostlistError::Long { text: short(text) }) } else { Ok(()) }
}

/// Adds the numbers of a range, `room` at most, with the zeros in front of its start.
fn add_range(
    range: &str,
    text: &str,
    room: usize,
    numbers: &mut Vec<String>,
) -> Result<(), HostlistError> {
    let wrong = || HostlistError::Range { text: short(text), found: short(range) };
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let number = |digits: &str| -> Option<u64> {
        let is_plain =
            (1..=15).contains(&digits.len()) && digits.bytes().all(|it| it.is_ascii_digit());
        is_plain.then(|| digits.parse().ok()).flatten()
    };
    let (start, end) = number(first).zip(number(last)).ok_or_else(wrong)?;
    if start > end {
        return Err(wrong());
    }
    if end - start >= room as u64 {
        return Err(HostlistError::TooMany { text: short(text) });
    }
    let width = first.len();
    numbers.extend((start..=end).map(|number| format!("{number:0width$}")));
    Ok(())
}

fn short(text: &str) -> String {
    text.chars().take(80).collect()
}

/// The shortest hostlist of these names, each once, in their natural order. Only the last number of
/// a name becomes a range.
///
/// ```
/// use topobroker_cluster::fold;
/// assert_eq!(fold(["n2", "n1", "n4", "a", "n1"]), "a,n[1-2,4]");
/// ```
#[must_use]
pub fn fold<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let mut parts: BTreeMap<(&str, &str, usize), Vec<u64>> = BTreeMap::new();
    let mut plain: Vec<&str> = Vec::new();
    for name in names {
        match last_number(name) {
            Some(Parts { before, digits, after, number }) => {
                // Numbers of one width share a range; without zeros in front, all widths do.
                let width =
                    if digits.starts_with('0') && digits.len() > 1 { digits.len() } else { 0 };
                parts.entry((before, after, width)).or_default().push(number);
            }
            _ => plain.push(name),
        }
    }
    // 001 to 099 and 100: wide numbers without zeros continue the range of those that have them.
    let padded: Vec<(&str, &str, usize)> =
        parts.keys().filter(|(_, _, width)| *width > 0).copied().collect();
    for (before, after, width) in padded {
        let Some(all) = parts.get_mut(&(before, after, 0)) else { continue };
        let (same, other): (Vec<u64>, Vec<u64>) =
            all.iter().partition(|number| number.to_string().len() == width);
        *all = other;
        if let Some(own) = parts.get_mut(&(before, after, width)) {
            own.extend(same);
        }
    }
    parts.retain(|_, numbers| !numbers.is_empty());
    let mut words: Vec<String> = plain.into_iter().map(str::to_owned).collect();
    for ((before, after, width), mut numbers) in parts {
        numbers.sort_unstable();
        numbers.dedup();
        if let [only] = &numbers[..] {
            words.push(format!("{before}{only:0width$}{after}"));
            continue;
        }
        words.push(format!("{before}[{}]{after}", ranges(&numbers, width)));
    }
    words.sort_by(|one, other| natural(one, other));
    words.dedup();
    words.join(",")
}

/// The hostlist of these names in this order: only names that follow each other become a range.
///
/// ```
/// use topobroker_cluster::fold_in_order;
/// assert_eq!(fold_in_order(&["n2", "n1", "n2", "n3", "n04"]), "n2,n[1-3],n04");
/// ```
#[must_use]
pub fn fold_in_order(names: &[&str]) -> String {
    let follows = |one: &&str, next: &&str| {
        let (Some(one), Some(next)) = (last_number(one), last_number(next)) else { return false };
        let is_alike = (one.before, one.after) == (next.before, next.after);
        let width = |part: &Parts<'_>| part.digits.len();
        // 9 and 10 are in one range, 09 and 10 too, 9 and 010 are not.
        let is_padded = one.digits.starts_with('0') && width(&one) > 1;
        let is_wide =
            if is_padded { width(&one) == width(&next) } else { !next.digits.starts_with('0') };
        is_alike && is_wide && one.number + 1 == next.number
    };
    let runs = names.chunk_by(follows).map(|run| {
        match (run, run.first().and_then(|it| last_number(it))) {
            ([_, .., last], Some(first)) => {
                let last = last_number(last).map(|it| it.digits).unwrap_or_default();
                format!("{}[{}-{last}]{}", first.before, first.digits, first.after)
            }
            (run, _) => run.concat(),
        }
    });
    runs.collect::<Vec<_>>().join(",")
}

/// A name split at its last number: the text before it, its digits, the text after it.
struct Parts<'n> {
    before: &'n str,
    digits: &'n str,
    after: &'n str,
    number: u64,
}

/// The last number of a name; `None` if it has none that a list can have.
fn last_number(name: &str) -> Option<Parts<'_>> {
    let end = name.rfind(|it: char| it.is_ascii_digit())? + 1;
    let (head, after) = name.split_at(end);
    let start = head.trim_end_matches(|it: char| it.is_ascii_digit()).len();
    let (before, digits) = head.split_at(start);
    let number = digits.parse().ok().filter(|_| digits.len() <= 15)?;
    Some(Parts { before, digits, after, number })
}

fn ranges(numbers: &[u64], width: usize) -> String {
    let mut text = String::new();
    for run in numbers.chunk_by(|one, other| one + 1 == *other) {
        let [first, .., last] = run else {
            let _ = write!(text, "{:0width$},", run.first().copied().unwrap_or(0));
            continue;
        };
        let _ = write!(text, "{first:0width$}-{last:0width$},");
    }
    text.pop();
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_bounded_before_they_are_multiplied() {
        let long = format!("{}[1-262144]", "x".repeat(30_000));
        assert!(matches!(expand(&long), Err(HostlistError::Long { .. })));
        assert!(matches!(expand(&"a[0]".repeat(100_000)), Err(HostlistError::Long { .. })));
        assert!(matches!(
            expand(&format!("a[1-2]{}", "x".repeat(254))),
            Err(HostlistError::Long { .. })
        ));
        assert_eq!(expand(&format!("{}[1-2]", "x".repeat(254))).unwrap()[1].len(), 255);
        assert_eq!(expand("a[1-262144]").unwrap().len(), MAX_HOSTS);
    }
}
