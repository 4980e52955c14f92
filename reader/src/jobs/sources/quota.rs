//! How much CPU time the cgroups of a process leave it.

use super::cgroup::own_and_above;
use super::error::SourceError;
use alloc::string::String;
use core::fmt;
use topobroker_process::{FilePath, file_within};

/// The CPU time that all processes of a cgroup may use in a period. They may run on more PUs than
/// that: then all of them wait for the next period once it is used up. Counterpart: `cpu.max` of
/// cgroup version 2, `cpu.cfs_quota_us` of version 1.
///
/// ```
/// use topobroker_reader::jobs::CpuQuota;
/// if let Some(quota) = CpuQuota::of_this_process()? {
///     println!("{quota}");
/// }
/// # Ok::<(), topobroker_reader::jobs::SourceError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuQuota {
    /// The folder of the cgroup.
    pub path: FilePath,
    /// CPU time in a period, in microseconds.
    pub quota_us: u64,
    /// Length of the period in microseconds; not 0.
    pub period_us: u64,
}

impl CpuQuota {
    /// The smallest quota of the cgroup of this process and of those above it; `None` if none has
    /// one.
    ///
    /// # Errors
    ///
    /// [`SourceError::Read`] if the list of mounts or of cgroups is longer than any kernel writes.
    pub fn of_this_process() -> Result<Option<Self>, SourceError> {
        let quotas = own_and_above("cpu")?.filter_map(|folder| Self::in_folder(&folder));
        Ok(quotas.reduce(|one, other| if other.is_less_than(&one) { other } else { one }))
    }

    /// How many PUs could run all the time.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "a kernel's quotas are below 2^53 microseconds")]
    pub fn cpus(&self) -> f64 {
        self.quota_us as f64 / self.period_us as f64
    }

    /// What is to be said of a number of ranks or threads that all run at once: `None` if the quota
    /// is enough for them.
    #[must_use]
    pub fn note(&self, count: usize, what: &str) -> Option<String> {
        let is_short = u128::from(self.quota_us) < count as u128 * u128::from(self.period_us);
        is_short
            .then(|| alloc::format!("{count} {what} want more than {self}: they will wait for it"))
    }

    fn is_less_than(&self, other: &Self) -> bool {
        let product =
            |one: &Self, other: &Self| u128::from(one.quota_us) * u128::from(other.period_us);
        product(self, other) < product(other, self)
    }

    /// The quota of the cgroup in a folder; `None` if it has none, or no CPU controller.
    fn in_folder(folder: &FilePath) -> Option<Self> {
        /// Limit in bytes: more than two numbers take.
        const MOST: u64 = 256;
        let text = |file: &str| file_within(MOST, &folder.join(file)).ok();
        let two = text("cpu.max");
        let (quota, period) = match &two {
            Some(text) => text
                .trim()
                .split_once(' ')
                .map(|(quota, period)| (quota.parse(), period.parse()))?,
            None => (
                text("cpu.cfs_quota_us")?.trim().parse(),
                text("cpu.cfs_period_us")?.trim().parse(),
            ),
        };
        // "max" and -1 stand for no quota.
        let (Ok(quota_us), Ok(period_us)) = (quota, period) else { return None };
        (period_us > 0).then(|| Self { path: folder.clone(), quota_us, period_us })
    }
}

impl fmt::Display for CpuQuota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (cpus, path) = (self.cpus(), &self.path);
        write!(f, "the CPU time of {cpus:.2} PUs, which the quota of {path} leaves")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_is_read_of_both_versions_and_max_or_minus_1_is_none() {
        let folder =
            std::env::temp_dir().join(std::format!("topobroker-quota-{}", std::process::id()));
        let read = |files: &[(&str, &str)]| {
            std::fs::create_dir_all(&folder).unwrap();
            files.iter().for_each(|(name, text)| std::fs::write(folder.join(name), text).unwrap());
            let quota = CpuQuota::in_folder(&folder.as_path().into());
            std::fs::remove_dir_all(&folder).unwrap();
            quota.map(|it| (it.quota_us, it.period_us))
        };
        assert_eq!(read(&[("cpu.max", "150000 100000\n")]), Some((150_000, 100_000)));
        assert_eq!(read(&[("cpu.max", "max 100000\n")]), None);
        let old = |quota| [("cpu.cfs_quota_us", quota), ("cpu.cfs_period_us", "50000\n")];
        assert_eq!(read(&old("25000\n")), Some((25_000, 50_000)));
        assert_eq!(read(&old("-1\n")), None);
        assert_eq!(read(&[("cpu.max", "5 0\n")]), None);
        assert_eq!(read(&[]), None);
    }

    #[test]
    fn a_quota_of_one_and_a_half_pus_is_enough_for_one_rank_and_not_for_two() {
        let quota = CpuQuota { path: "/c".into(), quota_us: 150_000, period_us: 100_000 };
        assert_eq!(quota.note(1, "ranks"), None);
        let note = quota.note(2, "ranks").unwrap();
        assert!(note.starts_with("2 ranks want more than the CPU time of 1.50 PUs"), "{note}");
    }
}
