//! PDF, for documents and printers.

use crate::palette::{self, Mode};
use crate::picture::{Block, Dash, Line, Picture, Units};
use pdf_writer::{Content, Name, Pdf, Rect, Ref, Str};

/// Greatest width and height of a page, in points; a larger picture is drawn smaller.
const MOST: f32 = 14_400.0;
/// Letters of Courier, which every reader of PDF has, are 0.6 of this wide: 7 pixels.
const FONT_SIZE: f32 = 11.6;
const FONT: Name<'_> = Name(b"F");
/// Points of a pixel.
const POINTS: f32 = 0.75;

/// What printers leave white on each side of a sheet, in points: a centimetre.
const MARGIN: f32 = 28.0;

/// The page of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Page {
    /// As large as the picture.
    #[default]
    Picture,
    /// A sheet of this width and height in points, upright. It is turned for a picture that is
    /// wider than high, and the picture is as large as fits.
    Sheet(u16, u16),
}

impl Page {
    /// 210 by 297 mm.
    pub const A4: Self = Self::Sheet(595, 842);
    /// 297 by 420 mm.
    pub const A3: Self = Self::Sheet(842, 1191);
    /// 8.5 by 11 inches.
    pub const LETTER: Self = Self::Sheet(612, 792);

    /// Width and height for a picture of a size.
    fn size(self, width: f32, height: f32) -> (f32, f32) {
        match self {
            Self::Picture => {
                let scale = POINTS.min(MOST / width.max(height).max(1.0));
                (width * scale, height * scale)
            }
            Self::Sheet(short, long) if width > height => (long.into(), short.into()),
            Self::Sheet(short, long) => (short.into(), long.into()),
        }
    }
}

/// Writes a picture as a PDF document of one page. Letters that are not in Latin-1 are written as
/// `?`.
#[must_use]
pub fn pdf(picture: &Picture, sheet: Page) -> Vec<u8> {
    let [catalog, pages, page, font, content] = [1, 2, 3, 4, 5].map(Ref::new);
    let (width, height) = (length(picture.width), length(picture.height));
    let (page_width, page_height) = sheet.size(width, height);
    let margin = if sheet == Page::Picture { 0.0 } else { MARGIN };
    let (room_x, room_y) = (page_width - 2.0 * margin, page_height - 2.0 * margin);
    let scale = (room_x / width.max(1.0)).min(room_y / height.max(1.0));
    let left = (page_width - width * scale) / 2.0;
    let top = page_height - (page_height - height * scale) / 2.0;
    let mut drawn = Content::new();
    // Pictures count from the top, pages from the bottom.
    drawn.transform([scale, 0.0, 0.0, -scale, left, top]);
    picture.blocks.iter().for_each(|block| draw_block(&mut drawn, block));
    picture.lines.iter().for_each(|line| draw_line(&mut drawn, line));
    let mut pdf = Pdf::new();
    pdf.catalog(catalog).pages(pages);
    pdf.pages(pages).kids([page]).count(1);
    let mut only = pdf.page(page);
    only.media_box(Rect::new(0.0, 0.0, page_width, page_height)).parent(pages).contents(content);
    only.resources().fonts().pair(FONT, font);
    drop(only);
    pdf.type1_font(font).base_font(Name(b"Courier")).encoding_predefined(Name(b"WinAnsiEncoding"));
    pdf.stream(content, &drawn.finish());
    pdf.finish()
}

fn draw_block(drawn: &mut Content, block: &Block) {
    let colour = Mode::Light.of(palette::of(&block.look));
    let [red, green, blue] = parts(colour);
    let place = block.place;
    let [x, y, width, height] = [place.x, place.y, place.width, place.height].map(length);
    drawn.set_fill_rgb(red, green, blue);
    match block.look.marks.highlighted {
        true => drawn.set_stroke_rgb(0.7, 0.36, 0.0).set_line_width(3.0),
        false => drawn.set_stroke_rgb(0.2, 0.2, 0.2).set_line_width(1.0),
    };
    let border = palette::border_of(block.look.colour).iter().copied().map(f32::from);
    drawn.set_dash_pattern(border, 0.0);
    drawn.rect(x, y, width, height).fill_nonzero_and_stroke().set_dash_pattern([], 0.0);
    if block.look.marks.disallowed {
        drawn.set_line_width(1.0).set_dash_pattern([2.0, 3.0], 0.0);
        drawn.move_to(x, y + height).line_to(x + width, y).stroke();
        drawn.set_dash_pattern([], 0.0);
    }
    let left = x + length(Units::PIXELS.pad.0);
    let top = y + length(Units::PIXELS.pad.1) + 11.0;
    for (line, row) in block.look.text.iter().zip(0u32..) {
        write(drawn, left, top + length(row * Units::PIXELS.line), line);
    }
}

fn draw_line(drawn: &mut Content, line: &Line) {
    let [(x1, y1), (x2, y2)] = [line.from, line.to].map(|(x, y)| (length(x), length(y)));
    let (middle, bow) = ((x1 + x2) / 2.0, length(line.bow));
    let dash: &[f32] = match line.dash {
        Dash::Dashed => &[6.0, 3.0],
        Dash::Dotted => &[2.0, 3.0],
        Dash::Solid | Dash::Thick => &[],
    };
    drawn.set_stroke_rgb(0.2, 0.2, 0.2).set_dash_pattern(dash.iter().copied(), 0.0);
    drawn.set_line_width(if line.dash == Dash::Thick { 3.0 } else { 1.0 });
    // The control point of SVG's curves, as the two that PDF's have.
    let top = f32::midpoint(y1, y2) - 2.0 * bow;
    let near = |end: f32, control: f32| end + (control - end) * 2.0 / 3.0;
    drawn.move_to(x1, y1);
    drawn.cubic_to(near(x1, middle), near(y1, top), near(x2, middle), near(y2, top), x2, y2);
    drawn.stroke().set_dash_pattern([], 0.0);
    if let (Some(words), Some(place)) = (&line.text, line.text_frame(Units::PIXELS)) {
        write(drawn, length(place.x), length(place.y + place.height), words);
    }
}

/// Writes a text, whose letters are upright although the page is upside down.
fn write(drawn: &mut Content, x: f32, y: f32, text: &str) {
    let latin = |letter: char| u8::try_from(letter).ok().filter(|_| !letter.is_control());
    let bytes: Vec<u8> = text.chars().map(|letter| latin(letter).unwrap_or(b'?')).collect();
    drawn.set_fill_rgb(0.07, 0.07, 0.07).begin_text().set_font(FONT, FONT_SIZE);
    drawn.set_text_matrix([1.0, 0.0, 0.0, -1.0, x, y]).show(Str(&bytes)).end_text();
}

/// Red, green and blue of `#d5e8c4`, from 0 to 1.
fn parts(colour: &str) -> [f32; 3] {
    let number = u32::from_str_radix(colour.trim_start_matches('#'), 16).unwrap_or(0xff_ffff);
    let [_, red, green, blue] = number.to_be_bytes();
    [red, green, blue].map(|part| f32::from(part) / 255.0)
}

/// Pixels. Pictures are far below what a float has exactly.
#[allow(clippy::cast_precision_loss, reason = "half a pixel of a picture of millions")]
fn length(pixels: u32) -> f32 {
    pixels as f32
}
