//! Notes which files a process had loaded when it ended, because a library may contain a copy of
//! hwloc, whose calls are not seen.

use crate::loaded;
use crate::note::note_loaded;
use crate::settings::audit_folder;
use alloc::vec::Vec;

/// Entry that makes the dynamic loader call `at_end` when the process exits. A process that is
/// killed or calls `_exit` notes nothing.
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_END: extern "C" fn() = at_end;

extern "C" fn at_end() {
    if audit_folder().is_some() {
        let files: Vec<_> = loaded::files().iter().map(|file| file.to_string_lossy()).collect();
        note_loaded(&files);
    }
}
