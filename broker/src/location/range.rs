//! Indexes of objects: `3`, `2-5`, `2-`, `3:2`, `all`, `odd`, `even`.

/// The forms of indexes, for error messages.
pub(super) const EXPECTED: &str = "indexes such as 3, 2-5, 2-, 3:2, all, odd or even";

/// Indexes at equal steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IndexRange {
    first: u32,
    /// Number of indexes; `None` for all up to the last.
    amount: Option<u32>,
    step: u32,
    /// Whether index 0 follows the last index.
    wraps: bool,
}

impl IndexRange {
    /// Reads indexes. An error is the position of the mistake, and what is wrong.
    pub(super) fn parse(text: &str) -> Result<Self, (usize, &'static str)> {
        let open = |first, step| Ok(Self { first, amount: None, step, wraps: false });
        match text {
            "all" => return open(0, 1),
            "even" => return open(0, 2),
            "odd" => return open(1, 2),
            _ => {}
        }
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = text.split_at(digits);
        if number.is_empty() {
            return Err((0, "no index"));
        }
        let first = number.parse().map_err(|_| (0, "an index that is too large"))?;
        let second = |from: usize| {
            let number = text.get(from..).unwrap_or_default();
            let digits = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
            let wrong = if digits { "a number that is too large" } else { "no number" };
            number.parse::<u32>().map_err(|_| (from, wrong))
        };
        let some = |amount, wraps| Ok(Self { first, amount: Some(amount), step: 1, wraps });
        match rest.as_bytes().first() {
            None => some(1, false),
            Some(b'-') if rest.len() == 1 => open(first, 1),
            Some(b'-') => match second(digits + 1)?.checked_sub(first) {
                Some(more) => some(more.saturating_add(1), false),
                None => Err((digits + 1, "a range that ends before it begins")),
            },
            Some(b':') => match second(digits + 1)? {
                0 => Err((digits + 1, "an amount of 0")),
                amount => some(amount, true),
            },
            Some(_) => Err((digits, "neither a range nor the end")),
        }
    }

    /// Whether the range goes up to the last index. Such a range names only objects that exist.
    pub(super) fn is_open(self) -> bool {
        self.amount.is_none()
    }

    /// Whether an open range contains an index.
    pub(super) fn has(self, index: u32) -> bool {
        index.checked_sub(self.first).is_some_and(|behind| behind % self.step == 0)
    }

    /// The indexes that the range names among `count` objects, also those that do not exist.
    pub(super) fn indexes(self, count: usize, physical: bool) -> impl Iterator<Item = u32> {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let left = count.saturating_sub(self.first).div_ceil(self.step);
        let wraps = self.wraps && !physical && count > 0;
        let amount = self.amount.unwrap_or(left);
        // One round names every object, so the range stops there.
        let amount = if wraps { amount.min(count) } else { amount };
        (0..amount).map(move |place| {
            let index = self.first.saturating_add(place.saturating_mul(self.step));
            if wraps && index >= count { wrap(self.first, place, count) } else { index }
        })
    }
}

/// The index `place` steps after `first`, if 0 follows the last of `count` indexes.
fn wrap(first: u32, place: u32, count: u32) -> u32 {
    match first < count {
        true => (first + place) % count,
        // `first` does not exist, so the range begins at 0.
        false => place % count,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indexes(text: &str, count: usize) -> Vec<u32> {
        IndexRange::parse(text).unwrap().indexes(count, false).collect()
    }

    #[test]
    fn a_range_names_its_indexes() {
        assert_eq!(indexes("3", 2), [3]);
        assert_eq!(indexes("2-4", 9), [2, 3, 4]);
        assert_eq!(indexes("2-", 5), [2, 3, 4]);
        assert!(indexes("7-", 5).is_empty());
        assert_eq!(indexes("all", 3), [0, 1, 2]);
        assert_eq!(indexes("odd", 5), [1, 3]);
        assert_eq!(indexes("even", 5), [0, 2, 4]);
        assert_eq!(indexes("3:4", 5), [3, 4, 0, 1]);
    }

    #[test]
    fn bad_indexes_are_reported_with_their_place() {
        for (text, place) in
            [("", 0), ("x", 0), ("1x", 1), ("1-x", 2), ("4-2", 2), ("1:", 2), ("1:0", 2)]
        {
            assert_eq!(IndexRange::parse(text).unwrap_err().0, place, "{text}");
        }
    }
}
