//! Flags by name: parts of hwloc's names, separated by commas.

/// Parses flags: a number, `none`, or parts of the names of flags, separated by commas, `|` or `+`.
/// A part that ends with `$` matches only the end of a name. `names[i]` is the name of bit `i`.
pub(super) fn parse(text: &str, names: &[&str]) -> Result<u64, String> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    if let Ok(number) = number {
        return Ok(number);
    }
    if text.eq_ignore_ascii_case("none") {
        return Ok(0);
    }
    text.split([',', '|', '+']).try_fold(0, |flags, part| Ok(flags | (1 << bit(part, names)?)))
}

fn bit(part: &str, names: &[&str]) -> Result<usize, String> {
    let wanted = part.to_ascii_lowercase();
    let is_named = |name: &&str| match wanted.strip_suffix('$') {
        Some(end) => name.ends_with(end),
        None => name.contains(&wanted),
    };
    let mut found = names.iter().enumerate().filter(|(_, name)| is_named(name));
    match (found.next(), found.next()) {
        (Some((bit, _)), None) => Ok(bit),
        (None, _) => {
            Err(format!("no flag is named {part:?}; expected some of {}", names.join(", ")))
        }
        (Some(_), Some(_)) => Err(format!(
            "several flags are named {part:?}, of {}; `$` ends a name",
            names.join(", ")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_named_by_parts_that_only_one_has() {
        let names = ["larger_locality", "smaller_locality", "all"];
        for (text, flags) in [("larger", 1), ("SMALLER,larger", 3), ("all$", 4), ("none", 0)] {
            assert_eq!(parse(text, &names), Ok(flags), "{text}");
        }
        assert_eq!(parse("6", &names), Ok(6));
        assert!(parse("all", &names).unwrap_err().contains("several"));
        assert!(parse("huge", &names).unwrap_err().contains("no flag"));
    }
}
