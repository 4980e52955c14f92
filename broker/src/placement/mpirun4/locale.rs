//! Where ranks are mapped, before they are bound.

use crate::placement::error::PlacementError;
use crate::placement::objects::{named, objects};
use crate::placement::policy::{self, MapBy, Policy, Resource};
use topobroker_layout::set::Set;
use topobroker_reader::{Object, Topology};

/// Where a rank is mapped: to an object, or to PUs of a list.
pub(super) enum Locale<'a> {
    Object(Object<'a>),
    Pus(Set),
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
        MapBy::Slot | MapBy::Node | MapBy::Ppr(_, Resource::Node) => {
            (0..count).map(|_| Locale::Object(topology.root())).collect()
        }
        MapBy::Ppr(each, Resource::Object(kind)) => {
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
        MapBy::Device(map) | MapBy::Ppr(_, Resource::Device(map)) => {
            let (option, device, what) = ("--map-by", map.to_string(), "such mapping in mpirun 4");
            return Err(PlacementError::NoDevice { option, device, what });
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
