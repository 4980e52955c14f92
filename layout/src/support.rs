//! Names of hwloc's support bits, in the order in which an archive holds them.

/// Number of support bits.
pub const COUNT: usize = 33;

/// Name of each support bit in hwloc's XML. Counterpart: the fields of
/// `struct hwloc_topology_discovery_support`, `..._cpubind_support`, `..._membind_support` and
/// `..._misc_support`.
///
/// ```
/// assert_eq!(topobroker_layout::support::names().next(), Some("discovery.pu"));
/// ```
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    NAMES.lines()
}

/// One text and not many, because the loader writes to each pointer that a library holds, in every
/// process.
const NAMES: &str = "\
discovery.pu
discovery.numa
discovery.numa_memory
discovery.disallowed_pu
discovery.disallowed_numa
discovery.cpukind_efficiency
cpubind.set_thisproc_cpubind
cpubind.get_thisproc_cpubind
cpubind.set_proc_cpubind
cpubind.get_proc_cpubind
cpubind.set_thisthread_cpubind
cpubind.get_thisthread_cpubind
cpubind.set_thread_cpubind
cpubind.get_thread_cpubind
cpubind.get_thisproc_last_cpu_location
cpubind.get_proc_last_cpu_location
cpubind.get_thisthread_last_cpu_location
membind.set_thisproc_membind
membind.get_thisproc_membind
membind.set_proc_membind
membind.get_proc_membind
membind.set_thisthread_membind
membind.get_thisthread_membind
membind.set_area_membind
membind.get_area_membind
membind.alloc_membind
membind.firsttouch_membind
membind.bind_membind
membind.interleave_membind
membind.nexttouch_membind
membind.migrate_membind
membind.get_area_memlocation
misc.imported_support
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_support_bit_has_a_name() {
        assert_eq!(names().count(), COUNT);
        assert!(names().all(|name| {
            name.split_once('.').is_some_and(|(kind, bit)| !kind.is_empty() && !bit.is_empty())
        }));
    }
}
