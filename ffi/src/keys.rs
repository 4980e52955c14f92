//! The three keys by which a process finds a segment.

use crate::answer::answer;
use crate::failure::Failure;
use crate::pointers::{Buffer, Out, Text};
use crate::status::tb_status;
use crate::structs::{Asked, Struct};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ffi::c_char;
use topobroker_reader::Keys;

/// Room for the file of a segment, including the zero at its end.
pub const TB_FILE_MAX: usize = 4096;

/// Keys of a segment. Counterparts: PMIX_HWLOC_SHMEM_FILE, _ADDR, _SIZE.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct tb_keys {
    /// Absolute path of the file, or fd:N for a memfd that processes inherit.
    pub file: [c_char; TB_FILE_MAX],
    /// Preferred address; 0 means anywhere.
    pub address: u64,
    /// Size of the segment in bytes.
    pub size: u64,
}

/// Formats of keys as texts.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum tb_keys_format {
    /// Three lines NAME=value that a shell can read.
    TB_KEYS_LINES = 0,
    /// One JSON object with the members file, address and size.
    TB_KEYS_JSON = 1,
    /// The value of TOPOBROKER_FILE.
    TB_KEYS_FILE = 2,
    /// The value of TOPOBROKER_ADDR.
    TB_KEYS_ADDR = 3,
    /// The value of TOPOBROKER_SIZE.
    TB_KEYS_SIZE = 4,
}

impl tb_keys {
    pub(crate) fn of(keys: &Keys) -> Result<Self, Failure> {
        let [(_, name), ..] = keys.variables();
        let mut file = [0; TB_FILE_MAX];
        let room = file.get_mut(..name.len()).filter(|room| room.len() < TB_FILE_MAX);
        let room = room.ok_or_else(|| {
            let detail =
                format_args!("a file name of {} bytes, {TB_FILE_MAX} are room for", name.len());
            Failure::new(tb_status::TB_ERR_TRUNCATED, detail)
        })?;
        for (to, from) in room.iter_mut().zip(name) {
            *to = c_char::from_le_bytes([from]);
        }
        Ok(Self { file, address: keys.address(), size: keys.size() })
    }

    pub(crate) fn to_keys(self) -> Result<Keys, Failure> {
        let bytes = self.file.iter().map(|byte| u8::from_le_bytes(byte.to_le_bytes()));
        let bytes: Vec<u8> = bytes.take_while(|byte| *byte != 0).collect();
        let file = String::from_utf8(bytes)
            .map_err(|error| Failure::new(tb_status::TB_ERR_KEYS, format_args!("file: {error}")))?;
        Ok(Keys::parse(&file, &format!("{:#x}", self.address), &self.size.to_string())?)
    }
}

/// Stores the keys of this process: the keys in its environment (TOPOBROKER_FILE, _ADDR, _SIZE),
/// otherwise those of its PMIx server, otherwise those of the node's daemon. TB_ERR_KEYS if there
/// are none, or if one of them is malformed.
#[unsafe(no_mangle)]
pub extern "C" fn tb_keys_find(keys: Struct<'_, tb_keys>, keys_size: usize) -> tb_status {
    answer!(keys(keys_size), || tb_keys::of(&Keys::find()?)?)
}

/// Stores the keys that three texts describe. TB_ERR_KEYS if one is malformed; tb_error_detail
/// names it.
#[unsafe(no_mangle)]
pub extern "C" fn tb_keys_parse(
    file: Text<'_>,
    address: Text<'_>,
    size: Text<'_>,
    keys: Struct<'_, tb_keys>,
    keys_size: usize,
) -> tb_status {
    answer!(keys(keys_size), |file, address, size| {
        let parsed = Keys::parse(file, address, size)?;
        tb_keys::of(&parsed)?
    })
}

/// Writes keys as a text with a zero at its end. `format` is a tb_keys_format. `length` (may be
/// NULL) is set to the bytes of the text without the zero, also with TB_ERR_TRUNCATED.
#[unsafe(no_mangle)]
pub extern "C" fn tb_keys_text(
    keys: Asked<'_, tb_keys>,
    keys_size: usize,
    format: i32,
    buffer: Buffer<'_>,
    size: usize,
    length: Out<'_, usize>,
) -> tb_status {
    answer!(buffer(size, length), || {
        let keys = keys.given(keys_size)?.to_keys()?;
        let value = |at: usize| {
            let value = keys.variables().into_iter().nth(at).map(|(_, value)| value);
            value.map(|value| String::from_utf8_lossy(&value).into_owned()).unwrap_or_default()
        };

        match format {
            0 => keys.to_string(),
            1 => keys.to_json(),
            2..=4 => value(usize::try_from(format - 2).unwrap_or(0)),
            other => return Err(Failure::argument(format_args!("keys format {other}"))),
        }
    })
}
