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
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum RegisterableError {
    /// A file cannot be read.
    #[error("{file}: {source}")]
    Read { file: String, source: io::Error },
    /// A parameter is no number that it may be.
    #[error("{file} is {found:?}; expected a number from {least} to {most}")]
    Parameter { file: String, found: String, least: u64, most: u64 },
    /// A parameter is not there, though another one is.
    #[error("{file} is not there, so that the limit of this driver is unknown")]
    Missing { file: String },
}

/// Open MPI's assumption for a `log_num_mtt` of 0, with which the driver chooses.
const LOG_NUM_MTT: u64 = 19;

/// How much memory the drivers of a node can register. Later drivers than these have no limit, and
/// are left out. `page` is the size of a page in bytes.
///
/// ```
/// use topobroker::linux::{Root, registerable_memory};
/// for it in registerable_memory(&Root::of_this_node(), 4096) {
///     let it = it?;
///     println!("{}: {} bytes", it.driver, it.bytes);
/// }
/// # Ok::<(), topobroker::linux::RegisterableError>(())
/// ```
///
/// # Errors
///
/// For each driver, [`RegisterableError`].
#[must_use]
pub fn registerable_memory(root: &Root, page: u64) -> Vec<Result<Registerable, RegisterableError>> {
    [mlx4(root, page), mthca(root, page)].into_iter().filter_map(Result::transpose).collect()
}

fn mlx4(root: &Root, page: u64) -> Result<Option<Registerable>, RegisterableError> {
    let driver = "mlx4_core";
    let Some(log_num) = parameter(root, driver, "log_num_mtt", 0, 40)? else { return Ok(None) };
    let log_num = if log_num == 0 { LOG_NUM_MTT } else { log_num };
    let bytes = page.saturating_mul(1 << (log_num + segments(root, driver)?));
    Ok(Some(Registerable { driver, bytes, memory: memory(root) }))
}

fn mthca(root: &Root, page: u64) -> Result<Option<Registerable>, RegisterableError> {
    let driver = "ib_mthca";
    let Some(num) = parameter(root, driver, "num_mtt", 1, 1 << 40)? else { return Ok(None) };
    let bytes = page.saturating_mul(num.saturating_mul(1 << segments(root, driver)?));
    Ok(Some(Registerable { driver, bytes, memory: memory(root) }))
}

/// The logarithm of the number of entries of a segment.
fn segments(root: &Root, driver: &str) -> Result<u64, RegisterableError> {
    let name = "log_mtts_per_seg";
    let file = || root.path(&file_of(driver, name)).display().to_string();
    parameter(root, driver, name, 0, 7)?.ok_or_else(|| RegisterableError::Missing { file: file() })
}

fn file_of(driver: &str, name: &str) -> String {
    format!("sys/module/{driver}/parameters/{name}")
}

/// A parameter of a driver; `None` if the driver is not loaded or has no such parameter.
fn parameter(
    root: &Root,
    driver: &str,
    name: &str,
    least: u64,
    most: u64,
) -> Result<Option<u64>, RegisterableError> {
    let file = file_of(driver, name);
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
