//! What libpmix expects and gives, in every version since PMIx 3: numbers of types, and structures.

#![allow(missing_docs, reason = "the names are those of PMIx")]

use core::ffi::{c_char, c_int, c_void};

/// `PMIX_MAX_NSLEN`.
pub const MAX_NAMESPACE: usize = 255;
/// `PMIX_MAX_KEYLEN`.
const MAX_KEY: usize = 511;
/// `PMIX_RANK_WILDCARD`: asks for a value that all ranks of the namespace share.
pub const WILDCARD: u32 = u32::MAX - 1;
/// `PMIX_SUCCESS`.
pub const SUCCESS: c_int = 0;

const BOOL: u16 = 1;
pub const STRING: u16 = 3;
pub const SIZE: u16 = 4;
pub const UINT16: u16 = 13;
pub const UINT32: u16 = 14;
pub const UINT64: u16 = 15;
pub const BYTE_OBJECT: u16 = 27;
pub const DATA_ARRAY: u16 = 39;
pub const PROC_RANK: u16 = 40;
pub const DEVICE_DISTANCE: u16 = 54;

/// `pmix_proc_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Process {
    pub namespace: [u8; MAX_NAMESPACE + 1],
    pub rank: u32,
}

/// The start of `pmix_value_t`: a type, and a union with only the members that are used here.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Value {
    pub kind: u16,
    pub data: Data,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union Data {
    pub flag: bool,
    pub uint16: u16,
    pub uint32: u32,
    pub uint64: u64,
    pub text: *const c_char,
    pub bytes: Bytes,
}

/// `pmix_byte_object_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Bytes {
    pub bytes: *const c_char,
    pub size: usize,
}

/// `pmix_data_array_t`.
#[repr(C)]
pub struct DataArray {
    pub kind: u16,
    pub size: usize,
    pub array: *mut c_void,
}

/// A value that libpmix is given, with spare room, because it copies the whole union, which is
/// larger than [`Data`].
#[repr(C)]
pub struct GivenValue {
    pub value: Value,
    room: [u64; 8],
}

/// `pmix_info_t`, with spare room behind its value.
#[repr(C)]
pub struct Info {
    pub key: [u8; MAX_KEY + 1],
    pub flags: u32,
    pub value: GivenValue,
}

/// `PMIx_Get`.
pub type Get = unsafe extern "C" fn(
    *const Process,
    *const c_char,
    *const Info,
    usize,
    *mut *mut Value,
) -> c_int;

impl Process {
    /// A rank of a namespace, of whose name only [`MAX_NAMESPACE`] bytes count.
    #[must_use]
    pub fn new(namespace: &str, rank: u32) -> Self {
        Self { namespace: text(namespace), rank }
    }
}

impl GivenValue {
    #[must_use]
    pub fn new(kind: u16, data: Data) -> Self {
        Self { value: Value { kind, data }, room: [0; 8] }
    }
}

impl Info {
    /// A key whose value is true.
    #[must_use]
    pub fn is_true(key: &str) -> Self {
        Self { key: text(key), flags: 0, value: GivenValue::new(BOOL, Data { flag: true }) }
    }
}

/// A text with zeros behind it: at least one.
fn text<const ROOM: usize>(text: &str) -> [u8; ROOM] {
    let mut room = [0; ROOM];
    for (to, from) in room.iter_mut().take(ROOM - 1).zip(text.bytes()) {
        *to = from;
    }
    room
}
