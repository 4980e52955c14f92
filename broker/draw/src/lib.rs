//! Pictures of a node's topology, of its links and of clusters.
//!
//! A [`Picture`] is boxes and lines with their places, made by [`node`], [`links`] or [`cluster`].
//! [`svg`], [`html`], [`pdf`], [`tikz`] and [`ascii`] write it. The same picture is always the same
//! bytes.
//!
//! ```no_run
//! use topobroker_draw::{NodeOptions, Units, node, svg};
//! let topology = topobroker_reader::adopt()?.topology();
//! std::fs::write("node.svg", svg(&node(topology, &NodeOptions::default(), Units::PIXELS)))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod arrange;
mod ascii;
mod cluster;
mod flow;
mod fold;
mod html;
mod left_out;
mod legend;
mod link_rows;
mod links;
mod node;
mod palette;
mod pdf;
mod picture;
mod placed;
mod shape;
mod siblings;
mod svg;
mod text_size;
mod tikz;

pub use ascii::{Lines, ascii, ascii_coloured};
pub use cluster::cluster;
pub use fold::Fold;
pub use html::html;
pub use links::links;
pub use node::{DrawnRank, Indexes, NodeOptions, node};
pub use pdf::{Page, pdf};
pub use picture::{Picture, Units};
pub use svg::{svg, svg_to_embed};
pub use tikz::tikz;
