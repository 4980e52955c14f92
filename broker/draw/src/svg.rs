//! SVG. The same picture is always the same text.

use crate::palette::{self, Mode};
use crate::picture::{Block, BoxKind, Dash, Line, Picture, Units};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Writes a picture as SVG, which browsers and programs show without anything else.
#[must_use]
pub fn svg(picture: &Picture) -> String {
    let mut text = String::with_capacity(256 * picture.blocks.len());
    let Picture { width, height, .. } = picture;
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"group\" \
         aria-label=\"{0}\">\n<title>{0}</title>\n{1}",
        escaped(&picture.title),
        style(picture),
    );
    text += "<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n";
    for (number, block) in picture.blocks.iter().enumerate() {
        write_block(&mut text, number, block);
    }
    picture.lines.iter().for_each(|line| write_line(&mut text, line));
    text + "</svg>\n"
}

/// A picture as SVG that is no wider than the page it is put in, such as a notebook.
#[must_use]
pub fn svg_to_embed(svg: &str) -> String {
    svg.replacen("<svg ", "<svg style=\"max-width:100%;height:auto\" ", 1)
}

/// Size of the letters that are as wide as [`Units::PIXELS`] says.
const FONT_SIZE: &str = "11.6px";

/// The colours of both modes. Which one is used is up to the system, or to the page that the
/// picture is in, whose root says so: `data-theme="dark"`.
fn style(picture: &Picture) -> String {
    let mut text = format!(
        "<defs><pattern id=\"stripes\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">\
         <path d=\"M0 6L6 0\" stroke=\"{}\" stroke-width=\"1\"/></pattern></defs>\n\
         <style>text{{font:{FONT_SIZE} 'DejaVu Sans Mono','Hack',monospace}}\
         rect{{stroke-width:1}}\
         .more>rect{{stroke-dasharray:2 3}}.l{{fill:none;stroke-width:1}}\
         .dashed{{stroke-dasharray:6 3}}.dotted{{stroke-dasharray:2 3}}.thick{{stroke-width:3}}\
         .mark>rect{{stroke-width:3}}\n",
        Mode::Light.of(palette::STRIPES)
    );
    for (number, border) in palette::BORDERS.iter().enumerate().skip(1) {
        let lengths: Vec<String> = border.iter().map(u8::to_string).collect();
        let _ = writeln!(text, ".r{number}>rect{{stroke-dasharray:{}}}", lengths.join(" "));
    }
    text += &colours(picture, Mode::Light, "");
    let by_system = colours(picture, Mode::Dark, ":root:not([data-theme=light]) ");
    let by_page = colours(picture, Mode::Dark, "[data-theme=dark] ");
    // What is printed is light.
    text + &format!(
        "\n@media screen and (prefers-color-scheme:dark){{{by_system}}}\n@media \
         screen{{{by_page}}}\n</style>\n"
    )
}

/// The colours of a mode that a picture has. `within` stands before each selector.
fn colours(picture: &Picture, mode: Mode, within: &str) -> String {
    let mut text = String::new();
    let [page, ink, lines, hidden, hidden_ink, mark, stripes] = [
        palette::PAGE,
        palette::INK,
        palette::LINES,
        palette::HIDDEN,
        palette::HIDDEN_INK,
        palette::MARK,
        palette::STRIPES,
    ]
    .map(|pair| mode.of(pair));
    // Of one colour, one rule.
    let mut rule = |selectors: &str, what: &str| {
        let selectors: Vec<String> =
            selectors.split(',').map(|it| format!("{within}{it}")).collect();
        let _ = write!(text, "{}{{{what}}}", selectors.join(","));
    };
    rule("text", &format!("fill:{ink}"));
    rule("rect,.l", &format!("stroke:{lines}"));
    rule(".page,.legend>rect", "stroke:none");
    rule(".legend.on>rect", &format!("stroke:{lines}"));
    rule(".page", &format!("fill:{page}"));
    let looks = || picture.blocks.iter().map(|block| &block.look);
    for kind in BoxKind::ALL.into_iter().filter(|kind| looks().any(|it| it.kind == *kind)) {
        let fill = format!("fill:{}", mode.of(palette::of_kind(kind)));
        rule(&format!(".{}>rect", kind.name()), &fill);
    }
    let used: BTreeSet<usize> =
        looks().filter_map(|it| it.colour).map(|it| it % palette::COLOURS.len()).collect();
    for number in used {
        let fill = format!("fill:{}", mode.of(palette::numbered(number)));
        rule(&format!(".c{number}>rect"), &fill);
    }
    rule(".hidden>rect", &format!("fill:{hidden}"));
    rule(".hidden>text", &format!("fill:{hidden_ink}"));
    rule(".mark>rect", &format!("stroke:{mark}"));
    rule("#stripes path", &format!("stroke:{stripes}"));
    text
}

fn write_block(text: &mut String, number: usize, block: &Block) {
    let place = block.place;
    let _ = write!(text, "<g id=\"b{number}\" class=\"{}", block.look.kind.name());
    if let Some(colour) = block.look.colour {
        let (border, number) = (palette::border(colour), colour % palette::COLOURS.len());
        let of_legend = if block.look.kind == BoxKind::Legend { " on" } else { "" };
        let _ = write!(text, "{of_legend} c{number}");
        let _ = if border > 0 { write!(text, " r{border}") } else { Ok(()) };
    }
    for (is_so, class) in [
        (block.look.marks.hidden, " hidden"),
        (block.look.marks.disallowed, " striped"),
        (block.look.marks.highlighted, " mark"),
    ] {
        text.push_str(if is_so { class } else { "" });
    }
    text.push('"');
    if let Some(parent) = block.parent {
        let _ = write!(text, " data-in=\"{parent}\"");
    }
    let _ = write!(text, "><title>{}", escaped(&block.look.label));
    block.look.details.iter().for_each(|detail| text.extend(["\n", &escaped(detail)]));
    let (x, y, width, height) = (place.x, place.y, place.width, place.height);
    let rect = format!("x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"");
    let _ = write!(text, "</title><rect {rect}/>");
    if block.look.marks.disallowed {
        let _ = write!(text, "<rect {rect} style=\"fill:url(#stripes)\"/>");
    }
    let (left, top) = (x + Units::PIXELS.pad.0, y + Units::PIXELS.pad.1 + 11);
    for (line, row) in block.look.text.iter().zip(0u32..) {
        let y = top + row * Units::PIXELS.line;
        let _ = write!(text, "<text x=\"{left}\" y=\"{y}\">{}</text>", escaped(line));
    }
    text.push_str("</g>\n");
}

fn write_line(text: &mut String, line: &Line) {
    let ((x1, y1), (x2, y2)) = (line.from, line.to);
    let dash = if line.dash == Dash::Solid { "" } else { line.dash.name() };
    let space = if dash.is_empty() { "" } else { " " };
    let _ = write!(text, "<g><path class=\"l{space}{dash}\" d=\"M{x1} {y1}");
    let (middle_x, middle_y) = (i64::from(x1 + x2) / 2, i64::from(y1 + y2) / 2);
    let top = middle_y - i64::from(line.bow);
    let _ = match line.bow {
        0 => write!(text, "L{x2} {y2}\"/>"),
        // The curve goes through half of the way to its control point.
        _ => write!(text, "Q{middle_x} {} {x2} {y2}\"/>", top - i64::from(line.bow)),
    };
    if let Some(label) = &line.label {
        let _ = write!(text, "<title>{}</title>", escaped(label));
    }
    if let (Some(words), Some(place)) = (&line.text, line.text_frame(Units::PIXELS)) {
        let (x, y) = (place.x, place.y + place.height);
        let _ = write!(text, "<text x=\"{x}\" y=\"{y}\">{}</text>", escaped(words));
    }
    text.push_str("</g>\n");
}

/// A text as XML has it, without the letters that XML cannot have.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(' '),
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => {
                out.push('\u{fffd}');
            }
            letter => out.push(letter),
        }
    }
    out
}
