//! A daemon that a test starts: `topobroker serve`.

use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsStr;
use std::io::Read;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use topobroker_reader::Keys;

/// A daemon with a folder of its own, killed when this is dropped.
pub struct Daemon {
    child: Child,
    folder: PathBuf,
    /// Receives the state notifications of the daemon (sd_notify).
    notifications: UnixDatagram,
    messages: Option<JoinHandle<String>>,
}

impl Daemon {
    /// Starts `program serve --folder FOLDER OPTIONS`, and waits until it is ready.
    pub fn start<S: AsRef<OsStr>>(mut program: Command, folder: &Path, options: &[S]) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("topobroker-test-{}-{next}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let notifications = UnixDatagram::bind_addr(&address).unwrap();
        notifications.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        program.args(["serve", "--folder"]).arg(folder).args(options);
        program.env("NOTIFY_SOCKET", format!("@{name}")).stderr(Stdio::piped());
        let mut child = program.spawn().unwrap();
        let mut errors = child.stderr.take().unwrap();
        let messages = std::thread::spawn(move || {
            let mut text = Vec::new();
            errors.read_to_end(&mut text).unwrap();
            String::from_utf8(text).unwrap()
        });
        let folder = folder.to_owned();
        let daemon = Self { child, folder, notifications, messages: Some(messages) };
        assert!(daemon.notification().starts_with("READY=1\n"));
        daemon
    }

    /// Receives the next state notification.
    pub fn notification(&self) -> String {
        let mut text = [0; 256];
        let length = self.notifications.recv(&mut text).expect("a notification of the daemon");
        String::from_utf8(text[..length].to_vec()).unwrap()
    }

    /// What it has published last.
    pub fn keys(&self) -> Keys {
        Keys::from_lines(&std::fs::read_to_string(self.folder.join("keys")).unwrap()).unwrap()
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Kills it, so that it cannot clean up.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ends it, and returns its messages.
    pub fn end(&mut self) -> String {
        self.signal(Signal::TERM);
        let status = self.child.wait().unwrap();
        let messages = self.messages.take().unwrap().join().unwrap();
        assert!(status.success(), "{status}: {messages}");
        messages
    }

    /// A program that finds what the daemon serves.
    pub fn client(&self, program: Command) -> Command {
        let mut program = program;
        program.env("TOPOBROKER_RUN", &self.folder);
        program
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
