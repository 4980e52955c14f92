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

impl From<KeysError> for Failure {
    fn from(error: KeysError) -> Self {
        Self::of(tb_status::TB_ERR_KEYS, &error)
    }
}

impl From<ClusterOpenError> for Failure {
    fn from(error: ClusterOpenError) -> Self {
        let status = match error {
            ClusterOpenError::Adopt(error) => return error.into(),
            ClusterOpenError::NoNode { .. } => tb_status::TB_ERR_NOT_FOUND,
            ClusterOpenError::NoFile => tb_status::TB_ERR_KEYS,
            ClusterOpenError::Different { .. } => tb_status::TB_ERR_DIFFERENT,
            _ => tb_status::TB_ERR_SEGMENT,
        };
        Self::of(status, &error)
    }
}

impl From<NotLocal> for Failure {
    fn from(error: NotLocal) -> Self {
        Self::of(tb_status::TB_ERR_REMOTE, &error)
    }
}

impl From<ParseSetError> for Failure {
    fn from(error: ParseSetError) -> Self {
        Self::of(tb_status::TB_ERR_TEXT, &error)
    }
}

impl From<LocalityTextError> for Failure {
    fn from(error: LocalityTextError) -> Self {
        Self::of(tb_status::TB_ERR_TEXT, &error)
    }
}

impl From<AdoptLinksError> for Failure {
    fn from(error: AdoptLinksError) -> Self {
        match error {
            AdoptLinksError::Adopt(error) => error.into(),
            error => Self::of(tb_status::TB_ERR_SEGMENT, &error),
        }
    }
}

impl From<LinksError> for Failure {
    fn from(error: LinksError) -> Self {
        Self::of(tb_status::TB_ERR_SEGMENT, &error)
    }
}

impl From<UriError> for Failure {
    fn from(error: UriError) -> Self {
        Self::of(tb_status::TB_ERR_TEXT, &error)
    }
}

impl From<ResourceError> for Failure {
    fn from(error: ResourceError) -> Self {
        match error {
            ResourceError::NotHere { .. } => Self::of(tb_status::TB_ERR_NOT_FOUND, &error),
            error => Self::of(tb_status::TB_ERR_TEXT, &error),
        }
    }
}

impl From<RestrictError> for Failure {
    fn from(error: RestrictError) -> Self {
        Self::of(tb_status::TB_ERR_RESTRICT, &error)
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        Self::of(tb_status::TB_ERR_SOURCE, &error)
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        Self::of(tb_status::TB_ERR_SEGMENT, &error)
    }
}

impl From<AdoptError> for Failure {
    fn from(error: AdoptError) -> Self {
        let status = match &error {
            AdoptError::Keys(_) => tb_status::TB_ERR_KEYS,
            AdoptError::Open { .. } => tb_status::TB_ERR_OPEN,
            AdoptError::Symlink { .. }
            | AdoptError::NotRegular { .. }
            | AdoptError::Owner { .. }
            | AdoptError::Unmapped { .. }
            | AdoptError::Writable { .. }
            | AdoptError::Unsealed { .. } => tb_status::TB_ERR_TRUST,
            AdoptError::Map { .. } => tb_status::TB_ERR_MAP,
            AdoptError::Different { .. } => tb_status::TB_ERR_DIFFERENT,
            // Size, Address, Segment, and variants that are added later.
            _ => tb_status::TB_ERR_SEGMENT,
        };
        Self::of(status, &error)
    }
}

impl From<AdoptJobError> for Failure {
    fn from(error: AdoptJobError) -> Self {
        match error {
            AdoptJobError::Adopt(error) => error.into(),
            error => Self::of(tb_status::TB_ERR_JOB, &error),
        }
    }
}

impl From<EffectiveViewError> for Failure {
    fn from(error: EffectiveViewError) -> Self {
        match error {
            EffectiveViewError::Adopt(error) => error.into(),
            EffectiveViewError::Job(error) => error.into(),
            EffectiveViewError::Source(error) => error.into(),
            EffectiveViewError::Restrict(error) => error.into(),
            error => Self::of(tb_status::TB_ERR_INTERNAL, &error),
        }
    }
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
