//! Who this process's node is.

use alloc::string::{String, ToString};
use topobroker_process::{FilePath, file_within};

/// What distinguishes a node from others: its host name and its boot.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Identity {
    /// Host name.
    pub host: String,
    /// Id of its boot, `None` if unknown.
    pub boot: Option<[u8; 16]>,
    /// Whether the host name is that of the kernel. Then it must also be the one that hwloc found
    /// on the node, whatever the node is called in the cluster.
    pub is_of_kernel: bool,
}

/// Names the node in place of the host name of the kernel, for tests and for nodes whose names in
/// the cluster are others.
const HOST: &str = "TOPOBROKER_HOST";

impl Identity {
    /// The identity of the node that this process runs on. `TOPOBROKER_HOST` overrides the host
    /// name; then nothing else is compared.
    #[must_use]
    pub fn of_this_process() -> Self {
        if let Some(host) = topobroker_process::trusted_var(HOST) {
            return Self { host, boot: None, is_of_kernel: false };
        }
        let host = rustix::system::uname().nodename().to_string_lossy().to_string();
        let text = file_within(64, &FilePath::from("/proc/sys/kernel/random/boot_id"));
        Self { host, boot: text.ok().and_then(|text| boot_of(&text)), is_of_kernel: true }
    }

    /// Names that the node may have in a cluster: the host name, and what is before its first dot.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let short = self.host.split_once('.').map(|(short, _)| short);
        core::iter::once(self.host.as_str()).chain(short)
    }

    /// Whether a node can be this one that hwloc found this host name on, if any.
    pub(super) fn may_be_host(&self, found: Option<&str>) -> bool {
        let is_same = |found: &str| {
            let short = found.split_once('.').map_or(found, |(short, _)| short);
            self.names().any(|name| name == found || name == short)
        };
        !self.is_of_kernel || found.is_none_or(is_same)
    }

    /// Whether a node that was published in this boot can be this one: unless both are known and
    /// differ.
    pub(super) fn may_be_boot(&self, boot: Option<[u8; 16]>) -> bool {
        self.boot.zip(boot).is_none_or(|(own, other)| own == other)
    }
}

/// The 16 bytes of an id such as `01234567-89ab-...`.
fn boot_of(text: &str) -> Option<[u8; 16]> {
    let mut digits = text.trim().chars().filter(|it| *it != '-').map(|it| it.to_digit(16));
    let mut boot = [0; 16];
    for byte in &mut boot {
        let value = 16 * digits.next()?? + digits.next()??;
        *byte = u8::try_from(value).ok()?;
    }
    Some(boot)
}
