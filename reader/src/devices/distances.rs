//! PMIx's distances of devices: PMIx 4.2 to 6.1.

use super::kinds::DeviceKinds;
use crate::object::Object;
use crate::topology::Topology;
use topobroker_layout::attributes::OsDeviceKind;
use topobroker_layout::depth::Depth;
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::set::Set;

/// The distance of a device from a process. Counterpart: `pmix_device_distance_t`.
#[derive(Debug, Clone, Copy)]
pub struct DeviceDistance<'a> {
    /// The OS device.
    pub device: Object<'a>,
    /// Its kind: one of [`DeviceKinds`].
    pub kind: DeviceKinds,
    /// The least distance; 65535 if there is none. Counterpart: `mindist`.
    pub min: u16,
    /// The greatest distance; 65535 if there is none, 0 if the set is empty. Counterpart:
    /// `maxdist`.
    pub max: u16,
}

impl DeviceDistance<'_> {
    /// Stands for a distance that there is not.
    pub const UNKNOWN: u16 = u16::MAX;
}

impl<'a> Topology<'a> {
    /// PMIx's distances of devices from a process that is bound to a set: GPUs, then network
    /// interfaces, then OpenFabrics devices. They say which object has both, and nothing of speed:
    /// [`Topology::device_path`] does. Counterpart: `PMIx_Compute_distances`.
    ///
    /// There are two differences from PMIx. A device without an id is there too (see
    /// [`Object::pmix_device_id`]), and PMIx fails then. If no object below the root has all of the
    /// set, each distance is unknown, and PMIx fails too.
    ///
    /// ```
    /// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documentation/example_machine.rs"));
    /// use topobroker_reader::devices::DeviceKinds;
    /// for it in topology.device_distances(&[0].into_iter().collect(), DeviceKinds::ALL) {
    ///     println!("{} is {} away", it.device.name().unwrap_or_default(), it.min);
    /// }
    /// ```
    #[doc(alias = "PMIx_Compute_distances")]
    pub fn device_distances(
        self,
        set: &Set,
        kinds: DeviceKinds,
    ) -> impl Iterator<Item = DeviceDistance<'a>> + use<'a> {
        let depths = PmixDepths::new(self);
        let covering = depths.covering(set);
        let all = self.root();
        let has_pus = set.iter().any(|pu| self.pu_by_os_index(pu).is_some()) || set.is_infinite();
        let distance = move |device: Object<'a>| match (covering, has_pus) {
            (None, _) => (DeviceDistance::UNKNOWN, DeviceDistance::UNKNOWN),
            (Some(_), false) => (DeviceDistance::UNKNOWN, 0),
            (Some(covering), true) => {
                let common = covering.common_ancestor(device.non_io_ancestor());
                let value = match common == all {
                    true => depths.of(covering) + depths.count,
                    false => depths.count - depths.of(common),
                };
                (value, value)
            }
        };
        [DeviceKinds::GPU, DeviceKinds::NETWORK, DeviceKinds::OPEN_FABRICS]
            .into_iter()
            .filter(move |kind| kinds.has(*kind))
            .flat_map(move |kind| self.devices(kind).map(move |device| (kind, device)))
            .map(move |(kind, device)| {
                let (min, max) = distance(device);
                DeviceDistance { device, kind, min, max }
            })
    }

    /// The devices of a kind to which PMIx gives a distance, in logical order.
    fn devices(self, kind: DeviceKinds) -> impl Iterator<Item = Object<'a>> {
        let archive = self.index.archive;
        let level = self.index.whole().level_of_depth(Depth::OsDevice).unwrap_or(0);
        let (first, rows) = (archive.levels.first(level), archive.levels.attribute_rows(level));
        self.objects_with_type(ObjectType::OSDevice).filter(move |device| {
            let row = rows.row(device.id().saturating_sub(first));
            let found = OsDeviceKind::from_raw(archive.os_device_kind.get_u32(row));
            // The display of a GPU is not a device of its own.
            let is_display = || device.name().is_some_and(|name| name.starts_with("card"));
            DeviceKinds::of(found) == Some(kind) && (kind != DeviceKinds::GPU || !is_display())
        })
    }
}

/// Depths as PMIx counts them: it loads topologies without instruction caches.
#[derive(Clone, Copy)]
pub(super) struct PmixDepths<'a> {
    pub(super) topology: Topology<'a>,
    pub(super) count: u16,
}

impl<'a> PmixDepths<'a> {
    pub(super) fn new(topology: Topology<'a>) -> Self {
        let mut depths = Self { topology, count: 0 };
        depths.count = depths.before(topology.depth());
        depths
    }

    fn is_counted(self, depth: u32) -> bool {
        let object_type = self.topology.depth_type(Depth::Normal(depth));
        let is_instruction_cache = |it: ObjectType| it.is_cache() && !it.is_data_cache();
        !object_type.is_some_and(is_instruction_cache)
    }

    /// Whether PMIx's topology has an object of the tree of CPUs.
    pub(super) fn is_in_pmix(self, object: Object<'a>) -> bool {
        object.depth().normal().is_some_and(|depth| self.is_counted(depth))
    }

    fn before(self, depth: u32) -> u16 {
        let counted = (0..depth).filter(|depth| self.is_counted(*depth)).count();
        u16::try_from(counted).unwrap_or(u16::MAX)
    }

    /// Depth of an object of the tree of CPUs.
    pub(super) fn of(self, object: Object<'a>) -> u16 {
        match object.depth() {
            Depth::Normal(depth) => self.before(depth + 1).saturating_sub(1),
            _ => 0,
        }
    }

    /// The lowest object below the root that has all of a set, as long as each depth above has one.
    pub(super) fn covering(self, set: &Set) -> Option<Object<'a>> {
        let depths = (1..self.topology.depth()).filter(|depth| self.is_counted(*depth));
        let mut lowest = None;
        for depth in depths {
            let depth = Depth::Normal(depth);
            let found = match set.is_empty() {
                true => self.topology.object_at_depth(depth, 0),
                false => {
                    let mut near = self.topology.objects_covering(set, depth);
                    near.next().filter(|object| object.covers(set))
                }
            };
            match found {
                Some(object) => lowest = Some(object),
                None => break,
            }
        }
        lowest
    }
}
