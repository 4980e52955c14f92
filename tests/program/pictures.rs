//! `topobroker draw` writes pictures, and replaces no file unasked.

use topobroker_tests::published_here::PublishedHere;

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
    let shown = node.run(&["draw", "--of", "ascii", "--show", "core", "--no-factorize"]);
    assert!(shown.contains("Core L#0") && !shown.contains("L2 L#0"), "{shown}");
}
