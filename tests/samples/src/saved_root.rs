//! Roots of file systems as Linux has them, with two PUs and the devices that a test wants.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use tempfile::TempDir;

/// A root with two packages of one PU each. Dropping it removes it.
pub struct SavedRoot {
    folder: TempDir,
    devices: u32,
}

/// A port: number and files.
pub type Port<'p> = (u8, &'p [(&'p str, &'p str)]);

impl SavedRoot {
    /// Makes the root in a temporary folder.
    pub fn new() -> Self {
        let root = Self { folder: tempfile::tempdir().unwrap(), devices: 0 };
        for name in ["online", "possible", "present"] {
            root.write(&format!("sys/devices/system/cpu/{name}"), "0-1");
        }
        for cpu in 0..2_u32 {
            let folder = format!("sys/devices/system/cpu/cpu{cpu}/topology");
            root.write(&format!("{folder}/physical_package_id"), &cpu.to_string());
            root.write(&format!("{folder}/core_id"), "0");
            for name in ["thread_siblings", "core_siblings"] {
                root.write(&format!("{folder}/{name}"), &format!("{:x}", 1 << cpu));
            }
        }
        root
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file, with its folders.
    pub fn write(&self, file: &str, text: &str) {
        let file = self.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, format!("{text}\n")).unwrap();
    }

    /// Adds a PCI device, and returns its folder.
    fn pci(&mut self, vendor: &str) -> String {
        self.devices += 1;
        let bus_id = format!("0000:{:02x}:00.0", self.devices);
        let folder = format!("sys/devices/pci0000:00/{bus_id}");
        let files = [("vendor", vendor), ("device", "0x1003"), ("class", "0x020700")];
        files.iter().for_each(|(name, text)| self.write(&format!("{folder}/{name}"), text));
        fs::write(self.path().join(&folder).join("config"), [0; 64]).unwrap();
        self.link(&format!("sys/bus/pci/devices/{bus_id}"), &format!("../../../../{folder}"));
        folder
    }

    /// Adds an OpenFabrics device of a vendor with ports, and returns the folder of its PCI device.
    pub fn fabric(&mut self, name: &str, vendor: &str, ports: &[Port<'_>]) -> String {
        let pci = self.pci(vendor);
        let device = self.of_class("infiniband", name, &pci);
        self.write(&format!("{device}/node_guid"), "0002:c903:00a1:b2c0");
        self.write(&format!("{device}/node_type"), "1: CA");
        for (number, files) in ports {
            for (file, text) in *files {
                self.write(&format!("{device}/ports/{number}/{file}"), text);
            }
        }
        pci
    }

    /// Adds a network interface of a PCI device.
    pub fn interface(&self, name: &str, pci: &str, files: &[(&str, &str)]) {
        let device = self.of_class("net", name, pci);
        files.iter().for_each(|(file, text)| self.write(&format!("{device}/{file}"), text));
    }

    fn of_class(&self, class: &str, name: &str, pci: &str) -> String {
        let device = format!("{pci}/{class}/{name}");
        fs::create_dir_all(self.path().join(&device)).unwrap();
        let bus_id = pci.rsplit('/').next().unwrap();
        self.link(&format!("{device}/device"), &format!("../../../{bus_id}"));
        self.link(&format!("sys/class/{class}/{name}"), &format!("../../../{device}"));
        device
    }

    fn link(&self, file: &str, target: &str) {
        let file = self.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        symlink(target, file).unwrap();
    }
}
