//! Which version of glibc the libraries and programs need.

use std::path::Path;
use std::process::Command;
use topobroker_embedding::{has, prefix, succeed};

/// Functions that a C library before 2.33 has in the part that is linked statically.
const IN_THE_STATIC_PART: [&str; 7] =
    ["stat", "fstat", "lstat", "stat64", "fstat64", "lstat64", "fstatat64"];

/// Symbols of glibc, as `objdump -T` lists them: name, and version without `GLIBC_`.
fn symbols_of_glibc(file: &Path, is_defined: bool) -> Vec<(String, Vec<u32>)> {
    let listed = succeed(Command::new("objdump").arg("-T").arg(file));
    let symbol = |line: &str| {
        let version = line.split("GLIBC_").nth(1)?.split([')', ' ']).next()?;
        let numbers = version.split('.').map(str::parse).collect::<Result<Vec<u32>, _>>().ok()?;
        let name = line.split_whitespace().last()?.to_owned();
        (line.contains("*UND*") != is_defined).then_some((name, numbers))
    };
    listed.lines().filter_map(symbol).collect()
}

#[test]
fn libraries_and_guard_need_no_symbol_newer_than_glibc_2_28_and_the_program_none_newer_than_2_31() {
    if !has("objdump") {
        return;
    }
    let own = |library: &str| {
        let file = Command::new("cc").arg(format!("-print-file-name={library}")).output().unwrap();
        let file = std::path::PathBuf::from(String::from_utf8(file.stdout).unwrap().trim());
        symbols_of_glibc(&file, true)
    };
    let known: Vec<_> = own("libc.so.6").into_iter().chain(own("libm.so.6")).collect();
    assert!(known.len() > 2000, "{}", known.len());
    for (file, limit) in [
        ("lib/libtopobroker-reader.so", 28),
        ("lib/libtopobroker.so", 28),
        ("lib/topobroker/libtopobroker-guard.so", 28),
        ("bin/topobroker", 31),
    ] {
        let limit = vec![2, limit];
        let newer = symbols_of_glibc(&prefix().join(file), false).into_iter().filter(|symbol| {
            let (name, version) = symbol;
            // Many functions have moved to another library of glibc since, under the same names.
            let is_older = known.iter().any(|it| it.0 == *name && it.1 <= limit);
            *version > limit && !is_older && !IN_THE_STATIC_PART.contains(&name.as_str())
        });
        let newer: Vec<_> = newer.collect();
        assert!(newer.is_empty(), "{file}: {newer:?}");
    }
}
