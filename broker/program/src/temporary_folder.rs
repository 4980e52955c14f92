//! Folders for what this process needs for a while.

use rustix::io::{FdFlags, fcntl_setfd};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A folder in the folder for temporary files. A process of its own removes it when this is dropped
/// or this process has ended, however it ends. Nothing that still reads it finds it half removed.
pub(crate) struct TemporaryFolder {
    path: PathBuf,
    remover: Child,
}

/// Waits for the end of its input, which is open as long as the owner of the folder lives. What
/// ends the owner, such as Ctrl-C, must not end it.
const REMOVE: &str = "trap '' HUP INT QUIT TERM; read -r _; rm -rf -- \"$0\"";

impl TemporaryFolder {
    pub(crate) fn new() -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let mut remover = Command::new("/bin/sh");
        remover.args(["-c", REMOVE]).arg(folder.path()).process_group(0).current_dir("/");
        remover.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // If it cannot be started, `folder` is removed here.
        let remover = remover.spawn()?;
        Ok(Self { path: folder.keep(), remover })
    }

    /// A new folder in it.
    pub(crate) fn part(&self) -> io::Result<PathBuf> {
        Ok(tempfile::tempdir_in(&self.path)?.keep())
    }

    /// Keeps the folder also as long as commands run that this process starts from now on.
    pub(crate) fn keep_for_commands(&self) -> io::Result<()> {
        let held = self.remover.stdin.as_ref();
        Ok(held.map_or(Ok(()), |held| fcntl_setfd(held, FdFlags::empty()))?)
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        drop(self.remover.stdin.take());
        // Whoever looks after this finds no folder.
        let _ = self.remover.wait();
    }
}
