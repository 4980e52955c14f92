//! Who this process's node is.

use crate::adopt::{FilePath, file_within};
use alloc::string::{String, ToString};

/// What tells a node from others: its host name and its boot.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Identity {
    /// Host name.
    pub host: String,
    /// Id of its boot, `None` if unknown.
    pub boot: Option<[u8; 16]>,
}

/// Names the node in place of the host name of the kernel, for tests and for nodes whose names in
/// the cluster are others.
const HOST: &str = "TOPOBROKER_HOST";

impl Identity {
    /// The identity of the node that this process runs on. `TOPOBROKER_HOST` overrides the host
    /// name; then the boot is not compared.
    #[must_use]
    pub fn of_this_process() -> Self {
        if let Some(host) = crate::adopt::trusted_var(HOST) {
            return Self { host, boot: None };
        }
        let host = rustix::system::uname().nodename().to_string_lossy().to_string();
        let text = file_within(64, &FilePath::from("/proc/sys/kernel/random/boot_id"));
        Self { host, boot: text.ok().and_then(|text| boot_of(&text)) }
    }

    /// Names that the node may have in a cluster: the host name, and what is before its first dot.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let short = self.host.split_once('.').map(|(short, _)| short);
        core::iter::once(self.host.as_str()).chain(short)
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
