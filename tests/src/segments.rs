//! Segments to adopt, and the program that adopts them.

use std::path::PathBuf;
use std::process::Command;
use topobroker::publish::{Address, Publication, PublishOptions, Store, publish};
use topobroker_reader::Keys;
use topobroker_samples::{SYNTHETIC_256, synthetic};

/// A published segment, removed when this is dropped.
pub struct Published {
    /// What a process needs to adopt it.
    pub keys: Keys,
    publication: Publication,
    _folder: tempfile::TempDir,
}

/// An address that is free in every process. The usual address is free in nearly every process.
const ALWAYS_FREE: Address = Address::At(0x5500_0000_0000);

/// Publishes a machine of 691 objects in a folder of its own, at an address that is always free.
pub fn usual() -> Published {
    Published::new(ALWAYS_FREE)
}

impl Published {
    /// Publishes a machine of 691 objects in a folder of its own.
    pub fn new(address: Address) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Other users must be able to read the files in it.
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(folder.path(), open).unwrap();
        let store = Store::Folder(folder.path().to_owned());
        Self::in_store(store, address, folder)
    }

    /// The same in a sealed memfd, which children of this process inherit.
    pub fn memfd() -> Self {
        Self::in_store(Store::Memfd, ALWAYS_FREE, tempfile::tempdir().unwrap())
    }

    fn in_store(store: Store, address: Address, folder: tempfile::TempDir) -> Self {
        let options = PublishOptions { store, address, ..PublishOptions::default() };
        let publication = publish(&synthetic(SYNTHETIC_256), &options).unwrap();
        Self { keys: publication.keys().clone(), publication, _folder: folder }
    }

    /// Name of the segment, as adopters print it.
    pub fn segment(&self) -> String {
        self.publication.header().segment_name()
    }

    /// Path of its file.
    pub fn file(&self) -> PathBuf {
        self.keys.path().unwrap().to_owned()
    }

    /// Replaces the file by a changed one of the same name and mode.
    pub fn rewrite(&self, change: impl FnOnce(&mut Vec<u8>)) {
        let file = self.file();
        let mut bytes = std::fs::read(&file).unwrap();
        change(&mut bytes);
        std::fs::remove_file(&file).unwrap();
        std::fs::write(&file, bytes).unwrap();
    }
}

/// The helper program with the keys in its environment.
pub fn adopter(keys: &Keys) -> Command {
    let mut command = Command::new(adopter_file());
    command.envs(keys.to_env());
    command
}

/// Runs the helper program and returns the lines that it prints.
pub fn run_adopter(keys: &Keys, arguments: &[&str]) -> Vec<String> {
    let output = adopter(keys).args(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// Path of a file that was built with this package.
pub fn built(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().parent().unwrap().join(name)
}

/// The helper program that adopts.
pub fn adopter_file() -> PathBuf {
    built("adopter")
}

/// Path of the `topobroker` program, for scripts.
pub fn topobroker_file() -> String {
    built("topobroker_for_tests").to_str().unwrap().to_owned()
}

/// A script of the shell, in which `$0` is the `topobroker` program.
pub fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(topobroker_file());
    command
}

/// The `topobroker` program.
pub fn topobroker() -> Command {
    Command::new(topobroker_file())
}
