//! Finds the wrong word in a synthetic description, because hwloc only reports that there is one.

use topobroker_layout::archive::INDEX_LIMIT;
use topobroker_reader::TypeName;

/// Most children of one object. hwloc compares each child with all earlier ones, so its time grows
/// with the square of their number.
const MOST_BELOW_ONE: u64 = 4096;

/// Finds the first word that asks for more than an archive holds, with its byte offset and the
/// reason. Without this check hwloc would work for minutes, or allocate gigabytes, before the
/// topology is refused.
pub(super) fn exceeds(text: &str) -> Option<(String, usize, &'static str)> {
    let limit = u64::from(INDEX_LIMIT);
    let mut objects = 1u64;
    words(text).into_iter().find_map(|(position, word)| {
        let mut is_wide = false;
        let (own, attributes) = word.split_once('(').unwrap_or((&word, ""));
        if !own.starts_with('[') {
            let count = own.rsplit(':').next().and_then(|count| count.parse().ok());
            let count: u64 = count.unwrap_or(1);
            objects = objects.saturating_mul(count);
            is_wide = count > MOST_BELOW_ONE;
        }
        let indexes = attributes.split_once("indexes=").map_or("", |(_, indexes)| indexes);
        let indexes = indexes.split([')', ' ']).next().unwrap_or_default();
        let mut numbers = indexes.split(|letter: char| !letter.is_ascii_digit());
        let is_high = |digits: &str| {
            !digits.is_empty() && digits.parse().map_or(true, |index: u64| index >= limit)
        };
        if objects > limit {
            Some((word.clone(), position, "more than 131072 objects on a level"))
        } else if is_wide {
            Some((word.clone(), position, "more than 4096 objects below one"))
        } else if numbers.any(is_high) {
            Some((word.clone(), position, "an index of 131072 or more"))
        } else {
            None
        }
    })
}

/// Finds the first wrong word, with its byte offset and the reason. If no word is wrong by itself,
/// it is the last one.
pub(super) fn blame(text: &str) -> (String, usize, &'static str) {
    let words = words(text);
    for (position, word) in &words {
        if let Some(reason) = wrong_with(word) {
            return (word.clone(), *position, reason);
        }
    }
    let (position, word) = words.last().cloned().unwrap_or_default();
    let level = word.split([':', '(']).next().unwrap_or_default();
    let is_pu = level.eq_ignore_ascii_case("pu") || level.bytes().all(|it| it.is_ascii_digit());
    let reason = match is_pu {
        true => "hwloc refuses the description as a whole",
        false => "the last level is not of PUs: add PU:1",
    };
    (word, position, reason)
}

/// Splits the text at white space outside parentheses. Each word has its byte offset.
fn words(text: &str) -> Vec<(usize, String)> {
    let mut depth = 0usize;
    let mut words: Vec<(usize, String)> = Vec::new();
    let mut fresh = true;
    for (position, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if letter.is_whitespace() && depth == 0 {
            fresh = true;
            continue;
        }
        if fresh {
            words.push((position, String::new()));
        }
        fresh = false;
        if let Some((_, word)) = words.last_mut() {
            word.push(letter);
        }
    }
    words
}

fn wrong_with(word: &str) -> Option<&'static str> {
    if word.starts_with('(') || word.starts_with('[') {
        return None;
    }
    let word = word.split('(').next().unwrap_or(word);
    let (kind, count) = word.rsplit_once(':').unwrap_or(("", word));
    // Names from before hwloc 1.11, and caches without a type.
    let is_old = ["cache", "numa", "node"].iter().any(|old| old.eq_ignore_ascii_case(kind));
    if !kind.is_empty() && !is_old && TypeName::parse(kind).is_none() {
        return Some("no such type of object");
    }
    match count.parse::<u32>() {
        Ok(0) => Some("a level has at least one object"),
        Ok(_) => None,
        Err(_) => Some("not a number of objects"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::*;

    #[test]
    fn a_description_of_more_than_an_archive_holds_is_refused_before_hwloc_sees_it() {
        for (text, word) in [
            ("pu:131073", "pu:131073"),
            ("Package:2 PU:4097", "PU:4097"),
            ("Package:1000 Core:1000 PU:1", "Core:1000"),
            ("Package:4294967295 PU:4294967295", "Package:4294967295"),
            ("Core:2 PU:1(indexes=0,4294967294)", "PU:1(indexes=0,4294967294)"),
            ("Core:2 PU:1(indexes=99999999999999999999)", "PU:1(indexes=99999999999999999999)"),
        ] {
            let error = load(&Input::Synthetic(text.to_owned()), &LoadOptions::default());
            match error.unwrap_err() {
                HwlocLoadError::Synthetic { word: found, .. } => assert_eq!(found, word),
                other => panic!("{other}"),
            }
        }
        load(&Input::Synthetic("Core:4 PU:1(indexes=2*2:1*2)".into()), &LoadOptions::default())
            .unwrap();
    }

    #[test]
    fn the_first_bad_word_of_a_synthetic_description_is_blamed() {
        for (text, word, position) in [
            ("Package:2 Foo:3 PU:1", "Foo:3", 10),
            ("pack:2 core:x pu:1", "core:x", 7),
            ("Package:2 Core:x PU:1", "Core:x", 10),
            ("Package:0 PU:1", "Package:0", 0),
            ("Package:2(memory=1 foo) Bar:1", "Bar:1", 24),
        ] {
            let error = load(&Input::Synthetic(text.to_owned()), &LoadOptions::default());
            match error.unwrap_err() {
                HwlocLoadError::Synthetic { word: found, position: at, .. } => {
                    assert_eq!((found.as_str(), at), (word, position));
                }
                other => panic!("{other}"),
            }
        }
    }
}
