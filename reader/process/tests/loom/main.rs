//! Runs the guard of adoption in every order of threads and of memory accesses that loom explores:
//! `RUSTFLAGS="--cfg loom" cargo test -p topobroker-process --test loom --release`.
#![cfg(loom)]
#![allow(missing_docs, dead_code, unreachable_pub, reason = "the guard's own file, alone")]

extern crate alloc;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

#[path = "../../src/once.rs"]
mod once;

use once::Global;

/// Stands for an adopted topology. Loom notices if it is read before the write to it is visible.
struct Topology {
    by: UnsafeCell<usize>,
    dropped: Arc<AtomicUsize>,
}

// SAFETY: `by` is written before the value is shared, and only read from then on.
unsafe impl Sync for Topology {}

impl Topology {
    fn mapped_by(thread: usize, dropped: &Arc<AtomicUsize>) -> Self {
        let by = UnsafeCell::new(0);
        // SAFETY: no other thread has a reference to `by` yet.
        by.with_mut(|by| unsafe { *by = thread });
        Self { by, dropped: Arc::clone(dropped) }
    }

    fn mapped(&self) -> usize {
        // SAFETY: `by` is not written after `mapped_by` has returned.
        self.by.with(|by| unsafe { *by })
    }
}

impl Drop for Topology {
    fn drop(&mut self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

/// Does what adoption does: looks at the guard, maps, and offers the result to the guard.
fn adopt(guard: &Global<Topology>, thread: usize, dropped: &Arc<AtomicUsize>) -> usize {
    match guard.get() {
        Some(adopted) => adopted.mapped(),
        None => match guard.offer(Topology::mapped_by(thread, dropped)) {
            Ok(adopted) => adopted.mapped(),
            Err((mine, adopted)) => {
                assert_eq!(mine.mapped(), thread);
                adopted.mapped()
            }
        },
    }
}

fn model(threads: usize) {
    loom::model(move || {
        let guard = Arc::new(Global::<Topology>::new());
        let dropped = Arc::new(AtomicUsize::new(0));
        let started: Vec<_> = (1..threads)
            .map(|number| {
                let (guard, dropped) = (Arc::clone(&guard), Arc::clone(&dropped));
                thread::spawn(move || adopt(&guard, number, &dropped))
            })
            .collect();
        let own = adopt(&guard, threads, &dropped);
        for other in started {
            assert_eq!(other.join().unwrap(), own, "one topology for all");
        }
        assert_eq!(guard.get().map(Topology::mapped), Some(own));
        assert!(dropped.load(Ordering::Relaxed) < threads, "the one that is kept stays");
        // Freed as if the process ended, because loom counts values that are left.
        // SAFETY: the guard leaked it from a box, all threads are joined, and nothing refers to it
        // any more.
        drop(unsafe { Box::from_raw(std::ptr::from_ref(guard.get().unwrap()).cast_mut()) });
    });
}

#[test]
fn two_threads_that_adopt_at_once_end_with_one_topology_and_see_it_whole() {
    model(2);
}

#[test]
fn three_threads_that_adopt_at_once_end_with_one_topology_and_see_it_whole() {
    model(3);
}
