//! Text, for terminals.

use crate::picture::{Block, BoxKind, Line, Marks, Picture};

/// What borders are drawn with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lines {
    /// `+`, `-` and `|`.
    #[default]
    Ascii,
    /// The lines of Unicode.
    Unicode,
}

/// Sides of a field that a line goes to.
const UP: u8 = 1;
const DOWN: u8 = 2;
const LEFT: u8 = 4;
const RIGHT: u8 = 8;

/// The sides that a line goes on to.
fn sides(both: [(bool, u8); 2]) -> u8 {
    both.iter().filter(|(goes_on, _)| *goes_on).map(|(_, side)| side).sum()
}

/// Most fields of a picture: a terminal shows no more.
const MOST_FIELDS: usize = 1 << 26;

/// Writes a picture as text. It must have been made with [`crate::Units::LETTERS`]. A picture that is larger
/// than 64 million letters is cut off below.
#[must_use]
pub fn ascii(picture: &Picture, lines: Lines) -> String {
    let width = picture.width as usize + 1;
    let height = (picture.height as usize + 1).min(MOST_FIELDS / width.max(1));
    let mut grid = Grid { width, fields: vec![Field::Empty; width * height] };
    for block in &picture.blocks {
        grid.block(block);
    }
    for line in &picture.lines {
        grid.line(line);
    }
    grid.text(lines)
}

#[derive(Clone, Copy)]
enum Field {
    Empty,
    Letter(char),
    /// Lines to some of its sides.
    Line(u8),
}

struct Grid {
    width: usize,
    fields: Vec<Field>,
}

impl Grid {
    fn field(&mut self, x: u32, y: u32) -> Option<&mut Field> {
        let x = x as usize;
        if x >= self.width {
            return None;
        }
        self.fields.get_mut(y as usize * self.width + x)
    }

    fn add(&mut self, x: u32, y: u32, sides: u8) {
        if let Some(field) = self.field(x, y) {
            *field = match *field {
                Field::Line(there) => Field::Line(there | sides),
                Field::Letter(_) | Field::Empty => Field::Line(sides),
            };
        }
    }

    fn block(&mut self, block: &Block) {
        let place = block.place;
        if block.look.kind == BoxKind::Bridge {
            if let Some(field) = self.field(place.x, place.y) {
                *field = Field::Letter('o');
            }
            return;
        }
        let (right, below) = (place.x + place.width - 1, place.y + place.height - 1);
        if !(block.look.kind == BoxKind::Legend && block.look.colour.is_none()) {
            for x in place.x..=right {
                for y in [place.y, below] {
                    self.add(x, y, sides([(x > place.x, LEFT), (x < right, RIGHT)]));
                }
            }
            for y in place.y..=below {
                for x in [place.x, right] {
                    self.add(x, y, sides([(y > place.y, UP), (y < below, DOWN)]));
                }
            }
        }
        for (line, y) in block.look.text.iter().zip(place.y + 1..) {
            let (mark, end) = match block.look.marks {
                Marks { hidden: true, .. } => ("(", ")"),
                Marks { disallowed: true, .. } => ("/", "/"),
                Marks { highlighted: true, .. } => ("*", "*"),
                _ => ("", ""),
            };
            let text = mark.chars().chain(line.chars()).chain(end.chars());
            let left = place.x + 2 - u32::from(!mark.is_empty());
            for (letter, x) in text.zip(left..right) {
                if let Some(field) = self.field(x, y) {
                    *field = Field::Letter(if letter.is_control() { '?' } else { letter });
                }
            }
        }
    }

    fn line(&mut self, line: &Line) {
        let ((x1, y1), (x2, y2)) = (line.from, line.to);
        for x in x1.min(x2)..=x1.max(x2) {
            let sides = sides([(x > x1.min(x2), LEFT), (x < x1.max(x2), RIGHT)]);
            if sides != 0 && (x, y1) != line.to {
                self.add(x, y1, sides);
            }
        }
        for y in y1.min(y2)..=y1.max(y2) {
            let sides = sides([(y > y1.min(y2), UP), (y < y1.max(y2), DOWN)]);
            if sides != 0 {
                self.add(x1, y, sides);
            }
        }
        let words = line.text.iter().flat_map(|text| text.chars());
        for (letter, x) in words.zip(x1 + 1..) {
            if let Some(field) = self.field(x, y1) {
                *field = Field::Letter(letter);
            }
        }
    }

    fn text(&self, lines: Lines) -> String {
        let mut text = String::new();
        for row in self.fields.chunks(self.width.max(1)) {
            let row: String = row.iter().map(|field| letter(*field, lines)).collect();
            text.extend([row.trim_end(), "\n"]);
        }
        text.truncate(text.trim_end().len());
        text + "\n"
    }
}

fn letter(field: Field, lines: Lines) -> char {
    /// By the sum of the sides.
    const UNICODE: [char; 16] =
        [' ', '│', '│', '│', '─', '┘', '┐', '┤', '─', '└', '┌', '├', '─', '┴', '┬', '┼'];
    match (field, lines) {
        (Field::Empty, _) => ' ',
        (Field::Letter(letter), _) => letter,
        (Field::Line(sides), Lines::Unicode) => {
            UNICODE.get(usize::from(sides)).copied().unwrap_or(' ')
        }
        (Field::Line(sides), Lines::Ascii) => match sides {
            0 => ' ',
            it if it & !(UP | DOWN) == 0 => '|',
            it if it & !(LEFT | RIGHT) == 0 => '-',
            _ => '+',
        },
    }
}
