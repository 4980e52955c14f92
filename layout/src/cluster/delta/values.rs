//! The values of one node that its class leaves open.

use crate::cluster::field::Field;
use alloc::string::String;
use alloc::vec::Vec;

/// Most bytes of all texts of a node. A few bytes of a class can stand for a long text.
const MOST_TEXT: u32 = 1 << 24;

/// Values of a node by their fields. A topology that is read through them has them in place of
/// those of its class.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeValues {
    /// The fields, ascending.
    fields: Vec<Field>,
    values: Vec<Value>,
    texts: String,
}

/// A value for a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldValue<'v> {
    /// A number.
    Number(u64),
    /// A text.
    Text(&'v str),
}

/// A number, or where a text is in [`NodeValues::texts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    Number(u64),
    Text(u32, u32),
}

impl NodeValues {
    /// Values of these fields, which must ascend; `None` if a field is of the other kind, or the
    /// texts are too long.
    pub fn new<'v>(pairs: impl IntoIterator<Item = (Field, FieldValue<'v>)>) -> Option<Self> {
        let mut values = Self::default();
        for (field, value) in pairs {
            match value {
                FieldValue::Number(number) if !field.property().is_text() => {
                    values.push_number(field, number);
                }
                FieldValue::Text(text) if field.property().is_text() => {
                    values.push_copy(field, text)?
                }
                _ => return None,
            }
        }
        Some(values)
    }

    /// The number in a field; `None` if it is that of the class.
    #[must_use]
    #[inline]
    pub fn number(&self, field: Field) -> Option<u64> {
        match self.values.get(self.fields.binary_search(&field).ok()?)? {
            Value::Number(number) => Some(*number),
            Value::Text(..) => None,
        }
    }

    /// The text in a field; `None` if it is that of the class.
    #[must_use]
    #[inline]
    pub fn text(&self, field: Field) -> Option<&str> {
        self.text_at(self.fields.binary_search(&field).ok()?)
    }

    /// The texts.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        (0..self.values.len()).filter_map(|place| self.text_at(place))
    }

    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether all values are those of the class.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    pub(super) fn text_at(&self, place: usize) -> Option<&str> {
        match self.values.get(place)? {
            Value::Text(start, end) => self.texts.get(*start as usize..*end as usize),
            Value::Number(_) => None,
        }
    }

    pub(super) fn push_number(&mut self, field: Field, number: u64) {
        self.fields.push(field);
        self.values.push(Value::Number(number));
    }

    /// Adds a text.
    pub(super) fn push_copy(&mut self, field: Field, text: &str) -> Option<()> {
        self.push_text(field, |all| {
            all.push_str(text);
            Some(())
        })
    }

    /// Adds a text that `write` appends. Nothing is added if it cannot.
    pub(super) fn push_text(
        &mut self,
        field: Field,
        write: impl FnOnce(&mut String) -> Option<()>,
    ) -> Option<()> {
        let start = u32::try_from(self.texts.len()).ok().filter(|start| *start < MOST_TEXT)?;
        write(&mut self.texts)?;
        self.fields.push(field);
        self.values.push(Value::Text(start, u32::try_from(self.texts.len()).ok()?));
        // As in an archive, so that C can read the text in place.
        self.texts.push('\0');
        Some(())
    }
}
