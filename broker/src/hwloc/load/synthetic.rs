//! What is wrong with a synthetic description: hwloc itself only says that something is.

/// The first word that cannot be right, with its place and the reason.
pub(super) fn blame(text: &str) -> (String, usize, &'static str) {
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
    for (position, word) in &words {
        if let Some(reason) = wrong_with(word) {
            return (word.clone(), *position, reason);
        }
    }
    let (position, word) = words.last().cloned().unwrap_or_default();
    (word, position, "hwloc refuses the description as a whole")
}

fn wrong_with(word: &str) -> Option<&'static str> {
    if word.starts_with('(') || word.starts_with('[') {
        return None;
    }
    let word = word.split('(').next().unwrap_or(word);
    let (kind, count) = word.rsplit_once(':').unwrap_or(("", word));
    let letters: String = kind.chars().filter(char::is_ascii_alphabetic).collect();
    let known = [
        "machine",
        "package",
        "socket",
        "core",
        "pu",
        "group",
        "numanode",
        "numa",
        "node",
        "die",
        "l",
        "li",
        "ld",
        "lu",
        "lcache",
        "licache",
        "ldcache",
        "lucache",
        "memcache",
        "memorysidecache",
    ];
    let known_kind = known.iter().any(|name| name.eq_ignore_ascii_case(&letters));
    if !kind.is_empty() && !known_kind {
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
    fn the_first_bad_word_of_a_synthetic_description_is_blamed() {
        for (text, word, position) in [
            ("Package:2 Foo:3 PU:1", "Foo:3", 10),
            ("Package:2 Core:x PU:1", "Core:x", 10),
            ("Package:0 PU:1", "Package:0", 0),
            ("Package:2(memory=1 foo) Bar:1", "Bar:1", 24),
        ] {
            let error = load(&Input::Synthetic(text.to_owned()), &LoadOptions::default());
            match error.unwrap_err() {
                LoadError::Synthetic { word: found, position: at, .. } => {
                    assert_eq!((found.as_str(), at), (word, position));
                }
                other => panic!("{other}"),
            }
        }
    }
}
