//! What `scripts/install` installs, and C programs built against it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// Where everything is installed: below the target folder, by whichever test is first.
pub(super) fn prefix() -> &'static Path {
    static PREFIX: OnceLock<PathBuf> = OnceLock::new();
    PREFIX.get_or_init(|| {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let prefix = target.join("installed");
        let lock = std::fs::File::create(target.join("installed.lock")).unwrap();
        lock.lock().unwrap();
        let mut install = Command::new(root().join("scripts/install"));
        // What cargo set for this test is not for the build.
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CARGO_")) {
            install.env_remove(name);
        }
        succeed(install.arg(&prefix));
        prefix
    })
}

/// The checkout.
pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The installed program.
pub(super) fn topobroker() -> Command {
    Command::new(prefix().join("bin/topobroker"))
}

/// Whether a program is here; the tests that need it say that they skip.
pub(super) fn has(program: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output().unwrap();
    if !found.status.success() {
        eprintln!("skipped: there is no {program}; scripts/test installs it");
    }
    found.status.success()
}

/// Whether this is root; the tests that need it for something say that they skip.
pub(super) fn is_root(why: &str) -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        eprintln!("skipped: {why} takes root");
    }
    root
}

/// Runs a command that must succeed, and returns what it printed.
pub(super) fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", said(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// Processes map a segment at the same usual address, but for one: the kernel puts what a process maps at
/// random, so one of thousands finds the first of them taken.
pub(super) fn assert_one_address<'a>(addresses: impl Iterator<Item = &'a str>) {
    const USUAL: [&str; 2] = ["7ff000000000", "550000000000"];
    let addresses: Vec<&str> = addresses.map(|it| it.trim_start_matches("0x")).collect();
    let at = |usual| addresses.iter().filter(|address| *address == usual).count();
    let most = USUAL.iter().map(at).max().unwrap_or(0);
    assert!(most >= 1 && most + 1 >= addresses.len(), "{addresses:?}");
}

/// All that a command printed, for messages.
pub(super) fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}\n{}", output.status, text(&output.stdout), text(&output.stderr))
}

/// A C program of `tests/c`, built in a folder with the flags that pkg-config tells of some packages and
/// others besides.
pub(super) fn compile(
    folder: &Path,
    compiler: &str,
    source: &str,
    name: &str,
    packages: &[&str],
    flags: &[&str],
) -> PathBuf {
    let program = folder.join(name);
    let libraries = prefix().join("lib");
    let mut pkg_config = Command::new("pkg-config");
    pkg_config.env("PKG_CONFIG_PATH", libraries.join("pkgconfig")).args(["--cflags", "--libs"]);
    let told = match packages {
        [] => String::new(),
        packages => succeed(pkg_config.args(packages)),
    };
    let mut command = Command::new(compiler);
    command.args(["-std=gnu99", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&program);
    command.arg(root().join("tests/c").join(source)).args(told.split_whitespace()).args(flags);
    command.arg(format!("-Wl,-rpath,{}", libraries.display()));
    succeed(&mut command);
    program
}

/// A C program of `tests/c` in a folder that others may look into, with the library inside: another user can read
/// no library where the project was built.
pub(super) fn compile_for_others(folder: &Path, source: &str) -> PathBuf {
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

/// Segments in shared memory that this test's processes have not removed are a leak; those of other tests,
/// which run at the same time, are not: what is looked for is in the text that names them.
pub(super) fn assert_gone(text: &str) {
    for word in text.split(|letter: char| letter.is_whitespace() || letter == '=') {
        if word.starts_with("/dev/shm/topobroker-") {
            assert!(!Path::new(word).exists(), "{word} is still there");
        }
    }
}

/// A cgroup of version 2 or 1 that leaves its processes PU 0.
pub(super) fn cgroup_of_the_first_pu() -> Option<PathBuf> {
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
