//! Which values may differ between nodes of one class, and how one of them is named.

/// A property of an object or of a table whose values may differ between nodes of one class. Those
/// of attributes are in the tables of [`attributes`](crate::attributes).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Property(pub(crate) u8);

#[allow(missing_docs, reason = "each is the property of that name in hwloc")]
impl Property {
    pub const NAME: Self = Self(0);
    pub const SUBTYPE: Self = Self(1);
    pub const INFO_VALUE: Self = Self(2);
    pub const FACT_VALUE: Self = Self(3);
    pub const GP_INDEX: Self = Self(4);
    pub const LOCAL_MEMORY: Self = Self(5);
    pub const PAGE_COUNT: Self = Self(6);
    pub const DISTANCE: Self = Self(18);
    pub const MEMORY_VALUE: Self = Self(19);

    /// Whether its values are texts. Those of the others are numbers.
    #[must_use]
    pub fn is_text(self) -> bool {
        self <= Self::FACT_VALUE
    }
}

/// Names one value of a topology: the property in 8 bits, the object in 28 and the place in 28. The
/// object is its number, that of a distance matrix for [`Property::DISTANCE`], otherwise 0. The
/// place is that of an info, of a fact or of a page type of the object, of a value of the matrix,
/// or of a stored value of the memory attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Field(u64);

/// First object and first place that are too high for a field.
const LIMIT: u64 = 1 << 28;

impl Field {
    /// The field of a value.
    #[must_use]
    #[inline]
    pub fn new(property: Property, object: u32, place: u32) -> Self {
        let [object, place] = [object, place].map(|number| u64::from(number) % LIMIT);
        Self((u64::from(property.0) << 56) | (object << 28) | place)
    }

    /// The field with this number.
    #[must_use]
    pub fn from_raw(raw: u64) -> Self {
        Self(raw)
    }

    /// The number of the field. Fields ascend by property, object and place.
    #[must_use]
    pub fn raw(self) -> u64 {
        self.0
    }

    /// The property.
    #[must_use]
    pub fn property(self) -> Property {
        let [property, ..] = self.0.to_be_bytes();
        Property(property)
    }
}
