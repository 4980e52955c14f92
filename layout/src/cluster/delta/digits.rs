//! Texts that differ in a number, and the hexadecimal digits of texts.

use crate::cluster::bytes::{ByteReader, push_number, push_text};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

/// A text with a number between two constant texts. `width` is the number of digits to which it is
/// filled up with zeros, 0 if it is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Digits<'a> {
    pub(super) before: &'a str,
    pub(super) after: &'a str,
    pub(super) is_hexadecimal: bool,
    pub(super) width: u32,
}

/// Highest number of digits.
const MOST: usize = 15;

impl<'a> Digits<'a> {
    /// What texts that differ in one number have in common; `None` if they do not.
    pub(super) fn of(texts: &[&'a str], is_hexadecimal: bool) -> Option<Self> {
        let (first, rest) = texts.split_first()?;
        let (mut before, mut after) = (first.len(), first.len());
        for text in rest {
            let same = first.bytes().zip(text.bytes());
            before = before.min(same.take_while(|(one, other)| one == other).count());
            let same = first.bytes().rev().zip(text.bytes().rev());
            after = after.min(same.take_while(|(one, other)| one == other).count());
        }
        let shortest = texts.iter().map(|text| text.len()).min()?;
        after = after.min(shortest - before);
        let is_one_width = texts.iter().all(|text| text.len() == first.len());
        let digit = |byte: &u8| is_digit(*byte, is_hexadecimal);
        let bytes = first.as_bytes();
        if is_one_width {
            // Digits that all have are part of the number, which is then shorter to write.
            let width = first.len() - before - after;
            (1..=MOST).contains(&width).then_some(())?;
            let (before, after) = (first.get(..before)?, first.get(before + width..)?);
            let width = u32::try_from(width).ok()?;
            return Some(Self { before, after, is_hexadecimal, width });
        }
        before -= bytes.get(..before)?.iter().rev().take_while(|byte| digit(byte)).count();
        let end = bytes.get(bytes.len() - after..)?;
        after -= end.iter().take_while(|byte| digit(byte)).count();
        let (before, after) = (first.get(..before)?, first.get(first.len() - after..)?);
        Some(Self { before, after, is_hexadecimal, width: 0 })
    }

    /// The number of a text; `None` if [`Digits::format`] would not give that text back.
    pub(super) fn number(&self, text: &str) -> Option<u64> {
        let digits = text.strip_prefix(self.before)?.strip_suffix(self.after)?;
        (1..=MOST).contains(&digits.len()).then_some(())?;
        let is_plain = digits.bytes().all(|byte| is_digit(byte, self.is_hexadecimal));
        let radix = if self.is_hexadecimal { 16 } else { 10 };
        let number = u64::from_str_radix(digits, radix).ok().filter(|_| is_plain)?;
        let mut again = String::new();
        self.format(number, &mut again)?;
        (again == text).then_some(number)
    }

    /// Appends the text with a number.
    pub(super) fn format(&self, number: u64, text: &mut String) -> Option<()> {
        text.push_str(self.before);
        let width = (self.width as usize).min(MOST);
        let written = match self.is_hexadecimal {
            true => write!(text, "{number:0width$x}"),
            false => write!(text, "{number:0width$}"),
        };
        text.push_str(self.after);
        written.ok()
    }

    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(self.is_hexadecimal));
        push_number(bytes, self.width.into());
        push_text(bytes, self.before);
        push_text(bytes, self.after);
    }

    pub(super) fn read(from: &mut ByteReader<'a>) -> Option<Self> {
        let is_hexadecimal = from.byte()? == 1;
        let width = from.small()?;
        Some(Self { before: from.text()?, after: from.text()?, is_hexadecimal, width })
    }
}

fn is_digit(byte: u8, is_hexadecimal: bool) -> bool {
    byte.is_ascii_digit() || (is_hexadecimal && matches!(byte, b'a'..=b'f'))
}

/// The last `count` hexadecimal digits of a text, the lowest first; `None` if it has fewer.
pub(super) fn last_digits(text: &str, count: u32) -> Option<Vec<u8>> {
    let digits: Vec<u8> = hex_digits(text).rev().take(count as usize).collect();
    (digits.len() == count as usize).then_some(digits)
}

/// Digits plus a constant, in a text that has as many digits in their places, whatever is between
/// them. Appends that text; `None` if it has too few digits.
pub(super) fn with_digits(
    mut digits: Vec<u8>,
    plus: u64,
    text: &str,
    out: &mut String,
) -> Option<()> {
    let count = digits.len();
    let mut carry = plus;
    for digit in &mut digits {
        let sum = u64::from(*digit) + carry % 16;
        carry = carry / 16 + sum / 16;
        *digit = u8::try_from(sum % 16).unwrap_or(0);
    }
    let is_upper = text.bytes().any(|byte| matches!(byte, b'A'..=b'F'));
    let first = hex_digits(text).count().checked_sub(count)?;
    let mut seen = 0;
    for character in text.chars() {
        let own = if character.is_ascii_hexdigit() {
            seen += 1;
            (seen > first).then(|| digits.pop()).flatten()
        } else {
            None
        };
        let digit = own.and_then(|digit| char::from_digit(digit.into(), 16));
        let digit = if is_upper { digit.map(|it| it.to_ascii_uppercase()) } else { digit };
        out.push(digit.unwrap_or(character));
    }
    Some(())
}

/// What must be added to the last `count` hexadecimal digits of one text to get those of another,
/// of which the upper ones differ only by what is carried.
pub(super) fn digits_apart(other: &str, text: &str, count: u32) -> Option<u64> {
    let last = |text: &str| {
        let digits = hex_digits(text).rev().take((count as usize).min(15));
        digits.zip(0..).map(|(digit, place)| u64::from(digit) << (4 * place)).sum::<u64>()
    };
    (hex_digits(other).count() >= count as usize).then_some(())?;
    let plus = last(text).wrapping_sub(last(other)) % (1 << (4 * count.min(15)));
    Some(plus)
}

/// The hexadecimal digits of a text as numbers.
pub(super) fn hex_digits(text: &str) -> impl DoubleEndedIterator<Item = u8> {
    let digit = |byte| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    text.bytes().filter_map(digit)
}
