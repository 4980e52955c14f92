//! Segments to adopt, and the program that adopts them.

use std::path::PathBuf;
use std::process::Command;
use topobroker::publish::{Address, Publication, PublishOptions, Store, publish};
use topobroker_reader::Keys;
use topobroker_tests::{SYNTHETIC_256, synthetic};

/// A published segment, removed when this is dropped.
pub(crate) struct Published {
    pub(crate) keys: Keys,
    publication: Publication,
    _folder: tempfile::TempDir,
}

/// An address that is free in every process. The usual address is free in nearly every process.
const ALWAYS_FREE: Address = Address::At(0x5500_0000_0000);

/// Publishes a machine of 691 objects in a folder of its own, at an address that is always free.
pub(crate) fn usual() -> Published {
    Published::new(ALWAYS_FREE)
}

impl Published {
    pub(crate) fn new(address: Address) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Other users must be able to read the files in it.
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(folder.path(), open).unwrap();
        let store = Store::Folder(folder.path().to_owned());
        Self::in_store(store, address, folder)
    }

    pub(crate) fn memfd() -> Self {
        Self::in_store(Store::Memfd, ALWAYS_FREE, tempfile::tempdir().unwrap())
    }

    fn in_store(store: Store, address: Address, folder: tempfile::TempDir) -> Self {
        let options = PublishOptions { store, address, ..PublishOptions::default() };
        let publication = publish(&synthetic(SYNTHETIC_256), &options).unwrap();
        Self { keys: publication.keys().clone(), publication, _folder: folder }
    }

    pub(crate) fn segment(&self) -> String {
        self.publication.header().segment_name()
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.keys.path().unwrap().to_owned()
    }

    /// Replaces the file by a changed one of the same name and mode.
    pub(crate) fn rewrite(&self, change: impl FnOnce(&mut Vec<u8>)) {
        let file = self.file();
        let mut bytes = std::fs::read(&file).unwrap();
        change(&mut bytes);
        std::fs::remove_file(&file).unwrap();
        std::fs::write(&file, bytes).unwrap();
    }
}

/// The helper program with the keys in its environment.
pub(crate) fn adopter(keys: &Keys) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_adopter"));
    command.envs(keys.to_env());
    command
}

/// Runs the helper program and returns the lines that it prints.
pub(crate) fn run_adopter(keys: &Keys, arguments: &[&str]) -> Vec<String> {
    let output = adopter(keys).args(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// Path of a file that was built beside this test.
pub(crate) fn built(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().parent().unwrap().join(name)
}

/// The `topobroker` program.
pub(crate) fn topobroker() -> Command {
    Command::new(env!("CARGO_BIN_EXE_topobroker_for_tests"))
}
