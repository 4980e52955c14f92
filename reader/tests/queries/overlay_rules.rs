//! Breaks each rule that FORMAT.md has for overlays, one at a time.

use super::views;
use super::{machines, rule};
use topobroker_layout::overlay::{self, Moved, Overlay};
use topobroker_reader::{Archive, RestrictFlags, View};

/// Name of a rule, a function that breaks it, and a part of the error.
type Rule = (&'static str, fn(&mut Overlay), &'static str);

/// Rules that are broken in an overlay without moved objects.
const IN_ORDER: [Rule; 7] = [
    ("view levels", |it| it.levels.rows[1].first = 2, "ascends from one root"),
    ("view types", |it| it.levels.depth_of_type[0] = 9, "agrees with the levels"),
    ("visible", |it| it.before[0] = 1, "counts them before each word"),
    (
        "above",
        |it| (it.visible[0], it.contiguous[1]) = (it.visible[0] ^ PACKAGES, 2),
        "shows what is above each object",
    ),
    ("in order", |it| it.base_level.swap(1, 2), "is a level of the same type"),
    ("contiguous", |it| it.contiguous[1] += 1, "whose objects follow each other"),
    ("left", |it| it.cpus.words[0] ^= 1, "must be visible exactly if its OS index is in this set"),
];

/// Rules that are broken in an overlay with moved objects.
const MOVED: [Rule; 4] = [
    (
        "moved columns",
        |it| it.moved.parent = Moved::pack([0]),
        "has a row for each object that is visible",
    ),
    (
        "order",
        |it| it.moved.order = Moved::pack((0..count(it)).rev()),
        "is an object that is visible",
    ),
    (
        "moved children",
        |it| it.moved.child_start = Moved::pack((0..=count(it)).map(|_| 0)),
        "has every object that is visible but the root",
    ),
    (
        "moved parents",
        |it| it.moved.parent = Moved::pack((0..count(it)).map(|id| id.min(1))),
        "parent this is",
    ),
];

/// Bits of the two packages. One is visible, the other is hidden.
const PACKAGES: u64 = 0b110;

fn count(overlay: &Overlay) -> u32 {
    overlay.visible.iter().map(|word| word.count_ones()).sum()
}

fn refusals(archive: &[u8], right: &Overlay, rules: &[Rule]) -> Vec<String> {
    let opened = Archive::open(archive).unwrap();
    let whole = opened.topology();
    View::from_archive(whole, &overlay::to_bytes(right).unwrap()).unwrap();
    let wrong = rules.iter().filter_map(|(name, breaks, complaint)| {
        let mut broken = right.clone();
        breaks(&mut broken);
        let bytes = overlay::to_bytes(&broken).unwrap();
        let found = View::from_archive(whole, &bytes).map(|_| ()).map_err(rule);
        let found = found.err().unwrap_or_default();
        (!found.contains(complaint)).then(|| format!("{name}: {found:?}, expected {complaint:?}"))
    });
    wrong.collect()
}

#[test]
fn an_overlay_that_breaks_a_rule_is_refused_with_that_rule() {
    let regular = machines::regular(2, 4);
    let opened = Archive::open(&regular).unwrap();
    let half = (0..4).chain(8..12).collect();
    let view = View::new(opened.topology(), &half, RestrictFlags::REMOVE_CPULESS).unwrap();
    assert!(view.is_in_order());
    let wrong = refusals(&regular, &view.to_overlay().unwrap(), &IN_ORDER);
    assert!(wrong.is_empty(), "{wrong:#?}");

    let small = machines::small();
    let opened = Archive::open(&small).unwrap();
    let moved = views(opened.topology()).into_iter().find(|view| !view.is_in_order()).unwrap();
    let wrong = refusals(&small, &moved.to_overlay().unwrap(), &MOVED);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
#[cfg_attr(miri, ignore = "reads a page of text, which is slow under Miri and has no unsafe code")]
fn every_rule_that_the_format_has_of_an_overlay_is_broken_here() {
    let format = include_str!("../../../layout/FORMAT.md");
    let (_, rules) = format.split_once("Of an overlay:").unwrap();
    let (rules, _) = rules.split_once("Of a job:").unwrap();
    let names = rules.lines().filter_map(|line| line.strip_prefix("* **")?.split_once("**"));
    let names: Vec<&str> = names.map(|(name, _)| name).collect();
    let broken: Vec<&str> = IN_ORDER.iter().chain(&MOVED).map(|(name, ..)| *name).collect();
    assert_eq!(names, broken);
}
