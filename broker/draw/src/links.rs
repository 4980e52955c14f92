//! The picture of a graph of links: vertices in rows, links between them.

use crate::link_rows::{Row, Rows, Spot, steps};
use crate::picture::{Block, BoxKind, Dash, Frame, Line, Look, Picture, Units};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use topobroker_reader::links::{Link, LinkClass, Links, VertexId, VertexKind};

/// The picture of a graph of links. Vertices are in rows: switches and GPUs above, memory below.
#[must_use]
pub fn links(links: &Links<'_>, units: Units) -> Picture {
    let rows = Rows::new(links);
    let host = links.topology().root().info("HostName");
    let mut picture = Picture {
        title: host.map_or("Links of a node".to_owned(), |host| format!("Links of {host}")),
        hint: "cuda0, mlx5_0, NVSwitch",
        ..Picture::default()
    };
    let places = put_vertices(&mut picture, &rows, links, units);
    put_links(&mut picture, &rows, &places, links);
    if units.letter > 1 {
        spread_figures(&mut picture.lines);
        picture.lines = as_buses(std::mem::take(&mut picture.lines), units);
    }
    keep_readable_figures(&mut picture, links.links().len(), units);
    put_legend(&mut picture, links, units);
    picture
}

fn kind(kind: VertexKind) -> BoxKind {
    match kind {
        VertexKind::NetSwitch | VertexKind::Remote | VertexKind::NvSwitch => BoxKind::Misc,
        VertexKind::Gpu | VertexKind::Nic | VertexKind::Block => BoxKind::Device,
        VertexKind::PciSwitch | VertexKind::HostBridge => BoxKind::Pci,
        VertexKind::Cpu | VertexKind::Mesh => BoxKind::Package,
        VertexKind::Memory => BoxKind::Memory,
    }
}

fn put_vertices(
    picture: &mut Picture,
    rows: &Rows,
    links: &Links<'_>,
    units: Units,
) -> BTreeMap<Spot, Frame> {
    let look = |vertex: VertexId| {
        let name = links.name(vertex).into_owned();
        let found = links.vertex(vertex).map_or(VertexKind::Remote, |it| it.kind);
        let text = vec![name, found.name().to_owned()];
        let mut look = Look { text: text.clone(), ..Look::new(kind(found), text.join(", ")) };
        look.cut();
        look
    };
    let width_of = |spot: Spot| {
        let Spot::Vertex(vertex) = spot else { return 0 };
        let longest = look(vertex).text.iter().map(|it| it.chars().count()).max().unwrap_or(0);
        u32::try_from(longest).unwrap_or(0) * units.letter + 2 * units.pad.0
    };
    let gap = units.gap.0 + 2 * units.letter;
    let width_of_row = |row: &Row| row.spots.iter().map(|it| width_of(*it) + gap).sum::<u32>();
    let widest = rows.iter().map(width_of_row).max().unwrap_or(0);
    let (height, mut y) = (2 * units.line + 2 * units.pad.1, units.gap.1 + units.line);
    let mut places = BTreeMap::new();
    for row in rows.iter() {
        y += if row.has_arcs { 6 * units.line } else { 0 };
        let count = u32::try_from(row.spots.len()).unwrap_or(u32::MAX);
        let slack = (widest - width_of_row(row)) / count.saturating_add(1);
        let mut x = gap + slack;
        for spot in &row.spots {
            let place = Frame { x, y, width: width_of(*spot), height };
            places.insert(*spot, place);
            if let Spot::Vertex(vertex) = spot {
                picture.blocks.push(Block { place, look: look(*vertex), parent: None });
            }
            x += place.width + gap + slack;
        }
        y += height + 4 * units.line;
    }
    (picture.width, picture.height) = (widest + 2 * gap, y - 3 * units.line);
    places
}

/// Lines of all links. Those that pass a row at the same place are one line from there on.
fn put_links(
    picture: &mut Picture,
    rows: &Rows,
    places: &BTreeMap<Spot, Frame>,
    links: &Links<'_>,
) {
    let mut passed = BTreeSet::new();
    for (link, path) in links.links().iter().zip(&rows.paths) {
        for (upper, lower) in steps(path) {
            let (Some(above), Some(below)) = (places.get(&upper), places.get(&lower)) else {
                continue;
            };
            let mut line = line(links, link, *above, *below);
            if let Spot::Pass { to, .. } = upper {
                if !passed.insert(upper) {
                    break;
                }
                (line.text, line.label) = (None, Some(format!("to {}", links.name(to))));
                let top = (line.from.0, above.y);
                picture.lines.push(Line { from: top, to: line.from, ..line.clone() });
            }
            picture.lines.push(line);
        }
    }
}

fn line(links: &Links<'_>, link: &Link, above: Frame, below: Frame) -> Line {
    let is_arc = above.y == below.y;
    let from = (above.middle().0, if is_arc { above.y } else { above.y + above.height });
    let to = (below.middle().0, below.y);
    let far = from.0.abs_diff(to.0);
    let bandwidth = bandwidth(link);
    let count = link.links.filter(|count| *count > 1).map(|count| format!(" x{count}"));
    let label = format!(
        "{} to {}: {}{} {bandwidth}",
        links.name(link.one),
        links.name(link.other),
        link.class.name(),
        count.unwrap_or_default(),
    );
    Line {
        from,
        to,
        bow: if is_arc { (20 + far / 16).min(80) } else { 0 },
        dash: dash(link.class),
        text: (!bandwidth.is_empty()).then(|| bandwidth.trim_end_matches(" GB/s").to_owned()),
        text_at: 2,
        label: Some(label.trim_end().to_owned()),
    }
}

/// Lines from one box to many that no other line comes to, as a bus: one line down, one across, and
/// one down to each. Slanted lines would cross the figures of each other. Lines whose bus would lie
/// on another one stay as they are.
fn as_buses(lines: Vec<Line>, units: Units) -> Vec<Line> {
    /// From so many lines on.
    const MANY: usize = 5;
    let mut ends: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    lines.iter().for_each(|line| *ends.entry(line.to).or_default() += 1);
    let is_only = |line: &Line| line.bow == 0 && ends.get(&line.to) == Some(&1);
    let (drops, mut others): (Vec<Line>, Vec<Line>) = lines.into_iter().partition(is_only);
    let mut fans: BTreeMap<_, Vec<Line>> = BTreeMap::new();
    for line in drops {
        fans.entry((line.from, line.to.1, line.dash.name())).or_default().push(line);
    }
    let mut taken: Vec<Frame> = Vec::new();
    for ((from, _, _), mut drops) in fans {
        let across = drops.iter().map(|it| it.to.0).chain([from.0]);
        let (left, right) = (across.clone().min().unwrap_or(0), across.max().unwrap_or(0));
        let bus = from.1 + units.line;
        let place = Frame { x: left, y: bus, width: right - left + units.gap.0, height: 1 };
        if drops.len() < MANY || taken.iter().any(|other| other.meets(place)) {
            others.extend(drops);
            continue;
        }
        taken.push(place);
        let dash = drops.first().map_or(Dash::Solid, |it| it.dash);
        let bare = |from, to| Line { from, to, bow: 0, dash, text: None, text_at: 2, label: None };
        others.extend([bare(from, (from.0, bus)), bare((left, bus), (right, bus))]);
        drops.iter_mut().for_each(|line| (line.from, line.text_at) = ((line.to.0, bus), 2));
        others.extend(drops);
    }
    others
}

/// Takes away the figures that would lie on a box or on another figure. They are still what a line
/// says if it is pointed at.
fn keep_readable_figures(picture: &mut Picture, links: usize, units: Units) {
    /// Of more links hardly one has room for a figure.
    const MOST: usize = 2000;
    let is_text = units.letter == 1;
    if links > if is_text { 48 } else { MOST } {
        picture.lines.iter_mut().for_each(|line| line.text = None);
    }
    if is_text {
        return;
    }
    let mut taken: Vec<Frame> = picture.blocks.iter().map(|block| block.place).collect();
    for line in &mut picture.lines {
        let Some(frame) = line.text_frame(units) else { continue };
        match taken.iter().any(|other| other.meets(frame)) {
            true => line.text = None,
            false => taken.push(frame),
        }
    }
}

/// Of lines that begin or end at one box, the figures are where the lines are apart.
fn spread_figures(lines: &mut [Line]) {
    let ends = |end: fn(&Line) -> (u32, u32), lines: &[Line]| {
        let mut count: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        lines.iter().for_each(|line| *count.entry(end(line)).or_default() += 1);
        count
    };
    let (from, to) = (ends(|it| it.from, lines), ends(|it| it.to, lines));
    for line in lines.iter_mut().filter(|line| line.bow == 0) {
        line.text_at = match from.get(&line.from).cmp(&to.get(&line.to)) {
            Ordering::Greater => 3,
            Ordering::Less => 1,
            Ordering::Equal => 2,
        };
    }
}

fn dash(class: LinkClass) -> Dash {
    match class {
        LinkClass::NvLink | LinkClass::Xgmi | LinkClass::XeLink | LinkClass::C2c => Dash::Thick,
        LinkClass::Fabric => Dash::Dotted,
        LinkClass::Smp => Dash::Dashed,
        _ => Dash::Solid,
    }
}

/// What a class of links is, for the legend.
fn named(class: LinkClass) -> &'static str {
    match class {
        LinkClass::Loc => "LOC within a device",
        LinkClass::Mem => "MEM to memory",
        LinkClass::Cpu => "CPU within a package",
        LinkClass::Smp => "SMP between packages",
        LinkClass::Pci => "PCI",
        LinkClass::NvLink => "NVL NVLink",
        LinkClass::Xgmi => "XGMI between GPUs",
        LinkClass::C2c => "C2C between CPU and GPU",
        LinkClass::XeLink => "XE Xe Link",
        LinkClass::Fabric => "FAB network",
    }
}

/// In GB/s, of both directions if they differ.
fn bandwidth(link: &Link) -> String {
    let text = |it: u32| format!("{}.{}", it / 1000, it % 1000 / 100);
    match (link.forward, link.backward) {
        (None, None) => String::new(),
        (Some(one), Some(other)) if one != other => format!("{}/{} GB/s", text(one), text(other)),
        (Some(it), _) | (None, Some(it)) => format!("{} GB/s", text(it)),
    }
}

fn put_legend(picture: &mut Picture, links: &Links<'_>, units: Units) {
    let mut classes: Vec<LinkClass> = links.links().iter().map(|it| it.class).collect();
    classes.sort_unstable();
    classes.dedup();
    let picture_has_figures = picture.lines.iter().any(|line| line.text.is_some());
    let mut y = picture.height;
    let mut put = |text: String| {
        let width =
            u32::try_from(text.chars().count()).unwrap_or(400) * units.letter + 2 * units.pad.0;
        let height = units.line + 2 * units.pad.1;
        let place = Frame { x: units.gap.0, y, width, height };
        picture.blocks.push(Block { place, look: Look::new(BoxKind::Legend, text), parent: None });
        picture.width = picture.width.max(width + 2 * units.gap.0);
        y += height;
    };
    if picture_has_figures {
        put("at lines: GB/s in one direction".to_owned());
    }
    for dash in [Dash::Solid, Dash::Dashed, Dash::Dotted, Dash::Thick] {
        let names: Vec<&str> =
            classes.iter().filter(|it| self::dash(**it) == dash).map(|it| named(*it)).collect();
        if !names.is_empty() {
            put(format!("{}: {}", dash.name(), names.join(", ")));
        }
    }
    picture.height = y + units.gap.1;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines from one box to others, a place each.
    fn fan(from: u32, to: impl Iterator<Item = u32>) -> Vec<Line> {
        let line = |to| {
            let dash = Dash::Solid;
            Line {
                from: (from, 0),
                to: (to, 90),
                bow: 0,
                dash,
                text: None,
                text_at: 2,
                label: None,
            }
        };
        to.map(line).collect()
    }

    /// Left and right of each line across.
    fn across(lines: Vec<Line>) -> Vec<(u32, u32)> {
        let lines = as_buses(lines, Units::PIXELS).into_iter();
        lines.filter(|it| it.from.1 == it.to.1).map(|it| (it.from.0, it.to.0)).collect()
    }

    #[test]
    fn many_lines_from_one_box_are_a_bus_that_lies_on_no_other() {
        let five = fan(300, (0..5).map(|it| it * 100));
        assert_eq!(across(five.clone()), [(0, 400)]);
        assert_eq!(across(fan(300, (0..4).map(|it| it * 100))), []);
        let right_of_it = fan(700, (5..10).map(|it| it * 100));
        assert_eq!(across([five.clone(), right_of_it].concat()), [(0, 400), (500, 900)]);
        let over = fan(350, (0..5).map(|it| it * 100 + 250));
        assert_eq!(across([five.clone(), over.clone()].concat()).len(), 1);
        // All lines are there, as slanted ones.
        assert_eq!(as_buses([five, over].concat(), Units::PIXELS).len(), 5 + 2 + 5);
        // A box at which several lines end is on no bus.
        assert_eq!(across([fan(0, 0..5), fan(9, 0..5)].concat()), []);
    }
}
