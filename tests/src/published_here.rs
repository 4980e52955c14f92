//! This machine, published for one test.

use crate::segments::topobroker;
use std::process::{Command, Output};
use tempfile::TempDir;

/// This machine, published in a folder that goes with it. Programs find it by its keys alone.
pub struct PublishedHere {
    folder: TempDir,
    /// Its keys, as variables of the environment.
    pub keys: Vec<(String, String)>,
}

impl PublishedHere {
    /// Publishes this machine.
    pub fn new() -> Self {
        let mut node = Self { folder: tempfile::tempdir().unwrap(), keys: Vec::new() };
        let folder = node.folder.path().to_str().unwrap();
        let published = node.run(&["publish", "-i", "machine", "--folder", folder]);
        let key = |line: &str| {
            let (name, value) = line.split_once('=').unwrap();
            (name.to_owned(), value.trim_matches('\'').to_owned())
        };
        node.keys = published.lines().map(key).collect();
        node
    }

    /// Adds a job with ranks that are given as for `job add --ranks`.
    pub fn add_job(&self, name: &str, ranks: &str) {
        let file = self.folder.path().join("ranks");
        std::fs::write(&file, ranks).unwrap();
        self.run(&["job", "add", name, "--ranks", file.to_str().unwrap()]);
    }

    /// The program with these words and the keys of this machine.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = topobroker();
        command.args(words).env("TOPOBROKER_RUN", "/nonexistent");
        command.env("XDG_RUNTIME_DIR", self.folder.path()).envs(self.keys.iter().cloned());
        command
    }

    /// Status and output of a command.
    pub fn output(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// What a command prints that succeeds.
    pub fn run(&self, words: &[&str]) -> String {
        let output = self.output(words);
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for PublishedHere {
    fn drop(&mut self) {
        if let Some((_, file)) = self.keys.first() {
            self.output(&["unpublish", file]);
        }
    }
}
