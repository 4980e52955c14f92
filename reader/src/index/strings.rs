//! Strings of the archive.

use super::Index;
use core::ffi::CStr;
use topobroker_layout::cluster::field::Field;

impl<'a> Index<'a> {
    /// The string in a row of the table.
    pub(crate) fn string(&self, row: u32) -> &'a str {
        let text = CStr::from_bytes_until_nul(self.bytes_from(row)).unwrap_or_default();
        text.to_str().unwrap_or_default()
    }

    /// Whether the string in a row is `text`.
    pub(crate) fn is_string(&self, row: u32, text: &str) -> bool {
        let rest = self.bytes_from(row).strip_prefix(text.as_bytes());
        rest.is_some_and(|rest| rest.first() == Some(&0))
    }

    /// The text in a field: the node's own, otherwise the string in a row.
    #[inline]
    pub(crate) fn text(&self, field: impl FnOnce() -> Field, row: u32) -> &'a str {
        let own = self.values.and_then(|values| values.text(field()));
        own.unwrap_or_else(|| self.string(row))
    }

    /// The number in a field: the node's own, otherwise the stored one.
    #[inline]
    pub(crate) fn number(&self, field: impl FnOnce() -> Field, stored: u64) -> u64 {
        self.values.and_then(|values| values.number(field())).unwrap_or(stored)
    }

    /// The string in a row with its terminating zero, and all strings after it.
    fn bytes_from(&self, row: u32) -> &'a [u8] {
        let strings = &self.archive.strings;
        let start = strings.start.get_u32(row as usize) as usize;
        strings.bytes.as_slice().get(start..).unwrap_or_default()
    }
}
