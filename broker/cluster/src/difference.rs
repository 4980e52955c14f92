//! What differs between two nodes of one class, as bytes that one node sends to another.

use super::classes::Prepared;
use super::own_values::Own;
use topobroker::description::describe;
use topobroker_layout::cluster::bytes::{ByteReader, push_number};
use topobroker_layout::cluster::delta::{FieldValue, NodeValues};
use topobroker_layout::cluster::field::Field;
use topobroker_layout::encode::{AlignedVec, to_bytes};
use topobroker_reader::Archive;

/// The values of a node that differ from those of another node of its class: their places, and of a
/// text only the middle that differs.
pub(super) fn difference(base: &Prepared, node: &Prepared) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut last = 0;
    for (place, (own, other)) in node.values.iter().zip(&base.values).enumerate() {
        if own.1 == other.1 {
            continue;
        }
        push_number(&mut bytes, (place - last) as u64);
        last = place;
        match (&own.1, &other.1) {
            (Own::Number(own), Own::Number(other)) => {
                // Small steps up or down are short.
                let step = own.wrapping_sub(*other).cast_signed();
                push_number(&mut bytes, (step.cast_unsigned() << 1) ^ (step >> 63).cast_unsigned());
            }
            (own, other) => {
                let (own, other) = (own.text(), other.text());
                let plain = letters(own, other);
                let packed = digits(own, other).filter(|it| it.len() < plain.len());
                bytes.extend(packed.unwrap_or(plain));
            }
        }
    }
    bytes
}

/// How the text of a node is written.
const LETTERS: u64 = 0;
const LOWER_DIGITS: u64 = 1;
const UPPER_DIGITS: u64 = 2;
/// How many ways there are.
const WAYS: u64 = 3;

/// A text by the letters that differ from another one: how many before them are the same, how many
/// behind them, and the letters.
fn letters(own: &str, other: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let before = same(own.bytes().zip(other.bytes()));
    let most = own.len().min(other.len()) - before;
    let after = same(own.bytes().rev().zip(other.bytes().rev())).min(most);
    let middle = own.as_bytes().get(before..own.len() - after).unwrap_or_default();
    push_number(&mut bytes, before as u64 * WAYS + LETTERS);
    push_number(&mut bytes, after as u64);
    push_number(&mut bytes, middle.len() as u64);
    bytes.extend_from_slice(middle);
    bytes
}

/// A text by the hexadecimal digits that differ from another one that has digits at the same
/// places, such as an address: how many digits before them are the same, how many behind them, and
/// two digits a byte. `None` if the texts differ in more than digits, or if digits of both cases
/// are in the text.
fn digits(own: &str, other: &str) -> Option<Vec<u8>> {
    let is_alike = |(own, other): (u8, u8)| own == other || (is_digit(own) && is_digit(other));
    let is_other = own.len() != other.len() || !own.bytes().zip(other.bytes()).all(is_alike);
    let digits = |text: &str| text.bytes().filter(|it| is_digit(*it)).collect::<Vec<u8>>();
    let (mine, theirs) = (digits(own), digits(other));
    let way = match mine.iter().any(u8::is_ascii_uppercase) {
        true => UPPER_DIGITS,
        false => LOWER_DIGITS,
    };
    if is_other || mine.iter().any(|it| it.is_ascii_alphabetic() && cased(*it, way) != *it) {
        return None;
    }
    let pairs = || mine.iter().copied().zip(theirs.iter().copied());
    let before = same(pairs());
    let after = same(pairs().rev()).min(mine.len() - before);
    let middle = mine.get(before..mine.len() - after)?;
    let mut bytes = Vec::new();
    push_number(&mut bytes, before as u64 * WAYS + way);
    push_number(&mut bytes, after as u64);
    let value = |digit: u8| char::from(digit).to_digit(16).and_then(|it| u8::try_from(it).ok());
    for pair in middle.chunks(2) {
        let [high, low] = [pair.first(), pair.get(1)].map(|it| it.copied().and_then(value));
        bytes.push(high? << 4 | low.unwrap_or(0));
    }
    Some(bytes)
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_hexdigit()
}

fn cased(digit: u8, way: u64) -> u8 {
    if way == UPPER_DIGITS { digit.to_ascii_uppercase() } else { digit.to_ascii_lowercase() }
}

/// The text of a node, from what differs from another one.
fn text_from(from: &mut ByteReader<'_>, other: &str) -> Option<String> {
    let mut number = || usize::try_from(from.number()?).ok();
    let (first, after) = (number()?, number()?);
    let (way, before) = (first as u64 % WAYS, first / usize::try_from(WAYS).ok()?);
    let mut text;
    if way == LETTERS {
        let middle = number()?;
        let (middle, rest) = from.0.split_at_checked(middle)?;
        from.0 = rest;
        let end = other.len().checked_sub(after)?;
        text = other.as_bytes().get(..before)?.to_vec();
        text.extend_from_slice(middle);
        text.extend_from_slice(other.as_bytes().get(end..)?);
    } else {
        text = other.as_bytes().to_vec();
        let count = other.bytes().filter(|it| is_digit(*it)).count();
        let middle = count.checked_sub(before)?.checked_sub(after)?;
        let (packed, rest) = from.0.split_at_checked(middle.div_ceil(2))?;
        from.0 = rest;
        let values = packed.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let places = text.iter_mut().filter(|it| is_digit(**it)).skip(before).take(middle);
        for (place, value) in places.zip(values) {
            let digit = char::from_digit(value.into(), 16)?;
            *place = cased(u8::try_from(digit).ok()?, way);
        }
    }
    String::from_utf8(text).ok()
}

fn same(pairs: impl Iterator<Item = (u8, u8)>) -> usize {
    pairs.take_while(|(one, other)| one == other).count()
}

/// The archive of a node, from that of another node of its class and what differs; `None` if the
/// bytes do not fit.
pub(super) fn apply_difference(base: &Prepared, bytes: &[u8]) -> Option<AlignedVec> {
    let mut from = ByteReader(bytes);
    let mut values: Vec<(Field, Own<Box<str>>)> = Vec::new();
    let mut place = 0_usize;
    let mut is_first = true;
    while !from.0.is_empty() {
        let step = usize::try_from(from.number()?).ok()?;
        (step > 0 || is_first).then_some(())?;
        is_first = false;
        place = place.checked_add(step)?;
        let (field, other) = base.values.get(place)?;
        let own = match other {
            Own::Number(other) => {
                let folded = from.number()?;
                let step = (folded >> 1) ^ (folded & 1).wrapping_neg();
                Own::Number(other.wrapping_add(step))
            }
            Own::Text(other) => Own::Text(text_from(&mut from, other)?.into_boxed_str()),
        };
        values.push((*field, own));
    }
    let pairs = values.iter().map(|(field, own)| match own {
        Own::Number(number) => (*field, FieldValue::Number(*number)),
        Own::Text(text) => (*field, FieldValue::Text(text)),
    });
    let values = NodeValues::new(pairs)?;
    let opened = Archive::open(base.archive()).ok()?;
    let node = opened.with_values(&values);
    to_bytes(&describe(node.topology())).ok()
}
