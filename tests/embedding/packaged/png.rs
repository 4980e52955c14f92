//! Pictures as PNG.

use topobroker_embedding::{succeed, topobroker};

#[test]
fn the_program_draws_a_png_as_large_as_its_picture() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.png");
    let mut draw = topobroker();
    succeed(draw.args(["draw", "-i", "Core:2 PU:2", "-o"]).arg(&file));
    let bytes = std::fs::read(&file).unwrap();
    assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 1000, "{} bytes", bytes.len());
    let side = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    let svg = succeed(topobroker().args(["draw", "-i", "Core:2 PU:2"]));
    let of_svg = |name: &str| -> f64 {
        let rest = svg.split(&format!(" {name}=\"")).nth(1).unwrap();
        rest.split('"').next().unwrap().parse().unwrap()
    };
    // One and a half pixels for each of the picture, because letters are small.
    for (at, name) in [(16, "width"), (20, "height")] {
        let (pixels, expected) = (f64::from(side(at)), of_svg(name) * 1.5);
        assert!((pixels - expected).abs() <= 1.0, "{name}: {pixels}, expected {expected}");
    }
}
