//! What a picture is: boxes and lines with their places.

/// A picture: boxes, and the lines between them.
#[derive(Debug, Clone, Default)]
pub struct Picture {
    /// What it shows, in a few words.
    pub title: String,
    /// What can be looked for in it.
    pub(crate) hint: &'static str,
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Each box behind the one that it is in.
    pub(crate) blocks: Vec<Block>,
    pub(crate) lines: Vec<Line>,
}

impl Picture {
    /// Width in units.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Height in units.
    #[must_use]
    pub fn height(&self) -> u32 {
        self.height
    }

    /// What the boxes are, in the order in which they are drawn.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().map(|block| block.look.label.as_str())
    }
}

/// How large letters and the space around them are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Units {
    pub(crate) letter: u32,
    pub(crate) line: u32,
    /// Between the border of a box and its text.
    pub(crate) pad: (u32, u32),
    /// Between boxes.
    pub(crate) gap: (u32, u32),
}

impl Units {
    /// Of pictures whose letters are 7 pixels wide.
    pub const PIXELS: Self = Self { letter: 7, line: 15, pad: (6, 4), gap: (6, 6) };
    /// Of pictures that are text.
    pub const LETTERS: Self = Self { letter: 1, line: 1, pad: (2, 1), gap: (1, 0) };
}

/// What a box looks like.
#[derive(Debug, Clone)]
pub(crate) struct Look {
    pub(crate) kind: BoxKind,
    pub(crate) marks: Marks,
    /// Number of its colour, if its kind does not give it one.
    pub(crate) colour: Option<usize>,
    /// What is written in it.
    pub(crate) text: Vec<String>,
    /// What it is, for whoever does not see it.
    pub(crate) label: String,
    /// More about it, a line for each fact.
    pub(crate) details: Vec<String>,
}

impl Look {
    pub(crate) fn new(kind: BoxKind, label: String) -> Self {
        let text = vec![label.clone()];
        Self { kind, marks: Marks::default(), colour: None, text, label, details: Vec::new() }
    }

    /// Cuts what is too long to be read, before it is measured: names come from outside.
    pub(crate) fn cut(&mut self) {
        const LINES: usize = 12;
        const DETAILS: usize = 4096;
        self.text.truncate(LINES);
        self.text.iter_mut().for_each(|line| cut_after(line, LINE_LETTERS));
        cut_after(&mut self.label, LABEL_LETTERS);
        self.details.truncate(DETAILS);
        self.details.iter_mut().for_each(|line| cut_after(line, LABEL_LETTERS));
    }
}

/// Most letters of a line in a box, and of what is said of a box. What is longer ends with an
/// ellipsis.
const LINE_LETTERS: usize = 80;
const LABEL_LETTERS: usize = 1000;

fn cut_after(text: &mut String, most: usize) {
    if let Some((end, _)) = text.char_indices().nth(most) {
        text.truncate(end);
        text.push('\u{2026}');
    }
}

/// A box with its place.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    pub(crate) place: Frame,
    pub(crate) look: Look,
    /// The box that it is in.
    pub(crate) parent: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Frame {
    pub(crate) x: u32,
    pub(crate) y: u32,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl Frame {
    pub(crate) fn middle(self) -> (u32, u32) {
        (self.x + self.width / 2, self.y + self.height / 2)
    }

    /// Whether two lie on each other.
    pub(crate) fn meets(self, other: Self) -> bool {
        let apart = |one: u32, length: u32, other: u32| one + length <= other;
        !(apart(self.x, self.width, other.x)
            || apart(other.x, other.width, self.x)
            || apart(self.y, self.height, other.y)
            || apart(other.y, other.height, self.y))
    }
}

topobroker_layout::words! {
    /// What a box stands for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub(crate) enum BoxKind {
        Machine => "machine",
        Group => "group",
        Package => "package",
        Die => "die",
        Cache => "cache",
        Core => "core",
        Pu => "pu",
        Memory => "memory",
        Bridge => "bridge",
        Pci => "pci",
        Device => "device",
        Misc => "misc",
        /// Stands for boxes that are alike.
        More => "more",
        /// A line of the legend.
        Legend => "legend",
    }
}

/// What is special about a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Marks {
    /// Not visible in the view that is looked at.
    pub(crate) hidden: bool,
    /// Not to be used by this process.
    pub(crate) disallowed: bool,
    pub(crate) highlighted: bool,
}

/// A line between two boxes.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) from: (u32, u32),
    pub(crate) to: (u32, u32),
    /// How far its middle is above a straight line.
    pub(crate) bow: u32,
    pub(crate) dash: Dash,
    pub(crate) text: Option<String>,
    /// How far along a straight line its text is, in quarters.
    pub(crate) text_at: u32,
    pub(crate) label: Option<String>,
}

impl Line {
    /// The place of its text: above a flat line or an arc, at the right of a steep one.
    pub(crate) fn text_frame(&self, units: Units) -> Option<Frame> {
        let words = u32::try_from(self.text.as_ref()?.chars().count()).ok()?;
        let ((x1, y1), (x2, y2)) = (self.from, self.to);
        let (width, height) = (words * units.letter, units.line - 3);
        let along = |from: u32, to: u32| (from * (4 - self.text_at) + to * self.text_at) / 4;
        let (x, y) = (along(x1, x2), along(y1, y2));
        let (across, down) = (x1.abs_diff(x2), y1.abs_diff(y2));
        if self.bow == 0 && across <= 2 * down {
            // How far the line moves sideways over half of the height of the text.
            let off = across * height / (2 * down.max(1));
            let y = y.saturating_sub(height / 2);
            return Some(Frame { x: x + 4 + off, y, width, height });
        }
        let bottom = y.saturating_sub(self.bow + 3);
        let x = x.saturating_sub(width / 2);
        Some(Frame { x, y: bottom.saturating_sub(height), width, height })
    }
}

topobroker_layout::words! {
    /// How a line is drawn, so that lines differ not only by colour.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub(crate) enum Dash {
        #[default]
        Solid => "solid",
        Dashed => "dashed",
        Dotted => "dotted",
        Thick => "thick",
    }
}
