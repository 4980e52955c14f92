//! Any topology that hwloc loads from an XML text is archived without loss or is refused: text ->
//! hwloc -> capture -> archive -> the text that hwloc writes.
//!
//! hwloc itself crashes on some texts, so a child process does all that hwloc has to do first. This
//! process only loads a text that the child survived.
#![no_main]

use libfuzzer_sys::fuzz_target;
use topobroker::hwloc::capture;
use topobroker::hwloc::{Input, LoadOptions, load};
use topobroker_layout::encode::to_bytes;
use topobroker_reader::Archive;
use topobroker_reader::text::xml::export;
use topobroker_rival as rival;

fuzz_target!(|data: &[u8]| {
    let Some(text) = topobroker_fuzz::xml(data) else { return };
    let input = Input::XmlText(text);
    if !is_survived_by_hwloc(&input) {
        return;
    }
    let Ok(loaded) = load(&input, &LoadOptions::default()) else { return };
    let Ok(description) = capture(&loaded) else { return };
    let Ok(bytes) = to_bytes(&description) else { return };
    let ours = export(Archive::open(&bytes).expect("what is built is sound").topology());
    assert_eq!(ours, rival::xml(&loaded).expect("the child wrote it"), "hwloc writes the same");
});

/// Whether hwloc loads, answers, writes and frees the input, or refuses it, within three seconds
/// and without a crash.
fn is_survived_by_hwloc(input: &Input) -> bool {
    // SAFETY: this process has one thread, and the child ends without returning.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "fork");
    if child == 0 {
        for signal in [libc::SIGSEGV, libc::SIGABRT, libc::SIGBUS, libc::SIGFPE, libc::SIGALRM] {
            // SAFETY: SIG_DFL is a valid handler, and only the child's handlers change.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        // SAFETY: the call only starts a timer, which ends the child if hwloc hangs.
        unsafe { libc::alarm(3) };
        if let Ok(loaded) = load(input, &LoadOptions::default()) {
            let _ = capture(&loaded).map(|_| rival::xml(&loaded));
        }
        // SAFETY: the call ends the child and does not return.
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    // SAFETY: `status` is a valid output. The loop waits again if the fuzzer's alarm interrupts it.
    while unsafe { libc::waitpid(child, &raw mut status, 0) } != child {}
    status == 0
}
