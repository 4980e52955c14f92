//! Which plugins hwloc loads. They bring libraries of GPUs, of displays and of XML, and loading those
//! takes longer than reading a file.

use std::env;
use topobroker::hwloc::Input;

/// hwloc's plugins that discover parts of a machine.
const FOR_MACHINES: &str =
    "hwloc_cuda,hwloc_gl,hwloc_levelzero,hwloc_nvml,hwloc_opencl,hwloc_pci,hwloc_rsmi";
/// hwloc's plugin that reads XML.
const FOR_XML: &str = "hwloc_xml_libxml";

/// hwloc's variable with the names of plugins that it does not load.
const VARIABLE: &str = "HWLOC_PLUGINS_BLACKLIST";

/// Calls `load`, which loads `input` and no other topology. Meanwhile hwloc loads only the plugins
/// for that: for a synthetic description none, for XML the one that reads it. The variable for it is
/// set only while this process has one thread, and not if the user has set it.
pub(crate) fn with_few<R>(input: &Input, load: impl FnOnce() -> R) -> R {
    let left_out = match input {
        Input::Synthetic(_) => format!("{FOR_MACHINES},{FOR_XML}"),
        Input::Xml(_) | Input::XmlText(_) => FOR_MACHINES.to_owned(),
        _ => return load(),
    };
    if env::var_os(VARIABLE).is_some() || !is_only_thread() {
        return load();
    }
    // SAFETY: there is no other thread that could read or change the environment.
    unsafe { env::set_var(VARIABLE, left_out) };
    let _unset = Unset;
    load()
}

/// Removes the variable, which commands of this process must not inherit.
struct Unset;

impl Drop for Unset {
    fn drop(&mut self) {
        if is_only_thread() {
            // SAFETY: there is no other thread that could read or change the environment.
            unsafe { env::remove_var(VARIABLE) };
        }
    }
}

fn is_only_thread() -> bool {
    std::fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() == 1)
}
