//! The legend: what marks and colours mean.

use crate::picture::Marks;
use crate::shape::NestedBox;

/// Entries for the marks that a picture has.
pub(crate) fn of_marks(shape: &NestedBox) -> Vec<NestedBox> {
    let mut found = Marks::default();
    collect(shape, &mut found);
    let mark = |is_there: bool, text: &str, marks: Marks| {
        is_there.then(|| {
            let mut entry = NestedBox::legend(text.to_owned());
            entry.look.marks = marks;
            entry
        })
    };
    let none = Marks::default();
    [
        mark(
            found.hidden,
            "grey or (in brackets): not in this view",
            Marks { hidden: true, ..none },
        ),
        mark(
            found.disallowed,
            "striped or /in slashes/: not to be used here",
            Marks { disallowed: true, ..none },
        ),
        mark(
            found.highlighted,
            "thick or *starred*: highlighted",
            Marks { highlighted: true, ..none },
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn collect(shape: &NestedBox, found: &mut Marks) {
    found.hidden |= shape.look.marks.hidden;
    found.disallowed |= shape.look.marks.disallowed;
    found.highlighted |= shape.look.marks.highlighted;
    shape.parts().for_each(|part| collect(part, found));
}

/// An entry with a colour.
pub(crate) fn coloured(text: String, colour: usize) -> NestedBox {
    let mut entry = NestedBox::legend(text);
    entry.look.colour = Some(colour);
    entry
}
