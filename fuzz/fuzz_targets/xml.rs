//! Whatever hwloc makes of an XML text is captured whole, and our archive of it is sound: text -> hwloc -> capture ->
//! archive -> text.
//!
//! hwloc itself crashes on some texts, so a child reads each first: only what that survives is read here.
#![no_main]

use libfuzzer_sys::fuzz_target;
use topobroker::format::xml::export;
use topobroker::hwloc::capture;
use topobroker::hwloc::{Input, LoadOptions, load};
use topobroker_layout::encode::to_bytes;
use topobroker_reader::Archive;

fuzz_target!(|data: &[u8]| {
    let Some(text) = topobroker_fuzz::xml(data) else { return };
    let input = Input::XmlText(text);
    if !is_survived_by_hwloc(&input) {
        return;
    }
    let Ok(loaded) = load(&input, &LoadOptions::default()) else { return };
    let Ok(description) = capture(&loaded) else { return };
    let Ok(bytes) = to_bytes(&description) else { return };
    let _ = export(Archive::open(&bytes).expect("what is built is sound").topology());
});

/// Whether hwloc loads and frees it, in five seconds, or says that it cannot.
fn is_survived_by_hwloc(input: &Input) -> bool {
    // SAFETY: this process has one thread; the child ends without returning.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "fork");
    if child == 0 {
        for signal in [libc::SIGSEGV, libc::SIGABRT, libc::SIGBUS, libc::SIGFPE, libc::SIGALRM] {
            // SAFETY: the child's own handlers.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        // SAFETY: ends a child in which hwloc does not come to an end.
        unsafe { libc::alarm(5) };
        drop(load(input, &LoadOptions::default()));
        // SAFETY: ends the child.
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    // SAFETY: waits for the child that was just made; again if the fuzzer's own alarm comes between.
    while unsafe { libc::waitpid(child, &raw mut status, 0) } != child {}
    status == 0
}
