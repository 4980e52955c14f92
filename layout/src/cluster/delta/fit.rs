//! Finds the shortest coding of each field of a class, and writes its nodes with them.

use super::bits::{BitWriter, bits_of};
use super::coding::{Character, Coding};
use super::digits::{Digits, digits_apart, hex_digits, last_digits, with_digits};
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
    /// The texts, none of numbers.
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

/// Finds the codings of the fields of a class, which must ascend, and writes its nodes, whose names
/// are `nodes`.
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
    let made = [numbered(texts, false), numbered(texts, true), template(texts)];
    let length = |coded: &Coded<'a>| {
        let mut bytes = Vec::new();
        coded.0.write(&mut bytes);
        8 * bytes.len() + coded.0.bits() as usize * texts.len()
    };
    made.into_iter().flatten().min_by_key(length)
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

fn numbered<'a>(texts: &[&'a str], is_hexadecimal: bool) -> Option<Coded<'a>> {
    let digits = Digits::of(texts, is_hexadecimal)?;
    let numbers: Vec<u64> = texts.iter().map(|it| digits.number(it)).collect::<Option<_>>()?;
    let (base, step, bits) = progression(&numbers);
    let codes = one_each(steps(&numbers, base, step), bits);
    Some((Coding::Numbered { digits, bits, base, step }, codes))
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
