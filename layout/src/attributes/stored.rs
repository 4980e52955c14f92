//! How the values of attributes are stored, and what they are to others.

use super::bus_id::BusId;

/// A value that a column stores as a number.
pub(crate) trait Stored: Copy {
    /// Above all numbers of such values.
    const LIMIT: u64;

    fn number(self) -> u64;

    /// The inverse of [`number`](Self::number). Bits above the limit are ignored.
    fn of(number: u64) -> Self;
}

/// The limit of the values that `field` gets, by their type.
pub(crate) const fn limit<Row, T: Stored>(_field: fn(&Row) -> T) -> u64 {
    T::LIMIT
}

/// The value of an attribute, for files and languages in which an attribute has a name.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum AttributeValue {
    /// A number.
    Number(u64),
    /// A number that may be negative.
    Signed(i32),
    /// A PCI id or class, which is usually written with four hexadecimal digits.
    PciId(u16),
    /// The bus id of a PCI device.
    BusId(BusId),
    /// A number that is not whole, such as the speed of a link in GB/s.
    Real(f32),
    /// Yes or no.
    Flag(bool),
    /// One of few words.
    Text(&'static str),
    /// It is not known.
    Unknown,
}

macro_rules! unsigned {
    ($($number:ident)*) => {$(
        impl Stored for $number {
            const LIMIT: u64 = 1 << $number::BITS;

            #[inline]
            fn number(self) -> u64 {
                self.into()
            }

            #[inline]
            #[expect(clippy::cast_possible_truncation, reason = "validation bounds each column")]
            fn of(number: u64) -> Self {
                number as Self
            }
        }
    )*};
}

unsigned!(u8 u16 u32);

impl Stored for u64 {
    const LIMIT: u64 = Self::MAX;

    #[inline]
    fn number(self) -> u64 {
        self
    }

    #[inline]
    fn of(number: u64) -> Self {
        number
    }
}

impl Stored for bool {
    const LIMIT: u64 = 2;

    #[inline]
    fn number(self) -> u64 {
        self.into()
    }

    #[inline]
    fn of(number: u64) -> Self {
        number != 0
    }
}

impl Stored for f32 {
    const LIMIT: u64 = u32::LIMIT;

    #[inline]
    fn number(self) -> u64 {
        self.to_bits().into()
    }

    #[inline]
    fn of(number: u64) -> Self {
        Self::from_bits(Stored::of(number))
    }
}

/// Two numbers, with the first in the high half.
impl Stored for (u8, u8) {
    const LIMIT: u64 = u16::LIMIT;

    #[inline]
    fn number(self) -> u64 {
        u16::from_be_bytes([self.0, self.1]).into()
    }

    #[inline]
    fn of(number: u64) -> Self {
        (u8::of(number >> 8), u8::of(number))
    }
}

/// Two numbers, with the first in the high half.
impl Stored for (u16, u16) {
    const LIMIT: u64 = u32::LIMIT;

    #[inline]
    fn number(self) -> u64 {
        (self.0.number() << 16) | self.1.number()
    }

    #[inline]
    fn of(number: u64) -> Self {
        (u16::of(number >> 16), u16::of(number))
    }
}

impl From<u8> for AttributeValue {
    fn from(number: u8) -> Self {
        Self::Number(number.into())
    }
}

/// All attributes of 16 bits are ids of PCI.
impl From<u16> for AttributeValue {
    fn from(id: u16) -> Self {
        Self::PciId(id)
    }
}

impl From<u32> for AttributeValue {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<u64> for AttributeValue {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for AttributeValue {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

/// hwloc has 0 for a speed that is not known.
impl From<f32> for AttributeValue {
    fn from(speed: f32) -> Self {
        if speed > 0.0 { Self::Real(speed) } else { Self::Unknown }
    }
}
