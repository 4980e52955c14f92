//! The files that `scripts/install` installs, and C programs built against them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use topobroker_samples::checkout;

/// Folder of the installation, below the target folder. The first test that asks for it installs; under
/// nextest, whose tests are processes, the first one of a run.
pub(crate) fn prefix() -> &'static Path {
    static PREFIX: OnceLock<PathBuf> = OnceLock::new();
    PREFIX.get_or_init(|| {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let prefix = target.join("installed");
        let lock = std::fs::File::create(target.join("installed.lock")).unwrap();
        lock.lock().unwrap();
        let run = std::env::var("NEXTEST_RUN_ID").unwrap_or_default();
        let stamp = target.join("installed.run");
        let is_done = std::fs::read_to_string(&stamp).is_ok_and(|it| !run.is_empty() && it == run);
        if !is_done {
            succeed(install().arg(&prefix));
            std::fs::write(stamp, run).unwrap();
        }
        prefix
    })
}

/// The script that installs.
fn install() -> Command {
    let mut install = Command::new(checkout().join("scripts/install"));
    // Cargo's variables for this test must not reach the build.
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CARGO_")) {
        install.env_remove(name);
    }
    install
}

/// A command that runs the installed program.
pub(crate) fn topobroker() -> Command {
    Command::new(prefix().join("bin/topobroker"))
}

/// Whether a program is installed. If not, says that the test is skipped.
pub(crate) fn has(program: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output().unwrap();
    if !found.status.success() {
        topobroker_samples::skip(format_args!("there is no {program}; scripts/test installs it"));
    }
    found.status.success()
}

/// Whether pkg-config knows a package. If not, says that the test is skipped.
pub(crate) fn has_package(package: &str) -> bool {
    let known = Command::new("pkg-config").args(["--exists", package]).status();
    let known = known.is_ok_and(|it| it.success());
    if !known {
        topobroker_samples::skip(format_args!("there is no {package}; scripts/test installs it"));
    }
    known
}

/// Whether this process runs as root. If not, says that the test is skipped because `why` takes
/// root.
pub(crate) fn is_root(why: &str) -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        topobroker_samples::skip(format_args!("{why} takes root"));
    }
    root
}

/// Runs a command that must succeed, and returns what it printed.
pub(crate) fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", said(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// Asserts that all processes but at most one map a segment at the same usual address. One may
/// differ, because the kernel places mappings at random, so that one process of thousands finds the
/// first usual address taken.
pub(crate) fn assert_one_address<'a>(addresses: impl Iterator<Item = &'a str>) {
    const USUAL: [&str; 2] = ["7ff000000000", "550000000000"];
    let addresses: Vec<&str> = addresses.map(|it| it.trim_start_matches("0x")).collect();
    let at = |usual| addresses.iter().filter(|address| *address == usual).count();
    let most = USUAL.iter().map(at).max().unwrap_or(0);
    assert!(most >= 1 && most + 1 >= addresses.len(), "{addresses:?}");
}

/// Status and output of a command, for messages.
pub(crate) fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}\n{}", output.status, text(&output.stdout), text(&output.stderr))
}

/// Builds a C program of `tests/c` in a folder, with the flags that pkg-config gives for
/// `packages`, and with `flags`.
pub(crate) fn compile(
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
    let told = match packages {
        [] => String::new(),
        packages => succeed(pkg_config.args(packages)),
    };
    let standard = if source.ends_with(".cpp") { "-std=c++17" } else { "-std=gnu99" };
    let mut command = Command::new(compiler);
    command.args([standard, "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&program);
    command.arg(checkout().join("tests/c").join(source)).args(told.split_whitespace()).args(flags);
    command.args(libraries.map(|libraries| format!("-Wl,-rpath,{}", libraries.display())));
    succeed(&mut command);
    program
}

/// Builds a C program of `tests/c` in a folder that other users may read. The library is linked in
/// statically, because other users may not be able to read it in the folder of the project.
pub(crate) fn compile_for_others(folder: &Path, source: &str) -> PathBuf {
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
pub(crate) fn assert_gone(text: &str) {
    for word in text.split(|letter: char| letter.is_whitespace() || letter == '=') {
        if word.starts_with("/dev/shm/topobroker-") {
            assert!(!Path::new(word).exists(), "{word} is still there");
        }
    }
}

/// Makes a cgroup (version 2 or 1) that allows only PU 0. `None` if it cannot be made.
pub(crate) fn cgroup_of_the_first_pu() -> Option<PathBuf> {
    let name = format!("topobroker-{}", std::process::id());
    let all = Path::new("/sys/fs/cgroup");
    let controllers = std::fs::read_to_string(all.join("cgroup.subtree_control"));
    let parent = match controllers {
        Ok(controllers) => Some(all.to_owned()).filter(|_| controllers.contains("cpuset"))?,
        Err(_) => all.join("cpuset"),
    };
    let cgroup = parent.join(name);
    std::fs::create_dir(&cgroup).ok()?;
    let written = ["cpuset.cpus", "cpuset.mems"].map(|file| std::fs::write(cgroup.join(file), "0"));
    if written.iter().any(Result::is_err) {
        let _ = std::fs::remove_dir(&cgroup);
        return None;
    }
    Some(cgroup)
}

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

#[test]
fn links_of_installed_documents_lead_to_installed_files() {
    let documents = prefix().join("share/doc/topobroker");
    let wrong = crate::documents::broken_links(&documents);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_is_installed_is_removed_again_and_nothing_else() {
    prefix();
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("usr/bin/mine");
    std::fs::create_dir_all(own.parent().unwrap()).unwrap();
    std::fs::write(&own, "").unwrap();
    let run = |arguments: &[&str]| {
        succeed(install().args(arguments).env("DESTDIR", folder.path()));
    };
    run(&["--reader", "--prefix=/usr", "--libdir=lib/here"]);
    let installed = |file: &str| folder.path().join(file).exists();
    assert!(installed("usr/lib/here/libtopobroker-reader.so"));
    assert!(installed("usr/share/topobroker/FILES") && !installed("usr/lib/here/libtopobroker.so"));
    let pc = folder.path().join("usr/lib/here/pkgconfig/topobroker-reader.pc");
    assert!(std::fs::read_to_string(pc).unwrap().contains("libdir=${prefix}/lib/here"));
    run(&["--uninstall", "/usr"]);
    let left = succeed(Command::new("find").arg(folder.path()).args(["!", "-type", "d"]));
    assert_eq!(left.trim(), own.to_str().unwrap());
    let folders = std::fs::read_dir(folder.path().join("usr")).unwrap().count();
    assert_eq!(folders, 1);
}
