//! What `scripts/install` installs: documents whose links lead somewhere, and everything is removed again.

use std::process::Command;
use topobroker_embedding::{install, prefix, succeed};

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
