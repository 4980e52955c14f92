//! How much memory old Mellanox adapters can register, which is less than the memory of many nodes.

use super::root::Root;
use std::io;

/// How much memory an adapter's driver can register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registerable {
    /// The driver: `mlx4_core` or `ib_mthca`.
    pub driver: &'static str,
    /// What it can register, in bytes.
    pub bytes: u64,
    /// Memory of the node in bytes; `None` if Linux does not say.
    pub memory: Option<u64>,
}

/// Why the parameters of a driver do not say how much memory it can register.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterableError {
    /// A file cannot be read.
    #[error("{file}: {source}")]
    Read {
        /// The file.
        file: String,
        /// The error.
        source: io::Error,
    },
    /// A parameter is no number that it may be.
    #[error("{file} is {found:?}; expected a number from {least} to {most}")]
    Parameter {
        /// The file.
        file: String,
        /// What it says.
        found: String,
        /// The least number.
        least: u64,
        /// The greatest number.
        most: u64,
    },
}

/// What mlx4 takes if `log_num_mtt` is 0, by Open MPI.
const LOG_NUM_MTT: u64 = 19;

/// How much memory the drivers of a node can register. Later drivers than these have no limit, and
/// are left out. `page` is the size of a page in bytes.
///
/// ```
/// use topobroker::linux::{Root, registerable_memory};
/// for it in registerable_memory(&Root::of_this_node(), 4096)? {
///     println!("{}: {} bytes", it.driver, it.bytes);
/// }
/// # Ok::<(), topobroker::linux::RegisterableError>(())
/// ```
///
/// # Errors
///
/// [`RegisterableError`].
pub fn registerable_memory(root: &Root, page: u64) -> Result<Vec<Registerable>, RegisterableError> {
    let memory = memory(root);
    let mut found = Vec::new();
    let segments = |driver: &str| parameter(root, driver, "log_mtts_per_seg", 0, 7);
    let log_num = parameter(root, "mlx4_core", "log_num_mtt", 0, 40)?;
    if let Some((log_num, log_segments)) = log_num.zip(segments("mlx4_core")?) {
        let log_num = if log_num == 0 { LOG_NUM_MTT } else { log_num };
        let bytes = page.saturating_mul(1 << (log_num + log_segments));
        found.push(Registerable { driver: "mlx4_core", bytes, memory });
    }
    let num = parameter(root, "ib_mthca", "num_mtt", 1, 1 << 40)?;
    if let Some((num, log_segments)) = num.zip(segments("ib_mthca")?) {
        let bytes = page.saturating_mul(num.saturating_mul(1 << log_segments));
        found.push(Registerable { driver: "ib_mthca", bytes, memory });
    }
    Ok(found)
}

/// A parameter of a driver; `None` if the driver is not loaded or has no such parameter.
fn parameter(
    root: &Root,
    driver: &str,
    name: &str,
    least: u64,
    most: u64,
) -> Result<Option<u64>, RegisterableError> {
    let file = format!("sys/module/{driver}/parameters/{name}");
    let shown = || root.path(&file).display().to_string();
    let text = root.text(&file).map_err(|source| RegisterableError::Read { file: shown(), source });
    let Some(found) = text? else { return Ok(None) };
    match found.parse().ok().filter(|value| (least..=most).contains(value)) {
        Some(value) => Ok(Some(value)),
        None => Err(RegisterableError::Parameter { file: shown(), found, least, most }),
    }
}

/// Memory of the node in bytes.
fn memory(root: &Root) -> Option<u64> {
    let text = root.text("proc/meminfo").ok()??;
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = total.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}
