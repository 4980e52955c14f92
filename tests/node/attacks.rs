//! Regression tests for attacks: files that are not what their names say, inputs without end,
//! outputs that fail. Each test failed once, before its fault was fixed.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use topobroker_layout::header::{Header, mark_ready};
use topobroker_reader::Keys;
use topobroker_samples::until;
use topobroker_tests::segments::{Published, adopter_file, shell, topobroker, topobroker_file};

fn error(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!text.contains("panicked"), "{text}");
    text
}

/// Runs a command, asserts its exit code, and returns what it prints on standard error.
fn ends_with(code: i32, command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = error(&output);
    assert_eq!(output.status.code(), Some(code), "{command:?}: {text}");
    text
}

/// A file in shared memory, removed when this is dropped.
struct InSharedMemory(PathBuf);

impl InSharedMemory {
    /// The file whose name is that of a segment with this id.
    fn named(id: &str) -> Self {
        Self(PathBuf::from(format!("/dev/shm/topobroker-{id}")))
    }
}

impl Drop for InSharedMemory {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Bytes of a small segment whose header names another boot, so that its publisher is gone.
fn stale_segment() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let mut publish = topobroker();
    publish.args(["publish", "-i", "PU:1", "--folder"]).arg(folder.path());
    let lines = String::from_utf8(publish.output().unwrap().stdout).unwrap();
    let keys = Keys::from_lines(&lines).unwrap();
    let mut segment = fs::read(keys.file().unwrap()).unwrap();
    let header = Header::read(&segment).unwrap();
    let archive = segment[topobroker_layout::header::HEADER_LEN..].to_vec();
    let header = Header { publisher_pid: 1, boot_id: [7; 16], ..header };
    header.write(&archive, &mut segment).unwrap();
    mark_ready(&mut segment);
    segment
}

#[test]
fn a_link_in_shared_memory_is_not_followed_to_a_device_or_a_fifo() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    for (target, id) in [(fifo.as_path(), "1"), (Path::new("/dev/zero"), "2")] {
        let link = InSharedMemory::named(&id.repeat(32));
        symlink(target, &link.0).unwrap();
        for command in [&["status"][..], &["unpublish", "--stale"]] {
            let mut patient = Command::new("timeout");
            patient.arg("20").arg(topobroker_file()).args(command);
            let output = patient.output().unwrap();
            assert!(output.status.success(), "{command:?}: {}", error(&output));
            assert!(!String::from_utf8_lossy(&output.stdout).contains(link.0.to_str().unwrap()));
        }
        let mut unpublish = topobroker();
        let said = ends_with(1, unpublish.arg("unpublish").arg(&link.0));
        assert_eq!(said.matches(link.0.to_str().unwrap()).count(), 1, "{said}");
        assert!(link.0.symlink_metadata().is_ok(), "the link must stay");
    }
}

#[test]
fn sweeping_a_stale_file_keeps_the_files_of_a_living_segment_of_that_name() {
    // The files of a memfd segment are in shared memory and have its name as prefix. The name
    // itself is free there, so that another file can take it.
    let living = Published::memfd();
    let id = living.segment();
    let its_file = InSharedMemory::named(&format!("{id}+xml2"));
    fs::write(&its_file.0, "its XML").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let stale = folder.path().join("stale");
    fs::write(&stale, stale_segment()).unwrap();
    let taken = InSharedMemory::named(&id);
    for is_link in [true, false] {
        match is_link {
            true => symlink(&stale, &taken.0).unwrap(),
            false => drop(fs::copy(&stale, &taken.0).unwrap()),
        }
        ends_with(0, topobroker().args(["unpublish", "--stale"]));
        // A segment of this name may live elsewhere as a memfd, so that only its owner removes the
        // files of it.
        assert!(!is_link || taken.0.symlink_metadata().is_ok(), "the link must stay");
        if is_link {
            assert!(its_file.0.exists(), "the file of the living segment must stay");
            fs::remove_file(&taken.0).unwrap();
        } else {
            assert!(!taken.0.exists(), "the stale file itself must be removed");
        }
        let _ = fs::write(&its_file.0, "its XML");
    }
}

#[test]
fn a_daemon_serves_no_folder_that_another_user_can_change() {
    if !rustix::process::geteuid().is_root() {
        topobroker_samples::skip(format_args!("giving a folder to another user takes root"));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let open = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    open(folder.path(), 0o755);
    let theirs = folder.path().join("theirs");
    fs::create_dir(&theirs).unwrap();
    std::os::unix::fs::chown(&theirs, Some(1234), Some(1234)).unwrap();
    let shared = folder.path().join("shared");
    fs::create_dir(&shared).unwrap();
    open(&shared, 0o777);
    for (served, complaint) in [
        (theirs.clone(), "belongs to user 1234"),
        (theirs.join("below"), "belongs to user 1234"),
        (shared.clone(), "has mode 0777, which others may write"),
        (shared.join("below"), "has mode 0777, which others may write"),
    ] {
        let mut serve = topobroker();
        let said = ends_with(1, serve.args(["serve", "-i", "PU:1", "--folder"]).arg(&served));
        assert!(said.contains(complaint) && said.contains("cannot be served"), "{said}");
        assert!(!served.join("lock").exists() && !served.join("keys").exists());
    }
    let named = folder.path().join("a\nline");
    let mut serve = topobroker();
    let said = ends_with(1, serve.args(["serve", "-i", "PU:1", "--folder"]).arg(&named));
    assert!(said.contains("one line of UTF-8") && !named.exists(), "{said}");
}

#[test]
fn a_daemon_that_cannot_start_leaves_no_files_and_keeps_those_of_an_earlier_daemon() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let serve = |input: &str| {
        let mut serve = topobroker();
        serve.args(["serve", "-i", input, "--folder"]).arg(&run);
        serve
    };
    let missing = folder.path().join("missing.xml");
    ends_with(1, &mut serve(missing.to_str().unwrap()));
    assert!(!run.exists(), "{:?}", fs::read_dir(&run).map(Iterator::count));
    let said = ends_with(1, serve("PU:1").env("NOTIFY_SOCKET", "/nonexistent/socket"));
    assert!(said.contains("NOTIFY_SOCKET"), "{said}");
    assert!(!run.exists(), "{:?}", fs::read_dir(&run).map(Iterator::count));
    // An existing folder stays. The files that an earlier daemon has left in it stay too, because
    // they are still in use.
    fs::create_dir(&run).unwrap();
    ends_with(1, &mut serve(missing.to_str().unwrap()));
    assert!(run.exists());
    fs::write(run.join("keys"), "of an earlier daemon\n").unwrap();
    ends_with(1, &mut serve(missing.to_str().unwrap()));
    assert_eq!(fs::read_dir(&run).unwrap().count(), 1);
}

#[test]
fn a_daemon_whose_messages_are_not_read_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let (run, input) = (folder.path().join("run"), folder.path().join("machine.xml"));
    let xml = topobroker().args(["export", "-i", "Core:2 PU:2"]).output().unwrap().stdout;
    fs::write(&input, &xml).unwrap();
    for is_full in [true, false] {
        fs::write(&input, &xml).unwrap();
        let mut serve = topobroker();
        serve.args(["serve", "--interval", "1", "--folder"]).arg(&run).arg("-i").arg(&input);
        let errors = match is_full {
            true => File::options().write(true).open("/dev/full").unwrap().into(),
            false => Stdio::piped(),
        };
        let mut daemon = serve.stderr(errors).spawn().unwrap();
        drop(daemon.stderr.take());
        until("keys", || run.join("keys").exists());
        fs::write(&input, "<nonsense").unwrap();
        // Long enough for the daemon to look at its input, to fail, and to write a message.
        std::thread::sleep(Duration::from_secs(3));
        assert!(daemon.try_wait().unwrap().is_none(), "full: {is_full}");
        assert_eq!(fs::read_dir(&run).unwrap().count(), 3);
        let pid = rustix::process::Pid::from_child(&daemon);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        assert!(daemon.wait().unwrap().success());
        assert!(!run.exists());
    }
}

#[test]
fn a_command_whose_output_cannot_be_written_fails_and_undoes_its_work() {
    let folder = tempfile::tempdir().unwrap();
    for script in [
        r#""$0" --help >/dev/full"#,
        r#""$0" ls -i PU:1 >/dev/full"#,
        r#""$0" calc nonsense -i PU:1 2>/dev/full"#,
        r#""$0" publish -i PU:1 --folder "$1" >/dev/full"#,
        r#""$0" publish -i PU:1 --folder "$1" >&-"#,
    ] {
        let said = ends_with(1, shell(script).arg(folder.path()));
        assert!(script.contains("2>") || said.contains("standard output"), "{script}: {said}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    // A shell command, and the start of what `job list` must print afterwards.
    for (done, jobs) in [
        (r#"! "$0" job add a --map-by hwthread >/dev/full"#, ""),
        (r#"! "$0" job add a >/dev/full"#, ""),
        (r#"! "$0" job add a >&-"#, ""),
        // The pipe has no reader any more when the program writes.
        (r#"{ while (printf x) 2>/dev/null; do :; done; "$0" job add a; true; } | true"#, ""),
        (r#""$0" ls --job nosuch 2>/dev/full; [ $? = 1 ]"#, ""),
        // Many programs open standard output like this for children whose output they do not want.
        (r#""$0" job add a 1<>/dev/null"#, "a: 0 ranks"),
    ] {
        let inner = format!("{done} || exit 9; \"$0\" job list");
        let mut run = topobroker();
        run.args(["run", "-i", "PU:2", "--", "sh", "-c", &inner]).arg(topobroker_file());
        let output = run.output().unwrap();
        let listed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{done}: {}", error(&output));
        assert!(
            listed.starts_with(jobs) && listed.is_empty() == jobs.is_empty(),
            "{done}: {listed}"
        );
    }
}

#[test]
fn inputs_that_never_end_are_refused_within_little_memory() {
    // Half a gigabyte of address space. hwloc and the program take far less.
    let limited = |arguments: &str| shell(&format!("ulimit -v 524288; \"$0\" {arguments}"));
    for (arguments, complaint) in [
        ("calc -i PU:2 </dev/zero", "standard input: has a line of more than"),
        ("ls -i /dev/zero", "/dev/zero: cannot be read: has more than"),
        ("ls -i - </dev/zero", "cannot be read: has more than"),
        ("run -i PU:2 -- \"$0\" job add a --ranks /dev/zero", "/dev/zero: has more than"),
        ("ls -i pu:131073", "more than 131072 objects"),
        ("ls -i pu:100000000", "more than 131072 objects"),
        ("ls -i 'core:2 pu:1(indexes=0,4294967294)'", "an index of 131072 or more"),
    ] {
        let said = ends_with(1, &mut limited(arguments));
        assert!(said.contains(complaint), "{arguments}: {said}");
    }
    let cgroup = tempfile::tempdir().unwrap();
    symlink("/dev/zero", cgroup.path().join("cpuset.cpus.effective")).unwrap();
    symlink("/dev/zero", cgroup.path().join("cpuset.mems.effective")).unwrap();
    let view = format!("ls -i PU:2 --view cgroup:{}", cgroup.path().display());
    assert!(ends_with(1, &mut limited(&view)).contains("has more than"));
}

#[test]
fn numbers_that_make_no_sense_are_refused() {
    for (arguments, code, complaint) in [
        (
            "run -i PU:2 -- \"$0\" job add a --map-by slot:PE=18446744073709551615",
            1,
            "not a number from 1 to 131072",
        ),
        ("run -i PU:2 -- \"$0\" job add a -n 0 --map-by core", 2, "expected 1 or more"),
        ("run -i PU:2 -- \"$0\" job add a --ranks /dev/null", 1, "names no ranks"),
        ("run -i PU:2 -- \"$0\" job add a -n 2", 1, "add --map-by"),
        ("calc -i 'core:2 pu:2' --no-smt=99 all", 1, "cores have 2 PUs at most"),
        ("calc -i 'core:2 pu:2' -N 99 all", 1, "no depth 99"),
        ("ls -i PU:2 --view env:", 1, "names no variable"),
        ("ls -i 'pack:2 core:x pu:1'", 1, "\"core:x\" at position 7"),
    ] {
        let said = ends_with(code, &mut shell(&format!("\"$0\" {arguments}")));
        assert!(said.contains(complaint), "{arguments}: {said}");
    }
}

#[test]
fn a_file_that_is_longer_than_any_segment_is_neither_copied_nor_mapped() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("long");
    let opened = File::create(&file).unwrap();
    opened.set_len(1 << 40).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
    for copy in ["0", "1"] {
        let mut command = topobroker();
        command.args(["calc", "all"]).env("TOPOBROKER_COPY", copy);
        command.env("TOPOBROKER_FILE", &file).env("TOPOBROKER_ADDR", "0");
        command.env("TOPOBROKER_SIZE", (1u64 << 40).to_string());
        let said = ends_with(1, &mut command);
        assert!(said.contains("no segment is that long"), "{said}");
    }
}

#[test]
fn files_of_a_killed_run_are_swept() {
    let folder = tempfile::tempdir().unwrap();
    let left = || fs::read_dir(folder.path()).unwrap().count();
    let kill = || {
        let mut run = topobroker();
        run.args(["run", "--legacy", "-i", "PU:2", "--folder"]).arg(folder.path());
        // The program outlives `run`, so it gets no output of this test.
        run.args(["--", "sleep", "3"]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = run.spawn().unwrap();
        until("four files are left", || left() >= 4);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(left() >= 4);
    };
    kill();
    ends_with(0, topobroker().args(["unpublish", "--stale", "--folder"]).arg(folder.path()));
    assert_eq!(left(), 0);
    kill();
    let mut run = topobroker();
    ends_with(
        0,
        run.args(["run", "-i", "PU:2", "--folder"]).arg(folder.path()).args(["--", "true"]),
    );
    assert_eq!(left(), 0);
}

#[test]
fn an_xml_file_that_no_archive_can_hold_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("odd.xml");
    let xml = topobroker().args(["export", "-i", "PU:1"]).output().unwrap().stdout;
    let xml = String::from_utf8(xml).unwrap();
    // Because these are all equal, they take no bytes in an archive.
    let (own, infos) = (xml.find("<info").unwrap(), xml.rfind("<info").unwrap());
    let end = infos + xml[infos..].find("/>").unwrap() + 2;
    let alike = "<info name=\"n\" value=\"v\"/>".repeat(300_000);
    let high =
        xml.replacen("\"NUMANode\" os_index=\"0\"", "\"NUMANode\" os_index=\"4294967290\"", 1);
    let nowhere = xml.replacen("\"NUMANode\" os_index=\"0\"", "\"NUMANode\"", 1);
    let elsewhere = xml.replacen("\"PU\" os_index=\"0\"", "\"PU\" os_index=\"1\"", 1);
    for (text, complaint) in [
        ([&xml[..own], &alike, &xml[end..]].concat(), "in proportion"),
        (high, "OS index \"4294967290\""),
        (nowhere, "NUMANode with OS index \"(none)\""),
        (elsewhere, "the PU of OS index 1 has complete cpuset {0}; expected {1}"),
    ] {
        assert_ne!(text, xml);
        fs::write(&file, text).unwrap();
        let said = ends_with(1, topobroker().args(["ls", "-i"]).arg(&file));
        assert!(said.contains(complaint) && said.contains("odd.xml"), "{said}");
    }
}

#[test]
fn run_with_prun_warns_that_the_dvm_already_runs() {
    let folder = tempfile::tempdir().unwrap();
    let prun = folder.path().join("prun");
    fs::write(&prun, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&prun, fs::Permissions::from_mode(0o755)).unwrap();
    let mut run = topobroker();
    let said = ends_with(0, run.args(["run", "-i", "PU:1", "--"]).arg(&prun));
    assert!(said.contains("DVM that runs already"), "{said}");
}

#[test]
fn without_proc_a_process_loads_for_itself() {
    if !rustix::process::geteuid().is_root() {
        topobroker_samples::skip(format_args!("taking /proc away takes root"));
        return;
    }
    let loads = adopter_file();
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", "umount -l /proc && exec \"$0\" load"]).arg(loads);
    command.env_remove("TOPOBROKER_FILE").env("TOPOBROKER_RUN", "/nonexistent");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", error(&output));
    let objects: usize = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
    assert!(objects > 2);
}

#[test]
fn xml_with_which_hwloc_crashes_is_refused_with_the_object_and_the_rule() {
    let Some(shared) = topobroker_samples::shared() else { return };
    for (file, said) in [
        ("entity-in-userdata.xml", "declares a document type of its own"),
        ("xml-crash-5-151.xml", "the NUMANode with gp_index 3 is not in the one Machine"),
        ("xml-crash-5-155.xml", "the Core with gp_index 4 has no complete_cpuset"),
        ("xml-crash-5-27021.xml", "has no complete_nodeset"),
    ] {
        let file = shared.join("cases/files").join(file);
        for command in ["ls -i", "publish -i", "cluster build /dev/null --force"] {
            let complaint =
                ends_with(1, &mut shell(&format!("\"$0\" {command} {}", file.display())));
            assert!(complaint.contains(said), "{command} {}: {complaint}", file.display());
        }
    }
}
