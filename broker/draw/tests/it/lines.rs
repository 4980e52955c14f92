//! Lines between the vertices of graphs of links.

use crate::pictures::rects;
use std::collections::BTreeMap;
use topobroker_draw::{Picture, Units, links, svg};
use topobroker_reader::links::SwitchModel;
use topobroker_samples::{machines, shared, topology_of_xml};

/// The boxes of vertices by name: left, top, right and bottom.
fn boxes(picture: &Picture) -> BTreeMap<String, [i64; 4]> {
    let names = picture.labels().map(|label| label.split(", ").next().unwrap().to_owned());
    let all = rects(picture);
    let places = all.iter().map(|(sides, ..)| sides.map(i64::from));
    let boxes: BTreeMap<_, _> = names.zip(places).collect();
    assert_eq!(boxes.len(), all.len());
    boxes
}

/// The ends of the straight lines of a picture, and what they say.
fn straight(picture: &Picture) -> Vec<([i64; 4], String)> {
    let line = |text: &str| {
        let (_, path) = text.split_once(" d=\"M").unwrap();
        let mut numbers = path.split(['"', ' ', 'L']).map_while(|number| number.parse().ok());
        let ends: [Option<i64>; 4] = std::array::from_fn(|_| numbers.next());
        let said = text.split_once("<title>").map_or("", |(_, said)| said);
        let said = said.split("</title>").next().unwrap().to_owned();
        ends.iter().all(Option::is_some).then(|| (ends.map(Option::unwrap), said))
    };
    svg(picture).split("<g><path").skip(1).filter_map(line).collect()
}

fn is_at(point: [i64; 2], [left, top, right, bottom]: [i64; 4]) -> bool {
    (left..=right).contains(&point[0]) && (top..=bottom).contains(&point[1])
}

/// Calls `look` with the graphs of links of all machines, and returns how many straight lines they
/// have; `None` without the machines.
fn of_all_machines(mut look: impl FnMut(&str, &Picture)) -> Option<usize> {
    let mut lines = 0;
    for machine in machines(&shared()?) {
        let topology = topology_of_xml(&machine.path);
        for model in [SwitchModel::One, SwitchModel::Separate] {
            let picture = links(&topology.links(model).unwrap(), Units::PIXELS);
            look(&machine.name, &picture);
            lines += straight(&picture).len();
        }
    }
    println!("{lines} lines");
    Some(lines)
}

#[test]
fn no_straight_line_of_links_passes_behind_a_box_on_any_machine() {
    const STEPS: i64 = 200;
    let lines = of_all_machines(|machine, picture| {
        let boxes = boxes(picture);
        for ([x, y, to_x, to_y], said) in straight(picture) {
            for step in 1..STEPS {
                let at = [x + (to_x - x) * step / STEPS, y + (to_y - y) * step / STEPS];
                let inside = |side: &[i64; 4]| [side[0] + 1, side[1] + 1, side[2] - 1, side[3] - 1];
                let hit = boxes.iter().find(|(_, side)| is_at(at, inside(side)));
                assert_eq!(hit, None, "{machine}: {said}");
            }
        }
    });
    assert!(lines.is_none_or(|lines| lines > 3000), "{lines:?}");
}

#[test]
fn each_straight_line_of_a_link_goes_on_until_it_comes_to_the_other_vertex() {
    let (mut followed, mut of_several) = (0, 0);
    let lines = of_all_machines(|machine, picture| {
        let (boxes, lines) = (boxes(picture), straight(picture));
        for (line, said) in &lines {
            let [_, _, mut x, mut y] = *line;
            let Some((one, rest)) = said.split_once(" to ") else { continue };
            let other = rest.rsplit_once(": ").unwrap().0;
            let lower = [one, other].map(|name| boxes[name]).into_iter().max_by_key(|it| it[1]);
            let mut steps = 0;
            while !is_at([x, y], lower.unwrap()) {
                let next = lines.iter().find(|(line, _)| line[..2] == [x, y]);
                let next = next.unwrap_or_else(|| panic!("{machine}: {said} ends at {x},{y}"));
                (x, y, steps) = (next.0[2], next.0[3], steps + 1);
                assert!(steps < 20, "{machine}: {said}");
            }
            followed += 1;
            of_several += u32::from(steps > 0);
        }
    });
    println!("{followed} lines, {of_several} of several pieces");
    assert!(lines.is_none() || (followed > 2000 && of_several > 50));
}
