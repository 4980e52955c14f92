//! Lets dependent programs link on a machine that lacks the dependencies of a static libhwloc, and
//! notes the version of hwloc for `topobroker --version`.
//!
//! hwlocality-sys asks pkg-config for the libraries of a static hwloc. A machine with only
//! libhwloc-dev lacks some of them (libudev). They are not needed, because the shared libhwloc is
//! linked, and it loads its own dependencies. For each missing library this script puts an empty
//! archive where the linker looks.

use std::path::Path;
use std::process::Command;

/// An `ar` archive without members.
const EMPTY: &[u8] = b"!<arch>\n";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    let version = output("pkg-config", &["--modversion", "hwloc"]);
    let version = version.split_whitespace().next().unwrap_or("an unknown version");
    println!("cargo:rustc-env=TOPOBROKER_HWLOC={version}");
    let libraries = output("pkg-config", &["--static", "--libs", "hwloc"]);
    let Some(out) = std::env::var_os("OUT_DIR") else { return };
    let out = Path::new(&out);
    let words = libraries.split_whitespace();
    let folders: Vec<&Path> =
        words.clone().filter_map(|word| word.strip_prefix("-L")).map(Path::new).collect();
    let names = words.filter_map(|word| word.strip_prefix("-l"));
    for name in names.filter(|name| *name != "hwloc" && !is_here(name, &folders)) {
        if std::fs::write(out.join(format!("lib{name}.a")), EMPTY).is_ok() {
            println!("cargo:rustc-link-search=native={}", out.display());
        }
    }
}

/// Whether a library is in one of the folders, or the compiler finds it. For a file that it does
/// not find, `cc -print-file-name` prints only the name.
fn is_here(name: &str, folders: &[&Path]) -> bool {
    let files = ["so", "a"].map(|kind| format!("lib{name}.{kind}"));
    let found = |file: &String| {
        if folders.iter().any(|folder| folder.join(file).exists()) {
            return true;
        }
        let found = output("cc", &[&format!("-print-file-name={file}")]);
        !found.is_empty() && found.trim() != file
    };
    files.iter().any(found)
}

/// The standard output of a program; empty if the program cannot be run.
fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    output.map_or_else(|_| String::new(), |it| String::from_utf8_lossy(&it.stdout).into_owned())
}
