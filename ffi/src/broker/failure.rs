//! Converts the errors of the broker to statuses.

use crate::failure::Failure;
use crate::status::tb_status;
use topobroker::binding::BindError;
use topobroker::hwloc::CaptureError;
use topobroker::hwloc::HwlocLoadError;
use topobroker::location::LocationError;
use topobroker::nics::NicListError;
use topobroker::node::LoadError;
use topobroker::node::pmix_host::PmixError;
use topobroker::placement::{PlacementError, PolicyError};
use topobroker::publish::{LegacyError, PublishError, job};
use topobroker_cluster::ClusterError;
use topobroker_cluster::gather::GatherError;
use topobroker_reader::text::synthetic::Irregular;

impl From<HwlocLoadError> for Failure {
    fn from(error: HwlocLoadError) -> Self {
        Self::of(tb_status::TB_ERR_LOAD, &error)
    }
}

impl From<BindError> for Failure {
    fn from(error: BindError) -> Self {
        let status = match error {
            BindError::Infinite { .. } => tb_status::TB_ERR_ARGUMENT,
            _ => tb_status::TB_ERR_BIND,
        };
        Self::of(status, &error)
    }
}

impl From<CaptureError> for Failure {
    fn from(error: CaptureError) -> Self {
        Self::of(tb_status::TB_ERR_LOAD, &error)
    }
}

impl From<PublishError> for Failure {
    fn from(error: PublishError) -> Self {
        let status = match error {
            PublishError::Full { .. } => tb_status::TB_ERR_FULL,
            PublishError::Address { .. } => tb_status::TB_ERR_ARGUMENT,
            PublishError::Legacy(error) => return (*error).into(),
            _ => tb_status::TB_ERR_PUBLISH,
        };
        Self::of(status, &error)
    }
}

impl From<ClusterError> for Failure {
    fn from(error: ClusterError) -> Self {
        match error {
            ClusterError::Publish(error) => error.into(),
            ClusterError::Load { .. } | ClusterError::Capture { .. } => {
                Self::of(tb_status::TB_ERR_LOAD, &error)
            }
            error => Self::of(tb_status::TB_ERR_PUBLISH, &error),
        }
    }
}

impl From<GatherError> for Failure {
    fn from(error: GatherError) -> Self {
        match error {
            GatherError::Cluster(error) => error.into(),
            error => Self::of(tb_status::TB_ERR_PUBLISH, &error),
        }
    }
}

impl From<LegacyError> for Failure {
    fn from(error: LegacyError) -> Self {
        match error {
            LegacyError::Publish(error) => error.into(),
            error => Self::of(tb_status::TB_ERR_HWLOC, &error),
        }
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Load(error) => error.into(),
            LoadError::Capture(error) => error.into(),
            LoadError::Publish(error) => error.into(),
            LoadError::Adopt(error) => error.into(),
            error => Self::of(tb_status::TB_ERR_INTERNAL, &error),
        }
    }
}

impl From<job::JobError> for Failure {
    fn from(error: job::JobError) -> Self {
        match error {
            job::JobError::Publish(error) => error.into(),
            job::JobError::View(error) => error.into(),
            job::JobError::Missing { .. } => Self::of(tb_status::TB_ERR_NOT_FOUND, &error),
            error => Self::of(tb_status::TB_ERR_JOB, &error),
        }
    }
}

impl From<PolicyError> for Failure {
    fn from(error: PolicyError) -> Self {
        Self::of(tb_status::TB_ERR_TEXT, &error)
    }
}

impl From<PlacementError> for Failure {
    fn from(error: PlacementError) -> Self {
        Self::of(tb_status::TB_ERR_PLACEMENT, &error)
    }
}

impl From<NicListError> for Failure {
    fn from(error: NicListError) -> Self {
        Self::of(tb_status::TB_ERR_TEXT, &error)
    }
}

impl From<Irregular> for Failure {
    fn from(error: Irregular) -> Self {
        Self::of(tb_status::TB_ERR_NOT_FOUND, &error)
    }
}

impl From<LocationError> for Failure {
    fn from(error: LocationError) -> Self {
        let status = match error {
            LocationError::Malformed { .. } => tb_status::TB_ERR_TEXT,
            _ => tb_status::TB_ERR_NOT_FOUND,
        };
        Self::of(status, &error)
    }
}

impl From<PmixError> for Failure {
    fn from(error: PmixError) -> Self {
        Self::of(tb_status::TB_ERR_PMIX, &error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;
    use std::path::PathBuf;

    #[test]
    fn every_failure_of_the_broker_has_a_status_and_keeps_its_message() {
        let (file, source) = (|| PathBuf::from("/f"), || io::Error::other("/f"));
        let text = || "/f".to_owned();
        let step = "be tried";
        let publish = || PublishError::Store { file: file(), step, source: source() };
        let full = PublishError::Full { file: file(), needed: 1, source: source() };
        let hwloc = LegacyError::Hwloc { file: file(), step, source: source() };
        let load = || HwlocLoadError::Read { input: text(), source: source() };
        let missing = job::JobError::Missing { name: text() };
        let name = job::JobError::Name { found: text() };
        let identity = PublishError::Identity { what: text(), source: source() };
        let read = PmixError::Read { file: file(), source: source() };
        let cases: [(Failure, tb_status); 13] = [
            (publish().into(), tb_status::TB_ERR_PUBLISH),
            (identity.into(), tb_status::TB_ERR_PUBLISH),
            (full.into(), tb_status::TB_ERR_FULL),
            (hwloc.into(), tb_status::TB_ERR_HWLOC),
            (LegacyError::from(publish()).into(), tb_status::TB_ERR_PUBLISH),
            (LegacyError::from(load()).into(), tb_status::TB_ERR_HWLOC),
            (load().into(), tb_status::TB_ERR_LOAD),
            (LoadError::from(load()).into(), tb_status::TB_ERR_LOAD),
            (LoadError::from(publish()).into(), tb_status::TB_ERR_PUBLISH),
            (missing.into(), tb_status::TB_ERR_NOT_FOUND),
            (name.into(), tb_status::TB_ERR_JOB),
            (job::JobError::from(publish()).into(), tb_status::TB_ERR_PUBLISH),
            (read.into(), tb_status::TB_ERR_PMIX),
        ];
        for (failure, status) in cases {
            assert_eq!(failure.status, status, "{failure:?}");
            assert!(format!("{failure:?}").contains("/f"), "{failure:?}");
        }
        let address = PublishError::Address { found: 1, limit: 2 };
        assert_eq!(Failure::from(address).status, tb_status::TB_ERR_ARGUMENT);
        assert_eq!(Failure::from(CaptureError::NotLoaded).status, tb_status::TB_ERR_LOAD);
    }
}
