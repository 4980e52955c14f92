//! Finds the shortest coding of each field of a class, and writes its nodes with them.

use super::bits::{BitWriter, bits_of};
use super::coding::{Character, Coding};
use super::digits::{digits_apart, hex_digits, last_digits, with_digits};
use crate::cluster::blocks::Texts;
use crate::cluster::bytes::push_number;
use crate::cluster::field::Field;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

/// The values of a field, one for each node of the class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Column<'a> {
    /// Numbers.
    Numbers(Vec<u64>),
    /// Texts.
    Texts(Vec<&'a str>),
}

impl<'a> Column<'a> {
    /// The texts; no texts for numbers.
    fn texts(&self) -> impl Iterator<Item = &'a str> + '_ {
        let texts = match self {
            Self::Texts(texts) => texts.as_slice(),
            Self::Numbers(_) => &[],
        };
        texts.iter().copied()
    }
}

/// The fields of a class and its nodes, as they are written.
#[derive(Debug, Clone, Default)]
pub struct Fitted {
    /// The fields and their codings, as [`ClassFields::read`](super::ClassFields::read) reads them.
    pub fields: Vec<u8>,
    /// Number of bytes of a node.
    pub row_len: u32,
    /// The bytes of all nodes.
    pub rows: Vec<u8>,
    /// Texts that the codings refer to, for [`Texts::pack`].
    pub texts: Vec<String>,
}

/// Finds the shortest codings of the fields of a class, which must ascend, and writes its nodes,
/// whose names are `nodes`.
#[must_use]
pub fn fit(fields: &[(Field, Column<'_>)], nodes: &[&str]) -> Fitted {
    let found: Vec<Option<Coded<'_>>> = fields
        .iter()
        .enumerate()
        .map(|(at, (_, column))| {
            let before = fields.get(..at).unwrap_or_default();
            match column {
                Column::Numbers(numbers) => Some(of_numbers(numbers)),
                Column::Texts(texts) => of_texts(texts, before, nodes),
            }
        })
        .collect();
    // The texts that no coding makes.
    let stored = fields.iter().zip(&found).filter(|(_, coded)| coded.is_none());
    let stored: BTreeSet<&str> = stored.flat_map(|((_, column), _)| column.texts()).collect();
    let texts: Vec<&str> = stored.into_iter().collect();
    let (_, _, places) = Texts::pack(0, &texts);
    let place_of: BTreeMap<&str, u32> = texts.iter().copied().zip(places).collect();
    let mut fitted = Fitted::default();
    let mut rows: Vec<BitWriter> = nodes.iter().map(|_| BitWriter::default()).collect();
    push_number(&mut fitted.fields, fields.len() as u64);
    let mut last = 0;
    for ((field, column), coded) in fields.iter().zip(found) {
        let (coding, codes) = coded.unwrap_or_else(|| {
            let codes = column.texts().map(|it| place_of.get(it).copied().unwrap_or(0));
            let codes: Vec<u64> = codes.map(u64::from).collect();
            let bits = bits_of(codes.iter().copied().max().unwrap_or(0));
            (Coding::Stored { bits }, one_each(codes, bits))
        });
        push_number(&mut fitted.fields, field.raw() - last);
        last = field.raw();
        coding.write(&mut fitted.fields);
        for (row, codes) in rows.iter_mut().zip(codes) {
            codes.iter().for_each(|(code, bits)| row.push(*code, *bits));
        }
    }
    for row in rows {
        let row = row.finish();
        fitted.row_len = u32::try_from(row.len()).unwrap_or(u32::MAX);
        fitted.rows.extend(row);
    }
    fitted.texts = texts.into_iter().map(String::from).collect();
    fitted
}

/// A coding, and for each node its codes with their numbers of bits.
type Coded<'a> = (Coding<'a>, Vec<Vec<(u64, u32)>>);

fn one_each(codes: Vec<u64>, bits: u32) -> Vec<Vec<(u64, u32)>> {
    codes.into_iter().map(|code| Vec::from([(code, bits)])).collect()
}

fn no_bits<T>(values: &[T]) -> Vec<Vec<(u64, u32)>> {
    values.iter().map(|_| Vec::new()).collect()
}

fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn of_numbers<'a>(numbers: &[u64]) -> Coded<'a> {
    let (base, step, bits) = progression(numbers);
    (Coding::Number { bits, base, step }, one_each(steps(numbers, base, step), bits))
}

/// How many steps each number is above the least.
fn steps(numbers: &[u64], base: u64, step: u64) -> Vec<u64> {
    numbers.iter().map(|number| (number - base).checked_div(step).unwrap_or(0)).collect()
}

/// The least number, the greatest step by which all are apart, and the bits of the number of steps.
fn progression(numbers: &[u64]) -> (u64, u64, u32) {
    let base = numbers.iter().copied().min().unwrap_or(0);
    let step = numbers.iter().fold(0, |step, number| gcd(number - base, step));
    let most = numbers.iter().map(|number| number - base).max().unwrap_or(0);
    (base, step, bits_of(most.checked_div(step).unwrap_or(0)))
}

fn gcd(mut one: u64, mut other: u64) -> u64 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

fn of_texts<'a>(
    texts: &[&'a str],
    before: &[(Field, Column<'a>)],
    nodes: &[&str],
) -> Option<Coded<'a>> {
    if texts == nodes {
        return Some((Coding::NodeName, no_bits(texts)));
    }
    for (place, (_, column)) in before.iter().enumerate() {
        let Column::Texts(others) = column else { continue };
        if let Some((count, plus)) = successor(texts, others) {
            let text = *texts.first()?;
            let coding = Coding::Successor { place: small(place), text, count, plus };
            return Some((coding, no_bits(texts)));
        }
    }
    let (coding, codes) = template(texts)?;
    let mut bytes = Vec::new();
    coding.write(&mut bytes);
    let length = 8 * bytes.len() + coding.bits() as usize * texts.len();
    (length <= stored_len(texts)).then_some((coding, codes))
}

/// Number of bits that texts take if each node has the place of its own in a table of them.
fn stored_len(texts: &[&str]) -> usize {
    let distinct: BTreeSet<&str> = texts.iter().copied().collect();
    let table: usize = distinct.iter().map(|text| text.len() + 1).sum();
    8 * table + bits_of(table as u64) as usize * texts.len()
}

/// How many of their last hexadecimal digits texts have from others, plus which constant.
fn successor(texts: &[&str], others: &[&str]) -> Option<(u32, u64)> {
    let first = *texts.first()?;
    let same = |text: &&str| {
        let pairs = first.bytes().zip(text.bytes());
        pairs.take_while(|(one, other)| one == other).count()
    };
    (texts.iter().all(|text| text.len() == first.len())).then_some(())?;
    let from = texts.iter().map(same).min()?;
    let digits = hex_digits(first.get(from..)?).count();
    // Fewer digits follow others by chance.
    let count = u32::try_from(digits).ok().filter(|digits| *digits >= 2)?;
    let plus = digits_apart(others.first()?, first, count)?;
    let holds = |(text, other): (&&str, &&str)| {
        let mut again = String::new();
        let written = last_digits(other, count)
            .and_then(|digits| with_digits(digits, plus, first, &mut again));
        written.is_some() && again == **text
    };
    texts.iter().zip(others).all(holds).then_some((count, plus))
}

/// The characters that a character of a template can be, shortest first.
const ALPHABETS: [&str; 6] = [
    "0123456789",
    "0123456789abcdef",
    "0123456789ABCDEF",
    "0123456789abcdefghijklmnopqrstuvwxyz",
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz-",
];

fn template<'a>(texts: &[&'a str]) -> Option<Coded<'a>> {
    let text = *texts.first()?;
    texts.iter().all(|it| it.len() == text.len()).then_some(())?;
    let mut characters = Vec::new();
    for (at, first) in text.bytes().enumerate() {
        let here = |it: &&str| it.as_bytes().get(at).copied().unwrap_or(0);
        if texts.iter().all(|it| here(it) == first) {
            continue;
        }
        let holds =
            |alphabet: &&&str| texts.iter().all(|it| alphabet.as_bytes().contains(&here(it)));
        let alphabet = ALPHABETS.iter().find(holds)?;
        characters.push(Character { at: small(at), alphabet });
    }
    let codes = |it: &&str| {
        let code = |character: &Character<'_>| {
            let byte = it.as_bytes().get(character.at as usize);
            let place = character.alphabet.bytes().position(|it| Some(&it) == byte);
            (place.unwrap_or(0) as u64, character.bits())
        };
        characters.iter().map(code).collect()
    };
    let codes = texts.iter().map(codes).collect();
    Some((Coding::Template { text, characters }, codes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::delta::{ClassFields, FieldValue, NodeValues};
    use crate::cluster::field::Property;
    use alloc::borrow::Cow;
    use alloc::format;

    const NODES: u64 = 16;

    /// A text of each node.
    fn texts(of_node: impl Fn(u64) -> String) -> Vec<String> {
        (0..NODES).map(of_node).collect()
    }

    fn column(texts: &[String]) -> Column<'_> {
        Column::Texts(texts.iter().map(String::as_str).collect())
    }

    /// Writes the values of nodes `n0`, `n1`, ... and reads them again. Returns the bytes of a
    /// node.
    fn row_len_of(columns: &[(Field, Column<'_>)]) -> u32 {
        let names = texts(|node| format!("n{node}"));
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let fitted = fit(columns, &names);
        let texts: Vec<&str> = fitted.texts.iter().map(String::as_str).collect();
        let (_, _, places) = Texts::pack(0, &texts);
        let stored = |place| {
            let at = places.iter().position(|it| *it == place)?;
            texts.get(at).map(|text| Cow::Borrowed(*text))
        };
        let fields = ClassFields::read(&fitted.fields).unwrap();
        assert_eq!(fields.row_len(), fitted.row_len);
        for (at, name) in names.iter().enumerate() {
            let length = fitted.row_len as usize;
            let row = &fitted.rows[at * length..(at + 1) * length];
            let values = columns.iter().map(|(field, column)| match column {
                Column::Numbers(numbers) => (*field, FieldValue::Number(numbers[at])),
                Column::Texts(texts) => (*field, FieldValue::Text(texts[at])),
            });
            assert_eq!(fields.values(row, name, stored), NodeValues::new(values), "{name}");
        }
        fitted.row_len
    }

    fn info(place: u32) -> Field {
        Field::new(Property::INFO_VALUE, 0, place)
    }

    #[test]
    fn names_and_addresses_that_follow_others_take_no_bytes_of_a_node() {
        let names = texts(|node| format!("n{node}"));
        let [first, second] = [7, 9].map(|plus| texts(|node| format!("02:00:{:02x}", node + plus)));
        assert_eq!(row_len_of(&[(info(0), column(&names))]), 0);
        // An address takes the four bits that distinguish 16 nodes.
        let [names, first, second] = [&names, &first, &second].map(|it| column(it));
        assert_eq!(row_len_of(&[(info(0), names), (info(1), first), (info(2), second)]), 1);
    }

    #[test]
    fn few_long_texts_of_one_length_are_stored_once() {
        let serials = ["0123456789abcdef", "fedcba9876543210"].map(|text| text.repeat(4));
        let serials = texts(|node| serials[usize::from(node % 2 == 0)].clone());
        assert_eq!(row_len_of(&[(info(0), column(&serials))]), 1);
    }

    #[test]
    fn numbers_take_the_bits_of_their_steps() {
        let numbers = (0..NODES).map(|node| (1 << 40) + 4096 * (node % 8)).collect();
        let field = Field::new(Property::LOCAL_MEMORY, 3, 0);
        assert_eq!(row_len_of(&[(field, Column::Numbers(numbers))]), 1);
    }
}
