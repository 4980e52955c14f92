//! A daemon that a test starts: `topobroker serve`.

use crate::until;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use topobroker_reader::Keys;

/// A daemon with a folder of its own, killed when this is dropped.
pub struct Daemon {
    child: Child,
    folder: PathBuf,
    notifications: Receiver<String>,
    messages: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
}

impl Daemon {
    /// Starts `program serve --folder FOLDER OPTIONS`, and waits until it is ready.
    pub fn start<S: AsRef<OsStr>>(mut program: Command, folder: &Path, options: &[S]) -> Self {
        let (name, notifications) = received();
        program.args(["serve", "--folder"]).arg(folder).args(options);
        program.env("NOTIFY_SOCKET", name).stderr(Stdio::piped());
        let mut child = program.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let messages = Arc::new(Mutex::new(String::new()));
        let shared = Arc::clone(&messages);
        let reader = Some(std::thread::spawn(move || {
            let mut line = String::new();
            while lines.read_line(&mut line).unwrap() > 0 {
                *shared.lock().unwrap() += &std::mem::take(&mut line);
            }
        }));
        let daemon = Self { child, folder: folder.to_owned(), notifications, messages, reader };
        assert!(daemon.notification().starts_with("READY=1\n"));
        daemon
    }

    /// The next state notification (sd_notify).
    pub fn notification(&self) -> String {
        let next = self.notifications.recv_timeout(Duration::from_secs(30));
        next.unwrap_or_else(|_| panic!("the daemon does not notify: {}", self.messages()))
    }

    /// What it has printed on standard error.
    pub fn messages(&self) -> String {
        self.messages.lock().unwrap().clone()
    }

    /// The keys of what it has published last.
    pub fn keys(&self) -> Keys {
        Keys::from_lines(&std::fs::read_to_string(self.folder.join("keys")).unwrap()).unwrap()
    }

    /// The program of a process that finds what the daemon serves.
    pub fn client(&self, mut program: Command) -> Command {
        program.env("TOPOBROKER_RUN", &self.folder).env("XDG_RUNTIME_DIR", "/nonexistent");
        program
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
        until("the daemon ends", || self.child.try_wait().unwrap().is_some());
        self.reader.take().unwrap().join().unwrap();
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}: {}", self.messages());
        self.messages()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The address of a socket for state notifications, and what arrives there. It is read all the time,
/// because the kernel keeps few datagrams and a daemon waits for room.
fn received() -> (String, Receiver<String>) {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("topobroker-test-{}-{next}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let socket = UnixDatagram::bind_addr(&address).unwrap();
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut text = [0; 256];
        while let Ok(length) = socket.recv(&mut text) {
            let text = String::from_utf8_lossy(&text[..length]).into_owned();
            if sender.send(text).is_err() {
                break;
            }
        }
    });
    (format!("@{name}"), receiver)
}
