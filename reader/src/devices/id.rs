//! The ids by which PMIx knows devices.

use super::kinds::DeviceKinds;
use crate::object::Object;
use alloc::string::String;
use topobroker_layout::attributes::OsDeviceKind;

const FABRIC: &str = "fab://";

impl Object<'_> {
    /// The id by which PMIx knows an OS device: the address of a network interface, the GUIDs of an
    /// OpenFabrics device, `host` and the name of a GPU. `None` if the topology does not have it,
    /// and for other objects. Counterpart: `uuid` of `pmix_device_distance_t`.
    ///
    /// Of an OpenFabrics device without GUIDs, or with GUIDs of 0, the id has `host` and its name,
    /// as in PMIx 6 and later. Before, PMIx fails if there are none, and gives all devices of 0 one
    /// id: see [`Object::pmix5_device_id`].
    ///
    /// ```
    /// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documentation/example_machine.rs"));
    /// if let Some(nic) = topology.os_device("eth0") {
    ///     println!("{}", nic.pmix_device_id("node1").unwrap_or_default());
    /// }
    /// ```
    #[must_use]
    pub fn pmix_device_id(self, host: &str) -> Option<String> {
        if self.os_device_kind()? != OsDeviceKind::OpenFabrics {
            return self.pmix5_device_id(host);
        }
        Some(match self.guids() {
            Some(guids) if guids.contains(|letter| !":0".contains(letter)) => {
                [FABRIC, &guids].concat()
            }
            Some(zeros) => [FABRIC, &zeros, "::", host, "::", self.name()?].concat(),
            None => [FABRIC, host, "::", self.name()?].concat(),
        })
    }

    /// [`Object::pmix_device_id`] by the rule of PMIx up to 5.
    #[must_use]
    pub fn pmix5_device_id(self, host: &str) -> Option<String> {
        let parts = match DeviceKinds::of(self.os_device_kind()?)? {
            DeviceKinds::GPU | DeviceKinds::CO_PROCESSOR => ["gpu://", host, "::", self.name()?],
            DeviceKinds::BLOCK => ["blk://", host, "::", self.name()?],
            DeviceKinds::NETWORK => {
                let address = self.info("Address")?;
                // The address of an Ethernet interface has 6 bytes, that of InfiniBand has 20.
                let scheme = match address.matches(':').count() {
                    5 => "ipv4://",
                    19 => "ipv6://",
                    _ => return None,
                };
                [scheme, address, "", ""]
            }
            _ => return Some([FABRIC, &self.guids()?].concat()),
        };
        Some(parts.concat())
    }

    /// The GUIDs of an OpenFabrics device: its own and that of its system image.
    fn guids(self) -> Option<String> {
        Some([self.info("NodeGUID")?, "::", self.info("SysImageGUID")?].concat())
    }
}
