//! The commands of the book do what its pages say.

use std::process::Command;
use topobroker_embedding::{prefix, said};
use topobroker_samples::checkout;

/// A block of a page that is run, and what it is said to print.
struct Block {
    code: String,
    printed: Option<String>,
}

/// The blocks `sh` of a page, each with the block `text` behind it.
fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut parts = page.split("```");
    // Text and code take turns.
    let mut between = parts.next().unwrap();
    while let Some(code) = parts.next() {
        let (kind, code) = code.split_once('\n').unwrap();
        match kind {
            "sh" => blocks.push(Block { code: code.to_owned(), printed: None }),
            "text" if between.trim().is_empty() => {
                blocks.last_mut().unwrap().printed = Some(code.to_owned());
            }
            _ => {}
        }
        between = parts.next().expect("a block ends");
    }
    blocks
}

/// Whether the lines of a text are those of a pattern, in which a line `...` stands for any lines.
fn is_like(text: &[&str], pattern: &[&str]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some((&"...", rest)) => (0..=text.len()).any(|from| is_like(&text[from..], rest)),
        Some((line, rest)) => text.split_first().is_some_and(|(first, others)| {
            first.trim_end() == line.trim_end() && is_like(others, rest)
        }),
    }
}

/// Runs the blocks of a page in one shell in an empty folder.
fn run_page(name: &str) {
    /// Between what two blocks print.
    const MARK: &str = "=== next block ===";
    let page = std::fs::read_to_string(checkout().join("docs/book").join(name)).unwrap();
    let blocks = blocks(&page);
    assert!(!blocks.is_empty(), "{name}");
    let script: String =
        blocks.iter().map(|block| format!("{}\necho '{MARK}'\n", block.code)).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = std::env::var("PATH").unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-euc", &script]).current_dir(folder.path());
    shell.env("PATH", format!("{}:{path}", prefix().join("bin").display()));
    shell.env("LD_LIBRARY_PATH", prefix().join("lib"));
    shell.env("PKG_CONFIG_PATH", prefix().join("lib/pkgconfig"));
    // What others have published on this machine is not seen.
    shell.env("TOPOBROKER_RUN", folder.path().join("run"));
    shell.env("XDG_RUNTIME_DIR", folder.path());
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{name}: {}", said(&output));
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let printed: Vec<&str> = text.split(&format!("{MARK}\n")).collect();
    assert_eq!(printed.len(), blocks.len() + 1, "{name}: {}", said(&output));
    for (block, printed) in blocks.iter().zip(printed) {
        let Some(pattern) = &block.printed else { continue };
        let lines: Vec<&str> = printed.lines().collect();
        assert!(
            is_like(&lines, &pattern.lines().collect::<Vec<_>>()),
            "{name}: {}printed\n{printed}expected\n{pattern}",
            block.code
        );
    }
}

#[test]
fn commands_of_the_page_for_users_print_what_it_says() {
    run_page("user.md");
}

#[test]
fn commands_of_the_page_for_administrators_print_what_it_says() {
    run_page("administrator.md");
}

#[test]
fn commands_of_the_page_for_authors_of_libraries_print_what_it_says() {
    run_page("libraries.md");
}

#[test]
fn commands_of_the_page_about_batch_systems_print_what_it_says() {
    run_page("batch-systems.md");
}

#[test]
fn commands_of_the_page_about_devices_run() {
    run_page("devices.md");
}

#[test]
fn blocks_of_a_page_are_found_with_what_they_print() {
    let page =
        "a\n```sh\ntrue\n```\n\n```text\n...\nb\n```\n```sh\nfalse\n```\nc\n```text\nd\n```\n";
    let found = blocks(page);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].printed.as_deref(), Some("...\nb\n"));
    assert!(found[1].printed.is_none());
    assert!(is_like(&["x", "y", "b"], &["...", "b"]) && !is_like(&["b", "c"], &["...", "b"]));
}
