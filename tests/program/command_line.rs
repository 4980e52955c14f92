//! The program as one meets it: exit statuses, messages, completions and manual pages.

use std::path::Path;
use std::process::{Command, Output};
use topobroker_samples::skip;
use topobroker_tests::published_here::PublishedHere;
use topobroker_tests::segments::topobroker;

fn run(words: &[&str]) -> Output {
    let mut command = topobroker();
    command.args(words).env("TOPOBROKER_RUN", "/nonexistent");
    command.env("XDG_RUNTIME_DIR", "/nonexistent").output().unwrap()
}

/// What is behind `topobroker: ` on standard error.
fn told(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.trim_start_matches("topobroker: ").to_owned()
}

#[test]
fn exit_statuses_are_those_of_the_manual() {
    let node = PublishedHere::new();
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text");
    std::fs::write(&text, "#!").unwrap();
    let no_program = text.to_str().unwrap();
    for (status, words) in [
        (0, &["ls"][..]),
        (0, &["--version"]),
        (0, &["check"]),
        (1, &["ls", "-i", "/nonexistent.xml"]),
        (1, &["info", "core:99999"]),
        (1, &["job", "show", "none"]),
        (2, &["ls", "--nonsense"]),
        (2, &["frobnicate"]),
        (2, &["job"]),
        (7, &["bind", "pu:0", "sh", "-c", "exit 7"]),
        (7, &["run", "sh", "-c", "exit 7"]),
        (127, &["bind", "pu:0", "--", "/none/such"]),
        (127, &["run", "--", "/none/such"]),
        (126, &["bind", "pu:0", "--", no_program]),
        (126, &["run", "--", no_program]),
        (128 + 15, &["run", "sh", "-c", "kill -TERM $$"]),
    ] {
        let output = node.output(words);
        assert_eq!(output.status.code(), Some(status), "{words:?}: {output:?}");
    }
}

#[test]
fn a_wrong_command_line_is_told_in_one_line_that_says_what_to_type() {
    for (words, line) in [
        (
            &["frobnicate"][..],
            "unrecognized subcommand 'frobnicate'; `topobroker --help` tells more\n",
        ),
        (
            &["ls", "--josn"],
            "unexpected argument '--josn' found; a similar argument exists: '--json'; `topobroker ls --help` tells more\n",
        ),
        (
            &["job", "exec", "mine"],
            "the following required arguments were not provided: --rank <RANK> <COMMAND>...; `topobroker job exec --help` tells more\n",
        ),
    ] {
        let output = run(words);
        // The tests' own program has a name of its own.
        let told = told(&output).replace("topobroker_for_tests", "topobroker");
        assert_eq!(told, line, "{words:?}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn completions_are_scripts_that_their_shells_take() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let output = run(&["completions", shell]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("misbound") && text.contains("doctor"), "{shell}");
        let file = folder.path().join(shell);
        std::fs::write(&file, text).unwrap();
        match Command::new(shell).arg("-n").arg(&file).output() {
            Ok(checked) => assert!(checked.status.success(), "{shell}: {checked:?}"),
            Err(_) => skip(format_args!("no {shell}")),
        }
    }
}

#[test]
fn manual_pages_have_examples_statuses_variables_and_files() {
    let folder = tempfile::tempdir().unwrap();
    assert!(run(&["manual", folder.path().to_str().unwrap()]).status.success());
    for page in ["topobroker", "topobroker-bind", "topobroker-cluster-draw"] {
        let text = std::fs::read_to_string(folder.path().join(format!("{page}.1"))).unwrap();
        for title in
            ["DESCRIPTION", "OPTIONS", "\"EXIT STATUS\"", "ENVIRONMENT", "FILES", "\"SEE ALSO\""]
        {
            assert!(text.contains(&format!(".SH {title}")), "{page}: {title}");
        }
    }
    let bind = std::fs::read_to_string(folder.path().join("topobroker-bind.1")).unwrap();
    assert!(bind.contains(".SH EXAMPLES"));
}

#[test]
fn every_function_of_the_headers_has_a_manual_page() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = tempfile::tempdir().unwrap();
    let made = Command::new(root.join("scripts/man3")).arg(folder.path()).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    let mut functions = 0;
    for header in root.join("ffi/include/topobroker").read_dir().unwrap() {
        let text = std::fs::read_to_string(header.unwrap().path()).unwrap();
        let is_code = |line: &&str| line.starts_with(|letter: char| letter.is_ascii_lowercase());
        for line in text.lines().filter(is_code) {
            let Some((start, _)) = line.split_once('(') else { continue };
            let name = start.rsplit([' ', '*']).next().unwrap();
            // A type of functions is described with those that take it.
            if !name.starts_with("tb_") {
                continue;
            }
            let page = std::fs::read_to_string(folder.path().join(format!("{name}.3")));
            let page = page.unwrap_or_else(|error| panic!("{name}: {error}"));
            let (_, target) = page.trim().split_once(".so man3/").unwrap();
            let target = std::fs::read_to_string(folder.path().join(target)).unwrap();
            assert!(target.contains(&format!("{name}(")), "{name}");
            functions += 1;
        }
    }
    assert!(functions > 200, "{functions}");
}

#[test]
fn doctor_tells_of_a_segment_that_cannot_be_adopted() {
    let node = PublishedHere::new();
    let well = node.output(&["doctor"]);
    assert_eq!(well.status.code(), Some(0), "{well:?}");
    let text = String::from_utf8_lossy(&well.stdout);
    assert!(text.starts_with("nothing is wrong; the topology of this node is shared\n"), "{text}");
    assert!(text.contains("adopted at its address"), "{text}");
    let gone = node.command(&["doctor"]).env("TOPOBROKER_FILE", "/nonexistent").output().unwrap();
    assert_eq!(gone.status.code(), Some(1));
    let text = String::from_utf8_lossy(&gone.stdout);
    assert!(text.starts_with("1 thing to do; nothing is shared\nbad   segment     "), "{text}");
    assert!(text.contains("publish again"), "{text}");
}

#[test]
fn scope_without_a_publication_is_of_this_machine() {
    let output = run(&["scope"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("published: machine\n") && text.contains("part: "), "{output:?}");
    assert!(told(&output).starts_with("nothing is published to this process"));
    assert!(!run(&["scope", "--adopted"]).status.success());
}

#[test]
fn export_writes_other_formats_and_verbosity_is_beside_the_answer() {
    let output = run(&["export", "-i", "Package:2 Core:4 PU:1", "--of", "synthetic"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("Package:2") && text.contains("Core:4"), "{text}");
    let again = run(&["export", "-i", text.trim(), "--of", "synthetic"]);
    assert_eq!(String::from_utf8(again.stdout).unwrap(), text);
    let old = run(&["export", "-i", "Package:2 Core:4 PU:1", "--of", "xml-v1"]);
    let old = String::from_utf8(old.stdout).unwrap();
    assert!(old.contains("hwloc.dtd") && !old.contains("hwloc2.dtd"), "{old}");
    // What is said of locations is beside the answer.
    let said = run(&["calc", "-v", "-i", "Package:2 Core:4 PU:1", "core:1", "core:2"]);
    assert_eq!(String::from_utf8_lossy(&said.stdout), "0x00000006\n");
    assert!(told(&said).starts_with("core:1 is 0x00000002\n"), "{said:?}");
}
