//! Where a picture is written, and in which format.

#[cfg(feature = "png")]
use super::png::png;
use crate::output;
use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use std::io::{IsTerminal, Write, stdout};
use std::path::PathBuf;
use std::process::ExitCode;
use topobroker_cluster::write_file;
use topobroker_draw::{Lines, Picture, Units, ascii, html, svg, tikz};

/// The file of a picture.
#[derive(Debug, Args)]
pub(crate) struct PictureFile {
    /// Write to this file instead of standard output. Its name tells the format: .svg, .html, .png,
    /// .tex or .txt
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Format of the picture. On a terminal it is text, else SVG
    #[arg(long, alias = "output-format", value_enum, value_name = "FORMAT")]
    of: Option<Format>,
    /// Replace FILE if it exists
    #[arg(long, requires = "output")]
    force: bool,
}

/// Formats of pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For browsers, documents and programs that draw
    Svg,
    /// A page that can be zoomed and searched
    Html,
    /// An image
    Png,
    /// Text
    Ascii,
    /// For LaTeX
    Tikz,
}

impl PictureFile {
    /// The units in which the picture is to be made.
    pub(crate) fn units(&self) -> anyhow::Result<Units> {
        let is_text = self.format()? == Format::Ascii;
        Ok(if is_text { Units::LETTERS } else { Units::PIXELS })
    }

    fn format(&self) -> anyhow::Result<Format> {
        let extension = self.output.as_ref().and_then(|file| file.extension()?.to_str());
        let extension = extension.map(str::to_ascii_lowercase);
        let by_name = match extension.as_deref() {
            Some("svg") => Some(Format::Svg),
            Some("html" | "htm") => Some(Format::Html),
            Some("png") => Some(Format::Png),
            Some("tex" | "tikz") => Some(Format::Tikz),
            Some("txt" | "ascii") => Some(Format::Ascii),
            _ => None,
        };
        if let (None, None, Some(file)) = (self.of, by_name, &self.output) {
            bail!(
                "{}: its name tells no format; expected .svg, .html, .png, .tex or .txt, or --of FORMAT",
                file.display()
            );
        }
        let by_default = || match self.output.is_none() && stdout().is_terminal() {
            true => Format::Ascii,
            false => Format::Svg,
        };
        Ok(self.of.or(by_name).unwrap_or_else(by_default))
    }

    /// Writes a picture.
    pub(crate) fn write(&self, picture: &Picture) -> anyhow::Result<ExitCode> {
        let bytes = match self.format()? {
            Format::Svg => svg(picture).into_bytes(),
            Format::Html => html(picture).into_bytes(),
            #[cfg(feature = "png")]
            Format::Png => png(&svg(picture))?,
            #[cfg(not(feature = "png"))]
            Format::Png => bail!(
                "this program was built without the feature png: write .svg, or build it with --features png"
            ),
            Format::Tikz => tikz(picture).into_bytes(),
            Format::Ascii => ascii(picture, lines()).into_bytes(),
        };
        match &self.output {
            Some(file) => write_file(file, &bytes, 0o644, self.force)?,
            None => {
                let mut out = stdout().lock();
                let written = out.write_all(&bytes).and_then(|()| out.flush());
                written.context(output::STANDARD_OUTPUT)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
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
