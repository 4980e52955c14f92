//! A stand-in for the library of NVIDIA's driver, and a node with two GPUs of it.

use crate::checkout;
use std::path::Path;
use std::process::Command;

/// A node with two packages of two PUs and a GPU each, as hwloc without NVML and CUDA sees them:
/// only OpenCL knows a GPU, and not which.
pub const NODE: &str = r#"<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0xf" complete_cpuset="0xf" allowed_cpuset="0xf"
      nodeset="0x1" complete_nodeset="0x1" allowed_nodeset="0x1" gp_index="1">
    <object type="NUMANode" os_index="0" cpuset="0xf" complete_cpuset="0xf" nodeset="0x1" complete_nodeset="0x1" gp_index="2" local_memory="1048576"/>
    <object type="Package" os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1" complete_nodeset="0x1" gp_index="3">
      <object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="4"/>
      <object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1" complete_nodeset="0x1" gp_index="5"/>
      <object type="Bridge" gp_index="6" bridge_type="0-1" depth="0" bridge_pci="0000:[21-21]">
        <object type="PCIDev" gp_index="7" pci_busid="0000:21:00.0" pci_type="0302 [10de:2335] [10de:18bf] a1" pci_link_speed="63.015385"/>
      </object>
    </object>
    <object type="Package" os_index="1" cpuset="0xc" complete_cpuset="0xc" nodeset="0x1" complete_nodeset="0x1" gp_index="8">
      <object type="PU" os_index="2" cpuset="0x4" complete_cpuset="0x4" nodeset="0x1" complete_nodeset="0x1" gp_index="9"/>
      <object type="PU" os_index="3" cpuset="0x8" complete_cpuset="0x8" nodeset="0x1" complete_nodeset="0x1" gp_index="10"/>
      <object type="Bridge" gp_index="11" bridge_type="0-1" depth="0" bridge_pci="0000:[22-22]">
        <object type="PCIDev" gp_index="12" pci_busid="0000:22:00.0" pci_type="0302 [10de:2335] [10de:18bf] a1" pci_link_speed="63.015385"/>
      </object>
    </object>
    <object type="OSDev" gp_index="13" name="opencl0d0" subtype="OpenCL" osdev_type="5">
      <info name="OpenCLDeviceType" value="GPU"/>
    </object>
  </object>
</topology>"#;

/// Puts the driver's library and the XML of the node into a folder.
pub fn install(folder: &Path) {
    let source = checkout().join("tests/c/nvml.c");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o"]);
    let status = compiler.arg(folder.join("libnvidia-ml.so.1")).arg(source).status();
    assert!(status.unwrap().success());
    std::fs::write(folder.join("node.xml"), NODE).unwrap();
}
