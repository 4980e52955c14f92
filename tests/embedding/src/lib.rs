//! The files that `scripts/install` installs, and C programs built against them.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests say so by failing")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use topobroker_samples::{checkout, temporary};

/// Folder of the installation, below the target folder: for the tests in `packaged/` what users
/// install, for all others the same from what was compiled for tests. The first test that asks for
/// it installs; under nextest, whose tests are processes, the first one of a run.
pub fn prefix() -> &'static Path {
    static PREFIX: OnceLock<PathBuf> = OnceLock::new();
    PREFIX.get_or_init(|| {
        let test = std::env::current_exe().unwrap();
        let is_packaged = test.file_name().unwrap().to_string_lossy().starts_with("packaged");
        let name = if is_packaged { "packaged" } else { "installed" };
        let prefix = temporary().join(name);
        let lock = std::fs::File::create(prefix.with_extension("lock")).unwrap();
        lock.lock().unwrap();
        let run = std::env::var("NEXTEST_RUN_ID").unwrap_or_default();
        let stamp = prefix.with_extension("run");
        let is_done = std::fs::read_to_string(&stamp).is_ok_and(|it| !run.is_empty() && it == run);
        if !is_done {
            let mut install = install();
            install.args((!is_packaged).then_some("--for-tests")).arg(&prefix);
            succeed(&mut install);
            std::fs::write(stamp, run).unwrap();
        }
        prefix
    })
}

/// The script that installs.
pub fn install() -> Command {
    let mut install = Command::new(checkout().join("scripts/install"));
    // Cargo's variables for this test must not reach the build, but those of its user must.
    const OF_THE_USER: [&str; 3] = ["CARGO_HOME", "CARGO_INCREMENTAL", "CARGO_TERM_COLOR"];
    let names = std::env::vars().map(|(name, _)| name);
    for name in names.filter(|name| name.starts_with("CARGO_")) {
        if !OF_THE_USER.contains(&name.as_str()) {
            install.env_remove(name);
        }
    }
    install.env("CARGO_TARGET_DIR", temporary().parent().unwrap());
    install
}

/// A command that runs the installed program.
pub fn topobroker() -> Command {
    Command::new(prefix().join("bin/topobroker"))
}

/// The thin library.
pub const READER: &str = "libtopobroker-reader.so";
/// The library for launchers.
pub const BROKER: &str = "libtopobroker.so";

/// What a program lists of an installed library.
pub fn listed(program: &str, arguments: &[&str], library: &str) -> String {
    succeed(Command::new(program).args(arguments).arg(prefix().join("lib").join(library)))
}

/// Whether a program is installed. If not, says that the test is skipped.
pub fn has(program: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output().unwrap();
    if !found.status.success() {
        topobroker_samples::skip(format_args!("there is no {program}; scripts/test installs it"));
    }
    found.status.success()
}

/// Whether pkg-config knows a package. If not, says that the test is skipped.
pub fn has_package(package: &str) -> bool {
    let known = Command::new("pkg-config").args(["--exists", package]).status();
    let known = known.is_ok_and(|it| it.success());
    if !known {
        topobroker_samples::skip(format_args!("there is no {package}; scripts/test installs it"));
    }
    known
}

/// Whether this process runs as root. If not, says that the test is skipped because `why` takes
/// root.
pub fn is_root(why: &str) -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        topobroker_samples::skip(format_args!("{why} takes root"));
    }
    root
}

/// Runs a command that must succeed, and returns what it printed.
pub fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", said(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// Asserts that all processes but at most one map a segment at the same usual address. One may
/// differ, because the kernel places mappings at random, so that one process of thousands finds the
/// first usual address taken.
pub fn assert_one_address<'a>(addresses: impl Iterator<Item = &'a str>) {
    const USUAL: [&str; 2] = ["7ff000000000", "550000000000"];
    let addresses: Vec<&str> = addresses.map(|it| it.trim_start_matches("0x")).collect();
    let at = |usual| addresses.iter().filter(|address| *address == usual).count();
    let most = USUAL.iter().map(at).max().unwrap_or(0);
    assert!(most >= 1 && most + 1 >= addresses.len(), "{addresses:?}");
}

/// Status and output of a command, for messages.
pub fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}\n{}", output.status, text(&output.stdout), text(&output.stderr))
}

/// Builds a C program of `tests/c` in a folder, with the flags that pkg-config gives for
/// `packages`, and with `flags`.
pub fn compile(
    folder: &Path,
    compiler: &str,
    source: &str,
    name: &str,
    packages: &[&str],
    flags: &[&str],
) -> PathBuf {
    let program = folder.join(name);
    // A program of others needs no installation of ours.
    let is_ours = packages.iter().any(|package| package.starts_with("topobroker"));
    let libraries = is_ours.then(|| prefix().join("lib"));
    let mut pkg_config = Command::new("pkg-config");
    pkg_config.args(["--cflags", "--libs"]);
    if let Some(libraries) = &libraries {
        pkg_config.env("PKG_CONFIG_PATH", libraries.join("pkgconfig"));
    }
    let found = match packages {
        [] => String::new(),
        packages => succeed(pkg_config.args(packages)),
    };
    let standard = if source.ends_with(".cpp") { "-std=c++17" } else { "-std=gnu99" };
    let mut command = Command::new(compiler);
    command.args([standard, "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&program);
    command.arg(checkout().join("tests/c").join(source)).args(found.split_whitespace()).args(flags);
    command.args(libraries.map(|libraries| format!("-Wl,-rpath,{}", libraries.display())));
    succeed(&mut command);
    program
}

/// Builds a C program of `tests/c` in a folder that other users may read. The library is linked in
/// statically, because other users may not be able to read it in the folder of the project.
pub fn compile_for_others(folder: &Path, source: &str) -> PathBuf {
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder, open).unwrap();
    let include = format!("-I{}", prefix().join("include").display());
    let (archive, flags): (_, &[&str]) = match source {
        "loader.c" => ("lib/libtopobroker.a", &["-lhwloc", "-lgcc_s", "-lm", "-lpthread"]),
        _ => ("lib/libtopobroker-reader.a", &["-lgcc_s"]),
    };
    let archive = prefix().join(archive);
    let mut all = vec![include.as_str(), archive.to_str().unwrap()];
    all.extend(flags);
    compile(folder, "cc", source, source.trim_end_matches(".c"), &[], &all)
}

/// Asserts that the segments in shared memory that `text` names are removed. Other segments are
/// ignored, because they may be those of tests that run at the same time.
pub fn assert_gone(text: &str) {
    for word in text.split(|letter: char| letter.is_whitespace() || letter == '=') {
        if word.starts_with("/dev/shm/topobroker-") {
            assert!(!Path::new(word).exists(), "{word} is still there");
        }
    }
}
