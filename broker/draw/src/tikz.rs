//! TikZ, for LaTeX.

use crate::palette::{self, Mode};
use crate::picture::{Block, Dash, Line, Picture, Units};
use std::fmt::Write;

/// Writes a picture as a LaTeX document of its own, in TikZ.
#[must_use]
pub fn tikz(picture: &Picture) -> String {
    let mut text = String::from(
        "\\documentclass[tikz,border=2pt]{standalone}\n\\usetikzlibrary{patterns}\n\\begin{document}\n\
         \\begin{tikzpicture}[x=0.75pt,y=-0.75pt,every node/.style={anchor=base west,inner sep=0pt,\
         font=\\ttfamily\\fontsize{8.7pt}{11pt}\\selectfont}]\n",
    );
    picture.blocks.iter().for_each(|block| write_block(&mut text, block));
    picture.lines.iter().for_each(|line| write_line(&mut text, line));
    text + "\\end{tikzpicture}\n\\end{document}\n"
}

fn write_block(text: &mut String, block: &Block) {
    let colour = Mode::Light.of(palette::of(&block.look));
    let place = block.place;
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "\\definecolor{{c}}{{HTML}}{{{}}}\\filldraw[fill=c{}{}] ({},{}) rectangle ({},{});",
        colour.trim_start_matches('#').to_ascii_uppercase(),
        dashes(block.look.colour),
        if block.look.marks.highlighted { ",line width=2pt" } else { "" },
        place.x,
        place.y,
        place.x + place.width,
        place.y + place.height,
    );
    if block.look.marks.disallowed {
        let _ = writeln!(
            text,
            "\\fill[pattern=north east lines] ({},{}) rectangle ({},{});",
            place.x,
            place.y,
            place.x + place.width,
            place.y + place.height,
        );
    }
    let (left, top) = (place.x + Units::PIXELS.pad.0, place.y + Units::PIXELS.pad.1 + 11);
    for (line, row) in block.look.text.iter().zip(0u32..) {
        let y = top + row * Units::PIXELS.line;
        let _ = writeln!(text, "\\node at ({left},{y}) {{{}}};", escaped(line));
    }
}

/// The option for the border of a box of a numbered colour.
fn dashes(colour: Option<usize>) -> String {
    let lengths = palette::border_of(colour);
    let pairs = lengths.chunks(2).filter_map(|pair| Some((pair.first()?, pair.get(1)?)));
    let dashes: String = pairs.map(|(on, off)| format!(" on {on}pt off {off}pt")).collect();
    if dashes.is_empty() { dashes } else { format!(",dash pattern={}", dashes.trim_start()) }
}

fn write_line(text: &mut String, line: &Line) {
    let ((x1, y1), (x2, y2)) = (line.from, line.to);
    let dash = match line.dash {
        Dash::Solid => "",
        Dash::Dashed => "[dashed]",
        Dash::Dotted => "[dotted]",
        Dash::Thick => "[very thick]",
    };
    let (middle, top) = ((x1 + x2) / 2, i64::from(y1 + y2) / 2 - 2 * i64::from(line.bow));
    let way =
        if line.bow == 0 { "--".to_owned() } else { format!(".. controls ({middle},{top}) ..") };
    let _ = writeln!(text, "\\draw{dash} ({x1},{y1}) {way} ({x2},{y2});");
    if let (Some(words), Some(place)) = (&line.text, line.text_frame(Units::PIXELS)) {
        let (x, y) = (place.x, place.y + place.height);
        let _ = writeln!(text, "\\node[anchor=base west] at ({x},{y}) {{{}}};", escaped(words));
    }
}

/// A text as LaTeX has it.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '#' | '$' | '%' | '&' | '_' | '{' | '}' => out.extend(['\\', letter]),
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            letter if letter.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}
