//! Lines between the vertices of graphs of links.

use crate::pictures::rects;
use topobroker::hwloc::Input;
use topobroker_draw::{Units, links, svg};
use topobroker_layout::encode::to_bytes;
use topobroker_reader::Archive;
use topobroker_reader::links::SwitchModel;
use topobroker_samples::{describe, machines, shared};

/// The ends of the straight lines of a picture.
fn straight(text: &str) -> Vec<[i64; 4]> {
    let ends = |path: &str| {
        let mut numbers = path.split(['"', ' ', 'L']).map_while(|number| number.parse().ok());
        let four: [Option<i64>; 4] = std::array::from_fn(|_| numbers.next());
        four.iter().all(Option::is_some).then(|| four.map(Option::unwrap))
    };
    text.split(" d=\"M").skip(1).filter_map(ends).collect()
}

#[test]
fn no_straight_line_of_links_passes_behind_a_box_on_any_machine() {
    const STEPS: i64 = 400;
    let Some(shared) = shared() else { return };
    let mut lines = 0;
    for machine in machines(&shared).into_iter().filter(|it| it.loads && !it.path.is_dir()) {
        let bytes = to_bytes(&describe(&Input::Xml(machine.path.clone()))).unwrap();
        let archive = Archive::open(&bytes).unwrap();
        for model in [SwitchModel::One, SwitchModel::Separate] {
            let picture = links(&archive.topology().links(model).unwrap(), Units::PIXELS);
            let boxes: Vec<[i64; 4]> =
                rects(&picture).into_iter().map(|(sides, ..)| sides.map(i64::from)).collect();
            for [x, y, to_x, to_y] in straight(&svg(&picture)) {
                for step in 0..=STEPS {
                    let at = [x + (to_x - x) * step / STEPS, y + (to_y - y) * step / STEPS];
                    let is_behind = |side: &&[i64; 4]| {
                        side[0] < at[0] && at[0] < side[2] && side[1] < at[1] && at[1] < side[3]
                    };
                    let hit = boxes.iter().find(is_behind);
                    assert_eq!(hit, None, "{}: {x},{y} to {to_x},{to_y}", machine.name);
                }
                lines += 1;
            }
        }
    }
    println!("{lines} lines");
    assert!(lines > 3000, "{lines}");
}
