//! Which plugins hwloc loads. Plugins bring libraries of GPUs, of displays and of XML, and loading
//! those takes longer than reading a file.

use super::load::Input;
use std::env;

/// hwloc's plugins that discover parts of a machine, and the one that reads XML.
const PLUGINS: [&str; 8] = [
    "hwloc_cuda",
    "hwloc_gl",
    "hwloc_levelzero",
    "hwloc_nvml",
    "hwloc_opencl",
    "hwloc_pci",
    "hwloc_rsmi",
    "hwloc_xml_libxml",
];

/// Names of plugins that hwloc does not load.
const VARIABLE: &str = "HWLOC_PLUGINS_BLACKLIST";

/// Calls `load`, which loads `input` and nothing else. Meanwhile hwloc loads only the plugins for
/// that: for a synthetic description none, for XML the one that reads it. For other inputs, and in a
/// process with several threads, it loads all: its environment says which, and can be changed only
/// while no other thread reads it.
///
/// A topology that is loaded before this one is destroyed again has these plugins too, so this is
/// for programs, and not for libraries.
///
/// ```
/// use topobroker::hwloc::{Input, LoadOptions, import, with_few_plugins};
/// let input = Input::Synthetic("Core:2 PU:2".to_owned());
/// let found = with_few_plugins(&input, || import(&input, &LoadOptions::default()))?;
/// assert_eq!(found.objects.len(), 1 + 1 + 2 + 4);
/// # Ok::<(), topobroker::hwloc::ImportError>(())
/// ```
pub fn with_few_plugins<R>(input: &Input, load: impl FnOnce() -> R) -> R {
    let left_out = match input {
        Input::Synthetic(_) => &PLUGINS[..],
        Input::Xml(_) | Input::XmlText(_) => PLUGINS.split_last().map_or(&[][..], |it| it.1),
        Input::ThisMachine | Input::Fsroot(_) => return load(),
    };
    if env::var_os(VARIABLE).is_some() || !is_only_thread() {
        return load();
    }
    // SAFETY: there is no other thread that could read or change the environment.
    unsafe { env::set_var(VARIABLE, left_out.join(",")) };
    let loaded = load();
    if is_only_thread() {
        // SAFETY: as above.
        unsafe { env::remove_var(VARIABLE) };
    }
    loaded
}

fn is_only_thread() -> bool {
    std::fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() == 1)
}
