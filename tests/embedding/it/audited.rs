//! `topobroker audit`: which topologies real programs make, and which of their libraries ask for
//! them.

use std::path::Path;
use topobroker_embedding::{compile, has, succeed, topobroker};
use topobroker_samples::json_schema::Documents;

/// Audits an MPI program with two ranks. `None` if the launcher or the compiler is not installed.
fn audit(folder: &Path, compiler: &str, launcher: &[&str]) -> Option<serde_json::Value> {
    if !has(launcher[0]) || !has(compiler) {
        return None;
    }
    let hello = compile(folder, compiler, "hello.c", "hello", &[], &[]);
    let report = folder.join("report");
    let mut command = topobroker();
    command.args(["audit", "--json", "--output"]).arg(&report).arg("--").args(launcher).arg(hello);
    let printed = succeed(&mut command);
    assert!(printed.contains("hello from rank 0") && printed.contains("hello from rank 1"));
    let report = std::fs::read_to_string(report).unwrap();
    let mut documents = Documents::default();
    documents.add("audit", &report);
    documents.assert_valid();
    Some(serde_json::from_str(&report).unwrap())
}

/// File names of program and library for every call of one kind.
fn calls(audit: &serde_json::Value, name: &str) -> Vec<(String, String)> {
    let file =
        |value: &serde_json::Value| value.as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let mut found = Vec::new();
    for process in audit["processes"].as_array().unwrap() {
        for call in process["calls"].as_array().unwrap().iter().filter(|call| call["call"] == name)
        {
            assert!(call["microseconds"].as_u64().unwrap() > 0, "{call}");
            found.push((file(&process["program"]), file(&call["library"])));
        }
    }
    found
}

fn has_library(calls: &[(String, String)], program: &str, library: &str) -> bool {
    calls.iter().any(|(own, by)| own == program && by.starts_with(library))
}

#[test]
fn an_audit_of_open_mpi_finds_the_loads_of_mpirun_and_of_its_pmix_server() {
    let folder = tempfile::tempdir().unwrap();
    let launcher = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", "2"];
    let Some(audit) = audit(folder.path(), "mpicc.openmpi", &launcher) else { return };
    let loads = calls(&audit, "load");
    assert!(has_library(&loads, "orterun", "libopen-pal.so"), "{audit}");
    assert!(has_library(&loads, "orterun", "libpmix.so"), "{audit}");
    assert!(audit["bytes_kept"].as_i64().unwrap() > 10_000, "{audit}");
    assert!(audit["bytes_saved_by_sharing"].as_i64().unwrap() > 0, "{audit}");
}

#[test]
fn an_audit_of_mpich_finds_a_load_of_every_rank() {
    let folder = tempfile::tempdir().unwrap();
    let launcher = ["mpirun.mpich", "-n", "2"];
    let Some(audit) = audit(folder.path(), "mpicc.mpich", &launcher) else { return };
    let loads = calls(&audit, "load");
    let ranks = loads
        .iter()
        .filter(|(program, library)| program == "hello" && library.starts_with("libmpich.so"));
    assert_eq!(ranks.count(), 2, "{audit}");
}

#[test]
fn an_audit_distinguishes_imports_adoptions_and_copies() {
    let folder = tempfile::tempdir().unwrap();
    let api = compile(folder.path(), "cc", "api.c", "api", &["topobroker", "hwloc"], &[]);
    let report = folder.path().join("report");
    let mut command = topobroker();
    command.args(["audit", "--json", "--output"]).arg(&report).arg("--").arg(api);
    succeed(&mut command);
    let audit: serde_json::Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    assert!(has_library(&calls(&audit, "adopt"), "api", "libtopobroker.so"), "{audit}");
    assert!(has_library(&calls(&audit, "set_xmlbuffer"), "api", "libtopobroker.so"), "{audit}");
    assert!(has_library(&calls(&audit, "dup"), "api", "api"), "{audit}");
}

#[test]
fn an_audit_of_a_program_without_a_topology_says_so_and_returns_the_programs_status() {
    let output = topobroker().args(["audit", "--", "sh", "-c", "exit 3"]).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.starts_with("0 processes made 0 calls"), "{text}");
}

#[test]
fn an_audit_names_a_library_with_an_hwloc_inside() {
    let folder = tempfile::tempdir().unwrap();
    let build = |source: &str, text: &str, flags: &[&str]| {
        let file = folder.path().join(source);
        std::fs::write(file.with_extension("c"), text).unwrap();
        let mut compiler = std::process::Command::new("cc");
        compiler.arg("-o").arg(&file).arg(file.with_extension("c")).args(flags);
        succeed(&mut compiler);
        file
    };
    // A library that is built with hwloc's sources inside reads this variable of hwloc.
    let inside =
        "#include <stdlib.h>\nconst char *root(void) { return getenv(\"HWLOC_FSROOT\"); }\n";
    let library = build("libinside.so", inside, &["-shared", "-fPIC"]);
    let rpath = format!("-Wl,-rpath,{}", folder.path().display());
    let program = build(
        "program",
        "const char *root(void);\nint main(void) { return root() != 0; }\n",
        &[library.to_str().unwrap(), &rpath],
    );
    let output = topobroker().args(["audit", "--"]).arg(program).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    let line = format!("{}: has an hwloc inside, whose calls cannot be seen", library.display());
    assert!(text.contains(&line), "{text}");
}
