//! The objects of hardware resources.

use super::resource_type::ResourceType;
use super::uri::Uri;
use crate::devices::device_number;
use crate::devices::{Domains, GpuLink, NicChoice};
use crate::object::Object;
use crate::topology::Topology;
use topobroker_layout::attributes::Attributes;
use topobroker_layout::object_type::ObjectType;

impl ResourceType {
    /// The type of an object; `None` for one that ranks cannot be on.
    #[must_use]
    pub fn of(object: Object<'_>) -> Option<Self> {
        match (object.object_type(), object.attributes()) {
            (_, Attributes::Group(group)) if group.depth != u32::MAX => {
                Some(Self::Group(Some(group.depth)))
            }
            (kind, _) if kind.is_normal() || kind.is_memory() => Some(Self::Object(kind)),
            (ObjectType::Bridge, _) if object.host_bridge() == Some(object) => {
                Some(Self::HostBridge)
            }
            (ObjectType::Bridge, _) if object.is_pci_switch() => Some(Self::PciSwitch),
            _ => None,
        }
    }
}

impl<'a> Topology<'a> {
    /// The object of an instance, or all objects of a type. The objects of an NVLink domain or XGMI
    /// hive are its GPUs. A binding and a job have none, and so has a type that the topology does
    /// not have.
    ///
    /// ```
    /// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documentation/example_machine.rs"));
    /// use topobroker_reader::groups::Uri;
    /// for core in topology.resource_objects(Uri::parse("hwloc://Core/0")?) {
    ///     println!("{:?}", core.cpuset());
    /// }
    /// # Ok::<(), topobroker_reader::groups::UriError>(())
    /// ```
    pub fn resource_objects(self, uri: Uri<'_>) -> impl Iterator<Item = Object<'a>> {
        let kind = match uri.resource {
            ResourceType::Object(kind) => kind,
            ResourceType::Group(_) => ObjectType::Group,
            ResourceType::HostBridge | ResourceType::PciSwitch => ObjectType::Bridge,
            _ => ObjectType::OSDevice,
        };
        let domains = match uri.resource {
            ResourceType::NvLinkDomain => Domains::new(self, GpuLink::NvLink),
            ResourceType::XgmiHive => Domains::new(self, GpuLink::Xgmi),
            _ => None,
        };
        let instance = move |object: Object<'a>| match uri.resource {
            ResourceType::NvLinkDomain | ResourceType::XgmiHive => domains.as_ref()?.number(object),
            ResourceType::Nic => {
                let mut nics = self.nics(NicChoice::ActiveOrUnknown);
                nics.any(|it| it == object).then(|| object.logical_index())
            }
            ResourceType::Gpu => device_number(object),
            ResourceType::Group(None) => Some(object.logical_index()),
            wanted => (ResourceType::of(object)? == wanted).then(|| object.logical_index()),
        };
        use ResourceType::{Gpu, NvLinkDomain, XgmiHive};
        let is_gpu = matches!(uri.resource, Gpu | NvLinkDomain | XgmiHive);
        let gpus = is_gpu.then(|| self.gpus()).into_iter().flatten();
        let others = (!is_gpu).then(|| self.objects_with_type(kind)).into_iter().flatten();
        gpus.chain(others).filter(move |object| {
            uri.is_of_node(self)
                && uri.has_subtype(object.subtype())
                && instance(*object).is_some_and(|it| uri.instance.is_none_or(|only| only == it))
        })
    }
}
