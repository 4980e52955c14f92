//! The order of names in which `node2` comes before `node10`.

use std::cmp::Ordering;

/// Compares names: runs of digits by their numbers, everything else by its bytes.
pub(crate) fn natural(one: &str, other: &str) -> Ordering {
    let (mut left, mut right) = (one.as_bytes(), other.as_bytes());
    loop {
        let (text, number, rest) = split(left);
        let (other_text, other_number, other_rest) = split(right);
        let by_number = || {
            let [number, other] = [number, other_number].map(without_zeros);
            number.len().cmp(&other.len()).then_with(|| number.cmp(other))
        };
        let order = text.cmp(other_text).then_with(by_number);
        if order != Ordering::Equal {
            return order;
        }
        if rest.is_empty() || other_rest.is_empty() {
            let by_rest = rest.len().cmp(&other_rest.len());
            // Equal but for zeros in front of numbers.
            return by_rest.then_with(|| one.cmp(other));
        }
        (left, right) = (rest, other_rest);
    }
}

/// The bytes before the first digit, the digits, and what follows.
fn split(name: &[u8]) -> (&[u8], &[u8], &[u8]) {
    let first = name.iter().position(u8::is_ascii_digit).unwrap_or(name.len());
    let (text, rest) = name.split_at(first);
    let end = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
    let (number, rest) = rest.split_at(end);
    (text, number, rest)
}

fn without_zeros(number: &[u8]) -> &[u8] {
    let first = number.iter().position(|byte| *byte != b'0').unwrap_or(number.len());
    number.get(first..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_compared_as_numbers() {
        let mut names =
            ["node10", "node2", "node02", "node", "node2-a", "a", "node1x3", "node1x20", ""];
        names.sort_by(|one, other| natural(one, other));
        let expected =
            ["", "a", "node", "node1x3", "node1x20", "node02", "node2", "node2-a", "node10"];
        assert_eq!(names, expected);
    }
}
