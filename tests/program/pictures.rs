//! `topobroker draw` writes pictures, and replaces no file unasked.

use topobroker_tests::published_here::PublishedHere;
use topobroker_tests::segments::topobroker;

#[test]
fn the_program_writes_each_format_and_replaces_no_file_unless_it_is_asked_to() {
    let node = PublishedHere::new();
    let folder = tempfile::tempdir().unwrap();
    for (name, start) in [
        ("a.svg", &b"<svg "[..]),
        ("a.html", b"<!DOCTYPE html>"),
        ("a.tex", b"\\documentclass"),
        ("a.txt", b""),
    ] {
        let file = folder.path().join(name);
        let words = ["draw", "-o", file.to_str().unwrap()];
        node.run(&words);
        let bytes = std::fs::read(&file).unwrap();
        assert!(bytes.starts_with(start), "{name}");
        let again = node.output(&words);
        let message = String::from_utf8_lossy(&again.stderr);
        assert!(!again.status.success() && message.contains("--force"), "{name}: {message}");
        node.run(&["draw", "--force", "-o", file.to_str().unwrap()]);
        assert_eq!(std::fs::read(&file).unwrap(), bytes, "{name}");
    }
    let refused = node.output(&["draw", "-o", folder.path().join("a.png").to_str().unwrap()]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && said.contains("built without the feature png"), "{said}");
    assert!(node.run(&["draw"]).starts_with("<svg "));
    assert!(node.run(&["draw", "--links", "--of", "ascii"]).contains("MEM to memory"));
    let dated = node.run(&["draw", "--append-legend", "Date: today", "--append-legend", "<by me>"]);
    assert!(dated.contains(">Date: today</text>") && dated.contains(">&lt;by me&gt;</text>"));
    let dated = node.run(&["lstopo", "--of", "svg", "--append-legend", "Date: today"]);
    assert!(dated.contains(">Date: today</text>") && dated.contains(">L#: logical index"));
    let mut words =
        ["lstopo", "--of", "svg", "--no-default-legend", "--append-legend", "Date: today"];
    let dated = node.run(&words);
    assert!(dated.contains(">Date: today</text>") && !dated.contains(">L#: logical index"));
    words[3] = "--no-legend";
    assert!(!node.run(&words).contains(">Date: today</text>"));
    let shown = node.run(&["draw", "--of", "ascii", "--show", "core", "--no-factorize"]);
    assert!(shown.contains("Core L#0") && !shown.contains("L2 L#0"), "{shown}");
}

#[test]
fn a_pdf_is_as_large_as_its_picture_or_a_sheet_that_is_turned_as_the_picture_is() {
    let folder = tempfile::tempdir().unwrap();
    let page = |name: &str, words: &[&str]| {
        let file = folder.path().join(name);
        let output = topobroker().arg("draw").arg("-o").arg(&file).args(words).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        let (_, rest) = text.split_once("/MediaBox [0 0 ").unwrap();
        let sides = rest.split(']').next().unwrap().split(' ').map(|it| it.parse::<f32>().unwrap());
        let scale = text.lines().find_map(|line| line.strip_suffix(" cm")).unwrap();
        let scale: f32 = scale.split(' ').next().unwrap().parse().unwrap();
        (sides.collect::<Vec<f32>>(), scale)
    };
    let (wide, high) = ("pack:8 core:1 pu:1", "pack:1 l3:1 l2:1 l1:1 core:1 pu:1");
    let (own, scale) = page("own.pdf", &["-i", wide]);
    assert!(own[0] > own[1] && (scale - 0.75).abs() < 0.001, "{own:?} {scale}");
    for (size, short, long) in
        [("a4", 595.0, 842.0), ("a3", 842.0, 1191.0), ("letter", 612.0, 792.0)]
    {
        let (turned, scale) = page(&format!("{size}.pdf"), &["--page", size, "-i", wide]);
        assert_eq!(turned, [long, short], "{size}");
        // What is left of the sheet, besides its margins, is on two sides alone.
        let left = [long - 56.0 - own[0] / 0.75 * scale, short - 56.0 - own[1] / 0.75 * scale];
        assert!(left[0].min(left[1]).abs() < 0.1, "{size}: {left:?}");
    }
    let (upright, _) = page("high.pdf", &["--page", "a4", "--no-legend", "-i", high]);
    assert_eq!(upright, [595.0, 842.0]);
}
