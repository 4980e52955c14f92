//! What vertices and links are, and where the values of links are from. A segment of links stores
//! each as its place in the list `ALL`.

words! {
    /// What a vertex of the graph of links is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum VertexKind {
        /// CPUs that memory or devices hang on.
        Cpu => "cpu",
        /// What connects the CPUs of a package, or packages.
        Mesh => "mesh",
        /// A NUMA node, or the memory of a GPU.
        Memory => "memory",
        /// A host bridge.
        HostBridge => "hostbridge",
        /// A PCI switch.
        PciSwitch => "pciswitch",
        /// A GPU, or a part of one that programs see as a GPU.
        Gpu => "gpu",
        /// A NIC.
        Nic => "nic",
        /// A disk.
        Block => "block",
        /// A switch of links between GPUs.
        NvSwitch => "nvswitch",
        /// A switch of the network.
        NetSwitch => "netswitch",
        /// Something on another node.
        Remote => "remote",
    }
}

words! {
    /// What a link is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum LinkClass {
        /// Within one device.
        Loc => "LOC",
        /// To memory.
        Mem => "MEM",
        /// Within a package, or from it to a host bridge.
        Cpu => "CPU",
        /// Between packages.
        Smp => "SMP",
        /// PCI.
        Pci => "PCI",
        /// NVIDIA's between GPUs, switches and CPUs.
        NvLink => "NVL",
        /// AMD's between GPUs and CPUs.
        Xgmi => "XGMI",
        /// NVIDIA's between a CPU and a GPU in one package.
        C2c => "C2C",
        /// Intel's between GPUs.
        XeLink => "XE",
        /// A network.
        Fabric => "FAB",
    }
}

words! {
    /// Where the values of a link are from.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum LinkOrigin {
        /// hwloc reports the link.
        Reported => "reported",
        /// The speed that the link had when the topology was published: it may have been asleep.
        Current => "current",
        /// The greatest speed of both ends.
        Maximum => "maximum",
        /// Follows from how such machines are built.
        Assumed => "assumed",
        /// The administrator declared it.
        Declared => "declared",
        /// Was measured.
        Measured => "measured",
    }
}
