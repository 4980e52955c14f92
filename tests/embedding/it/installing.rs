//! What `scripts/install` installs: documents whose links lead somewhere, and everything is removed
//! again.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use topobroker_embedding::{install, is_root, prefix, said, succeed};

#[test]
fn links_of_installed_documents_lead_to_installed_files() {
    let documents = prefix().join("share/doc/topobroker");
    let wrong = crate::documents::broken_links(&documents);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn hwlocs_names_are_installed_in_a_folder_for_path() {
    let names = prefix().join("lib/topobroker/hwloc-names");
    let program = |name: &str, words: &[&str]| succeed(Command::new(names.join(name)).args(words));
    assert_eq!(program("hwloc-calc", &["-i", "core:2 pu:2", "-N", "pu", "all"]), "4\n");
    assert!(program("lstopo-no-graphics", &["-i", "core:2 pu:2"]).contains("PU L#3"));
    assert_eq!(std::fs::read_dir(&names).unwrap().count(), 10);
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
    run(&["--for-tests", "--reader", "--prefix=/usr", "--libdir=lib/here"]);
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

/// Programs that the installation calls, which end it at the call whose number is in `STEP`; and
/// cargo, which has nothing to do.
fn stubs(folder: &Path) {
    let write = |name: &str, text: &str| {
        let file = folder.join(name);
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    std::fs::create_dir(folder).unwrap();
    write("cargo", "#!/bin/sh\n");
    for name in ["install", "mkdir", "ln", "mv", "sort"] {
        let text = format!(
            "#!/bin/bash\nn=$(($(cat \"$COUNT\") + 1)); echo $n >\"$COUNT\"; \
             if [ $n = \"$STEP\" ]; then kill -9 $PPID; exit 1; fi\nPATH=\"${{PATH#*:}}\" exec {name} \"$@\"\n"
        );
        write(name, &text);
    }
}

/// Files and links below a folder.
fn files_in(folder: &Path) -> String {
    succeed(Command::new("find").arg(folder).args(["!", "-type", "d"]))
}

/// Installs the thin library as usual, but for what `change` does to the command.
fn install_below(to: &Path, prefix: &str, change: impl FnOnce(&mut Command)) -> Output {
    let mut command = install();
    command.args(["--for-tests", "--reader"]).arg(format!("--prefix={prefix}"));
    change(command.env("DESTDIR", to));
    command.output().unwrap()
}

fn uninstall_below(to: &Path, prefix: &str) -> Output {
    install().args(["--uninstall", prefix]).env("DESTDIR", to).output().unwrap()
}

#[test]
fn an_installation_that_was_killed_at_any_step_is_removed_or_goes_on() {
    prefix();
    let folder = tempfile::tempdir().unwrap();
    let (bin, count, to) =
        (folder.path().join("bin"), folder.path().join("count"), folder.path().join("to"));
    stubs(&bin);
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    for step in 1.. {
        std::fs::write(&count, "0").unwrap();
        let output = install_below(&to, "/usr", |command| {
            command.env("PATH", &path).env("COUNT", &count).env("STEP", step.to_string());
        });
        if output.status.success() {
            assert!(step > 12, "{step} steps: {}", said(&output));
            break;
        }
        if step % 2 == 0 {
            // Twice: the first may find the list of an installation that had put nothing anywhere
            // yet.
            let removed = uninstall_below(&to, "/usr");
            let is_listed = to.join("usr/share/topobroker/FILES").exists();
            assert!(!is_listed, "{step}: {}", said(&removed));
            assert_eq!(if to.exists() { files_in(&to) } else { String::new() }, "", "{step}");
        }
    }
    assert!(uninstall_below(&to, "/usr").status.success());
    assert_eq!(files_in(&to), "");
}

#[test]
fn what_users_keep_in_a_folder_in_the_place_of_a_link_stays() {
    prefix();
    let to = tempfile::tempdir().unwrap();
    let link = to.path().join("usr/lib/libtopobroker-reader.so");
    std::fs::create_dir_all(&link).unwrap();
    std::fs::write(link.join("mine"), "kept").unwrap();
    let output = install_below(to.path(), "/usr", |command| _ = command.arg("--libdir=lib"));
    assert!(
        !output.status.success() && said(&output).contains("move it away"),
        "{}",
        said(&output)
    );
    assert_eq!(std::fs::read_to_string(link.join("mine")).unwrap(), "kept");
    assert!(uninstall_below(to.path(), "/usr").status.success());
    assert_eq!(files_in(to.path()).lines().count(), 1);
}

#[test]
fn the_root_folder_is_a_prefix_too() {
    prefix();
    let to = tempfile::tempdir().unwrap();
    assert!(install_below(to.path(), "/", |_| ()).status.success());
    assert!(to.path().join("include/topobroker.h").exists());
    assert!(uninstall_below(to.path(), "/").status.success());
    assert_eq!(files_in(to.path()), "");
}

#[test]
fn an_installation_on_a_full_disk_is_removed() {
    if !is_root("mounting a small disk") {
        return;
    }
    prefix();
    let to = tempfile::tempdir().unwrap();
    for kilobytes in [4, 64, 1024, 8192] {
        let size = format!("size={kilobytes}k");
        succeed(Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(to.path()));
        let output = install_below(to.path(), "/usr", |_| ());
        let removed = uninstall_below(to.path(), "/usr");
        let left = files_in(to.path());
        succeed(Command::new("umount").arg(to.path()));
        assert!(!output.status.success(), "{kilobytes} kB: {}", said(&output));
        assert_eq!(left, "", "{kilobytes} kB: {}", said(&removed));
    }
}
