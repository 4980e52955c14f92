//! The program as one meets it: exit statuses, messages, completions and manual pages.

use std::path::Path;
use std::process::{Command, Output};
use topobroker_samples::{shared, skip};
use topobroker_tests::published_here::PublishedHere;
use topobroker_tests::segments::{topobroker, topobroker_file};

fn run(words: &[&str]) -> Output {
    let mut command = topobroker();
    command.args(words).env("TOPOBROKER_RUN", "/nonexistent");
    command.env("XDG_RUNTIME_DIR", "/nonexistent").output().unwrap()
}

/// What is behind `topobroker: ` on standard error.
fn stderr(output: &Output) -> String {
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
fn a_wrong_command_line_is_reported_in_one_line() {
    let output = run(&["ls", "--josn"]);
    let message = stderr(&output).replace("topobroker_for_tests", "topobroker");
    assert_eq!(
        message,
        "there is no option '--josn'; did you mean '--json'? `topobroker ls --help` has more\n"
    );
    assert!(output.stdout.is_empty());
}

/// What a shell offers behind a command line, with its own functions.
fn completed(node: &PublishedHere, shell: &str, folder: &Path, words: &[&str]) -> String {
    let script = folder.join(shell);
    std::fs::write(&script, node.output(&["completions", shell]).stdout).unwrap();
    let (script, line) = (script.display(), words.join(" "));
    let script = match shell {
        // Bash itself splits words at colons.
        "bash" => format!(
            "source {script}; COMP_WORDS=({}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMP_TYPE=9; \
             _topobroker topobroker; echo \"${{COMPREPLY[@]}}\"",
            line.replace(':', " : "),
        ),
        "zsh" => format!(
            "compdef() {{}}; _describe() {{ print -r -- ${{(P)3}} }}; source {script}; words=({line}); \
             CURRENT={}; _clap_dynamic_completer_topobroker",
            words.len(),
        ),
        _ => format!("source {script}; complete -C '{line}'"),
    };
    let path = std::env::var("PATH").unwrap();
    let mut command = Command::new(shell);
    command.args(["-c", &script]).envs(node.keys.iter().cloned());
    command
        .env("TOPOBROKER_RUN", "/nonexistent")
        .env("HOME", folder)
        .env("PATH", format!("{}:{path}", folder.display()));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{shell}: {output:?}");
    String::from_utf8_lossy(&output.stdout).replace('\n', " ").replace("\\:", ":")
}

#[test]
fn shells_offer_commands_options_types_locations_devices_and_jobs() {
    let node = PublishedHere::new();
    node.run(&["job", "add", "mine", "--map-by", "hwthread", "-n", "1"]);
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(topobroker_file(), folder.path().join("topobroker")).unwrap();
    for shell in ["bash", "zsh", "fish"] {
        if Command::new(shell).arg("--version").output().is_err() {
            skip(format_args!("no {shell}"));
            continue;
        }
        for (words, offered) in [
            (&["topobroker", "doc"][..], "doctor"),
            (&["topobroker", "ps", "--mis"], "--misbound"),
            (&["topobroker", "ls", "--only", "pac"], "package"),
            (&["topobroker", "bind", "pu"], "pu:"),
            (&["topobroker", "bind", "pu:al"], "all"),
            (&["topobroker", "job", "gpus", "mi"], "mine"),
            (&["topobroker", "job", "add", "x", "--map-by", "nu"], "numa"),
        ] {
            let found = completed(&node, shell, folder.path(), words);
            assert!(found.contains(offered), "{shell} {words:?}: {found}");
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
            // It opens with its own declaration.
            let declared = page.split(".EX\n").nth(1).unwrap().split(".EE").next().unwrap();
            assert!(declared.contains(&format!("{name}(")), "{name}: {page}");
            functions += 1;
        }
    }
    assert!(functions > 200, "{functions}");
}

#[test]
fn doctor_reports_a_segment_that_cannot_be_adopted() {
    let node = PublishedHere::new();
    let well = node.output(&["doctor"]);
    assert_eq!(well.status.code(), Some(0), "{well:?}");
    let text = String::from_utf8_lossy(&well.stdout);
    assert!(text.starts_with("nothing is wrong; the topology of this node is shared\n"), "{text}");
    assert!(text.contains("adopted at its address"), "{text}");
    let gone = node.command(&["doctor"]).env("TOPOBROKER_FILE", "/nonexistent").output().unwrap();
    assert_eq!(gone.status.code(), Some(1));
    let text = String::from_utf8_lossy(&gone.stdout);
    assert!(
        text.starts_with(
            "1 thing to do; no topology is shared with this process\nbad   segment     "
        ),
        "{text}"
    );
    assert!(text.contains("publish again"), "{text}");
}

#[test]
fn scope_without_a_publication_is_of_this_machine() {
    let output = run(&["scope"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("published: machine\n") && text.contains("part: "), "{output:?}");
    assert_eq!(stderr(&output), "");
    assert!(!run(&["scope", "--adopted"]).status.success());
}

#[test]
fn export_writes_other_formats_and_verbosity_is_not_on_standard_output() {
    let output = run(&["export", "-i", "Package:2 Core:4 PU:1", "--of", "synthetic"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("Package:2") && text.contains("Core:4"), "{text}");
    let again = run(&["export", "-i", text.trim(), "--of", "synthetic"]);
    assert_eq!(String::from_utf8(again.stdout).unwrap(), text);
    let old = run(&["export", "-i", "Package:2 Core:4 PU:1", "--of", "xml-v1"]);
    let old = String::from_utf8(old.stdout).unwrap();
    assert!(old.contains("hwloc.dtd") && !old.contains("hwloc2.dtd"), "{old}");
    // Notes about locations are not on standard output.
    let said = run(&["calc", "-v", "-i", "Package:2 Core:4 PU:1", "core:1", "core:2"]);
    assert_eq!(String::from_utf8_lossy(&said.stdout), "0x00000006\n");
    assert!(stderr(&said).starts_with("core:1 is 0x00000002\n"), "{said:?}");
}

/// Starts the program by another name.
fn by_name(folder: &Path, name: &str, words: &[&str]) -> Output {
    let link = folder.join(name);
    let _ = std::os::unix::fs::symlink(topobroker_file(), &link);
    Command::new(link).args(words).current_dir(folder).env_remove("HWLOC_XMLFILE").output().unwrap()
}

#[test]
fn the_program_is_the_one_of_hwloc_whose_name_it_is_started_by() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let text = |name, words: &[&str]| {
        let output = by_name(at, name, words);
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    let machine = ["-i", "pack:2 core:2 pu:1"];
    let with = |words: &[&'static str]| [&machine[..], words].concat();
    for name in ["lstopo", "lstopo-no-graphics", "hwloc-ls"] {
        assert!(text(name, &with(&["-s"])).starts_with("depth 0:"), "{name}");
    }
    assert_eq!(text("hwloc-calc", &with(&["-N", "core", "all"])), "4\n");
    assert!(text("hwloc-info", &with(&["core:1"])).starts_with("Core L#1\n"));
    assert_eq!(text("hwloc-distrib", &with(&["2"])), "0x00000003\n0x0000000c\n");
    assert_eq!(text("hwloc-bind", &["core:0", "--", "echo", "bound"]), "bound\n");
    let script =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/install"))
            .unwrap();
    for name in ["hwloc-ps", "hwloc-diff", "hwloc-patch", "lstopo-no-graphics", "hwloc-ls"] {
        assert!(by_name(at, name, &["--help"]).status.success(), "{name}");
        assert!(script.contains(name), "{name}");
    }
}

#[test]
fn outputs_are_named_as_lstopo_takes_them() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let lstopo =
        |words: &[&str]| by_name(at, "lstopo", &[&["-i", "pack:2 core:2 pu:1"], words].concat());
    for (file, start) in [
        ("a.svg", &b"<svg "[..]),
        ("a.pdf", b"%PDF-1."),
        ("a.html", b"<!DOCTYPE html>"),
        ("a.tex", b"\\documentclass"),
        ("a.xml", b"<?xml "),
        ("a.console", b"Machine (1024MB total)\n"),
        ("a.synthetic", b"[NUMANode("),
        ("a.txt", b"\n"),
    ] {
        let output = lstopo(&[file]);
        assert!(output.status.success(), "{file}: {output:?}");
        assert!(std::fs::read(at.join(file)).unwrap().starts_with(start), "{file}");
        let again = lstopo(&[file]);
        let said = format!("topobroker: {file}: exists; -i {file} reads it, --force replaces it\n");
        assert_eq!(String::from_utf8_lossy(&again.stderr), said);
        assert!(lstopo(&["-f", file]).status.success(), "{file}");
    }
    for (words, start) in [
        (&["-"][..], "Machine (1024MB total)\n"),
        (&["--of", "xml"], "<?xml "),
        (&["--of", "svg", "-"], "<svg "),
        (&["-.svg"], "<svg "),
        (&["--no-legend", "-.pdf"], "%PDF-1."),
        (&["--of", "synthetic"], "[NUMANode("),
    ] {
        let output = lstopo(words);
        assert!(
            String::from_utf8_lossy(&output.stdout).starts_with(start),
            "{words:?}: {output:?}"
        );
    }
    // The end of a PDF document says where its table is: readers begin there.
    let pdf = std::fs::read(at.join("a.pdf")).unwrap();
    let text = String::from_utf8_lossy(&pdf);
    let table: usize =
        text.rsplit("startxref\n").next().unwrap().lines().next().unwrap().parse().unwrap();
    assert!(pdf[table..].starts_with(b"xref"), "{table}");
    let unknown = lstopo(&["picture.jpg"]);
    let said = String::from_utf8_lossy(&unknown.stderr);
    assert!(
        said.contains("picture.jpg: the output, whose name has no known ending; expected .svg"),
        "{said}"
    );
}

#[test]
fn objects_are_named_as_people_type_them() {
    let Some(shared) = shared() else { return };
    let file = shared.join("cases/machines/ip-over-infiniband.xml");
    let file = file.to_str().unwrap();
    let line = |words: &[&str]| {
        let output = run(&[&words[..1], &["-i", file], &words[1..]].concat());
        String::from_utf8([output.stdout, output.stderr].concat())
            .unwrap()
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    assert_eq!(line(&["info", "mlx5_0"]), "OpenFabrics L#1");
    assert_eq!(line(&["info", "0000:27:00.0"]), line(&["info", "pci=0000:27:00.0"]));
    assert_eq!(line(&["info", "core", "0"]), "Core L#0");
    assert_eq!(line(&["calc", "mlx5_0"]), line(&["calc", "os=mlx5_0"]));
    for (words, said) in [
        (
            &["calc", "core"][..],
            "a type without indexes at position 0; expected core:0 or core:all",
        ),
        (&["info", "nosuch"], "neither an object nor a mask"),
        (&["ls", "-i", "core:2"], "the last level is not of PUs: add PU:1"),
        (&["bind", "--pid", "0", "--get"], "expected 1 or more"),
        (&["bind", "--mempolicy", "interleave", "--", "true"], "add a LOCATION"),
    ] {
        let said_here = stderr(&run(words));
        let with_input = line(words);
        assert!(
            said_here.contains(said) || with_input.contains(said),
            "{words:?}: {said_here}{with_input}"
        );
    }
    assert!(String::from_utf8_lossy(&run(&["version"]).stdout).starts_with("topobroker"));
}

#[test]
fn the_root_of_this_system_is_an_input_as_in_lstopo() {
    let theirs = Command::new("lstopo-no-graphics").args(["-i", "/"]).output();
    let Ok(theirs) = theirs else { return skip(format_args!("no lstopo-no-graphics")) };
    let ours = run(&["ls", "-i", "/"]);
    assert_eq!(String::from_utf8_lossy(&ours.stdout), String::from_utf8_lossy(&theirs.stdout));
}

#[test]
fn runs_of_alike_devices_and_levels_are_printed_as_lstopo_prints_them() {
    let Some(shared) = shared() else { return };
    for (file, words) in [("memory-side-cache.xml", "-s"), ("alike-pci-devices.xml", "--whole-io")]
    {
        let file = shared.join("cases/machines").join(file);
        let mut lstopo = Command::new("lstopo-no-graphics");
        let theirs = lstopo.args(["--of", "console", words, "-i"]).arg(&file).output().unwrap();
        let ours = run(&["ls", words, "-i", file.to_str().unwrap()]);
        assert_eq!(String::from_utf8_lossy(&ours.stdout), String::from_utf8_lossy(&theirs.stdout));
    }
}
