//! `topobroker cluster draw`: a picture of a cluster.

use super::opened::Opened;
use crate::draw::PictureFile;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use topobroker_draw::{Fold, cluster};

/// Draw a cluster: its switches, blocks and other groups, with their nodes in the colour of their
/// class
#[derive(Debug, Args)]
pub(super) struct Draw {
    /// File of the cluster
    file: PathBuf,
    #[command(flatten)]
    picture: PictureFile,
    /// Draw everything, whatever repeats. By default, of a large cluster, of groups that are alike
    /// only the first and the last are drawn
    #[arg(long)]
    no_factorize: bool,
}

impl Draw {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let opened = Opened::read(&self.file)?;
        let found = opened.cluster(&self.file)?;
        let fold = if self.no_factorize { Fold::Nothing } else { Fold::Large };
        self.picture.write(&cluster(&found, fold, self.picture.units()?)?)
    }
}
