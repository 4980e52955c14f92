//! The file by which container engines give containers the daemon's folder: CDI, the Container
//! Device Interface, that Docker, Podman, containerd and CRI-O read.

use super::whole_file::WholeFile;
use crate::json;
use anyhow::Context;
use std::path::Path;

/// Name of the kind of devices; the device is `topobroker.io/topology=node`.
const KIND: &str = "topobroker.io/topology";

/// Where processes of a container look on their own.
const INSIDE: &str = "/run/topobroker";

/// Writes the file, whole or not at all: containers get the daemon's folder at [`INSIDE`].
pub(super) fn write(file: &mut WholeFile, folder: &Path) -> anyhow::Result<()> {
    let document = serde_json::json!({
        "cdiVersion": "0.5.0",
        "kind": KIND,
        "devices": [{
            "name": "node",
            "containerEdits": {
                "mounts": [{
                    "hostPath": folder,
                    "containerPath": INSIDE,
                    "options": ["ro", "nosuid", "nodev", "noexec", "rbind"],
                }],
            },
        }],
    });
    let path = file.path().to_owned();
    let name = || format!("{}: the file for containers", path.display());
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(name)?;
    }
    file.replace((json::text(&document)?).as_bytes()).with_context(name)
}
