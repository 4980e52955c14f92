//! The legend: what marks and colours mean.

use crate::picture::{Kind, Marks};
use crate::shape::Shape;

/// Entries for the marks that a picture has.
pub(crate) fn of_marks(shape: &Shape) -> Vec<Shape> {
    let mut found = Marks::default();
    collect(shape, &mut found);
    let mark = |is_there: bool, text: &str, marks: Marks| {
        is_there.then(|| Shape { kind: Kind::Legend, marks, ..Shape::legend(text.to_owned()) })
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

fn collect(shape: &Shape, found: &mut Marks) {
    found.hidden |= shape.marks.hidden;
    found.disallowed |= shape.marks.disallowed;
    found.highlighted |= shape.marks.highlighted;
    shape.parts().for_each(|part| collect(part, found));
}

/// An entry with a colour.
pub(crate) fn coloured(text: String, colour: usize) -> Shape {
    Shape { colour: Some(colour), ..Shape::legend(text) }
}
