//! Files, folders and names that others have made: links, foreign owners, pipes without a writer,
//! bytes that are no text.

use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use topobroker_samples::{Daemon, until};
use topobroker_tests::segments::{self, topobroker};

/// A script in whose environment nothing is published.
fn shell(script: &str) -> Command {
    let mut command = segments::shell(script);
    command.env_remove("TOPOBROKER_FILE").env("TOPOBROKER_RUN", "/nonexistent");
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// How a process has ended, within a few seconds.
fn ended(mut child: Child) -> std::process::ExitStatus {
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if Instant::now() > end {
            child.kill().unwrap();
            panic!("it did not end");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_fifo_in_place_of_the_lock_of_a_daemon_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "cd {} && \"$0\" publish -i PU:2 --folder . >keys && mkfifo lock && \
         \"$0\" status --verbose --folder . && \"$0\" unpublish --all --folder .",
        folder.path().display()
    );
    let child = shell(&script).stdout(Stdio::null()).spawn().unwrap();
    assert!(ended(child).success());
}

#[test]
fn in_folders_of_others_links_are_not_followed_and_files_of_others_are_left_out() {
    if !rustix::process::geteuid().is_root() {
        topobroker_samples::skip(format_args!("files of another user take root"));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let nodes = folder.path().join("nodes");
    fs::create_dir(&nodes).unwrap();
    let export = |name: &str| {
        let file = nodes.join(name);
        let script = format!("\"$0\" export -i 'Core:2 PU:1' > {}", file.display());
        assert!(shell(&script).status().unwrap().success());
        file
    };
    let (_own, foreign) = (export("own.xml"), export("foreign.xml"));
    std::os::unix::fs::chown(&foreign, Some(12345), None).unwrap();
    let secret = folder.path().join("secret");
    fs::write(&secret, "root:$6$salt$hash\n<").unwrap();
    symlink(&secret, nodes.join("link.xml")).unwrap();
    symlink("/nonexistent", nodes.join("dangling.xml")).unwrap();
    fs::set_permissions(&nodes, fs::Permissions::from_mode(0o1777)).unwrap();
    let out = folder.path().join("cluster");
    let build = |options: &str| {
        let (out, nodes) = (out.display(), nodes.display());
        let script =
            format!("\"$0\" cluster build {out} {nodes} --names-from-files --force {options}");
        let output = shell(&script).output().unwrap();
        let list = shell(&format!("\"$0\" cluster ls {out}")).output().unwrap();
        (said(&output), String::from_utf8_lossy(&list.stdout).into_owned())
    };
    let (complaint, list) = build("--skip-unreadable");
    assert!(list.contains("own") && !list.contains("foreign"), "{list}");
    for said in [
        "foreign.xml: cannot be read: belongs to user 12345, in a folder that others may write to",
        "link.xml: cannot be read: is a link, in a folder that others may write to",
        "dangling.xml: cannot be read: is a link",
    ] {
        assert!(complaint.contains(said), "{complaint}");
    }
    let (complaint, list) = build("--skip-unreadable --any-owner");
    assert!(list.contains("own") && list.contains("foreign"), "{list}");
    let gather = format!(
        "\"$0\" cluster gather {} --folder {} --force --allow-missing",
        out.display(),
        nodes.display()
    );
    let gathered = shell(&gather).output().unwrap();
    let complaint = complaint + &said(&gathered);
    assert!(
        complaint.contains("belongs to user 12345") && !complaint.contains("$6$"),
        "{complaint}"
    );
    // In a folder of this user's own, links are as good as files.
    fs::set_permissions(&nodes, fs::Permissions::from_mode(0o755)).unwrap();
    let (complaint, _) = build("--skip-unreadable");
    assert!(!complaint.contains("foreign.xml") && complaint.contains("link.xml"), "{complaint}");
}

#[test]
fn a_process_whose_name_is_no_text_publishes_and_is_listed_and_bound() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "cd {}; name=$(printf 'caf\\303'); ln -s \"$0\" \"$name\"; \
         \"./$name\" run --folder . -i PU:1 -- sh -c '\"$0\" unpublish --stale --folder .; test -e \"$TOPOBROKER_FILE\"' \
         \"$0\" || exit; \
         mkdir s; ln -s \"$(command -v sleep)\" \"s/$name\"; \"s/$name\" 30 & sleeper=$!; sleep 0.2; \
         \"$0\" bind --get --pid $sleeper && \"$0\" bind -e --pid $sleeper && \"$0\" ps -a --pid $sleeper | grep -q caf; \
         code=$?; kill $sleeper; exit $code",
        folder.path().display()
    );
    let output = shell(&script).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
}

#[test]
fn signals_end_commands_that_wait_for_an_input() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.xml");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let served = folder.path().join("served");
    for (arguments, after) in [
        (vec!["publish", "--folder"], vec![]),
        (vec!["run", "--folder"], vec!["--", "true"]),
        (vec!["serve", "--folder"], vec![]),
    ] {
        for signal in [Signal::INT, Signal::TERM] {
            let mut command = topobroker();
            command.args(&arguments).arg(&served).arg("-i").arg(&pipe).args(&after);
            let child = command.stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(300));
            kill_process(Pid::from_child(&child), signal).unwrap();
            let status = ended(child);
            assert!(!status.success(), "{arguments:?}");
            assert!(!served.exists(), "{arguments:?}");
        }
    }
}

#[test]
fn a_configuration_that_never_ends_holds_up_no_doctor() {
    let folder = tempfile::tempdir().unwrap();
    let conf = folder.path().join("slurm.conf");
    fs::write(&conf, "").unwrap();
    let stack = folder.path().join("plugstack.conf");
    let doctor = |stack: &Path| {
        let mut command = topobroker();
        command.arg("doctor").env("SLURM_CONF", &conf).env("TOPOBROKER_RUN", "/nonexistent");
        let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let _ = ended(child);
        fs::remove_file(stack).unwrap();
    };
    assert!(Command::new("mkfifo").arg(&stack).status().unwrap().success());
    doctor(&stack);
    symlink("/dev/zero", &stack).unwrap();
    doctor(&stack);
}

#[test]
fn a_process_that_starts_threads_all_the_time_is_bound() {
    let folder = tempfile::tempdir().unwrap();
    let Some(shared) = topobroker_samples::shared() else { return };
    let churn = folder.path().join("churn");
    let mut compiler = Command::new("cc");
    compiler.args(["-pthread", "-o"]).arg(&churn).arg(shared.join("cases/files/churn.c"));
    assert!(compiler.status().unwrap().success());
    let mut process = Command::new(&churn).spawn().unwrap();
    let mut bind = topobroker();
    bind.args(["bind", "pu:0", "--pid", &process.id().to_string()]);
    let child = bind.stderr(Stdio::null()).spawn().unwrap();
    let status = ended(child);
    process.kill().unwrap();
    process.wait().unwrap();
    assert!(status.success());
}

#[test]
fn names_of_others_steer_no_terminal_and_end_no_line() {
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("plain.xml");
    let hostile = folder.path().join("hostile.xml");
    let synthetic = shell("\"$0\" export -i 'Package:2 Core:2 PU:1'").output().unwrap();
    let text = String::from_utf8(synthetic.stdout).unwrap();
    let named = |name: &str| {
        let info =
            format!("<info name=\"Name{name}\" value=\"value{name}\"/><info name=\"Backend\"");
        let device = format!(
            "<object type=\"Bridge\" gp_index=\"900\" bridge_type=\"0-1\" depth=\"0\" bridge_pci=\"0000:[00-01]\">\
             <object type=\"PCIDev\" gp_index=\"901\" pci_busid=\"0000:01:00.0\" pci_type=\"0300 [10de:2330] [10de:2330] a1\" \
             pci_link_speed=\"8.0\"><object type=\"OSDev\" gp_index=\"902\" name=\"gpu{name}\" subtype=\"sub{name}\" osdev_type=\"1\"/>\
             </object></object></object>"
        );
        let text = text.replacen("<info name=\"Backend\"", &info, 1);
        let at = text.rfind("</object>").unwrap();
        text[..at].to_owned() + &device + &text[at + "</object>".len()..]
    };
    fs::write(&plain, named("x")).unwrap();
    fs::write(&hostile, named("\u{9b}31m&#10;gone\u{7f}")).unwrap();
    for command in [
        "ls -i FILE",
        "ls -v -i FILE",
        "info -i FILE",
        "info machine -i FILE",
        "info gpu0 -i FILE",
        "devices -i FILE",
        "links -i FILE",
        "links --of matrix -i FILE",
        "ports -i FILE",
        "check -i FILE",
        "networks -i FILE",
        "ls --json -i FILE",
        "devices --json -i FILE",
    ] {
        let lines = |file: &Path| {
            let script = format!("\"$0\" {}", command.replace("FILE", file.to_str().unwrap()));
            let output = shell(&script).output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout).into_owned() + &said(&output);
            let text = text.replace(file.to_str().unwrap(), "FILE");
            assert!(
                !text.contains(|it: char| it.is_control() && it != '\n'),
                "{command}: {text:?}"
            );
            (text.lines().count(), text)
        };
        let (expected, found) = (lines(&plain), lines(&hostile));
        assert!(found.0 == expected.0, "{command}: {}{}", expected.1, found.1);
    }
}

#[test]
fn a_daemon_whose_file_turns_hostile_goes_on_with_what_it_serves() {
    let folder = tempfile::tempdir().unwrap();
    let (node, served) = (folder.path().join("node.xml"), folder.path().join("served"));
    let write = |machine: &str| {
        let script = format!("\"$0\" export -i '{machine}' > {}", node.display());
        assert!(shell(&script).status().unwrap().success());
    };
    write("Core:2 PU:1");
    let options = ["--interval", "1", "-i", node.to_str().unwrap()];
    let mut daemon = Daemon::start(topobroker(), &served, &options);
    let first = daemon.keys();
    fs::write(&node, "<!DOCTYPE topology [<!ENTITY e 'x'>]><topology version=\"2.0\"/>").unwrap();
    let is_refused = || daemon.messages().contains("declares a document type of its own");
    until("the file is refused", is_refused);
    assert_eq!(daemon.keys(), first);
    write("Core:3 PU:1");
    until("the next machine is served", || daemon.keys() != first);
    daemon.end();
    assert!(!served.exists());
}
