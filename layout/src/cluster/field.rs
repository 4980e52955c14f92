//! Which values may differ between nodes of one class, and how one of them is named.

/// A property of an object or of a table whose values may differ between nodes of one class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs, reason = "each is the property of that name in hwloc")]
pub enum Property {
    Name = 0,
    Subtype = 1,
    InfoValue = 2,
    FactValue = 3,
    GpIndex = 4,
    LocalMemory = 5,
    PageCount = 6,
    PciDomain = 7,
    PciBus = 8,
    PciDeviceFunction = 9,
    PciVendor = 10,
    PciDevice = 11,
    PciSubsystem = 12,
    PciRevision = 13,
    PciLinkSpeed = 14,
    BridgeDomain = 15,
    BridgeSecondaryBus = 16,
    BridgeSubordinateBus = 17,
    Distance = 18,
    MemoryValue = 19,
}

impl Property {
    /// All properties, in the order of their numbers.
    pub const ALL: [Self; 20] = [
        Self::Name,
        Self::Subtype,
        Self::InfoValue,
        Self::FactValue,
        Self::GpIndex,
        Self::LocalMemory,
        Self::PageCount,
        Self::PciDomain,
        Self::PciBus,
        Self::PciDeviceFunction,
        Self::PciVendor,
        Self::PciDevice,
        Self::PciSubsystem,
        Self::PciRevision,
        Self::PciLinkSpeed,
        Self::BridgeDomain,
        Self::BridgeSecondaryBus,
        Self::BridgeSubordinateBus,
        Self::Distance,
        Self::MemoryValue,
    ];

    /// Whether its values are texts. Those of the others are numbers.
    #[must_use]
    pub fn is_text(self) -> bool {
        self <= Self::FactValue
    }
}

/// Names one value of a topology: the property in 8 bits, the object in 28 and the place in 28. The
/// object is its number, that of a distance matrix for [`Property::Distance`], else 0. The place is
/// that of an info, of a fact or of a page type of the object, of a value of the matrix, or of a
/// stored value of the memory attributes.
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
        Self(((property as u64) << 56) | (object << 28) | place)
    }

    /// The field with this number; `None` if there is no such property.
    #[must_use]
    pub fn from_raw(raw: u64) -> Option<Self> {
        usize::try_from(raw >> 56).is_ok_and(|it| it < Property::ALL.len()).then_some(Self(raw))
    }

    /// The number of the field. Fields ascend by property, object and place.
    #[must_use]
    pub fn raw(self) -> u64 {
        self.0
    }

    /// The property.
    #[must_use]
    pub fn property(self) -> Property {
        let number = usize::try_from(self.0 >> 56).unwrap_or(usize::MAX);
        Property::ALL.get(number).copied().unwrap_or(Property::Name)
    }
}
