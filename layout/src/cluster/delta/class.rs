//! The values that a class leaves open: its fields with their codings, and how a node's bits become
//! its values.

use super::bits::BitReader;
use super::coding::Coding;
use super::digits::{last_digits, with_digits};
use super::values::NodeValues;
use crate::cluster::bytes::ByteReader;
use crate::cluster::field::Field;
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

/// The fields of a class in ascending order, and the codings of their values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassFields<'a>(pub(super) Vec<(Field, Coding<'a>)>);

impl<'a> ClassFields<'a> {
    /// Reads the fields of a class; `None` if the bytes are not what was written.
    #[must_use]
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut from = ByteReader(bytes);
        let count = from.small()?;
        let (mut fields, mut last) = (Vec::new(), 0_u64);
        for place in 0..count {
            let step = from.number()?;
            (step > 0 || place == 0).then_some(())?;
            last = last.checked_add(step)?;
            fields.push((Field::from_raw(last), Coding::read(&mut from)?));
        }
        from.0.is_empty().then_some(Self(fields))
    }

    /// Number of fields.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether all nodes of the class are equal.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Number of bytes of a node.
    #[must_use]
    pub fn row_len(&self) -> u32 {
        let bits = self.0.iter().map(|(_, coding)| coding.bits());
        bits.fold(0, u32::saturating_add).div_ceil(8)
    }

    /// The values of a node, from its bytes and its name. `stored` has the class's table of texts.
    /// `None` if the bytes do not fit the codings.
    pub fn values<'t>(
        &self,
        row: &[u8],
        node: &str,
        stored: impl Fn(u32) -> Option<Cow<'t, str>>,
    ) -> Option<NodeValues> {
        let mut bits = BitReader::new(row);
        let mut values = NodeValues::default();
        for (field, coding) in &self.0 {
            value(&mut values, *field, coding, &mut bits, node, &stored)?;
        }
        Some(values)
    }
}

fn value<'t>(
    values: &mut NodeValues,
    field: Field,
    coding: &Coding<'_>,
    from: &mut BitReader<'_>,
    node: &str,
    stored: &impl Fn(u32) -> Option<Cow<'t, str>>,
) -> Option<()> {
    if field.property().is_text() == matches!(coding, Coding::Number { .. }) {
        return None;
    }
    match coding {
        Coding::NodeName => values.push_copy(field, node)?,
        Coding::Stored { bits } => {
            values.push_copy(field, &stored(u32::try_from(from.take(*bits)).ok()?)?)?;
        }
        Coding::Number { bits, base, step } => {
            values.push_number(field, base.wrapping_add(step.wrapping_mul(from.take(*bits))));
        }
        Coding::Template { text: template, characters } => {
            let mut filled = Vec::from(template.as_bytes());
            for character in characters {
                let place = usize::try_from(from.take(character.bits())).ok()?;
                let chosen = character.alphabet.as_bytes().get(place);
                *filled.get_mut(character.at as usize)? = *chosen?;
            }
            values.push_copy(field, &String::from_utf8(filled).ok()?)?;
        }
        Coding::Successor { place, text: template, count, plus } => {
            let digits = last_digits(values.text_at(*place as usize)?, *count)?;
            values.push_text(field, |all| with_digits(digits, *plus, template, all))?;
        }
    }
    Some(())
}
