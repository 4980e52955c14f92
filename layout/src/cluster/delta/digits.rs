//! The hexadecimal digits of texts.

use alloc::string::String;
use alloc::vec::Vec;

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
