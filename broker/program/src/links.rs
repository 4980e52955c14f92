//! `topobroker links`: the graph of links, and paths in it.

use super::subject::Subject;
use super::text_file::read_text;
use super::{json, output};
use anyhow::{Context, ensure};
use clap::{Args, ValueEnum};
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use topobroker::links::{self, GuestBusIds};
use topobroker_reader::{
    Topology, View,
    links::{
        AdoptLinksError, DeclaredLinks, Direction, Link, LinkPath, Links as Graph, Measure, Paths,
        SwitchModel, VertexId,
    },
};

/// Print what connects CPUs, memory, GPUs, NICs and disks, and the best paths between them
///
/// Bandwidths are in MB/s in one direction, latencies in nanoseconds
#[derive(Debug, Args)]
pub(super) struct Links {
    #[command(flatten)]
    subject: Subject,
    /// Print the paths from this vertex: the name of an OS device, a PCI bus id, or a type with a
    /// logical index, such as package:0 or numanode:1
    #[arg(long, value_name = "VERTEX")]
    from: Option<String>,
    /// Only the path to this vertex, with its way
    #[arg(long, value_name = "VERTEX", requires = "from")]
    to: Option<String>,
    /// Print the paths between all vertices
    #[arg(long, conflicts_with_all = ["from", "to"])]
    pairs: bool,
    /// Which path is best
    #[arg(long, value_enum, value_name = "MEASURE")]
    measure: Option<By>,
    /// Let a GPU on the way forward data between two others
    #[arg(long)]
    relay_gpu: bool,
    /// Take each NVSwitch as a switch of its own, as files for NCCL have them; by default all of a
    /// node are one
    #[arg(long)]
    separate_switches: bool,
    /// Declare links of the adopted topology that hwloc does not know, in this file: JSON as --of
    /// json prints it, a file of NCCL or RCCL, or the table of nvidia-smi topo -m. Processes that
    /// look for links find them
    #[arg(long, value_name = "FILE", conflicts_with_all = ["from", "pairs", "of", "forget", "input", "separate_switches"])]
    declare: Option<PathBuf>,
    /// Forget the links that are declared for the adopted topology
    #[arg(long, conflicts_with_all = ["from", "pairs", "of", "input"])]
    forget: bool,
    /// Write the file for NCCL or RCCL in a virtual machine, which knows this device by another bus
    /// id. Repeat for each GPU and NIC that the virtual machine has
    #[arg(long, value_name = "HOST=GUEST", value_parser = bus_ids, conflicts_with_all = ["declare", "forget"])]
    map_bus: Vec<(String, String)>,
    /// Format of the output
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    of: Format,
    /// Print JSON: --of json
    #[arg(long, conflicts_with = "of")]
    json: bool,
}

/// The graph of links of a topology, with those that are declared for it if it is the adopted one.
pub(super) fn graph(topology: Topology<'_>, switches: SwitchModel) -> anyhow::Result<Graph<'_>> {
    let adopted = topobroker_reader::adopted();
    let adopted = adopted.filter(|base| View::whole(base.topology()).is_of(topology));
    let declared = match adopted.map(DeclaredLinks::find).transpose() {
        // Links of an earlier topology do not take the graph of this one away.
        Err(error @ AdoptLinksError::OtherBase { .. }) => {
            output::say(&error.to_string());
            None
        }
        declared => declared?.flatten(),
    };
    match declared {
        Some(declared) => Ok(topology.links_with_declared(switches, declared)?),
        None => Ok(topology.links(switches)?),
    }
}

/// Limit of the size of a file of links in bytes.
const MOST_TEXT: u64 = 1 << 24;

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum By {
    /// The widest, then the one of the fewest links
    #[default]
    Bandwidth,
    /// The quickest
    Latency,
    /// The one of the fewest links
    Hops,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Lines to read
    #[default]
    Text,
    /// Node-link data for networkx: node_link_graph(data, edges="edges")
    Json,
    /// For Graphviz
    Dot,
    /// JSON Graph Format, as Flux has it
    Jgf,
    /// A table like that of nvidia-smi topo -m, for any vendor
    Matrix,
    /// A file for NCCL_TOPO_FILE
    Nccl,
    /// A file for NCCL_TOPO_FILE of RCCL
    Rccl,
}

impl Links {
    pub(super) fn run(mut self) -> anyhow::Result<ExitCode> {
        if self.json {
            self.of = Format::Json;
        }
        if self.forget {
            links::forget(topobroker_reader::adopt()?)?;
            return Ok(ExitCode::SUCCESS);
        }
        if let Some(file) = &self.declare {
            let base = topobroker_reader::adopt()?;
            let topology = base.topology();
            let known = topology.links(SwitchModel::Separate)?;
            let declared = read_text(file, MOST_TEXT, |text| links::declared(&known, text))?;
            links::declare(base, &declared.links)?;
            declared
                .notes
                .iter()
                .for_each(|note| output::say(&format!("{}: {note}", file.display())));
            return Ok(ExitCode::SUCCESS);
        }
        output::print(&self.subject.answer(None, |topology| self.answer(topology))?)
    }

    fn answer(&self, topology: Topology<'_>) -> anyhow::Result<String> {
        let is_about_paths = self.from.is_some() || self.pairs;
        ensure!(
            !is_about_paths || matches!(self.of, Format::Text | Format::Json),
            "paths are printed as text or json: leave out --from and --pairs, or --of"
        );
        ensure!(
            is_about_paths || (self.measure.is_none() && !self.relay_gpu),
            "--measure and --relay-gpu are about paths: give --from or --pairs too"
        );
        ensure!(
            self.map_bus.is_empty() || matches!(self.of, Format::Nccl | Format::Rccl),
            "--map-bus is about files for NCCL and RCCL: give --of nccl or --of rccl too"
        );
        let graph = graph(topology, self.switches())?;
        if is_about_paths {
            return self.paths(&graph);
        }
        match self.of {
            Format::Text => Ok(text(&graph)),
            Format::Json => json::text(&links::json(&graph)),
            Format::Dot => Ok(links::dot(&graph)),
            Format::Jgf => json::text(&links::jgf(&graph)),
            Format::Matrix => Ok(links::matrix(&graph)),
            Format::Nccl => Ok(links::nccl(&graph, &self.guest()?)?),
            Format::Rccl => Ok(links::rccl(&graph, &self.guest()?)?),
        }
    }

    /// What `--map-bus` says.
    fn guest(&self) -> anyhow::Result<GuestBusIds> {
        let mut guest = GuestBusIds::new();
        for (host, of_guest) in &self.map_bus {
            let is_taken = guest.values().any(|it| it == of_guest);
            let before = guest.insert(host.clone(), of_guest.clone());
            let two = if is_taken { of_guest } else { host };
            ensure!(!is_taken && before.is_none(), "--map-bus: {two} is named twice");
        }
        Ok(guest)
    }

    fn switches(&self) -> SwitchModel {
        match self.separate_switches || self.of == Format::Nccl {
            true => SwitchModel::Separate,
            false => SwitchModel::One,
        }
    }

    fn paths(&self, graph: &Graph<'_>) -> anyhow::Result<String> {
        let measure = match self.measure.unwrap_or_default() {
            By::Bandwidth => Measure::Bandwidth,
            By::Latency => Measure::Latency,
            By::Hops => Measure::Hops,
        };
        let vertex = |name: &String| {
            graph.find(name).with_context(|| {
                format!("{name:?} is no vertex of the graph of links; topobroker links lists them")
            })
        };
        let from = self.from.as_ref().map(vertex).transpose()?;
        let to = self.to.as_ref().map(vertex).transpose()?;
        let all = || graph.vertex_ids();
        let sources: Vec<VertexId> = from.map_or_else(|| all().collect(), |from| vec![from]);
        let mut search = Paths::new(graph, self.relay_gpu);
        let mut found: Vec<(VertexId, VertexId, Option<LinkPath>, Vec<VertexId>)> = Vec::new();
        for from in sources {
            match to {
                Some(to) => {
                    let path = search.between(from, to, measure);
                    let mut way: Vec<VertexId> = search.way(to).collect();
                    way.reverse();
                    found.push((from, to, path, way));
                }
                None => {
                    let paths = all().zip(search.of(from, Direction::Outgoing, measure));
                    let others = paths.filter(|(to, _)| *to != from);
                    found.extend(others.map(|(to, path)| (from, to, *path, Vec::new())));
                }
            }
        }
        if self.of == Format::Json {
            let paths = found.iter().map(|(from, to, path, way)| {
                let path = path.as_ref();
                json::LinkPath {
                    from: graph.name(*from),
                    to: graph.name(*to),
                    bandwidth: path.and_then(|it| it.bandwidth),
                    has_unknown_bandwidth: path.map(|it| it.has_unknown_bandwidth),
                    latency: path.and_then(|it| it.latency),
                    hops: path.map(|it| it.hops),
                    way: way.iter().map(|vertex| graph.name(*vertex)).collect(),
                }
            });
            return json::text(&paths.collect::<Vec<_>>());
        }
        let name = |vertex: &VertexId| graph.name(*vertex).into_owned();
        let line =
            |(from, to, path, way): &(VertexId, VertexId, Option<LinkPath>, Vec<VertexId>)| {
                let way: Vec<String> = way.iter().map(name).collect();
                let way =
                    if way.is_empty() { String::new() } else { format!(": {}", way.join(" - ")) };
                let words = if from == to { "the same".to_owned() } else { words(path.as_ref()) };
                format!("{} {} {words}{way}\n", name(from), name(to))
            };
        Ok(found.iter().map(line).collect())
    }
}

/// Two bus ids, with their domains.
fn bus_ids(text: &str) -> Result<(String, String), String> {
    let two = text.split_once('=').filter(|(host, guest)| {
        [host, guest].iter().all(|it| links::is_bus_id(it) && it.contains('.'))
    });
    two.map(|(host, guest)| (host.to_ascii_lowercase(), guest.to_ascii_lowercase()))
        .ok_or_else(|| "expected two PCI bus ids, such as 0000:17:00.0=0000:05:00.0".to_owned())
}

fn words(path: Option<&LinkPath>) -> String {
    let Some(path) = path else { return "no path".to_owned() };
    let mut text = match (path.bandwidth, path.has_unknown_bandwidth) {
        (Some(bandwidth), false) => format!("{bandwidth} MB/s"),
        (Some(bandwidth), true) => format!("at most {bandwidth} MB/s"),
        (None, _) => "unknown bandwidth".to_owned(),
    };
    // Writing to a string cannot fail.
    if let Some(latency) = path.latency {
        let _ = write!(text, ", {latency} ns");
    }
    text + &format!(", {} {}", path.hops, if path.hops == 1 { "link" } else { "links" })
}

fn text(graph: &Graph<'_>) -> String {
    let name = |vertex: VertexId| {
        let kind = graph.vertex(vertex).map_or("", |it| it.kind.name());
        format!("{} ({kind})", output::in_line(&graph.name(vertex)))
    };
    let line = |link: &Link| {
        let mut text = format!("{} - {}: {}", name(link.one), name(link.other), link.class.name());
        if let Some(links) = link.links {
            let _ = write!(text, " x{links}");
        }
        let known = |bandwidth: Option<u32>| bandwidth.map_or("?".to_owned(), |it| it.to_string());
        match (link.forward, link.backward) {
            (None, None) => {}
            (forward, backward) if forward == backward => {
                let _ = write!(text, " {} MB/s", known(forward));
            }
            (forward, backward) => {
                let _ = write!(text, " {}/{} MB/s", known(forward), known(backward));
            }
        }
        if let Some(latency) = link.latency {
            let _ = write!(text, " {latency} ns");
        }
        text + " " + link.origin.name() + "\n"
    };
    graph.links().iter().map(line).collect()
}
