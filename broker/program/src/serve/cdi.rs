//! The file by which container engines give containers the daemon's folder: CDI, the Container Device
//! Interface, that Docker, Podman, containerd and CRI-O read.

use anyhow::Context;
use serde_json::json;
use std::io::Write;
use std::path::Path;

/// Name of the kind of devices; the device is `topobroker.io/topology=node`.
const KIND: &str = "topobroker.io/topology";

/// Writes the file, whole or not at all. The folder is where processes of a container look on their own,
/// whatever it is called outside.
pub(super) fn write(file: &Path, folder: &Path) -> anyhow::Result<()> {
    let inside = "/run/topobroker";
    let document = json!({
        "cdiVersion": "0.5.0",
        "kind": KIND,
        "devices": [{
            "name": "node",
            "containerEdits": {
                "mounts": [{
                    "hostPath": folder,
                    "containerPath": inside,
                    "options": ["ro", "nosuid", "nodev", "noexec", "rbind"],
                }],
            },
        }],
    });
    let name = || format!("{}: the file for containers", file.display());
    let beside = file.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(beside).with_context(name)?;
    let mut new = tempfile::NamedTempFile::new_in(beside).with_context(name)?;
    serde_json::to_writer_pretty(&mut new, &document).with_context(name)?;
    writeln!(new).with_context(name)?;
    let readable = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    new.as_file().set_permissions(readable).with_context(name)?;
    new.persist(file).with_context(name)?;
    Ok(())
}
