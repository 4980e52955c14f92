//! `topobroker cluster`: many nodes in one file.

mod above;
mod build;
mod common;
mod convert;
mod diff;
mod draw;
mod export;
mod fabric;
mod filter;
mod found_files;
mod gather;
mod info;
mod join;
mod list;
mod opened;
mod output_file;
mod place;
mod ports;
mod reach;
mod report;
mod this_node;

pub(super) use opened::node_xml;

use clap::{Args, Subcommand};
use std::process::ExitCode;

/// Put the topologies of many nodes into one file, and read it
#[derive(Debug, Args)]
pub(super) struct Cluster {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Build(build::Build),
    Ls(list::List),
    Info(info::Info),
    Export(export::Export),
    Diff(diff::Diff),
    Draw(draw::Draw),
    /// Print the lowest switch, block or other group that nodes share, with the number of its nodes
    #[command(visible_alias = "shared", alias = "switch")]
    Common(common::Common),
    Fabric(fabric::Show),
    Convert(convert::Convert),
    Gather(gather::Gather),
    Join(join::Join),
    Report(report::Report),
    Reach(reach::Reach),
    Pairs(reach::Pairs),
    Place(place::Place),
    Ports(ports::Ports),
    Check(ports::Check),
}

impl Cluster {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Build(build) => build.run(),
            Command::Ls(list) => list.run(),
            Command::Info(info) => info.run(),
            Command::Export(export) => export.run(),
            Command::Diff(diff) => diff.run(),
            Command::Draw(draw) => draw.run(),
            Command::Common(common) => common.run(),
            Command::Fabric(fabric) => fabric.run(),
            Command::Convert(convert) => convert.run(),
            Command::Gather(gather) => gather.run(),
            Command::Join(join) => join.run(),
            Command::Report(report) => report.run(),
            Command::Reach(reach) => reach.run(),
            Command::Pairs(pairs) => pairs.run(),
            Command::Place(place) => place.run(),
            Command::Ports(ports) => ports.run(),
            Command::Check(check) => check.run(),
        }
    }
}
