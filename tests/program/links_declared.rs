//! Links that an administrator declares, by files of NCCL and RCCL and as JSON.

use std::process::Output;
use topobroker::links::NcclFile;
use topobroker_samples::shared;
use topobroker_tests::segments::{topobroker, topobroker_file};

/// Runs a script over the topology of a reference machine; `$T` is the program.
pub(crate) fn on(machine: &str, script: &str) -> Option<Output> {
    let file = shared()?.join("topologies").join(machine);
    let folder = tempfile::tempdir().unwrap();
    let mut command = topobroker();
    command.args(["run", "--folder"]).arg(folder.path()).arg("-i").arg(&file);
    command.args(["--", "sh", "-c", script]).env("F", folder.path()).env("M", &file);
    command.env("T", topobroker_file());
    let output = command.output().unwrap();
    // What is declared goes with the topology.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{output:?}");
    Some(output)
}

#[test]
fn links_are_declared_by_files_of_nccl_and_json_and_go_with_the_topology() {
    let script = "$T links -i $M --of nccl > $F/nccl; $T links --declare $F/nccl; rm $F/nccl; \
        cat $F/*+links | wc -c; $T links | grep -c 'NVL x6 150000 MB/s declared'; $T links --declare $M; \
        $T links --forget; $T links --forget; \
        echo '{\"nodes\":[{\"id\":\"leaf\",\"kind\":\"netswitch\"}],\"edges\":[\
        {\"source\":\"mlx5_0\",\"target\":\"leaf\",\"class\":\"FAB\",\"bandwidth\":25000}]}' > $F/json; \
        $T links --declare $F/json; rm $F/json; $T links --from cuda0 --to leaf";
    let Some(output) = on("flux-core__ipa20.xml", script) else { return };
    let text = String::from_utf8(output.stdout).unwrap();
    let [bytes, declared, path] = text.lines().collect::<Vec<_>>()[..] else { panic!("{text}") };
    assert!(bytes.trim().parse::<u32>().unwrap() <= 2000, "{bytes}");
    assert_eq!(declared, "6");
    assert_eq!(path, "cuda0 leaf 25000 MB/s, 3 links: cuda0 - 0000:49:00.0 - mlx5_0 - leaf");
    let errors = String::from_utf8(output.stderr).unwrap();
    let [first, second] = errors.lines().collect::<Vec<_>>()[..] else { panic!("{errors}") };
    assert!(first.contains("expected one system, in it cpu"), "{first}");
    assert!(second.contains("no links are declared for this topology"), "{second}");
}

#[test]
fn links_that_readers_would_refuse_are_not_declared() {
    let script = "{ echo '{\"nodes\":['; \
        for at in $(seq 1 4999); do echo '{\"id\":\"leaf'$at'\",\"kind\":\"netswitch\"},'; done; \
        echo '{\"id\":\"leaf5000\",\"kind\":\"netswitch\"}],\"edges\":['; \
        for at in $(seq 2 5000); do \
            echo '{\"source\":\"leaf1\",\"target\":\"leaf'$at'\",\"class\":\"FAB\"}'; \
            [ $at = 5000 ] || echo ,; done; echo ']}'; } > $F/many; \
        $T links --declare $F/many; rm $F/many; ls $F | grep -c links; $T links > $F/text && rm $F/text";
    let Some(output) = on("flux-core__ipa20.xml", script) else { return };
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("at most 4096 and 32768"), "{error}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "0\n");
}

#[test]
fn a_file_of_nccl_declares_what_hwloc_without_nvidias_library_does_not_see() {
    // The machine as hwloc sees it without NVML: no devices of it, no subtypes, no matrix.
    let script = "$T links -i $X --of nccl > $F/nccl; \
        sed -e '/type=\"OSDev\".*nvml/,/<\\/object>/d' -e 's/subtype=\"NVSwitch\"//' \
            -e '/<distances2hetero/,/<\\/distances2hetero>/d' -e '/<distances2 /,/<\\/distances2>/d' \
            $X > $F/plain.xml; \
        $T run -i $F/plain.xml -- sh -c '$T links --from 0000:34:00.0 --to 0000:36:00.0; \
            $T links --declare $F/nccl; $T links --from 0000:34:00.0 --to 0000:36:00.0; \
            sed s/target=.[0-9a-f:.]*.\\ /target=\\\"fffffff:ffff:ff\\\"\\ / $F/nccl > $F/vm; \
            $T links --forget; $T links --declare $F/vm; $T links --from 0000:34:00.0 --to 0000:36:00.0; \
            $T links --of nccl | grep -c nvlink'; rm $F/*.xml $F/nccl $F/vm";
    let Some(shared) = shared() else { return };
    let machine = shared.join("topologies/hwloc-v2.x__nvidiaDGX2.xml");
    let script = script.replace("$X", machine.to_str().unwrap());
    let Some(output) = on("flux-core__ipa20.xml", &script) else { return };
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let [before, declared, hidden, links] = text.lines().collect::<Vec<_>>()[..] else {
        panic!("{output:?}")
    };
    assert!(!before.contains("NVSwitch"), "{before}");
    for declared in [declared, hidden] {
        assert!(
            declared.contains("150000 MB/s, 2 links") && declared.contains(" - NVSwitch - "),
            "{declared}"
        );
    }
    assert!(links.parse::<u32>().unwrap() > 0, "{links}");
}

#[test]
fn what_was_exported_for_nccl_can_be_declared_without_changing_a_path() {
    for machine in ["flux-core__ipa20.xml", "hwloc-v2.x__nvidiaDGX2.xml"] {
        let script = "$T links --pairs > $F/before; $T links --of nccl > $F/file; \
             $T links --declare $F/file; $T links --pairs | diff $F/before -; rm $F/before $F/file";
        let Some(output) = on(machine, script) else { return };
        let (out, error) =
            [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap()).into();
        assert_eq!((out.as_str(), error.as_str()), ("", ""), "{machine}");
    }
}

#[test]
fn links_of_amd_gpus_are_in_files_for_rccl_once_somebody_has_counted_them() {
    // hwloc knows which GPUs are linked, but not how often.
    let script = "$T links --of rccl > $F/file; grep -c xgmi $F/file; \
        echo '{\"edges\":[{\"source\":\"rsmi0\",\"target\":\"rsmi1\",\"class\":\"XGMI\",\"links\":4}]}' > $F/json; \
        $T links --declare $F/json; $T links --of rccl > $F/file; grep -c 'xgmi.* count=.4' $F/file; \
        grep -c xgmi $F/file; rm $F/file $F/json";
    let Some(output) = on("flux-core__tuo.SPX.xml", script) else { return };
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        (String::from_utf8(output.stdout).unwrap().as_str(), error.as_str()),
        ("0\n2\n2\n", "")
    );
}

#[test]
fn elements_that_nccl_adds_in_other_versions_are_left_out() {
    let text = "<system version=\"1\"><cpu numaid=\"0\"><pci busid=\"0000:01:00.0\">\
                <pcilink target=\"0000:02:00.0\"/><pci busid=\"0000:03:00.0\"><gpu dev=\"0\"/></pci>\
                <nic><net name=\"a\" dev=\"0\"/></nic></pci></cpu></system>";
    let file = NcclFile::read(text).unwrap();
    let found: Vec<_> = file.devices.iter().map(|it| (it.bus_id.as_str(), it.switch)).collect();
    assert_eq!(found, [("0000:01:00.0", None), ("0000:03:00.0", Some(0))]);
}

#[test]
fn links_that_name_what_is_not_there_are_refused_and_leave_nothing() {
    for (json, said) in [
        ("{\"edges\":[{\"source\":\"cuda9\",\"target\":\"cuda0\",\"class\":\"NVL\"}]}", "cuda9"),
        (
            "{\"edges\":[{\"source\":\"cuda1\",\"target\":\"cuda0\",\"class\":\"NV\"}]}",
            "class is \"NV\"",
        ),
        (
            "{\"edges\":[{\"source\":\"cuda1\",\"target\":\"cuda0\",\"class\":\"NVL\",\"bandwidth\":0}]}",
            "bandwidth is 0",
        ),
        (
            "{\"edges\":[{\"source\":\"cuda0\",\"target\":\"cuda0\",\"class\":\"NVL\"}]}",
            "target is \"cuda0\"; expected another vertex than the source",
        ),
        ("{", "no JSON"),
        ("{\"nodes\":[],\"links\":[]}", "no edges"),
        (
            "{\"edges\":[{\"source\":\"cuda1\",\"target\":\"cuda0\",\"class\":\"NVL\",\"links\":70000}]}",
            "links is 70000",
        ),
        (
            "{\"edges\":[{\"source\":\"cuda1\",\"target\":\"cuda0\",\"class\":\"NVL\",\"origin\":\"guess\"}]}",
            "origin is \"guess\"",
        ),
        (
            "<system version=\"1\"><cpu numaid=\"0\"><pci busid=\"0000:5f:00.0\"><gpu>\
             <nvlink target=\"0000:77:00.0\" count=\"0\"/></gpu></pci></cpu></system>",
            "expected a count from 1 to 65535",
        ),
        (
            "<system version=\"1\"><cpu numaid=\"0\"><pci busid=\"9999:01:00.0\"/></cpu></system>",
            "9999:01:00.0: the topology has no such PCI device",
        ),
        ("<system version=\"1\"></system>", "no links; expected nvlink, xgmi or c2c"),
        (
            "{\"nodes\":[{\"id\":\"\",\"kind\":\"netswitch\"}],\"edges\":[{\"source\":\"\",\
             \"target\":\"cuda0\",\"class\":\"FAB\"}]}",
            "source is \"\"",
        ),
    ] {
        let script = format!(
            "echo '{json}' > $F/declared; $T links --declare $F/declared; rm $F/declared; ls $F"
        );
        let Some(output) = on("flux-core__ipa20.xml", &script) else { return };
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(said), "{json}: {error}");
        let left = String::from_utf8(output.stdout).unwrap();
        assert_eq!(left.lines().filter(|line| line.contains("links")).count(), 0, "{left}");
    }
}
