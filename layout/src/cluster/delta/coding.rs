//! The codings: how the values of one field are written for all nodes of a class.

use crate::cluster::bytes::{ByteReader, push_number, push_text};
use alloc::vec::Vec;

/// How the values of a field are made from the bits of a node. A place is that of an earlier field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Coding<'a> {
    /// The name of the node.
    NodeName,
    /// A text of the class's table of texts, by its place there.
    Stored { bits: u32 },
    /// `base + step * bits`.
    Number { bits: u32, base: u64, step: u64 },
    /// A text of which some characters are chosen by bits.
    Template { text: &'a str, characters: Vec<Character<'a>> },
    /// A text whose last hexadecimal digits are those of an earlier text plus a constant.
    Successor { place: u32, text: &'a str, count: u32, plus: u64 },
}

/// A character of a template: where it is, and the characters that it can be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Character<'a> {
    pub(super) at: u32,
    pub(super) alphabet: &'a str,
}

impl Character<'_> {
    /// Number of bits that choose the character.
    pub(super) fn bits(&self) -> u32 {
        super::bits::bits_of((self.alphabet.len() as u64).saturating_sub(1))
    }
}

impl<'a> Coding<'a> {
    /// Number of bits of a node.
    pub(super) fn bits(&self) -> u32 {
        match self {
            Self::NodeName | Self::Successor { .. } => 0,
            Self::Stored { bits } | Self::Number { bits, .. } => *bits,
            Self::Template { characters, .. } => {
                characters.iter().map(Character::bits).fold(0, u32::saturating_add)
            }
        }
    }

    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        let numbers = |bytes: &mut Vec<u8>, kind: u8, numbers: &[u64]| {
            bytes.push(kind);
            numbers.iter().for_each(|number| push_number(bytes, *number));
        };
        match self {
            Self::NodeName => numbers(bytes, 0, &[]),
            Self::Stored { bits } => numbers(bytes, 1, &[u64::from(*bits)]),
            Self::Number { bits, base, step } => {
                numbers(bytes, 2, &[u64::from(*bits), *base, *step]);
            }
            Self::Template { text, characters } => {
                numbers(bytes, 3, &[characters.len() as u64]);
                push_text(bytes, text);
                let mut last = "";
                for character in characters {
                    push_number(bytes, character.at.into());
                    // An empty alphabet is that of the character before.
                    let same = character.alphabet == last;
                    push_text(bytes, if same { "" } else { character.alphabet });
                    last = character.alphabet;
                }
            }
            Self::Successor { place, text, count, plus } => {
                numbers(bytes, 4, &[u64::from(*place), u64::from(*count), *plus]);
                push_text(bytes, text);
            }
        }
    }

    /// Reads what [`Coding::write`] wrote; `None` if the bytes are not that.
    pub(super) fn read(from: &mut ByteReader<'a>) -> Option<Self> {
        let coding = match from.byte()? {
            0 => Self::NodeName,
            1 => Self::Stored { bits: from.small()? },
            2 => Self::Number { bits: from.small()?, base: from.number()?, step: from.number()? },
            3 => {
                let count = from.small()?;
                let text = from.text()?;
                let (mut characters, mut last) = (Vec::new(), "");
                for _ in 0..count {
                    let at = from.small()?;
                    last = Some(from.text()?).filter(|it| !it.is_empty()).unwrap_or(last);
                    (last.is_ascii() && !last.is_empty()).then_some(())?;
                    characters.push(Character { at, alphabet: last });
                }
                Self::Template { text, characters }
            }
            4 => {
                let (place, count, plus) = (from.small()?, from.small()?, from.number()?);
                Self::Successor { place, text: from.text()?, count, plus }
            }
            _ => return None,
        };
        Some(coding)
    }
}
