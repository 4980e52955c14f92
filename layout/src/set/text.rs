//! Sets as text: hwloc's masks, lists of ranges, and masks in the format of taskset.

use super::{INLINE_WORDS, Set};
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::string::ToString;
use core::fmt::{self, Write};
use smallvec::SmallVec;

/// Text format of a set. Counterparts: the functions `hwloc_bitmap_*snprintf` and `*sscanf`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Format {
    /// 32-bit masks separated by commas, the highest first: `0x0000000f,0x00000001`. An infinite
    /// set begins with `0xf...f`.
    #[default]
    Hwloc,
    /// Ranges separated by commas: `0-3,8,12-`. The last range of an infinite set has no end.
    List,
    /// One mask: `0xf00000001`. An infinite set begins with `0xf...f`.
    Taskset,
}

/// A text is not a set in the expected format.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[error("{text:?} is no set: {reason} at position {position}; expected {expected}")]
pub struct ParseSetError {
    /// The text.
    pub text: String,
    /// Position of the error in the text, from 0.
    pub position: usize,
    /// What is wrong.
    pub reason: &'static str,
    /// What the format looks like.
    pub expected: &'static str,
}

/// Highest index that a text may have. It is the highest index of an archive, and bounds the memory
/// that a text can make a process allocate.
const MAX_INDEX: usize = crate::archive::INDEX_LIMIT as usize - 1;

impl Set {
    /// The set as text in a format.
    ///
    /// ```
    /// use topobroker_layout::set::{Format, Set};
    /// let set: Set = [0, 1, 2, 3, 32].into_iter().collect();
    /// assert_eq!(set.to_text(Format::List), "0-3,32");
    /// assert_eq!(set.to_text(Format::Taskset), "0x10000000f");
    /// ```
    #[must_use]
    pub fn to_text(&self, format: Format) -> String {
        match format {
            Format::Hwloc => self.to_string(),
            Format::List => self.to_list(),
            Format::Taskset => self.to_taskset(),
        }
    }

    /// Reads a set from text in a format.
    ///
    /// ```
    /// use topobroker_layout::set::{Format, Set};
    /// let set = Set::parse("0-3,8", Format::List)?;
    /// assert_eq!(set.to_string(), "0x0000010f");
    /// assert!(Set::parse("3-1", Format::List).is_err());
    /// # Ok::<(), topobroker_layout::set::ParseSetError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ParseSetError`] with the position of the error.
    pub fn parse(text: &str, format: Format) -> Result<Self, ParseSetError> {
        match format {
            Format::Hwloc => parse_masks(text),
            Format::List => parse_list(text),
            Format::Taskset => parse_taskset(text),
        }
    }

    fn to_list(&self) -> String {
        let mut text = String::new();
        let inverse = !self;
        let mut next = self.first();
        while let Some(first) = next {
            let comma = if text.is_empty() { "" } else { "," };
            let end = inverse.next_after(first);
            // Writing to a string cannot fail.
            let _ = match end {
                None if self.infinite => write!(text, "{comma}{first}-"),
                None => write!(text, "{comma}{first}"),
                Some(end) if end == first + 1 => write!(text, "{comma}{first}"),
                Some(end) => write!(text, "{comma}{first}-{}", end - 1),
            };
            next = end.and_then(|end| self.next_from(end));
        }
        text
    }

    fn to_taskset(&self) -> String {
        let mut text = String::from(if self.infinite { "0xf...f" } else { "0x" });
        let mut started = self.infinite;
        for word in self.words.iter().rev() {
            // Writing to a string cannot fail.
            let _ = match (started, *word) {
                (false, 0) => Ok(()),
                (false, word) => write!(text, "{word:x}"),
                (true, word) => write!(text, "{word:016x}"),
            };
            started |= *word != 0;
        }
        if !started {
            text.push('0');
        }
        text
    }
}

impl Format {
    /// The format of a mask: [`Format::Hwloc`] if it has commas, [`Format::Taskset`] if not.
    ///
    /// ```
    /// use topobroker_layout::set::Format;
    /// assert_eq!(Format::of_mask("0x1,0x0"), Format::Hwloc);
    /// assert_eq!(Format::of_mask("0x3"), Format::Taskset);
    /// ```
    #[must_use]
    pub fn of_mask(text: &str) -> Self {
        if text.contains(',') { Self::Hwloc } else { Self::Taskset }
    }
}

impl fmt::Debug for Set {
    /// The indexes as a list: `{0-3,8}`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{}}}", self.to_text(Format::List))
    }
}

impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.infinite {
            f.write_str("0xf...f")?;
            if self.words.is_empty() {
                return Ok(());
            }
        }
        let halves = self.words.iter().rev().flat_map(|word| [word >> 32, word & 0xffff_ffff]);
        let mut left = self.words.len() * 2;
        let mut started = self.infinite;
        for half in halves {
            left -= 1;
            match (started, half) {
                (false, 0) => continue,
                (false, _) => write!(f, "0x{half:08x}")?,
                (true, 0) if left > 0 => f.write_str(",")?,
                (true, 0) => f.write_str(",0x0")?,
                (true, _) => write!(f, ",0x{half:08x}")?,
            }
            started = true;
        }
        if started { Ok(()) } else { f.write_str("0x0") }
    }
}

/// Makes an error at the position in `text` at which `rest` begins.
fn error(text: &str, rest: &str, reason: &'static str, expected: &'static str) -> ParseSetError {
    ParseSetError { text: text.to_owned(), position: text.len() - rest.len(), reason, expected }
}

const A_LIST: &str = "ranges such as 0-3,8,12-";
const A_MASK: &str = "masks such as 0x0000000f,0x00000001";

fn parse_list(text: &str) -> Result<Set, ParseSetError> {
    let mut set = Set::new();
    let mut rest = text;
    while !rest.is_empty() {
        let first;
        (first, rest) = index(text, rest)?;
        match rest.strip_prefix('-') {
            None => set.insert(first),
            Some("") => {
                set.insert_from(first);
                return Ok(set);
            }
            Some(second) => {
                let (last, behind) = index(text, second)?;
                if last < first {
                    return Err(error(text, second, "a range that ends before it begins", A_LIST));
                }
                set.insert_range(first..=last);
                rest = behind;
            }
        }
        rest = match rest.strip_prefix(',') {
            Some(behind) => behind,
            None if rest.is_empty() => rest,
            None => return Err(error(text, rest, "neither a comma nor the end", A_LIST)),
        };
    }
    Ok(set)
}

/// Reads an index at the start of `rest`, and returns it with the text after it.
fn index<'t>(text: &str, rest: &'t str) -> Result<(u32, &'t str), ParseSetError> {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (number, behind) = rest.split_at(digits);
    if digits > 1 && number.starts_with('0') {
        return Err(error(text, rest, "an index with a leading 0, octal to hwloc", A_LIST));
    }
    match number.parse::<u32>() {
        Ok(index) if index as usize <= MAX_INDEX => Ok((index, behind)),
        Ok(_) => Err(error(text, rest, "an index above 131,071", A_LIST)),
        Err(_) => Err(error(text, rest, "no index", A_LIST)),
    }
}

fn parse_masks(text: &str) -> Result<Set, ParseSetError> {
    let (infinite, rest) = match text.strip_prefix("0xf...f") {
        Some("") => return Ok(Set::from_words([], true)),
        Some(rest) => match rest.strip_prefix(',') {
            Some(rest) => (true, rest),
            None => return Err(error(text, rest, "neither a comma nor the end", A_MASK)),
        },
        None => (false, text),
    };
    // hwloc 2.9 aborts if a text begins with a comma, and loses the last mask if a text ends with
    // one.
    if text.starts_with(',') {
        return Err(error(text, text, "no 32-bit mask before the comma", A_MASK));
    }
    if text.ends_with(',') {
        return Err(error(text, "", "no 32-bit mask behind the comma", A_MASK));
    }
    let mut halves = SmallVec::<[u32; 2 * INLINE_WORDS]>::new();
    let mut left = rest;
    for part in rest.as_bytes().split(|byte| *byte == b',') {
        let half = mask(part).ok_or_else(|| error(text, left, "no 32-bit mask", A_MASK))?;
        halves.push(half);
        left = left.get(part.len() + 1..).unwrap_or_default();
    }
    let words = halves.rchunks(2).map(|pair| match pair {
        [high, low] => (u64::from(*high) << 32) | u64::from(*low),
        [low] => u64::from(*low),
        _ => 0,
    });
    Ok(Set::from_words(words, infinite))
}

/// Reads a 32-bit mask in hexadecimal digits; no digits mean 0. `from_str_radix` is not used
/// because it accepts a sign.
fn mask(part: &[u8]) -> Option<u32> {
    let digits = match part.strip_prefix(b"0x") {
        Some([]) => return None,
        digits => digits.unwrap_or(part),
    };
    // A mask of 32 bits has eight digits, so digits before these must be zeros.
    let (zeros, digits) = digits.split_at(digits.len().saturating_sub(8));
    let is_zero = |digit: &u8| *digit == b'0';
    let (mask, all) = digits.iter().fold((0, 0), |(mask, all), byte| {
        let digit = DIGITS.get(usize::from(*byte)).copied().unwrap_or(NO_DIGIT);
        ((mask << 4) | u32::from(digit), all | digit)
    });
    (all & NO_DIGIT == 0 && zeros.iter().all(is_zero)).then_some(mask)
}

/// Stands for a byte that is not a digit: a bit that the value of a digit never has.
const NO_DIGIT: u8 = 0x80;

/// Value of each byte as a hexadecimal digit, [`NO_DIGIT`] if it is none.
#[expect(clippy::indexing_slicing, reason = "the compiler does it")]
#[expect(clippy::cast_possible_truncation, reason = "a digit is below 16")]
const DIGITS: [u8; 256] = {
    let mut digits = [NO_DIGIT; 256];
    let mut byte = 0;
    while byte < u8::MAX {
        if let Some(digit) = (byte as char).to_digit(16) {
            digits[byte as usize] = digit as u8;
        }
        byte += 1;
    }
    digits
};

fn parse_taskset(text: &str) -> Result<Set, ParseSetError> {
    let expected = "one mask such as 0xf00000001";
    let (infinite, digits) = match text.strip_prefix("0xf...f") {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix("0x").unwrap_or(text)),
    };
    if digits.is_empty() && !infinite {
        return Err(error(text, digits, "no digits", expected));
    }
    let bad = digits.find(|letter: char| !letter.is_ascii_hexdigit());
    if let Some(bad) = bad {
        let rest = digits.get(bad..).unwrap_or_default();
        return Err(error(text, rest, "no hexadecimal digit", expected));
    }
    let chunks = digits.as_bytes().rchunks(16).map(|chunk| {
        let chunk = core::str::from_utf8(chunk).unwrap_or_default();
        u64::from_str_radix(chunk, 16).unwrap_or(0)
    });
    Ok(Set::from_words(chunks, infinite))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_on_which_hwloc_aborts_or_that_it_reads_as_something_else_are_errors() {
        for (format, text, position) in [
            (Format::Hwloc, ",f", 0),
            (Format::Hwloc, "a0,", 3),
            (Format::Hwloc, "0x", 0),
            (Format::Hwloc, "1,0x", 2),
            (Format::Hwloc, "+f", 0),
            (Format::Hwloc, "1,0x+f", 2),
            (Format::List, "021", 0),
            (Format::List, "1-08", 2),
        ] {
            let error = Set::parse(text, format).unwrap_err();
            assert_eq!(error.position, position, "{error}");
        }
    }

    #[test]
    fn digits_behind_the_sign_of_an_infinite_mask_are_of_whole_words() {
        for (format, text) in [(Format::Taskset, "0xf...f80"), (Format::Hwloc, "0xf...f,80")] {
            assert_eq!(Set::parse(text, format), Ok(Set::from_words([0x80], true)), "{text}");
        }
    }

    #[test]
    fn a_set_prints_as_hwloc_prints_it() {
        for (words, infinite, text) in [
            (vec![], false, "0x0"),
            (vec![1], false, "0x00000001"),
            (vec![1 << 32], false, "0x00000001,0x0"),
            (vec![0, 1], false, "0x00000001,,0x0"),
            (vec![u64::MAX, 1], false, "0x00000001,0xffffffff,0xffffffff"),
            (vec![], true, "0xf...f"),
            (vec![6], true, "0xf...f,,0x00000006"),
        ] {
            assert_eq!(Set::from_words(words, infinite).to_string(), text);
        }
    }

    #[test]
    fn bad_text_is_an_error_with_its_position() {
        for (text, format, position) in [
            ("0-3,x", Format::List, 4),
            ("5-3", Format::List, 2),
            ("0,131072", Format::List, 2),
            ("0 1", Format::List, 1),
            ("0x1,0xg", Format::Hwloc, 4),
            ("0x100000000", Format::Hwloc, 0),
            ("0xf...fx", Format::Hwloc, 7),
            ("0x", Format::Taskset, 2),
            ("0x12z", Format::Taskset, 4),
        ] {
            let error = Set::parse(text, format).unwrap_err();
            assert_eq!((error.position, error.text.as_str()), (position, text), "{error}");
        }
    }
}
