//! `topobroker cluster`: many nodes in one file.

mod above;
mod build;
mod cluster;
mod common;
mod convert;
mod diff;
mod draw;
mod export;
mod fabric;
mod filter;
mod gather;
mod group_path;
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

pub(super) use cluster::Cluster;
pub(super) use opened::node_xml;
