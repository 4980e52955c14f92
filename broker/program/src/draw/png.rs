//! PNG, for what shows no SVG.

use anyhow::{Context, ensure};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};
use std::sync::Arc;

/// Pixels of the image for a pixel of the picture: letters are small.
const SCALE: f32 = 1.5;

/// Greatest width and height in pixels.
const MOST: u32 = 12_000;

/// An SVG picture as PNG. Letters are those of Hack, which comes with this program: nodes without a
/// screen have no fonts.
pub(super) fn png(svg: &str) -> anyhow::Result<Vec<u8>> {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(epaint_default_fonts::HACK_REGULAR.to_vec());
    let options =
        Options { font_family: "Hack".to_owned(), fontdb: Arc::new(fonts), ..Options::default() };
    let tree = Tree::from_str(svg, &options).context("the picture as PNG")?;
    let size = tree.size().to_int_size();
    let [width, height] = [size.width(), size.height()].map(pixels);
    ensure!(
        width <= MOST && height <= MOST,
        "the picture has {width} x {height} pixels, expected {MOST} at most: --of svg has no such \
         limit, and so has a picture that leaves out what repeats: without --no-factorize"
    );
    let mut image = Pixmap::new(width, height).context("the picture as PNG")?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut image.as_mut());
    image.encode_png().context("the picture as PNG")
}

fn pixels(length: u32) -> u32 {
    length.saturating_mul(3) / 2
}
