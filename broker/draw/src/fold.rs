//! Boxes that are alike, of which only the first and the last are drawn, and devices that are drawn
//! as one.

use crate::left_out::LeftOut;
use crate::picture::BoxKind;
use crate::shape::NestedBox;

/// Which boxes are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fold {
    /// Of many boxes in all, those that are alike. Devices behind one bridge that are alike are one
    /// box.
    #[default]
    Large,
    /// Of so many and more neighbours that are alike, all but the first and the last; of devices as
    /// by default.
    Alike(usize),
    /// None.
    Nothing,
}

/// Most boxes of a picture that is looked at in one piece.
const LARGE: usize = 500;

/// So many devices behind one bridge that are alike are one box.
const MANY_DEVICES: usize = 4;

/// Leaves out what repeats.
pub(crate) fn fold(shape: &mut NestedBox, which: Fold) {
    if which != Fold::Nothing {
        fold_devices(shape);
    }
    match which {
        Fold::Nothing => {}
        Fold::Alike(least) => fold_runs(shape, least.max(3)),
        Fold::Large if shape.count() > LARGE => fold_runs(shape, 4),
        Fold::Large => {}
    }
}

fn fold_runs(shape: &mut NestedBox, least: usize) {
    for parts in [&mut shape.memory, &mut shape.children, &mut shape.io] {
        for mut run in runs(std::mem::take(parts), NestedBox::is_like) {
            if run.len() >= least {
                let middle: Vec<NestedBox> = run.drain(1..run.len() - 1).collect();
                let mut more = NestedBox::new(BoxKind::More, format!("... {} more", middle.len()));
                more.look.details = LeftOut::of(&middle).lines();
                run.insert(1, more);
            }
            run.iter_mut().for_each(|it| fold_runs(it, least));
            parts.extend(run);
        }
    }
}

/// Devices behind each bridge that are alike but for their names, as one.
fn fold_devices(shape: &mut NestedBox) {
    let alike = |one: &NestedBox, other: &NestedBox| one.is_device() && one.is_same_device(other);
    for run in runs(std::mem::take(&mut shape.io), alike) {
        match run.len() >= MANY_DEVICES {
            true => shape.io.push(as_one(run)),
            false => shape.io.extend(run),
        }
    }
    let parts = shape.memory.iter_mut().chain(&mut shape.children).chain(&mut shape.io);
    parts.for_each(fold_devices);
}

/// One box for devices that are alike: how many there are, from which to which.
fn as_one(run: Vec<NestedBox>) -> NestedBox {
    let count = run.len();
    let details = LeftOut::of(&run).lines();
    let (mut first, mut last) = (None, None);
    for device in run {
        let place = if first.is_none() { &mut first } else { &mut last };
        *place = Some(device.innermost());
    }
    let mut one = first.unwrap_or_else(|| NestedBox::new(BoxKind::Device, String::new()));
    let name = |it: &NestedBox| it.look.text.first().cloned().unwrap_or_default();
    let end = last.as_ref().map(name).unwrap_or_default();
    let start = name(&one);
    // Both begin with `PCI`.
    let end_name = end.rsplit(' ').next().unwrap_or_default();
    one.look.text.splice(0..1, [format!("{count} {start}"), format!("to {end_name}")]);
    one.look.label = format!("{count} devices, {start} to {end}");
    one.likeness = one.look.label.clone();
    one.look.details = details;
    let names = |all: &[NestedBox]| all.iter().map(name).collect::<Vec<_>>();
    let last_children = last.map(|it| names(&it.children)).unwrap_or_default();
    for (child, end) in one.children.iter_mut().zip(last_children) {
        let start = name(child);
        child.look.text.splice(0..1, [start.clone(), format!("to {end}")]);
        child.look.label = format!("{start} to {end}");
    }
    one
}

/// Neighbours that are alike, together.
fn runs(
    parts: Vec<NestedBox>,
    is_like: impl Fn(&NestedBox, &NestedBox) -> bool,
) -> Vec<Vec<NestedBox>> {
    let mut rest = parts.into_iter().peekable();
    let mut runs = Vec::new();
    while let Some(first) = rest.next() {
        let mut run = vec![first];
        while let Some(next) =
            rest.next_if(|next| run.first().is_some_and(|first| is_like(first, next)))
        {
            run.push(next);
        }
        runs.push(run);
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(names: &[&str]) -> NestedBox {
        let mut machine = NestedBox::new(BoxKind::Machine, "Machine".to_owned());
        machine.children =
            names.iter().map(|name| NestedBox::new(BoxKind::Core, (*name).to_owned())).collect();
        machine
    }

    fn folded(names: &[&str], which: Fold) -> Vec<String> {
        let mut machine = machine(names);
        fold(&mut machine, which);
        machine.children.into_iter().map(|it| it.look.label).collect()
    }

    #[test]
    fn of_neighbours_that_are_alike_the_first_and_the_last_stay() {
        let names = ["a", "a", "a", "a", "a", "b", "b", "a"];
        assert_eq!(folded(&names, Fold::Alike(4)), ["a", "... 3 more", "a", "b", "b", "a"]);
        assert_eq!(folded(&names, Fold::Nothing), names);
    }

    #[test]
    fn only_large_pictures_are_folded_by_themselves() {
        assert_eq!(folded(&["a"; 100], Fold::Large).len(), 100);
        assert_eq!(folded(&["a"; 1000], Fold::Large), ["a", "... 998 more", "a"]);
    }
}
