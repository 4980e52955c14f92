//! Pictures: what is in them is what `ls` prints, their boxes lie in each other and not on each
//! other.

use std::collections::{BTreeMap, BTreeSet};
use topobroker::hwloc::Input;
use topobroker_cli::console::{self, Style};
use topobroker_draw::{
    DrawnRank, Fold, Lines, NodeOptions, Page, Picture, Units, ascii, ascii_coloured, cluster,
    html, links, node, pdf, svg, tikz,
};
use topobroker_layout::encode::to_bytes;
use topobroker_reader::cluster::Cluster;
use topobroker_reader::links::SwitchModel;
use topobroker_reader::{Archive, Format, ObjectType, Set, Topology};
use topobroker_sample_clusters::grouped_by_fabric;
use topobroker_samples::{
    SYNTHETIC_2048, describe, machines, shared, synthetic, topology_of, topology_of_xml,
};

fn whole() -> NodeOptions<'static> {
    NodeOptions { fold: Fold::Nothing, no_legend: true, ..NodeOptions::default() }
}

/// What `ls` prints of each object.
fn listed(topology: Topology<'_>) -> Vec<String> {
    let text = console::print(topology, &Style { no_collapse: true, ..Style::default() });
    let objects = text.lines().flat_map(|line| line.trim().split(" + "));
    sorted(objects.filter(|it| !it.is_empty()).map(str::to_owned).collect())
}

fn sorted(mut all: Vec<String>) -> Vec<String> {
    all.sort();
    all
}

/// An attribute of an element of a line of SVG.
fn number(line: &str, name: &str) -> Option<u32> {
    let (_, rest) = line.split_once(&format!(" {name}=\""))?;
    rest.split('"').next()?.parse().ok()
}

/// Left, top, right and bottom, and the number of the box that it is in.
pub(crate) type Rect = ([u32; 4], Option<u32>, bool);

pub(crate) fn rects(picture: &Picture) -> Vec<Rect> {
    let rect = |line: &str| {
        let (_, shape) = line.split_once("<rect").unwrap();
        let side = |name| number(shape, name).unwrap();
        let (x, y) = (side("x"), side("y"));
        let parent = line.split_once("data-in=\"").map(|(_, rest)| rest.split('"').next().unwrap());
        let is_open = line.contains("class=\"cache") || line.contains("class=\"bridge");
        (
            [x, y, x + side("width"), y + side("height")],
            parent.map(|it| it.parse().unwrap()),
            is_open,
        )
    };
    let text = svg(picture).replace("\n", " ");
    text.split("<g id=").skip(1).map(rect).collect()
}

/// Boxes are within the box that they are in, unless that is a cache or a bridge, and boxes next to
/// each other do not meet.
fn assert_boxes_are_apart(picture: &Picture, name: &str) {
    let rects = rects(picture);
    let mut siblings_of: BTreeMap<Option<u32>, Vec<[u32; 4]>> = BTreeMap::new();
    for ([left, top, right, bottom], parent, _) in &rects {
        assert!(*right <= picture.width() && *bottom <= picture.height(), "{name}");
        if let Some((outer, _, is_open)) = parent.and_then(|it| rects.get(it as usize)) {
            let is_in =
                outer[0] <= *left && outer[1] <= *top && *right <= outer[2] && *bottom <= outer[3];
            assert!(is_in || *is_open, "{name}: {outer:?} {:?}", [left, top, right, bottom]);
        }
        siblings_of.entry(*parent).or_default().push([*left, *top, *right, *bottom]);
    }
    for siblings in siblings_of.into_values() {
        for (number, one) in siblings.iter().enumerate() {
            for other in siblings.iter().skip(number + 1).take(64) {
                let is_apart = one[2] <= other[0]
                    || other[2] <= one[0]
                    || one[3] <= other[1]
                    || other[3] <= one[1];
                assert!(is_apart, "{name}: {one:?} {other:?}");
            }
        }
    }
}

#[test]
fn pictures_of_all_machines_have_what_ls_prints_and_no_box_on_another() {
    let Some(shared) = shared() else { return };
    let mut drawn = 0;
    for machine in machines(&shared) {
        let topology = topology_of_xml(machine.path);
        let picture = node(topology, &whole(), Units::PIXELS);
        let labels = sorted(picture.labels().map(str::to_owned).collect());
        assert_eq!(labels, listed(topology), "{}", machine.name);
        let folded = node(topology, &NodeOptions::default(), Units::PIXELS);
        let graph = links(&topology.links(SwitchModel::One).unwrap(), Units::PIXELS);
        for picture in [&picture, &folded, &graph] {
            assert_boxes_are_apart(picture, &machine.name);
            assert_eq!(svg(picture), svg(&picture.clone()));
            assert!(html(picture).contains(&svg(picture)));
            assert!(tikz(picture).ends_with("\\end{document}\n"));
        }
        let text = ascii(&node(topology, &whole(), Units::LETTERS), Lines::Unicode);
        let pus = topology.objects_with_type(ObjectType::PU).count();
        assert_eq!(text.matches("│ PU L#").count(), pus, "{}", machine.name);
        drawn += 1;
    }
    println!("{drawn} machines");
    assert!(drawn > 100, "{drawn}");
}

/// The sizes of boxes of a kind, by what is in each: boxes that are alike have one.
fn shapes(picture: &Picture, class: &str) -> BTreeMap<u32, Vec<[u32; 2]>> {
    let text = svg(picture).replace('\n', " ");
    let blocks: Vec<&str> = text.split("<g id=").skip(1).collect();
    let parent = |block: &&str| {
        let (_, rest) = block.split_once("data-in=\"")?;
        rest.split('"').next()?.parse::<u32>().ok()
    };
    let mut inside: BTreeMap<u32, u32> = BTreeMap::new();
    blocks.iter().filter_map(parent).for_each(|it| *inside.entry(it).or_default() += 1);
    let mut shapes: BTreeMap<u32, Vec<[u32; 2]>> = BTreeMap::new();
    for (number, block) in blocks.iter().enumerate() {
        if block.contains(&format!("class=\"{class}\"")) {
            let (_, shape) = block.split_once("<rect").unwrap();
            let size = ["width", "height"].map(|name| self::number(shape, name).unwrap());
            let count = inside.get(&u32::try_from(number).unwrap()).copied().unwrap_or(0);
            let sizes = shapes.entry(count).or_default();
            if !sizes.contains(&size) {
                sizes.push(size);
            }
        }
    }
    shapes
}

/// The share of a picture, in percent, that is in no box but those of the machine and of groups.
pub(crate) fn white(picture: &Picture) -> u64 {
    let text = svg(picture).replace('\n', " ");
    let mut area = 0;
    // Of each box, whether what is in it lies on a colour. Caches do not enclose what is below them.
    let mut covered: Vec<bool> = Vec::new();
    for block in text.split("<g id=").skip(1) {
        let is_white = ["machine", "group", "bridge", "legend"]
            .iter()
            .any(|it| block.contains(&format!("class=\"{it}")));
        let parent: Option<usize> = block
            .split_once("data-in=\"")
            .and_then(|(_, rest)| rest.split('"').next()?.parse().ok());
        let is_inside = parent.is_some_and(|it| covered[it]);
        if !is_white && !is_inside {
            let (_, shape) = block.split_once("<rect").unwrap();
            let side = |name| u64::from(number(shape, name).unwrap());
            area += side("width") * side("height");
        }
        let is_bar = block.contains("class=\"cache");
        covered.push(is_inside || !(is_white || is_bar));
    }
    100 - area * 100 / (u64::from(picture.width()) * u64::from(picture.height()))
}

/// Whether a picture has the form of a page or of a screen: between 1:1 and 16:9.
pub(crate) fn page_like([width, height]: [u32; 2]) -> bool {
    (100..=178).contains(&(width * 100 / height))
}

#[test]
fn alike_boxes_have_one_shape_and_pictures_the_form_of_a_page() {
    let Some(shared) = shared() else { return };
    let (mut drawn, mut pages, mut whites) = (0, 0, Vec::new());
    for machine in machines(&shared) {
        let topology = topology_of_xml(&machine.path);
        let picture = node(topology, &NodeOptions::default(), Units::PIXELS);
        for class in ["pu", "core"] {
            for (count, sizes) in shapes(&picture, class) {
                assert_eq!(
                    sizes.len(),
                    1,
                    "{}: {class} with {count} boxes: {sizes:?}",
                    machine.name
                );
            }
        }
        pages += u32::from(page_like([picture.width(), picture.height()]));
        let white = white(&picture);
        whites.push(white);
        println!("{}: {}x{}, white {white} %", machine.name, picture.width(), picture.height());
        drawn += 1;
    }
    whites.sort_unstable();
    let below = whites.iter().filter(|it| **it <= 33).count();
    println!(
        "{pages} of {drawn} between 1:1 and 16:9; {below} with a third of white at most, median {} %",
        whites[whites.len() / 2]
    );
    assert!(pages * 10 >= drawn * 7, "{pages} of {drawn}");
    assert!(whites[whites.len() / 2] <= 33, "{whites:?}");
}

#[test]
fn packages_with_as_many_groups_have_them_in_rows_of_one_length() {
    let Some(shared) = shared() else { return };
    // Only the second package has its devices in one group.
    let input = Input::Xml(shared.join("topologies/prrte__turin-4gpu-nvml.xml"));
    let topology = topology_of(&describe(&input));
    let text = svg(&node(topology, &NodeOptions::default(), Units::PIXELS));
    let text = text.replace('\n', " ");
    let mut lefts: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for block in text.split("<g id=").filter(|it| it.contains("class=\"group\"")) {
        let (_, parent) = block.split_once("data-in=\"").unwrap();
        let (_, shape) = block.split_once("<rect").unwrap();
        let lefts = lefts.entry(parent.split('"').next().unwrap()).or_default();
        lefts.insert(number(shape, "x").unwrap());
    }
    let columns: Vec<usize> = lefts.values().map(BTreeSet::len).collect();
    assert!(matches!(columns[..], [one, other] if one == other), "{lefts:?}");
}

/// Groups in groups, each next to one of two PUs, and where they begin to be numbered.
fn nested(depth: u32, first: u32) -> (String, u32) {
    let set = |from, to| {
        let pus: Set = (from..to).collect();
        let set = pus.to_text(Format::Hwloc);
        format!(
            "cpuset=\"{set}\" complete_cpuset=\"{set}\" nodeset=\"0x1\" complete_nodeset=\"0x1\""
        )
    };
    let pu =
        |index| format!("<object type=\"PU\" os_index=\"{index}\" {}/>", set(index, index + 1));
    let group = |from, to, inside: &str| {
        format!("<object type=\"Group\" {} kind=\"10\">{inside}</object>", set(from, to))
    };
    let pair = |from: u32| group(from, from + 2, &(pu(from) + &pu(from + 1)));
    if depth == 0 {
        return (pair(first), first + 2);
    }
    let (inner, next) = nested(depth - 1, first);
    (group(first, next + 2, &(inner + &pair(next))), next + 2)
}

#[test]
fn groups_in_groups_take_no_longer_the_deeper_they_are() {
    let (inner, count) = nested(24, 0);
    let all: Set = (0..count).collect();
    let set = all.to_text(Format::Hwloc);
    let sets = format!(
        "cpuset=\"{set}\" complete_cpuset=\"{set}\" nodeset=\"0x1\" complete_nodeset=\"0x1\""
    );
    let allowed = format!("allowed_cpuset=\"{set}\" allowed_nodeset=\"0x1\"");
    let xml = format!(
        "<topology version=\"2.0\"><object type=\"Machine\" os_index=\"0\" {sets} {allowed}>\
         <object type=\"NUMANode\" os_index=\"0\" {sets} local_memory=\"1024\"/>{inner}</object></topology>"
    );
    let topology = topology_of(&describe(&Input::XmlText(xml)));
    let picture = node(topology, &whole(), Units::PIXELS);
    assert_eq!(picture.labels().filter(|it| it.starts_with("Group")).count(), 48);
}

#[test]
fn a_name_of_a_megabyte_is_cut_before_it_is_measured() {
    let mut description = synthetic("Core:1 PU:1");
    let name = "n".repeat(1 << 20);
    description.objects[0].infos.push(("HostName".to_owned(), name.clone()));
    let bytes = to_bytes(&description).unwrap();
    let archive = Archive::open(&bytes).unwrap();
    let picture = node(archive.topology(), &NodeOptions::default(), Units::PIXELS);
    assert!(picture.width() < 2000, "{}", picture.width());
    assert!(svg(&picture).contains("nnn\u{2026}</text>"));
    description.objects[1].subtype = Some(name);
    let topology = topology_of(&description);
    let picture = node(topology, &NodeOptions::default(), Units::PIXELS);
    assert!(picture.width() < 2000, "{}", picture.width());
}

#[test]
fn text_for_a_terminal_is_as_narrow_as_is_asked_for_if_what_is_in_it_can_be() {
    let topology = topology_of(&synthetic("Package:4 L3:2 Core:8 PU:2"));
    for most in [60, 80, 100, 200] {
        let options = NodeOptions { most_width: Some(most), ..NodeOptions::default() };
        let picture = node(topology, &options, Units::LETTERS);
        let text = ascii(&picture, Lines::Unicode);
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= most as usize, "{most}: {widest}");
    }
    let bare = NodeOptions { no_io: true, no_caches: true, no_pus: true, ..NodeOptions::default() };
    let text = ascii(&node(topology, &bare, Units::LETTERS), Lines::Ascii);
    assert!(text.contains("Core L#63") && !text.contains("L3") && !text.contains("PU L#"));
    let coloured = ascii_coloured(&node(topology, &bare, Units::LETTERS), Lines::Ascii);
    assert!(coloured.contains("\u{1b}[36mCore L#63\u{1b}[0m"));
}

#[test]
fn alike_devices_behind_one_bridge_are_one_box_that_says_which() {
    let Some(shared) = shared() else { return };
    let input = Input::Xml(shared.join("topologies/flux-core__tuo.SPX.xml"));
    let topology = topology_of(&describe(&input));
    let text = svg(&node(topology, &NodeOptions::default(), Units::PIXELS));
    assert!(
        text.contains(">16 PCI 0001:83:00.0</text>") && text.contains(">to 0001:94:00.0</text>")
    );
    assert!(text.contains("nvme7n1") && text.contains(">to nvme15n1</text>"));
}

#[test]
fn names_that_would_be_marks_of_a_format_are_written_as_text() {
    let mut description = synthetic("Core:1 PU:1");
    let name = "<b>&\"\u{1}\\input{x}_$";
    description.objects[0].infos.push(("HostName".to_owned(), name.to_owned()));
    let topology = topology_of(&description);
    let options = NodeOptions::default();
    let picture = node(topology, &options, Units::PIXELS);
    assert!(svg(&picture).contains("Host: &lt;b&gt;&amp;&quot;\u{fffd}\\input{x}_$"));
    assert!(tikz(&picture).contains("\\textbackslash{}input\\{x\\}\\_\\$"));
    let letters = node(topology, &options, Units::LETTERS);
    assert!(ascii(&letters, Lines::Ascii).chars().all(|it| it == '\n' || !it.is_control()));
}

#[test]
fn a_page_of_2048_pus_is_small_also_with_a_rank_on_each_core() {
    let bytes = to_bytes(&synthetic(SYNTHETIC_2048)).unwrap();
    let archive = Archive::open(&bytes).unwrap();
    let topology = archive.topology();
    let cores = topology.objects_with_type(ObjectType::Core).zip(0..);
    let rank = |pus: Option<Set>, rank| DrawnRank { job: "j".to_owned(), rank, pus };
    let ranks: Vec<DrawnRank> = cores.map(|(core, number)| rank(core.cpuset(), number)).collect();
    let plain = svg(&node(topology, &NodeOptions::default(), Units::PIXELS));
    let coloured = NodeOptions { ranks, ..NodeOptions::default() };
    let coloured = svg(&node(topology, &coloured, Units::PIXELS));
    println!("{} bytes, with ranks {} bytes", plain.len(), coloured.len());
    assert!(plain.len() < 64 << 10, "{}", plain.len());
    assert!(coloured.len() < 700_000, "{}", coloured.len());
    // Of the four PUs of a core, the first and the last are drawn.
    assert_eq!(coloured.matches("class=\"pu c").count(), 1024);
}

#[test]
fn a_pu_of_many_ranks_names_the_first_and_counts_the_others() {
    let topology = topology_of(&synthetic("PU:2"));
    let rank = |pus: Option<Set>, rank| DrawnRank { job: "j".to_owned(), rank, pus };
    let mut ranks: Vec<DrawnRank> =
        (0..100).map(|number| rank(topology.root().cpuset(), number)).collect();
    ranks.push(rank(topology.pu_by_os_index(1).unwrap().cpuset(), 100));
    let options = NodeOptions { ranks, ..NodeOptions::default() };
    let text = svg(&node(topology, &options, Units::PIXELS));
    // The second PU has one rank more, so the two are not drawn as one.
    for named in ["rank 0 1 2 3 4 5 6 7 +92", "rank 0 1 2 3 4 5 6 7 +93"] {
        assert!(text.contains(named), "{text}");
    }
    assert!(!text.contains("rank 50"), "{text}");
}

#[test]
fn ranks_from_the_thirteenth_on_have_another_border_in_every_format() {
    let topology = topology_of(&synthetic("Core:13 PU:1"));
    let rank = |rank: u32| {
        let pus = Some(std::iter::once(rank).collect());
        DrawnRank { job: "j".to_owned(), rank, pus }
    };
    let drawn = |ranks| {
        let options =
            NodeOptions { ranks: (0..ranks).map(rank).collect(), ..NodeOptions::default() };
        let picture = node(topology, &options, Units::PIXELS);
        let pdf = String::from_utf8_lossy(&pdf(&picture, Page::Picture)).into_owned();
        [
            svg(&picture).matches("class=\"pu c0 r1\"").count(),
            tikz(&picture).matches(",dash pattern=on 6pt off 2pt]").count(),
            pdf.matches("[6 2] 0 d").count(),
        ]
    };
    assert_eq!(drawn(12), [0; 3]);
    // The PU of the rank; the legend has it once more.
    assert_eq!(drawn(13), [1, 2, 2]);
}

#[test]
fn what_a_view_hides_is_grey_and_ranks_have_the_colours_of_the_legend() {
    let topology = topology_of(&synthetic("Package:2 Core:2 PU:2"));
    let pus: Set = (0..4).collect();
    let view = topobroker_reader::View::whole(topology).restrict(&pus, Default::default()).unwrap();
    let ranks = vec![
        DrawnRank { job: "j".to_owned(), rank: 7, pus: Some((0..2).collect()) },
        DrawnRank { job: "j".to_owned(), rank: 9, pus: None },
    ];
    let options = NodeOptions {
        ranks,
        view: Some(view.topology()),
        highlighted: Some((2..4).collect()),
        ..NodeOptions::default()
    };
    let text = svg(&node(topology, &options, Units::PIXELS));
    assert_eq!(text.matches("class=\"pu hidden\"").count(), 4);
    assert_eq!(text.matches("class=\"pu c0\"").count(), 2);
    assert_eq!(text.matches("class=\"pu mark\"").count(), 2);
    assert!(text.contains("rank 7: PUs P#0-1") && text.contains("rank 9: not bound"), "{text}");
    assert!(text.contains("grey or (in brackets): not in this view"));
    let letters = ascii(&node(topology, &options, Units::LETTERS), Lines::Ascii);
    assert!(letters.contains("(PU L#4)") && letters.contains("*PU L#2*"), "{letters}");
}

#[test]
fn clusters_are_drawn_by_switch_and_large_ones_by_class() {
    let Some(avakas) = grouped_by_fabric("avakas") else { return };
    let avakas = Cluster::open(&avakas).unwrap();
    let picture = cluster(&avakas, Fold::Large, Units::PIXELS).unwrap();
    assert_boxes_are_apart(&picture, "avakas");
    let labels: Vec<&str> = picture.labels().collect();
    for node in avakas.nodes() {
        let label = format!("{}, class {}", node.name(), node.class());
        assert!(labels.contains(&label.as_str()), "{label}");
    }
    assert_eq!(labels.iter().filter(|it| it.starts_with("switch ")).count(), 17);
    println!("{} x {}", picture.width(), picture.height());
}
