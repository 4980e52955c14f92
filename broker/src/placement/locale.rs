//! Where ranks are mapped, before they are bound.

use super::device::Placed;
use super::error::PlacementError;
use super::policy::{self, Devices, MapBy, Policy};
use topobroker_layout::set::Set;
use topobroker_reader::{Object, ObjectType, Topology};

/// Where a rank is mapped: to an object, to PUs of a list, or to those near a device.
pub(super) enum Locale<'a> {
    Object(Object<'a>),
    Pus(Set),
    Near(Set),
}

impl Locale<'_> {
    /// All PUs of it.
    pub(super) fn pus(&self) -> Set {
        match self {
            Self::Object(object) => object.cpuset().unwrap_or_default(),
            Self::Pus(set) | Self::Near(set) => set.clone(),
        }
    }
}

/// The locale of each of `count` ranks. `order` is the list of CPUs for [`MapBy::CpuList`].
pub(super) fn locales<'a>(
    topology: Topology<'a>,
    policy: &Policy,
    count: usize,
    order: &[Object<'a>],
) -> Result<Vec<Locale<'a>>, PlacementError> {
    let too_many =
        |expected| PlacementError::TooMany { ranks: count, policy: policy.to_string(), expected };
    Ok(match &policy.map {
        MapBy::Object(kind) => {
            let all = objects(topology, *kind);
            all.iter().cycle().take(count).map(|object| Locale::Object(*object)).collect()
        }
        MapBy::Slot => (0..count).map(|_| Locale::Object(topology.root())).collect(),
        MapBy::Device { devices: wanted, shared } => {
            let all = devices(topology, wanted, "--map-by")?;
            // Every rank is near the one device that has a name.
            let is_one = matches!(wanted, Devices::Named(_));
            if !shared && !is_one && count > all.count() {
                return Err(too_many(all.count()));
            }
            all.in_turn(count).into_iter().map(Locale::Near).collect()
        }
        MapBy::PerObject(each, kind) => {
            let all = objects(topology, *kind);
            let (option, name) = ("--map-by", policy::name_of(*kind));
            if all.iter().any(|object| object.object_type() != *kind) {
                let object = named(topology.root());
                return Err(PlacementError::NoObjects { option, name, object });
            }
            if count > all.len().saturating_mul(*each) {
                return Err(too_many(all.len() * each));
            }
            let all = all.into_iter().flat_map(|object| std::iter::repeat_n(object, *each));
            all.take(count).map(Locale::Object).collect()
        }
        MapBy::CpuList => {
            let each = policy.cpus.max(1);
            if count > order.len() / each {
                return Err(too_many(order.len() / each));
            }
            let parts = order.chunks_exact(each).take(count);
            let set = |pus: &[Object<'_>]| pus.iter().filter_map(|pu| pu.os_index()).collect();
            parts.map(|pus| Locale::Pus(set(pus))).collect()
        }
    })
}

/// Devices that ranks are mapped or bound to by this option.
pub(super) fn devices<'a>(
    topology: Topology<'a>,
    devices: &Devices,
    option: &'static str,
) -> Result<Placed<'a>, PlacementError> {
    let found = Placed::of(topology, devices);
    let what = if *devices == Devices::Gpus { "GPU" } else { "such device" };
    let none = || PlacementError::NoDevice { option, device: devices.to_string(), what };
    if found.count() == 0 { Err(none()) } else { Ok(found) }
}

/// Objects of a type that have PUs; the root if there are none. NUMA nodes are those whose memory is
/// the default of their PUs, as in PRRTE and Open MPI 5: not high-bandwidth memory of the same PUs.
pub(super) fn objects(topology: Topology<'_>, kind: ObjectType) -> Vec<Object<'_>> {
    let all: Vec<Object<'_>> = match kind {
        ObjectType::NUMANode => topology.default_numa_nodes().collect(),
        kind => topology.objects_with_type(kind).collect(),
    };
    let all: Vec<Object<'_>> = all.into_iter().filter(|it| it.cpuset_weight() != Some(0)).collect();
    if all.is_empty() { vec![topology.root()] } else { all }
}

/// Type and logical index of an object, for errors.
pub(super) fn named(object: Object<'_>) -> String {
    format!("{} L#{}", object.type_name(false), object.logical_index())
}
