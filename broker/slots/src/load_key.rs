//! What a program asks hwloc for, which decides the topology that it gets.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

/// Number of object types of hwloc 2, each of which has a filter.
pub const OBJECT_TYPES: usize = 20;

/// What a program has asked hwloc for before it loads a topology. Two loads with the same key,
/// under the same conditions, give the same topology.
///
/// As text it is the flags, a filter for each type in hwloc's order, and `without-gl` if the
/// program has excluded hwloc's component `gl`:
///
/// ```
/// use topobroker_slots::LoadKey;
/// let key: LoadKey = "0x2/00000000011120333100".parse()?;
/// assert_eq!((key.flags, key.filters[9], key.without_gl), (2, 1, false));
/// assert_eq!(key.to_string(), "0x2/00000000011120333100");
/// # Ok::<(), topobroker_slots::ParseLoadKeyError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadKey {
    /// Sum of `HWLOC_TOPOLOGY_FLAG_*`.
    pub flags: u64,
    /// Number of the filter of each type: see [`TypeFilter`](topobroker_reader::TypeFilter).
    pub filters: [u8; OBJECT_TYPES],
    /// Whether the component `gl`, which finds displays, is excluded.
    pub without_gl: bool,
}

/// Ending of the text of a key without the component `gl`.
const WITHOUT_GL: &str = "/without-gl";

impl fmt::Display for LoadKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:#x}/", self.flags)?;
        self.filters.iter().try_for_each(|filter| write!(formatter, "{filter}"))?;
        formatter.write_str(if self.without_gl { WITHOUT_GL } else { "" })
    }
}

/// A text is not a [`LoadKey`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{found}: expected flags and {OBJECT_TYPES} filters from 0 to 3, such as \
     0x0/00000000011120333100, as `topobroker audit` prints them"
)]
pub struct ParseLoadKeyError {
    /// The text.
    pub found: String,
}

impl FromStr for LoadKey {
    type Err = ParseLoadKeyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let (text, without_gl) = match text.strip_suffix(WITHOUT_GL) {
                Some(text) => (text, true),
                None => (text, false),
            };
            let (flags, filters) = text.split_once('/')?;
            let flags = u64::from_str_radix(flags.strip_prefix("0x")?, 16).ok()?;
            let filters: Option<Vec<u8>> = filters
                .bytes()
                .map(|digit| digit.checked_sub(b'0').filter(|it| *it <= 3))
                .collect();
            Some(Self { flags, filters: filters?.try_into().ok()?, without_gl })
        };
        parse().ok_or_else(|| ParseLoadKeyError { found: text.to_string() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_from_the_text_that_it_is_written_as() {
        let key = LoadKey {
            flags: 2,
            filters: [0, 1, 2, 3].repeat(5).try_into().unwrap(),
            without_gl: true,
        };
        for key in [key, LoadKey { flags: 0, without_gl: false, ..key }] {
            assert_eq!(key.to_string().parse(), Ok(key));
        }
        for text in [
            "",
            "0x0",
            "0x0/",
            "0x0/0000000000000000000",
            "0x0/00000000000000000004",
            "0/00000000000000000000",
        ] {
            let error = text.parse::<LoadKey>().unwrap_err();
            assert!(
                error
                    .to_string()
                    .starts_with(&alloc::format!("{text}: expected flags and 20 filters"))
            );
        }
    }
}
