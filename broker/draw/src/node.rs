//! The picture of a node: its topology, with what a view hides in grey and ranks in colour.

use crate::arrange::arrange;
use crate::fold::{Fold, fold};
use crate::legend::{coloured, of_marks};
use crate::palette::COLOURS;
use crate::picture::{BoxKind, Picture, Units};
use crate::shape::NestedBox;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use topobroker_layout::set::{Format, Set};
use topobroker_reader::devices::{NetworkId, NicChoice};
use topobroker_reader::text::{attributes, has_pci_domains, memory_size, pci_class_name, rate};
use topobroker_reader::{Attributes, ChildKind, Object, ObjectType, Topology};

/// A process with a place in the picture.
#[derive(Debug, Clone)]
pub struct DrawnRank {
    /// Name of its job.
    pub job: String,
    /// Its rank.
    pub rank: u32,
    /// OS indexes of its PUs; `None` if it is not bound.
    pub pus: Option<Set>,
}

/// Which indexes are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Indexes {
    /// Logical indexes, and also the OS indexes of PUs and NUMA nodes.
    #[default]
    Both,
    /// Logical indexes.
    Logical,
    /// Indexes of the operating system.
    Physical,
}

/// How a node is drawn.
#[derive(Debug, Clone, Default)]
pub struct NodeOptions<'a> {
    /// Ranks, in colour.
    pub ranks: Vec<DrawnRank>,
    /// A view of the topology: what it hides is grey.
    pub view: Option<Topology<'a>>,
    /// OS indexes of PUs whose objects are highlighted.
    pub highlighted: Option<Set>,
    /// Which indexes are written.
    pub indexes: Indexes,
    /// What repeats is left out.
    pub fold: Fold,
    /// No PUs: ranks are on cores.
    pub no_pus: bool,
    /// No I/O devices and bridges.
    pub no_io: bool,
    /// No caches: what is below them is drawn in their place.
    pub no_caches: bool,
    /// Most units that the picture should be wide. It is wider only if nothing else can be done.
    pub most_width: Option<u32>,
    /// No legend but `more_legend`.
    pub no_legend: bool,
    /// Lines of the legend, behind the host's.
    pub more_legend: Vec<String>,
}

/// The picture of a topology.
#[must_use]
pub fn node(topology: Topology<'_>, options: &NodeOptions<'_>, units: Units) -> Picture {
    let drawing = Drawing {
        options,
        visible: options.view.map(|view| view.objects().map(Object::id).collect()),
        allowed: (topology.allowed_cpuset(), topology.allowed_nodeset()),
        several_jobs: options
            .ranks
            .windows(2)
            .any(|two| matches!(two, [one, other] if one.job != other.job)),
        with_domain: has_pci_domains(topology),
        networks: topology.networks(NicChoice::ActiveOrUnknown).len(),
    };
    let mut shape = drawing.shape(topology.root());
    fold(&mut shape, options.fold);
    let host = topology.root().info("HostName");
    let title = host.map_or("Topology of a node".to_owned(), |host| format!("Topology of {host}"));
    let legend = drawing.legend(host, &shape);
    let picture = arrange(&title, shape, legend, units, options.most_width);
    Picture { hint: "rank 3, PU L#7, P#12, 01:00.0, mlx5_0", ..picture }
}

struct Drawing<'d> {
    options: &'d NodeOptions<'d>,
    /// Numbers of the objects that the view has.
    visible: Option<BTreeSet<u32>>,
    allowed: (Set, Set),
    several_jobs: bool,
    with_domain: bool,
    networks: usize,
}

/// Ranks that the legend names one by one.
const MOST_RANKS: usize = 32;

/// Ranks that a PU or core names one by one: the picture stays in proportion to ranks and PUs, also
/// if each rank may run on all PUs.
const MOST_RANKS_OF_A_BOX: usize = 8;

impl Drawing<'_> {
    fn shape(&self, object: Object<'_>) -> NestedBox {
        let mut shape = NestedBox::new(kind(object), self.label(object));
        shape.look.text = self.text(object);
        shape.likeness = likeness(object);
        if let Attributes::NumaNode { local_memory } = object.attributes() {
            shape.bytes = local_memory;
        }
        shape.model = model(object);
        shape.look.details = details(object);
        self.mark(object, &mut shape);
        let all = |kind| object.children_of_kind(kind).map(|child| self.shape(child));
        shape.memory = all(ChildKind::Memory).collect();
        let is_drawn =
            |child: &Object<'_>| !(self.options.no_pus && child.object_type() == ObjectType::PU);
        let children = object.children_of_kind(ChildKind::Normal).filter(is_drawn);
        shape.children = children.map(|child| self.shape(child)).collect();
        if self.options.no_caches {
            shape.without_caches();
        }
        // What a device consists of is in its box.
        let is_device = matches!(shape.look.kind, BoxKind::Pci | BoxKind::Device);
        let io = if is_device { &mut shape.children } else { &mut shape.io };
        if !self.options.no_io {
            io.extend(all(ChildKind::Io));
        }
        shape.children.extend(all(ChildKind::Misc));
        shape
    }

    /// What `ls` says of it.
    fn label(&self, object: Object<'_>) -> String {
        let mut label = with_subtype(object);
        let object_type = object.object_type();
        let is_root = object.parent().is_none();
        let in_tree = object_type.is_normal() || object_type.is_memory();
        match (self.options.indexes, object.os_index()) {
            _ if is_root || !in_tree => {}
            (Indexes::Physical, Some(index)) => label += &format!(" P#{index}"),
            (Indexes::Physical, None) => {}
            _ => label += &format!(" L#{}", object.logical_index()),
        }
        let names_itself = matches!(object_type, ObjectType::Misc | ObjectType::Group);
        let name = object.name();
        label.extend(name.filter(|_| names_itself).map(|name| format!(" {name}")));
        if let Attributes::Pci(pci) = object.attributes() {
            label += &format!(
                " {} ({})",
                self.bus_id(&pci.bus_id().to_string()),
                pci_class_name(pci.class_id)
            );
        }
        let has_both = matches!(object_type, ObjectType::PU | ObjectType::NUMANode);
        let os_index =
            object.os_index().filter(|_| has_both && self.options.indexes == Indexes::Both);
        let mut more: Vec<String> =
            os_index.map(|index| format!("P#{index}")).into_iter().collect();
        more.extend(attributes(object, false));
        if is_root && object.total_memory() > 0 {
            more.push(format!("{} total", memory_size(object.total_memory(), false)));
        }
        if !more.is_empty() {
            label += &format!(" ({})", more.join(" "));
        }
        let name = name.filter(|_| object_type == ObjectType::OSDevice);
        label.extend(name.map(|name| format!(" \"{name}\"")));
        label
    }

    /// What is written in the box: of devices more than the label, in several lines.
    fn text(&self, object: Object<'_>) -> Vec<String> {
        let label = self.label(object);
        match object.attributes() {
            Attributes::Bridge(_) => Vec::new(),
            Attributes::OsDevice { kind } => {
                let mut text = vec![object.name().map_or(label, str::to_owned)];
                text.extend(object.subtype().map(str::to_owned));
                let is_nic = kind.is_network();
                text.extend(object.link_mbps().map(rate));
                text.extend(device_facts(object));
                let network = NetworkId::of(object).filter(|_| is_nic && self.networks > 0);
                text.extend(network.map(|network| network.kind().to_owned()));
                text
            }
            Attributes::Pci(pci) => vec![
                format!("{} {}", with_subtype(object), self.bus_id(&pci.bus_id().to_string())),
                pci_class_name(pci.class_id).to_owned(),
            ],
            _ => match (object.object_type(), label.split_once(" (")) {
                // Small boxes are narrow.
                (ObjectType::PU, Some((start, end))) => {
                    vec![start.to_owned(), end.trim_end_matches(')').to_owned()]
                }
                _ => vec![label],
            },
        }
    }

    fn bus_id<'t>(&self, bus_id: &'t str) -> &'t str {
        match self.with_domain {
            true => bus_id,
            false => bus_id.split_once(':').map_or(bus_id, |(_, rest)| rest),
        }
    }

    fn mark(&self, object: Object<'_>, shape: &mut NestedBox) {
        let options = self.options;
        shape.look.marks.hidden =
            self.visible.as_ref().is_some_and(|it| !it.contains(&object.id()));
        let allowed = match object.object_type() {
            ObjectType::PU => Some(&self.allowed.0),
            ObjectType::NUMANode => Some(&self.allowed.1),
            _ => None,
        };
        let index = object.os_index();
        shape.look.marks.disallowed =
            allowed.zip(index).is_some_and(|(set, index)| !set.contains(index));
        let is_inside = |set: &Set| {
            object.object_type().is_normal() && object.parent().is_some() && object.is_inside(set)
        };
        shape.look.marks.highlighted = options.highlighted.as_ref().is_some_and(is_inside);
        let carrier = if options.no_pus { ObjectType::Core } else { ObjectType::PU };
        if object.object_type() == carrier {
            self.mark_ranks(object, shape);
        }
        if matches!(object.object_type(), ObjectType::PCIDevice | ObjectType::Bridge) {
            let speed = match object.attributes() {
                Attributes::Pci(pci) => pci.linkspeed,
                Attributes::Bridge(bridge) => bridge.upstream.map_or(0.0, |pci| pci.linkspeed),
                _ => 0.0,
            };
            shape.link = (speed > 0.0).then(|| format!("{speed:.1}"));
        }
    }

    fn mark_ranks(&self, object: Object<'_>, shape: &mut NestedBox) {
        let has_it = |rank: &DrawnRank| rank.pus.as_ref().is_some_and(|pus| object.intersects(pus));
        let ranks = self.options.ranks.iter().enumerate().filter(|(_, rank)| has_it(rank));
        let numbers: Vec<usize> = ranks.map(|(number, _)| number).collect();
        let Some(first) = numbers.first() else { return };
        shape.look.colour = Some(*first);
        let named = numbers.iter().filter_map(|number| self.options.ranks.get(*number));
        let named: Vec<&DrawnRank> = named.take(MOST_RANKS_OF_A_BOX).collect();
        let mut short: Vec<String> = named.iter().map(|rank| self.short_name(rank)).collect();
        named.iter().for_each(|rank| shape.look.label += &format!(", {}", self.name(rank)));
        let others = numbers.len() - named.len();
        if others > 0 {
            shape.look.label += &format!(", and {others} more ranks");
            short.push(format!("+{others}"));
        }
        // Boxes are alike if they have the same ranks, also those that are not named.
        let mut all = DefaultHasher::new();
        numbers.hash(&mut all);
        shape.likeness += &all.finish().to_string();
        shape.look.text.push(format!("rank {}", short.join(" ")));
    }

    /// `rank 3`, and of which job if there are several.
    fn name(&self, rank: &DrawnRank) -> String {
        let of = if self.several_jobs { format!(" of {}", rank.job) } else { String::new() };
        format!("rank {}{of}", rank.rank)
    }

    /// The same for a small box.
    fn short_name(&self, rank: &DrawnRank) -> String {
        match self.several_jobs {
            true => format!("{}:{}", rank.job, rank.rank),
            false => rank.rank.to_string(),
        }
    }

    fn legend(&self, host: Option<&str>, shape: &NestedBox) -> Vec<NestedBox> {
        let more = self.options.more_legend.iter().cloned().map(NestedBox::legend);
        if self.options.no_legend {
            return more.collect();
        }
        let mut legend: Vec<NestedBox> =
            host.map(|host| NestedBox::legend(format!("Host: {host}"))).into_iter().collect();
        legend.extend(more);
        let indexes = match self.options.indexes {
            Indexes::Both => "L#: logical index, P#: OS index",
            Indexes::Logical => "L#: logical index",
            Indexes::Physical => "P#: OS index",
        };
        legend.push(NestedBox::legend(indexes.to_owned()));
        if has_link(shape) {
            legend.push(NestedBox::legend("at lines: GB/s".to_owned()));
        }
        legend.extend(of_marks(shape));
        let ranks = &self.options.ranks;
        let entry = |(number, rank): (usize, &DrawnRank)| {
            let pus = rank.pus.as_ref().map(|pus| pus.to_text(Format::List));
            let place = pus.map_or("not bound".to_owned(), |pus| format!("PUs P#{pus}"));
            coloured(format!("{}: {place}", self.name(rank)), number)
        };
        legend.extend(ranks.iter().enumerate().take(MOST_RANKS).map(entry));
        if ranks.len() > MOST_RANKS {
            let text = format!(
                "{} ranks in all: {} colours come again, the number is on each PU",
                ranks.len(),
                COLOURS.len()
            );
            legend.push(NestedBox::legend(text));
        }
        legend
    }
}

fn with_subtype(object: Object<'_>) -> String {
    let subtype = object.subtype().map(|subtype| format!("({subtype})")).unwrap_or_default();
    object.type_name(false) + &subtype
}

fn kind(object: Object<'_>) -> BoxKind {
    match object.object_type() {
        ObjectType::Machine => BoxKind::Machine,
        ObjectType::Package => BoxKind::Package,
        ObjectType::Die => BoxKind::Die,
        ObjectType::Core => BoxKind::Core,
        ObjectType::PU => BoxKind::Pu,
        ObjectType::NUMANode | ObjectType::MemCache => BoxKind::Memory,
        ObjectType::Bridge => BoxKind::Bridge,
        ObjectType::PCIDevice => BoxKind::Pci,
        ObjectType::OSDevice => BoxKind::Device,
        ObjectType::Misc => BoxKind::Misc,
        it if it.is_cache() => BoxKind::Cache,
        _ => BoxKind::Group,
    }
}

/// What objects that are alike have in common: all but their indexes. Devices have names, and
/// differ.
fn likeness(object: Object<'_>) -> String {
    let mut likeness = with_subtype(object);
    match object.attributes() {
        // Its memory need not be the same to the byte.
        Attributes::NumaNode { .. } => {}
        Attributes::Pci(pci) => {
            likeness += &format!("{:x}:{:x} {:x}", pci.vendor_id, pci.device_id, pci.class_id);
        }
        Attributes::OsDevice { .. } => likeness.extend(object.name()),
        _ => likeness.extend(attributes(object, false)),
    }
    likeness
}

/// What devices of one kind have in common.
fn model(object: Object<'_>) -> String {
    match object.attributes() {
        Attributes::OsDevice { .. } => with_subtype(object),
        _ => likeness(object),
    }
}

/// Memory and processors of a GPU, the size of a disk, as hwloc's infos say.
fn device_facts(object: Object<'_>) -> Vec<String> {
    const MEMORY: [&str; 5] = [
        "CUDAGlobalMemorySize",
        "OpenCLGlobalMemorySize",
        "RSMIVRAMSize",
        "LevelZeroHBMSize",
        "Size",
    ];
    const PROCESSORS: [(&str, &str); 3] = [
        ("CUDAMultiProcessors", "multiprocessors"),
        ("OpenCLComputeUnits", "compute units"),
        ("LevelZeroNumSlices", "slices"),
    ];
    let number = |name: &str| object.info(name)?.parse::<u64>().ok();
    let kilobytes = MEMORY.iter().find_map(|name| number(name)).filter(|it| *it > 0);
    let memory = kilobytes.map(|it| memory_size(it.saturating_mul(1024), false));
    let processors =
        PROCESSORS.iter().find_map(|(name, what)| Some(format!("{} {what}", number(name)?)));
    memory.into_iter().chain(processors).collect()
}

/// Facts of an object, a line for each.
fn details(object: Object<'_>) -> Vec<String> {
    let mut details = Vec::new();
    if object.object_type() != ObjectType::PU {
        details.extend(object.os_index().map(|index| format!("OS index {index}")));
        let list = |set: Set| format!("PUs P#{}", set.to_text(Format::List));
        details.extend(object.cpuset().filter(|_| !object.object_type().is_io()).map(list));
        details.extend(attributes(object, true));
        details.extend(object.facts().map(|fact| format!("{}={}", fact.name, fact.value)));
    }
    details
}

fn has_link(shape: &NestedBox) -> bool {
    shape.link.is_some() || shape.parts().any(has_link)
}
