//! `topobroker cluster build` and what reads its files: inputs, names, and outputs whole or not at
//! all.

use std::fs;
use std::path::Path;
use std::process::Command;
use topobroker_layout::encode::to_bytes;
use topobroker_reader::Archive;
use topobroker_reader::text::xml::export;
use topobroker_samples::synthetic;
use topobroker_tests::segments::topobroker;

#[test]
fn the_program_writes_a_cluster_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let node = |name: &str, machine: &str| {
        let description = synthetic(machine);
        let archive = to_bytes(&description).unwrap();
        fs::write(at(name), export(Archive::open(&archive).unwrap().topology())).unwrap();
    };
    node("a.xml", "Core:2 PU:2");
    node("b.xml", "Core:4 PU:2");
    fs::write(at("cut.xml"), "<topology version=\"2.0\"><object").unwrap();
    fs::write(at("binary.xml"), [0xff, 0xfe, 0]).unwrap();
    let cluster = |arguments: &[&str]| {
        let output =
            topobroker().arg("cluster").args(arguments).current_dir(folder.path()).output();
        let output = output.unwrap();
        let (out, error) = (output.stdout, output.stderr);
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(out), text(error))
    };
    let cases: [(&[&str], &str); 9] = [
        (&["build", "out", "a.xml"], "a.xml: has no info HostName"),
        (&["build", "out", "n=cut.xml"], "cut.xml"),
        (&["build", "out", "n=binary.xml"], "neither a segment nor a text in UTF-8"),
        (&["build", "out", "n=absent.xml"], "absent.xml: cannot be read"),
        (&["build", "out", "n=a.xml", "n=b.xml"], "the node \"n\" is there twice, in "),
        (&["build", "a.xml", "n=b.xml"], "a.xml: exists"),
        (&["build", "--force", "a.xml", "n=a.xml"], "a.xml: is also an input"),
        (&["build", "out", "n=a.xml", "--group", "g=n[1-"], "a bracket has no counterpart"),
        (&["build", "out", "n=a.xml", "--group", "g=n[1-999999999]"], "more than 262144 names"),
    ];
    let before = fs::read(at("a.xml")).unwrap();
    for (arguments, expected) in cases {
        let (code, _, error) = cluster(arguments);
        assert!(code == Some(1) && error.contains(expected), "{arguments:?}: {error}");
        assert!(!at("out").exists(), "{arguments:?} leaves nothing");
    }
    assert_eq!(before, fs::read(at("a.xml")).unwrap(), "an input is not overwritten");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4, "no temporary files are left");
    let (code, _, _) = cluster(&["build", "out"]);
    assert_eq!(code, Some(2), "no inputs are an error of usage");
    let (code, _, error) =
        cluster(&["build", "out", "--names-from-files", "a.xml", "b.xml", "n1=a.xml"]);
    assert_eq!((code, error.as_str()), (Some(0), ""));
    let (_, listed, _) = cluster(&["ls", "out"]);
    assert!(listed.contains("3 nodes of 2 classes: 8 cores, 16 PUs"), "{listed}");
    let (_, xml, _) = cluster(&["export", "out", "b"]);
    assert_eq!(xml, fs::read_to_string(at("b.xml")).unwrap());
    let (code, _, error) = cluster(&["export", "out", "c"]);
    assert!(code == Some(1) && error.contains("no node \"c\" among its 3"), "{error}");
    let (_, info, _) = cluster(&["info", "out", "n1"]);
    assert!(info.contains("name: n1\nnumber: 2\nHostName: n1\nplace: remote"), "{info}");
    cluster(&["export", "out", "--nodes", "all"]);
    assert_eq!(fs::read_dir(at("all")).unwrap().count(), 3);
    // A cluster is an input, too; and a list.
    fs::write(at("list"), "# nodes\nout\nc=b.xml\n").unwrap();
    let (code, _, error) = cluster(&["build", "more", "@list"]);
    assert_eq!((code, error.as_str()), (Some(0), ""));
    let (code, different, _) = cluster(&["diff", "out", "more"]);
    assert_eq!((code, different.as_str()), (Some(1), "+ c\n"));
    let (code, _, error) = cluster(&["build", "some", "a=a.xml", "b=cut.xml", "--skip-unreadable"]);
    assert!(code == Some(0) && error.contains("left out"), "{error}");
    use std::os::unix::fs::PermissionsExt;
    let mode = |name: &str| at(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("out"), 0o400, "serial numbers and addresses are not for everybody");
    cluster(&["build", "--public", "public", "a=a.xml"]);
    assert_eq!(mode("public"), 0o444);
}

#[test]
fn a_folder_may_have_a_folder_for_each_node_and_names_are_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&std::ffi::OsStr]| {
        let mut command = topobroker();
        command.args(arguments).current_dir(folder.path());
        command.output().unwrap()
    };
    let text = |words: &'static str| words.split(' ').map(std::ffi::OsStr::new).collect::<Vec<_>>();
    for name in ["a", "b"] {
        fs::create_dir_all(folder.path().join("nodes").join(name)).unwrap();
        let mut description = synthetic("Core:2 PU:1");
        description.objects[0].infos.push(("HostName".to_owned(), name.to_owned()));
        let archive = to_bytes(&description).unwrap();
        let xml = export(Archive::open(&archive).unwrap().topology());
        fs::write(folder.path().join("nodes").join(name).join("x.xml"), xml).unwrap();
    }
    let output = run(&text("cluster build c nodes"));
    assert!(output.status.success(), "{output:?}");
    let listed = String::from_utf8(run(&text("cluster ls c --nodes")).stdout).unwrap();
    assert!(listed.starts_with("a class 0 in -\nb class 0 in -\n"), "{listed}");
    fs::create_dir(folder.path().join("odd")).unwrap();
    let odd = Path::new("odd").join(std::ffi::OsStr::from_bytes(b"n\xff.xml"));
    fs::copy(folder.path().join("nodes/a/x.xml"), folder.path().join(odd)).unwrap();
    let said = run(&text("cluster build d --names-from-files odd")).stderr;
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(said.contains("its name is not UTF-8"), "{said}");
    let status = Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap();
    assert!(status.success());
    let said = String::from_utf8(run(&text("cluster ls pipe")).stderr).unwrap();
    assert!(said.contains("pipe: is no file; expected that of a cluster"), "{said}");
}
