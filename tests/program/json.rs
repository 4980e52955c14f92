//! What commands print with `--json` is what `docs/json/topobroker.schema.json` says.

use std::path::Path;
use topobroker_reader::jobs::affinity;
use topobroker_sample_clusters::UNPACKED;
use topobroker_samples::json_schema::Documents;
use topobroker_samples::{shared, skip};
use topobroker_tests::published_here::PublishedHere;
use topobroker_tests::segments::{topobroker, topobroker_file};

#[test]
fn json_of_every_command_is_what_the_schema_says() {
    let Some(shared) = shared() else { return };
    let mut documents = Documents::default();
    let node = PublishedHere::new();
    let pu = affinity().unwrap().iter().last().unwrap().to_string();
    node.add_job("mine", &format!("0 -\n4 {pu}\n"));
    let printed = |words: &[&str]| {
        let output = node.output(words);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.is_empty(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        text
    };
    let machines: Vec<String> = [
        "flux-sched__001N_exclusive_01-brokers-sierra2_0.xml",
        "hwloc-v2.9__8intel64-4n2t-memattrs.xml",
        "hwloc-v2.9__fakecpukinds.xml",
        "hwloc-v2.9__fakeheterodistances.xml",
        "hwloc-v2.9__96em64t-4n4d3ca2co-pci.xml",
        "openpmix__amd-gpus.xml",
    ]
    .map(|name| shared.join("topologies").join(name).display().to_string())
    .into();
    for (name, words) in [
        ("ls", &["ls"][..]),
        ("ls --summary", &["ls", "--summary"]),
        ("ls --only TYPE", &["ls", "--only", "numanode"]),
        ("ls --distances", &["ls", "--distances"]),
        ("ls --memattrs", &["ls", "--memattrs"]),
        ("ls --cpukinds", &["ls", "--cpukinds"]),
        ("info", &["info"]),
        ("info LOCATION", &["info", "all"]),
        ("info LOCATION", &["info", "--ancestors", "pu:0"]),
        ("calc", &["calc", "pu:0"]),
        ("calc", &["calc", "--intersect", "pu", "all"]),
        ("distrib", &["distrib", "3"]),
        ("devices", &["devices", "--all"]),
        ("devices", &["devices", "--near", "0"]),
        ("networks", &["networks"]),
        ("ports", &["ports"]),
        ("links", &["links"]),
        ("check", &["check"]),
    ] {
        for machine in &machines {
            let mut words = [words, &["--json", "-i", machine]].concat();
            if name == "check" {
                words.retain(|it| *it != "-i" && it != machine);
            }
            documents.add(name, &printed(&words));
        }
    }
    for (name, words) in [
        ("links --pairs", &["links", "--pairs"][..]),
        ("bind --get", &["bind", "--get"]),
        ("bind --get", &["bind", "--get", "--membind"]),
        ("ps", &["ps", "--all", "--threads"]),
        ("scope", &["scope"]),
        ("load", &["load"]),
        ("scope", &["job", "exec", "mine", "--rank", "4", "topobroker", "scope"]),
        ("status", &["status"]),
        ("doctor", &["doctor"]),
        ("check", &["check", "--job", "mine"]),
        ("job list", &["job", "list"]),
        ("job show", &["job", "show", "mine"]),
        ("job locality", &["job", "locality", "mine"]),
        ("job nics", &["job", "nics", "mine"]),
        ("job gpus", &["job", "gpus", "mine"]),
        ("job groups", &["job", "groups", "mine"]),
    ] {
        let own = topobroker_program();
        let words: Vec<&str> =
            words.iter().map(|it| if *it == "topobroker" { own.as_str() } else { *it }).collect();
        documents.add(name, &printed(&[&words[..], &["--json"]].concat()));
    }
    let published = tempfile::tempdir().unwrap();
    let words = ["publish", "--json", "-i", "pu:2", "--folder"];
    let folder = published.path().to_str().unwrap();
    documents.add("publish", &printed(&[&words[..], &[folder]].concat()));
    let Some(folder) = UNPACKED.as_ref() else { return };
    let files = folder.join("plafrim");
    let made = tempfile::tempdir().unwrap();
    let cluster = made.path().join("c").display().to_string();
    let raw = files.join("ib-raw/ib-subnet-fe80:0000:0000:0000.txt").display().to_string();
    let fabric =
        if Path::new(&raw).exists() { vec!["--fabric", &raw, "--group-by-fabric"] } else { vec![] };
    let nodes = files.join("hwloc").display().to_string();
    let build =
        [&["cluster", "build", &cluster, &nodes, "--skip-unreadable"][..], &fabric].concat();
    node.run(&build);
    let names = printed(&["cluster", "ls", "--nodes", &cluster]);
    let named: Vec<&str> = names.lines().filter_map(|it| it.split(' ').next()).take(2).collect();
    let [one, other] = named[..] else { panic!("{names}") };
    for (name, words) in [
        ("cluster ls", &["ls", &cluster][..]),
        ("cluster info", &["info", &cluster, one]),
        ("cluster common", &["common", &cluster, one, other]),
        ("cluster fabric", &["fabric", &cluster]),
        ("cluster fabric --links", &["fabric", "--links", &cluster]),
        ("cluster fabric FROM TO", &["fabric", &cluster, one, other]),
        ("cluster reach", &["reach", &cluster, one, other]),
        ("cluster pairs", &["pairs", &cluster, one, other]),
        ("cluster ports", &["ports", &cluster]),
        ("cluster check", &["check", &cluster]),
        ("cluster diff", &["diff", "--lines", &cluster, one, other]),
    ] {
        documents.add(name, &printed(&[&["cluster"], words, &["--json"]].concat()));
    }
    // `audit` needs what is installed: tests/embedding/it/audited.rs.
    let untried: Vec<String> = documents.assert_valid().into_iter().collect();
    assert_eq!(untried, ["topobroker audit"], "definitions without a document");
    if fabric.is_empty() {
        skip(format_args!("no fabric of plafrim in the reference data"));
    }
}

#[test]
fn two_infos_of_one_name_are_both_in_json() {
    let export = topobroker().args(["export", "-i", "pu:1"]).output().unwrap();
    let xml = String::from_utf8(export.stdout).unwrap();
    let twice = r#"<info name="Note" value="one"/><info name="Note" value="two"/>"#;
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, xml.replacen("<info ", &format!("{twice}<info "), 1)).unwrap();
    let mut info = topobroker();
    let shown = info.args(["info", "--json", "machine:0", "-i"]).arg(file.path()).output().unwrap();
    let document: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
    let infos = document[0]["infos"].as_array().unwrap();
    let values: Vec<_> =
        infos.iter().filter(|it| it["name"] == "Note").map(|it| &it["value"]).collect();
    assert_eq!(values, ["one", "two"]);
}

fn topobroker_program() -> String {
    topobroker_file()
}
