//! The C libraries as files: what they need and export, how they lie in memory, and several copies
//! of them in one process.

use std::collections::BTreeSet;
use std::process::Command;
use topobroker_embedding::{BROKER, READER, compile, listed, prefix, succeed, topobroker};
use topobroker_samples::checkout;

fn needed(library: &str) -> Vec<String> {
    let dynamic = listed("readelf", &["-d"], library);
    let names = dynamic.lines().filter(|line| line.contains("(NEEDED)"));
    names.map(|line| line.split(['[', ']']).nth(1).unwrap().to_owned()).collect()
}

#[test]
fn the_thin_library_needs_libc_and_nothing_else() {
    assert_eq!(needed(READER), ["libc.so.6"]);
    assert_eq!(needed(BROKER), ["libhwloc.so.15", "libgcc_s.so.1", "libc.so.6"]);
    // All undefined symbols are in these libraries or in the dynamic loader.
    for library in [READER, BROKER] {
        let undefined = listed("nm", &["-D", "--undefined-only"], library);
        let known = |line: &str| {
            ["@GLIBC_", "@GCC_", "__tls_get_addr", " w ", "hwloc_"]
                .iter()
                .any(|name| line.contains(name))
        };
        let unknown: Vec<&str> = undefined.lines().filter(|line| !known(line)).collect();
        assert!(unknown.is_empty(), "{library}: {unknown:?}");
    }
}

#[test]
fn the_full_library_has_nothing_of_the_program() {
    let library = std::fs::read(prefix().join("lib").join(BROKER)).unwrap();
    assert!(!library.windows(5).any(|bytes| bytes == b"clap_" || bytes == b"clap:"));
}

#[test]
fn the_libraries_export_versioned_tb_names_and_nothing_else() {
    let (all, launcher) = (declared(&|_| true), declared(&|part| part == "launcher.h"));
    let reader: BTreeSet<String> = all.difference(&launcher).cloned().collect();
    for (library, declared) in [(READER, reader), (BROKER, all)] {
        assert!(listed("readelf", &["-d"], library).contains(&format!("soname: [{library}.1]")));
        let exported = listed("nm", &["-D", "--defined-only"], library);
        let mut exported: Vec<&str> =
            exported.lines().map(|line| line.rsplit(' ').next().unwrap()).collect();
        let node = if library == READER { "TOPOBROKER_READER_1" } else { "TOPOBROKER_1" };
        exported.retain(|name| *name != node);
        assert!(
            exported
                .iter()
                .all(|name| name.starts_with("tb_") && name.ends_with(&format!("@@{node}")))
        );
        let plain = exported.iter().map(|name| name.split('@').next().unwrap().to_owned());
        let plain: BTreeSet<String> = plain.collect();
        assert_eq!(plain, declared, "{library}");
        let archive = library.replace(".so", ".a");
        let sight = listed("nm", &["--defined-only", "--extern-only"], &archive);
        let global = sight.lines().filter_map(|line| line.rsplit_once(" T ").map(|(_, name)| name));
        let global: BTreeSet<String> = global.map(str::to_owned).collect();
        assert_eq!(global, plain, "{archive}");
    }
}

/// Names of the functions that some parts of the header declare, in order.
pub(crate) fn declared(is_asked: &dyn Fn(&str) -> bool) -> BTreeSet<String> {
    let parts = std::fs::read_dir(prefix().join("include/topobroker")).unwrap().flatten();
    let parts = parts.filter(|part| is_asked(part.file_name().to_str().unwrap()));
    let headers = parts.map(|part| std::fs::read_to_string(part.path()).unwrap());
    headers
        .flat_map(|header| {
            let lines = header.lines().filter(|line| !line.starts_with([' ', '#', '/']));
            let names = lines.filter_map(|line| {
                let before = line.split_once('(')?.0;
                before.rsplit([' ', '*']).next().filter(|name| name.starts_with("tb_"))
            });
            names.map(str::to_owned).collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn libraries_with_copies_of_the_reader_share_one_mapping_also_when_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let archive = prefix().join("lib/libtopobroker-reader.a");
    let libraries = ["one.so", "two.so"].map(|name| {
        let library = folder.path().join(name);
        let mut command = Command::new("cc");
        command.args(["-shared", "-fPIC", "-Wl,--exclude-libs,ALL", "-o"]).arg(&library);
        command
            .arg(checkout().join("ffi/examples/thinlib.c"))
            .arg("-I")
            .arg(prefix().join("include"));
        succeed(command.arg(&archive));
        library
    });
    let host = compile(folder.path(), "cc", "copies.c", "copies", &[], &["-ldl"]);
    for address in ["usual", "anywhere"] {
        let mut command = topobroker();
        command.args(["run", "-i", "Core:4 PU:2", "--address", address, "--"]).arg(&host);
        assert_eq!(succeed(command.args(&libraries)), "1 mapping\n", "{address}");
    }
}

#[test]
fn threads_may_outlive_a_plugin_that_contains_the_library() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = folder.path().join("plugin.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-DPLUGIN", "-Wl,--exclude-libs,ALL", "-o"]).arg(&plugin);
    compiler.arg(checkout().join("tests/c/outlives.c")).arg("-I").arg(prefix().join("include"));
    succeed(compiler.arg(prefix().join("lib/libtopobroker-reader.a")));
    let host = compile(folder.path(), "cc", "outlives.c", "outlives", &[], &["-pthread", "-ldl"]);
    let text = succeed(Command::new(host).arg(&plugin));
    assert_eq!(text, "1500 of 1500 well, keys are left\n");
}
