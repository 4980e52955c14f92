//! Why a call fails: a status, and what is said about it.

use crate::status::tb_status;
use alloc::fmt::format;
use alloc::string::String;
use core::fmt::Arguments;
use topobroker_layout::OpenError;
use topobroker_reader::{
    AdoptError, KeysError, LocalityTextError, ParseSetError, RestrictError,
    cluster::{ClusterOpenError, NotLocal},
    groups::{ResourceError, UriError},
    jobs::{AdoptJobError, EffectiveViewError, SourceError},
    links::{AdoptLinksError, LinksError},
};

/// Why a call failed: its status and its message.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: tb_status,
    pub(crate) detail: String,
}

impl Failure {
    /// A failure with a text. What makes failures is cold: this keeps its code away from that of
    /// calls that succeed.
    #[cold]
    pub(crate) fn new(status: tb_status, detail: Arguments<'_>) -> Self {
        Self { status, detail: format(detail) }
    }

    /// A failure with the text of an error and of its causes.
    #[cold]
    pub(crate) fn of(status: tb_status, error: &dyn core::error::Error) -> Self {
        Self { status, detail: topobroker_process::with_causes(error) }
    }

    /// A failure of an argument, with a text.
    #[cold]
    pub(crate) fn argument(detail: Arguments<'_>) -> Self {
        Self::new(tb_status::TB_ERR_ARGUMENT, detail)
    }
}

/// Statuses of errors, a line for each. In brackets are variants whose only field is an error that
/// has a line of its own. The last pattern is also for variants that are added later.
macro_rules! statuses {
    ($($error:ident $([$($cause:ident)+])?: $($pattern:pat => $status:ident),+;)*) => {$(
        impl From<$error> for $crate::failure::Failure {
            fn from(error: $error) -> Self {
                #[allow(dead_code, reason = "a line of one pattern names no variant")]
                type E = $error;
                let status = match error {
                    $($(E::$cause(error) => return error.into(),)+)?
                    $($pattern => $crate::status::tb_status::$status,)+
                };
                Self::of(status, &error)
            }
        }
    )*};
}
#[cfg(feature = "broker")]
pub(crate) use statuses;

statuses! {
    KeysError: _ => TB_ERR_KEYS;
    ParseSetError: _ => TB_ERR_TEXT;
    LocalityTextError: _ => TB_ERR_TEXT;
    UriError: _ => TB_ERR_TEXT;
    ResourceError: E::NotHere { .. } => TB_ERR_NOT_FOUND, _ => TB_ERR_TEXT;
    NotLocal: _ => TB_ERR_REMOTE;
    OpenError: _ => TB_ERR_SEGMENT;
    LinksError: _ => TB_ERR_SEGMENT;
    AdoptLinksError [Adopt]: _ => TB_ERR_SEGMENT;
    ClusterOpenError [Adopt]: E::NoNode { .. } => TB_ERR_NOT_FOUND, E::NoFile => TB_ERR_KEYS,
        E::Different { .. } => TB_ERR_DIFFERENT, _ => TB_ERR_SEGMENT;
    AdoptError: E::Keys(_) => TB_ERR_KEYS, E::Open { .. } => TB_ERR_OPEN,
        E::Symlink { .. } | E::NotRegular { .. } | E::Owner { .. } | E::Unmapped { .. } | E::Writable { .. }
        | E::Unsealed { .. } => TB_ERR_TRUST,
        E::Map { .. } => TB_ERR_MAP, E::Different { .. } => TB_ERR_DIFFERENT, _ => TB_ERR_SEGMENT;
    AdoptJobError [Adopt]: _ => TB_ERR_JOB;
    RestrictError: _ => TB_ERR_RESTRICT;
    SourceError: _ => TB_ERR_SOURCE;
    EffectiveViewError [Adopt Job Source Restrict]: _ => TB_ERR_INTERNAL;
}

#[cfg(test)]
mod tests {
    use super::*;
    use topobroker_reader::{FileError, FileKey, OsError};

    #[test]
    fn every_failure_of_the_reader_has_a_status_and_keeps_its_message() {
        let file = || FileKey::Path("/f".into());
        let os = || OsError::from_raw_os_error(2);
        let cases: Vec<(Failure, tb_status)> = vec![
            (KeysError::Missing { key: "K" }.into(), tb_status::TB_ERR_KEYS),
            (AdoptError::Keys(KeysError::Missing { key: "K" }).into(), tb_status::TB_ERR_KEYS),
            (AdoptError::Open { file: file(), source: os() }.into(), tb_status::TB_ERR_OPEN),
            (AdoptError::Symlink { file: file() }.into(), tb_status::TB_ERR_TRUST),
            (
                AdoptError::NotRegular { file: file(), found: "FIFO" }.into(),
                tb_status::TB_ERR_TRUST,
            ),
            (
                AdoptError::Owner { file: file(), found: 1, expected: 2 }.into(),
                tb_status::TB_ERR_TRUST,
            ),
            (AdoptError::Unmapped { file: file() }.into(), tb_status::TB_ERR_TRUST),
            (AdoptError::Writable { file: file(), found: 0o666 }.into(), tb_status::TB_ERR_TRUST),
            (AdoptError::Unsealed { file: file() }.into(), tb_status::TB_ERR_TRUST),
            (
                AdoptError::Size { file: file(), found: 1, expected: 2 }.into(),
                tb_status::TB_ERR_SEGMENT,
            ),
            (
                AdoptError::Address { file: file(), found: 1, expected: 2 }.into(),
                tb_status::TB_ERR_SEGMENT,
            ),
            (
                AdoptError::Map { file: file(), source: FileError::Ended }.into(),
                tb_status::TB_ERR_MAP,
            ),
        ];
        for (failure, status) in cases {
            assert_eq!(failure.status, status, "{}", failure.detail);
            assert!(
                failure.detail.contains("/f") || failure.detail.contains('K'),
                "{}",
                failure.detail
            );
        }
    }
}
