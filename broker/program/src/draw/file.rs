//! Where a picture is written, and in which format.

#[cfg(feature = "png")]
use super::png::png;
use crate::color;
use crate::output;
use crate::progress::Progress;
use anyhow::{bail, ensure};
use clap::{Args, ValueEnum};
use std::io::{IsTerminal, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use topobroker_draw::{Lines, Page, Picture, Units, ascii, ascii_coloured, html, pdf, svg, tikz};

/// The file of a picture.
#[derive(Debug, Default, Args)]
pub(crate) struct PictureFile {
    /// Write to this file instead of standard output. Its name decides the format: .svg, .html,
    /// .png, .pdf, .tex or .txt; `-.svg` is standard output in that format
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// As --output
    #[arg(value_name = "OUTPUT", conflicts_with = "output")]
    output_file: Option<PathBuf>,
    /// Format of the picture. On a terminal it is text, otherwise SVG
    #[arg(long, alias = "output-format", value_enum, value_name = "FORMAT")]
    of: Option<Format>,
    /// Of .pdf: fit the picture onto a sheet
    #[arg(long, value_enum, value_name = "SIZE")]
    page: Option<Sheet>,
    /// Replace FILE if it exists
    #[arg(short, long)]
    force: bool,
}

/// Formats of pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For browsers, documents and programs that draw
    #[value(aliases = ["nativesvg", "cairosvg"])]
    Svg,
    /// A page that can be zoomed and searched
    Html,
    /// An image
    Png,
    /// For documents and printers
    Pdf,
    /// Text
    #[value(alias = "txt")]
    Ascii,
    /// For LaTeX
    #[value(alias = "tex")]
    Tikz,
}

impl PictureFile {
    /// A file with its format, as lstopo takes them.
    pub(crate) fn new(output_file: Option<PathBuf>, of: Format, force: bool) -> Self {
        Self { output: None, output_file, of: Some(of), page: None, force }
    }

    /// The units in which the picture is to be made.
    pub(crate) fn units(&self) -> anyhow::Result<Units> {
        let is_text = self.format()? == Format::Ascii;
        Ok(if is_text { Units::LETTERS } else { Units::PIXELS })
    }

    /// Whether it is printed on a terminal.
    pub(super) fn is_on_terminal(&self) -> bool {
        self.file().is_none() && stdout().is_terminal()
    }

    fn format(&self) -> anyhow::Result<Format> {
        let file = self.file();
        let by_name = file.and_then(Format::of_file);
        if let (None, None, Some(file)) = (self.of, by_name, file) {
            bail!(
                "{}: its name has no known ending; expected .svg, .html, .png, .pdf, .tex or \
                 .txt, or --of FORMAT",
                file.display()
            );
        }
        let by_default = || match self.is_on_terminal() {
            true => Format::Ascii,
            false => Format::Svg,
        };
        Ok(self.of.or(by_name).unwrap_or_else(by_default))
    }

    /// The file that is named, however.
    fn file(&self) -> Option<&Path> {
        output::with_format(self.output.as_deref().or(self.output_file.as_deref()))
    }

    /// Writes a picture.
    pub(crate) fn write(&self, picture: &Picture) -> anyhow::Result<ExitCode> {
        ensure!(
            self.page.is_none() || self.format()? == Format::Pdf,
            "--page is of PDF: write .pdf, or leave it out"
        );
        let progress = Progress::of("the picture is drawn", 0);
        let bytes = match self.format()? {
            Format::Svg => svg(picture).into_bytes(),
            Format::Html => html(picture).into_bytes(),
            #[cfg(feature = "png")]
            Format::Png => png(&svg(picture))?,
            #[cfg(not(feature = "png"))]
            Format::Png => bail!(
                "this program was built without the feature png: write .svg, or build it with \
                 --features png"
            ),
            Format::Pdf => pdf(picture, self.page.map(Sheet::page).unwrap_or_default()),
            Format::Tikz => tikz(picture).into_bytes(),
            Format::Ascii if self.is_on_terminal() && color::is_on() => {
                ascii_coloured(picture, lines()).into_bytes()
            }
            Format::Ascii => ascii(picture, lines()).into_bytes(),
        };
        drop(progress);
        output::write(self.file(), &bytes, self.force)
    }
}

/// Sheets of paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sheet {
    A4,
    A3,
    Letter,
}

impl Sheet {
    fn page(self) -> Page {
        match self {
            Self::A4 => Page::A4,
            Self::A3 => Page::A3,
            Self::Letter => Page::LETTER,
        }
    }
}

impl Format {
    /// The format of a file by its ending.
    pub(crate) fn of_file(file: &Path) -> Option<Self> {
        Some(match ending(file)?.as_str() {
            "svg" | "nativesvg" | "cairosvg" => Self::Svg,
            "html" | "htm" => Self::Html,
            "png" => Self::Png,
            "pdf" => Self::Pdf,
            "tex" | "tikz" => Self::Tikz,
            "txt" | "ascii" => Self::Ascii,
            _ => return None,
        })
    }
}

/// The ending of a file's name in small letters.
pub(crate) fn ending(file: &Path) -> Option<String> {
    Some(file.extension()?.to_str()?.to_ascii_lowercase())
}

/// Borders are drawn with lines if the locale has them.
fn lines() -> Lines {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
    let has_them = |locale: String| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    };
    if locale.is_some_and(has_them) { Lines::Unicode } else { Lines::Ascii }
}
