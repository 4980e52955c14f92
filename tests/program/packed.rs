//! Files as people attach them: compressed, in tar files, with text before them.

use rustix::process::{Pid, Signal};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use topobroker_samples::shared;
use topobroker_tests::segments::topobroker;

fn run(arguments: &[&str], folder: &Path) -> Output {
    topobroker().args(arguments).current_dir(folder).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

fn shell(script: &str, folder: &Path) {
    let status = Command::new("sh").args(["-ec", script]).current_dir(folder).status().unwrap();
    assert!(status.success(), "{script}");
}

/// Three nodes that differ in their names, a saved file system, and all of them packed.
fn packed() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::create_dir(at.join("nodes")).unwrap();
    let xml = run(&["export", "-i", "pack:2 core:4 pu:1"], at);
    assert!(xml.status.success(), "{xml:?}");
    let xml = String::from_utf8(xml.stdout).unwrap();
    let (head, tail) = xml.split_once("<info name").unwrap();
    for node in ["n1", "n2", "n3"] {
        let named = format!("{head}<info name=\"HostName\" value=\"{node}\"/>\n<info name{tail}");
        std::fs::write(at.join(format!("nodes/{node}.xml")), named).unwrap();
    }
    shell(
        "cp nodes/n1.xml x.xml; gzip -k x.xml; xz -k x.xml; zstd -qk x.xml; bzip2 -k x.xml; \
         mkdir -p root/sys/devices/system/node/node0 root/sys/devices/system/cpu root/proc; \
         for i in 0 1; do mkdir -p root/sys/devices/system/cpu/cpu$i/topology; \
         for f in core_id physical_package_id; do echo $i >root/sys/devices/system/cpu/cpu$i/topology/$f; done; \
         printf '%08x\\n' $((1 << i)) >root/sys/devices/system/cpu/cpu$i/topology/thread_siblings; \
         printf '%08x\\n' $((1 << i)) >root/sys/devices/system/cpu/cpu$i/topology/core_siblings; done; \
         echo 0-1 >root/sys/devices/system/cpu/online; echo 0-1 >root/sys/devices/system/cpu/possible; \
         ln -s ../sys root/proc/link; \
         for z in gz xz zst bz2; do tar -caf root.tar.$z root; tar -caf nodes.tar.$z nodes; done; \
         tar -cf root.tar root; tar -czf one.tgz x.xml; \
         mkdir differences; hwloc-compress-dir nodes differences >said 2>&1; ls differences | grep -q diff; \
         tar -cf differences.tar differences",
        at,
    );
    folder
}

#[test]
fn what_is_compressed_or_in_a_tar_file_is_read_as_what_it_holds() {
    let folder = packed();
    let at = folder.path();
    let ls = |input: &str| text(&run(&["ls", "-i", input], at));
    let (plain, root) = (ls("x.xml"), ls("root"));
    assert!(plain.contains("Core L#7") && root.contains("PU L#1"), "{plain}{root}");
    for ending in ["gz", "xz", "zst", "bz2"] {
        assert_eq!(ls(&format!("x.xml.{ending}")), plain, "{ending}");
        assert_eq!(ls(&format!("root.tar.{ending}")), root, "{ending}");
    }
    assert_eq!(ls("root.tar"), root);
    shell(
        "head -c 900 x.xml >a; tail -c +901 x.xml >b; zstd -qc a >two.xml.zst; \
         printf '\\120\\052\\115\\030\\004\\000\\000\\000four' >>two.xml.zst; zstd -qc b >>two.xml.zst; \
         chmod -R a-w root; tar -cf read-only.tar root; chmod -R u+w root",
        at,
    );
    assert_eq!(ls("two.xml.zst"), plain);
    assert_eq!(ls("read-only.tar"), root);
    let run_it = run(&["run", "-i", "one.tgz", "--", "true"], at);
    assert!(
        text(&run_it).contains("one.tgz: is a tar file, which this command does not unpack"),
        "{run_it:?}"
    );
    assert_eq!(
        text(&run(&["run", "--", "sh", "-c", "echo $1 $2", "sh", "-i", "one.tgz"], at)),
        "-i one.tgz\n"
    );
    assert_eq!(ls("one.tgz"), plain);
    assert_eq!(text(&run(&["ls", "--input=one.tgz"], at)), plain);
    let several = run(&["ls", "-i", "nodes.tar.gz"], at);
    assert!(
        text(&several).contains("nodes.tar.gz: holds several files; `topobroker cluster build`")
    );
    assert!(!several.status.success());
}

#[test]
fn a_signal_leaves_nothing_of_a_tar_file_and_no_cluster_of_half_of_it() {
    let folder = packed();
    let temporary = tempfile::tempdir().unwrap();
    let entries = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().count();
    let first = || Some(std::fs::read_dir(temporary.path()).ok()?.next()?.ok()?.path());
    let unpacked = || first().map_or(0, |folder| entries(&folder));
    let until = |what: &str, holds: &mut dyn FnMut() -> bool| {
        let begin = Instant::now();
        while !holds() {
            assert!(begin.elapsed() < Duration::from_secs(30), "{what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    // It waits for the list of other inputs.
    let mut command = topobroker();
    command.args(["cluster", "build", "c", "nodes.tar.gz", "root.tar.gz", "@-"]);
    command.current_dir(folder.path()).env("TMPDIR", temporary.path()).stdin(Stdio::piped());
    for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::KILL] {
        let mut child = command.spawn().unwrap();
        until("both are unpacked", &mut || unpacked() == 2);
        rustix::process::kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(signal.as_raw()));
        until("both are removed", &mut || entries(temporary.path()) == 0);
    }
    // Another process of it reads what is unpacked, and goes on to the end.
    let output = std::fs::File::create(folder.path().join("printed")).unwrap();
    let mut command = topobroker();
    command.args(["calc", "-i", "one.tgz"]).current_dir(folder.path());
    command.env("TMPDIR", temporary.path()).stdin(Stdio::piped()).stdout(output);
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    until("it is unpacked", &mut || unpacked() == 1);
    rustix::process::kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    stdin.write_all(b"core:7\n").unwrap();
    drop(stdin);
    until("it is removed", &mut || entries(temporary.path()) == 0);
    assert_eq!(std::fs::read_to_string(folder.path().join("printed")).unwrap(), "0x00000080\n");
    assert!(!folder.path().join("c").exists());
}

#[test]
fn clusters_of_packed_folders_and_of_differences_are_those_of_the_folder() {
    let folder = packed();
    let at = folder.path();
    let build = |input: &str| {
        let output = run(&["cluster", "build", "--force", "c", input], at);
        assert!(output.status.success(), "{input}: {}", text(&output));
        ["n1", "n2", "n3"].map(|node| text(&run(&["cluster", "export", "c", node], at)))
    };
    let plain = build("nodes");
    // Names of one file are links in a tar file.
    shell(
        "mkdir links; cp x.xml links/a.xml; ln links/a.xml links/b.xml; tar -cf links.tar links",
        at,
    );
    let linked = run(&["cluster", "build", "--names-from-files", "l", "links.tar"], at);
    assert!(linked.status.success(), "{}", text(&linked));
    assert!(text(&run(&["cluster", "ls", "l"], at)).contains("a,b"), "both are there");
    let named = run(&["cluster", "build", "o", "one=one.tgz"], at);
    assert!(named.status.success(), "{}", text(&named));
    for input in ["nodes.tar.gz", "nodes.tar.zst", "differences", "differences.tar"] {
        assert_eq!(build(input), plain, "{input}");
    }
    shell("cp -r differences packed; gzip packed/*; tar -cf packed.tar packed", at);
    for input in ["packed", "packed.tar"] {
        assert_eq!(build(input), plain, "{input}");
    }
    shell("mkdir lost; cp differences/*.diff.xml lost", at);
    let lost = text(&run(&["cluster", "build", "--force", "c", "lost"], at));
    assert!(lost.contains("lost/n1.xml: cannot be read: No such file"), "{lost}");
    assert!(text(&run(&["cluster", "build", "d", "one=root.tar.xz"], at)).is_empty());
    let names =
        run(&["cluster", "build", "--names-from-files", "e", "differences", "one=x.xml.gz"], at);
    assert!(names.status.success(), "{}", text(&names));
    let listed = text(&run(&["cluster", "ls", "e"], at));
    assert!(listed.contains("n[1-3],one"), "{listed}");
}

#[test]
fn damaged_and_oversized_files_are_refused_by_their_names() {
    let folder = packed();
    let at = folder.path();
    for ending in ["gz", "xz", "zst", "bz2"] {
        shell(&format!("head -c 200 x.xml.{ending} >cut.{ending}"), at);
        let said = text(&run(&["ls", "-i", &format!("cut.{ending}")], at));
        assert!(said.contains(&format!("cut.{ending}: cannot be read: ")), "{said}");
    }
    shell(
        "head -c 70000000 /dev/zero | gzip -1 >bomb.gz; \
         head -c 70000000 /dev/zero | zstd -q1 -o bomb.zst; \
         echo '<x/>' >nodes/n9.xml; tar -czf bad.tgz nodes; \
         ln -s /etc outside; tar -cf outside.tar outside; echo x >up; tar -cPf up.tar --transform 's,^,../,' up",
        at,
    );
    for bomb in ["bomb.gz", "bomb.zst"] {
        let said = text(&run(&["ls", "-i", bomb], at));
        assert!(
            said.contains(&format!("{bomb}: cannot be read: has more than 67108864 bytes")),
            "{said}"
        );
    }
    let bad = text(&run(&["cluster", "build", "f", "bad.tgz"], at));
    assert!(bad.contains("bad.tgz: nodes/n9.xml: hwloc cannot load it"), "{bad}");
    assert!(!at.join("f").exists());
    let outside = run(&["ls", "-i", "outside.tar"], at);
    assert!(!outside.status.success(), "{}", text(&outside));
    let up = text(&run(&["ls", "-i", "up.tar"], at));
    assert!(up.contains("up.tar: ../up: leads out of the tar file"), "{up}");
}

#[test]
fn blanks_before_xml_are_left_out_and_text_before_it_is_named() {
    let Some(shared) = shared() else { return };
    let files = shared.join("cases/files");
    let blank = run(&["ls", "-i", "leading-blank-line.xml"], &files);
    assert!(blank.status.success(), "{}", text(&blank));
    let pasted = text(&run(&["ls", "-i", "pasted-from-a-browser.xml"], &files));
    assert!(pasted.contains("line 1 is \"This XML file does not appear"), "{pasted}");
    assert!(pasted.contains("remove what is before the first <"), "{pasted}");
}
