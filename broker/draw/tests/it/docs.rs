//! The pictures of the docs are what is drawn today.

use std::path::Path;
use topobroker_draw::{DrawnRank, Fold, NodeOptions, Picture, Units, cluster, links, node, svg};
use topobroker_reader::cluster::Cluster;
use topobroker_reader::links::SwitchModel;
use topobroker_reader::{Archive, Topology};
use topobroker_sample_clusters::grouped_by_fabric;
use topobroker_samples::{archived, checkout, shared};

/// The picture of a machine.
pub(crate) fn of_file(machine: &Path, draw: impl FnOnce(Topology<'_>) -> Picture) -> Picture {
    let bytes = archived(machine);
    draw(Archive::open(&bytes).unwrap().topology())
}

/// The picture of a reference machine.
fn of(machine: &str, draw: impl FnOnce(Topology<'_>) -> Picture) -> Option<Picture> {
    Some(of_file(&shared()?.join(machine), draw))
}

pub(crate) fn of_node(topology: Topology<'_>) -> Picture {
    node(topology, &NodeOptions::default(), Units::PIXELS)
}

/// A job of sixteen ranks, a core each, half of them in each package of Corona.
fn of_job(topology: Topology<'_>) -> Picture {
    let rank = |rank: u32| {
        let first = rank / 8 * 24 + rank % 8;
        let pus = Some([first, first + 48].into_iter().collect());
        DrawnRank { job: "job".to_owned(), rank, pus }
    };
    let ranks = (0..16).map(rank).collect();
    let options = NodeOptions { ranks, no_io: true, ..NodeOptions::default() };
    node(topology, &options, Units::PIXELS)
}

fn is_current(file: &str, picture: Option<Picture>) {
    let Some(picture) = picture else { return };
    let path = checkout().join("docs/pictures").join(file);
    if std::env::var_os("TOPOBROKER_UPDATE_PICTURES").is_some() {
        std::fs::write(&path, svg(&picture)).unwrap();
    }
    let is_current = std::fs::read_to_string(&path).unwrap() == svg(&picture);
    assert!(
        is_current,
        "{file} is stale: run this test with TOPOBROKER_UPDATE_PICTURES=1, and look at it"
    );
}

#[test]
fn the_pictures_of_the_docs_are_what_is_drawn_today() {
    let dgx_2 = "topologies/hwloc-v2.x__nvidiaDGX2.xml";
    let of_links =
        |topology: Topology<'_>| links(&topology.links(SwitchModel::One).unwrap(), Units::PIXELS);
    is_current("dgx-2.svg", of(dgx_2, of_node));
    is_current("dgx-2-links.svg", of(dgx_2, of_links));
    is_current("gb200.svg", of("cases/pass/gb200-efa.xml", of_node));
    is_current("mi300a.svg", of("topologies/flux-core__tuo.SPX.xml", of_node));
    is_current("superdome.svg", of("topologies/synth__superdome-32s28c2t-1792pu.xml", of_node));
    is_current("job.svg", of("topologies/flux-core__corona.xml", of_job));
    let avakas = grouped_by_fabric("avakas");
    let avakas = avakas
        .map(|bytes| cluster(&Cluster::open(&bytes).unwrap(), Fold::Large, Units::PIXELS).unwrap());
    is_current("avakas.svg", avakas);
}
