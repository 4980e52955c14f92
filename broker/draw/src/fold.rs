//! Boxes that are alike, of which only the first and the last are drawn.

use crate::picture::BoxKind;
use crate::shape::NestedBox;

/// Which boxes are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fold {
    /// Of many boxes in all, those that are alike.
    #[default]
    Large,
    /// Of so many and more neighbours that are alike, all but the first and the last.
    Alike(usize),
    /// None.
    Nothing,
}

/// Most boxes of a picture that is looked at in one piece.
const LARGE: usize = 500;

/// Leaves out what repeats.
pub(crate) fn fold(shape: &mut NestedBox, which: Fold) {
    match which {
        Fold::Nothing => {}
        Fold::Alike(least) => fold_runs(shape, least.max(3)),
        Fold::Large if shape.count() > LARGE => fold_runs(shape, 4),
        Fold::Large => {}
    }
}

fn fold_runs(shape: &mut NestedBox, least: usize) {
    for parts in [&mut shape.memory, &mut shape.children, &mut shape.io] {
        let mut rest = std::mem::take(parts).into_iter().peekable();
        while let Some(first) = rest.next() {
            let mut run = vec![first];
            while let Some(next) =
                rest.next_if(|next| run.first().is_some_and(|first| first.is_like(next)))
            {
                run.push(next);
            }
            if run.len() >= least {
                let middle = run.len() - 2;
                let last = run.pop();
                run.truncate(1);
                run.push(NestedBox::new(BoxKind::More, format!("... {middle} more")));
                run.extend(last);
            }
            run.iter_mut().for_each(|it| fold_runs(it, least));
            parts.extend(run);
        }
    }
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
