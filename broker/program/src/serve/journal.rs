//! What the daemon says: to systemd's journal with fields, if its standard error is the journal,
//! otherwise on standard error.

use crate::output;
use rustix::fs::fstat;
use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::Path;

/// Where the journal takes entries with fields.
const SOCKET: &str = "/run/systemd/journal/socket";

/// How much something matters, as in syslog.
#[derive(Debug, Clone, Copy)]
pub(super) enum Priority {
    Error = 3,
    Info = 6,
}

/// Says something, with fields by which the journal finds it: `journalctl TOPOBROKER_GENERATION=3`.
pub(super) fn say(priority: Priority, message: &str, fields: &[(&str, String)]) {
    let sent = is_journal().then(|| send(Path::new(SOCKET), priority, message, fields));
    if sent.is_none_or(|sent| sent.is_err()) {
        match priority {
            Priority::Error => output::complain(message),
            Priority::Info => output::say(message),
        }
    }
}

/// Whether standard error is the journal: systemd passes the device and inode of the stream.
fn is_journal() -> bool {
    let stream = std::env::var("JOURNAL_STREAM").unwrap_or_default();
    fstat(io::stderr()).is_ok_and(|it| stream == format!("{}:{}", it.st_dev, it.st_ino))
}

fn send(
    socket: &Path,
    priority: Priority,
    message: &str,
    fields: &[(&str, String)],
) -> io::Result<()> {
    let mut entry = Vec::new();
    add(&mut entry, "MESSAGE", message);
    add(&mut entry, "PRIORITY", &(priority as u8).to_string());
    add(&mut entry, "SYSLOG_IDENTIFIER", "topobroker");
    for (name, value) in fields {
        add(&mut entry, &format!("TOPOBROKER_{name}"), value);
    }
    UnixDatagram::unbound()?.send_to(&entry, socket).map(|_| ())
}

/// A field in the journal's native format: a value with more than one line has its length before
/// it.
fn add(entry: &mut Vec<u8>, name: &str, value: &str) {
    entry.extend(name.as_bytes());
    if value.contains('\n') {
        entry.push(b'\n');
        entry.extend((value.len() as u64).to_le_bytes());
    } else {
        entry.push(b'=');
    }
    entry.extend(value.as_bytes());
    entry.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_of_the_journal_has_fields_and_lengths_of_longer_values() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let journal = UnixDatagram::bind(&socket).unwrap();
        send(&socket, Priority::Error, "two\nlines", &[("GENERATION", "3".to_owned())]).unwrap();
        let mut entry = [0; 256];
        let length = journal.recv(&mut entry).unwrap();
        assert_eq!(
            String::from_utf8_lossy(entry.get(..length).unwrap()),
            "MESSAGE\n\u{9}\0\0\0\0\0\0\0two\nlines\nPRIORITY=3\nSYSLOG_IDENTIFIER=topobroker\nTOPOBROKER_GENERATION=3\n"
        );
    }
}
