//! Whatever hwloc makes of an XML text is captured whole, and our archive of it is sound: text -> hwloc -> capture ->
//! archive -> text.
//!
//! hwloc itself crashes on some texts, so each is read in a process of its own, which says when hwloc is done: what
//! goes wrong after that is ours.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::atomic::{AtomicU32, Ordering};
use topobroker::capture::capture;
use topobroker::hwloc::{Input, LoadOptions, load};
use topobroker::xml::export;
use topobroker_layout::build::to_bytes;
use topobroker_reader::Topology;

fuzz_target!(|data: &[u8]| {
    let Some(text) = topobroker_fuzz::xml(data) else { return };
    let is_loaded = shared();
    is_loaded.store(0, Ordering::SeqCst);
    // SAFETY: this process has one thread; the child ends without returning.
    match unsafe { libc::fork() } {
        0 => {
            for signal in [libc::SIGSEGV, libc::SIGABRT, libc::SIGBUS, libc::SIGFPE, libc::SIGALRM] {
                // SAFETY: the child's own handlers.
                unsafe { libc::signal(signal, libc::SIG_DFL) };
            }
            // SAFETY: ends a child in which hwloc does not come to an end.
            unsafe { libc::alarm(5) };
            read(text, is_loaded);
            // SAFETY: ends the child.
            unsafe { libc::_exit(0) };
        }
        child => {
            let mut status = 0;
            // SAFETY: waits for the child that was just made.
            unsafe { libc::waitpid(child, &raw mut status, 0) };
            let ours = is_loaded.load(Ordering::SeqCst) != 0;
            assert!(!ours || status == 0, "after hwloc had loaded it: status {status}");
        }
    }
});

fn read(text: String, is_loaded: &AtomicU32) {
    let Ok(loaded) = load(&Input::XmlText(text), &LoadOptions::default()) else { return };
    is_loaded.store(1, Ordering::SeqCst);
    let Ok(description) = capture(&loaded) else { return };
    let Ok(bytes) = to_bytes(&description) else { return };
    let _ = export(Topology::from_archive(&bytes).expect("what is built is sound"));
}

/// A number that parent and child see.
fn shared() -> &'static AtomicU32 {
    static PLACE: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    let place = PLACE.get_or_init(|| {
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        // SAFETY: a new page.
        let page = unsafe { libc::mmap(std::ptr::null_mut(), 4096, protection, flags, -1, 0) };
        assert_ne!(page, libc::MAP_FAILED);
        page.expose_provenance()
    });
    // SAFETY: a page of zeros that stays.
    unsafe { &*std::ptr::with_exposed_provenance(*place) }
}
