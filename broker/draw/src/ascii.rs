//! Text, for terminals.

use crate::picture::{Block, BoxKind, Line, Look, Marks, Picture};

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

/// Writes a picture as text. It must have been made with [`crate::Units::LETTERS`]. A picture that
/// is larger than 64 million letters is cut off below.
#[must_use]
pub fn ascii(picture: &Picture, lines: Lines) -> String {
    fields(picture).text(lines, false)
}

/// [`ascii`] with the colours of a terminal: kinds of boxes and ranks have their own.
#[must_use]
pub fn ascii_coloured(picture: &Picture, lines: Lines) -> String {
    fields(picture).text(lines, true)
}

fn fields(picture: &Picture) -> Grid {
    let width = picture.width as usize + 1;
    let height = (picture.height as usize + 1).min(MOST_FIELDS / width.max(1));
    let mut grid = Grid { width, fields: vec![Field::Empty; width * height] };
    for block in &picture.blocks {
        grid.block(block);
    }
    for line in &picture.lines {
        grid.line(line);
    }
    grid
}

/// Number of the colour that a terminal gives the letters of a box; 0 for its usual one.
fn colour(look: &Look) -> u8 {
    const RANKS: [u8; 6] = [94, 93, 92, 95, 96, 91];
    match look.colour {
        _ if look.marks.hidden => 90,
        Some(number) => RANKS.get(number % RANKS.len()).copied().unwrap_or(0),
        None => match look.kind {
            BoxKind::Memory => 35,
            BoxKind::Core => 36,
            BoxKind::Pci | BoxKind::Device => 32,
            _ => 0,
        },
    }
}

#[derive(Clone, Copy)]
enum Field {
    Empty,
    /// With the number of its colour.
    Letter(char, u8),
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
                Field::Letter(..) | Field::Empty => Field::Line(sides),
            };
        }
    }

    fn block(&mut self, block: &Block) {
        let place = block.place;
        if block.look.kind == BoxKind::Bridge {
            if let Some(field) = self.field(place.x, place.y) {
                *field = Field::Letter('o', 0);
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
        let colour = colour(&block.look);
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
                    let letter = if letter.is_control() { '?' } else { letter };
                    *field = Field::Letter(letter, colour);
                }
            }
        }
    }

    /// A line that is not straight goes across, and then down.
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
                self.add(x2, y, sides);
            }
        }
        let words = line.text.iter().flat_map(|text| text.chars());
        for (letter, x) in words.zip(x1 + 1..) {
            if let Some(field) = self.field(x, y1) {
                *field = Field::Letter(letter, 0);
            }
        }
    }

    fn text(&self, lines: Lines, is_coloured: bool) -> String {
        let mut text = String::new();
        for row in self.fields.chunks(self.width.max(1)) {
            let end = row.iter().rposition(|field| letter(*field, lines) != ' ');
            let mut now = 0;
            for field in row.iter().take(end.map_or(0, |end| end + 1)) {
                let wanted = match field {
                    Field::Letter(_, colour) if is_coloured => *colour,
                    _ => 0,
                };
                if wanted != now {
                    text += &format!("\u{1b}[{wanted}m");
                    now = wanted;
                }
                text.push(letter(*field, lines));
            }
            text += if now == 0 { "\n" } else { "\u{1b}[0m\n" };
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
        (Field::Letter(letter, _), _) => letter,
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
