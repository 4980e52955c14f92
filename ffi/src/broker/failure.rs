//! Converts the errors of the broker to statuses.

use crate::failure::{Failure, statuses};
use topobroker::binding::BindError;
use topobroker::hwloc::{CaptureError, HwlocLoadError, ImportError};
use topobroker::location::LocationError;
use topobroker::nics::NicListError;
use topobroker::node::LoadError;
use topobroker::node::pmix_host::PmixError;
use topobroker::placement::{PlacementError, PolicyError};
use topobroker::publish::job::JobError;
use topobroker::publish::{LegacyError, PublishError};
use topobroker_cluster::ClusterError;
use topobroker_cluster::gather::GatherError;
use topobroker_reader::text::synthetic::Irregular;

statuses! {
    HwlocLoadError: _ => TB_ERR_LOAD;
    CaptureError: _ => TB_ERR_LOAD;
    ImportError: _ => TB_ERR_LOAD;
    LoadError [Load Capture Publish Adopt]: _ => TB_ERR_INTERNAL;
    PublishError [Legacy]: E::Full { .. } => TB_ERR_FULL, E::Address { .. } => TB_ERR_ARGUMENT,
        _ => TB_ERR_PUBLISH;
    LegacyError [Publish]: _ => TB_ERR_HWLOC;
    ClusterError [Publish]: E::Import { .. } => TB_ERR_LOAD, _ => TB_ERR_PUBLISH;
    GatherError [Cluster]: _ => TB_ERR_PUBLISH;
    JobError [Publish View]: E::Missing { .. } => TB_ERR_NOT_FOUND, _ => TB_ERR_JOB;
    BindError: E::Infinite { .. } => TB_ERR_ARGUMENT, _ => TB_ERR_BIND;
    PolicyError: _ => TB_ERR_TEXT;
    PlacementError: _ => TB_ERR_PLACEMENT;
    NicListError: _ => TB_ERR_TEXT;
    Irregular: _ => TB_ERR_NOT_FOUND;
    LocationError: E::Malformed { .. } => TB_ERR_TEXT, _ => TB_ERR_NOT_FOUND;
    PmixError: _ => TB_ERR_PMIX;
}

impl From<Box<LegacyError>> for Failure {
    fn from(error: Box<LegacyError>) -> Self {
        (*error).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::tb_status;
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
        let missing = JobError::Missing { name: text() };
        let name = JobError::Name { found: text() };
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
            (JobError::from(publish()).into(), tb_status::TB_ERR_PUBLISH),
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
