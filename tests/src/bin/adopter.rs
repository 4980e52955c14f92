//! Helper program of the tests, `adopter WAY`: adopts a segment in the way that its argument names.
//!
//! Prints `ok SEGMENT PLACEMENT ADDRESS OBJECTS` for every adoption that succeeds, and
//! `error MESSAGE` for every one that fails.

use std::io::{Read, Write};
use std::process::ExitCode;
use topobroker_layout::object_type::ObjectType;
use topobroker_process::with_causes;
use topobroker_reader::{
    AdoptError, Adopted, Format, Keys, Locality, OsError, Set, adopt, adopt_keys, adopted,
    jobs::Job,
};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["once"] => say(adopt()),
        ["hold"] => say(adopt()) & std::io::stdin().read_line(&mut String::new()).is_ok(),
        ["mine"] => mine(),
        ["localities"] => localities(),
        ["twice"] => say(adopt()) & say(adopt()),
        ["retry"] => {
            let bad = Keys::parse("/dev/shm/topobroker-nothing", "0", "4096").ok();
            bad.map(|keys| say(adopt_keys(keys)));
            say(adopt())
        }
        ["another", file, address, size] => {
            let first = say(adopt());
            let other = Keys::parse(file, address, size).ok();
            first & other.is_some_and(|keys| say(adopt_keys(keys)))
        }
        ["taken"] => taken(),
        ["threads", count] => threads(count.parse().unwrap_or(0)),
        ["fork"] => say(adopt()) & fork(|| say(Ok(adopted().expect("inherited")))) & fork(adopts),
        ["fork-first"] => fork(adopts) & say(adopt()),
        ["fork-while"] => fork_while(),
        ["generations", count] => generations(count.parse().unwrap_or(0)),
        ["copy", library] => copy(library),
        ["load"] => load(),
        ["own-node"] => own_node(),
        _ => {
            eprintln!("usage: adopter WAY");
            return ExitCode::from(2);
        }
    };
    ExitCode::SUCCESS
}

/// Reads the own node of the cluster that the environment names, twice, and prints its name.
fn own_node() -> bool {
    match (topobroker_reader::cluster::own_node(), topobroker_reader::cluster::own_node()) {
        (Ok(node), Ok(again)) if std::ptr::eq(node, again) => {
            println!("ok {} {}", node.name(), node.topology().object_count());
            true
        }
        (Err(error), _) | (_, Err(error)) => {
            println!("error {}", with_causes(&error));
            false
        }
        _ => false,
    }
}

/// Prints the PUs of this process's effective view and the bytes that the view takes in addition to
/// its handle. Then prints the number and the PUs of each rank of its job.
fn mine() -> bool {
    let view = match topobroker_reader::jobs::effective_view() {
        Ok(view) => view,
        Err(error) => {
            println!("error {}", with_causes(&error));
            return false;
        }
    };
    let list = |set: &Set| set.to_text(Format::List);
    let pus = view.topology().root().cpuset().unwrap_or_default();
    println!("mine {} {}", list(&pus), view.bytes() - size_of_val(&view));
    let job = adopted().and_then(|adopted| Job::find(adopted).ok().flatten());
    for rank in job.into_iter().flat_map(Job::ranks) {
        println!("rank {} {}", rank.rank, rank.cpuset.as_ref().map_or("-".to_owned(), list));
    }
    true
}

/// Prints the kB of private memory by which asking for the locality of all ranks, seen from each,
/// makes this process grow.
fn localities() -> bool {
    let job = adopt().ok().and_then(|adopted| Job::find(adopted).ok().flatten()).expect("a job");
    let mut shared = vec![Locality::NODE; job.ranks().len()];
    // Reading the figure takes memory itself, the first time.
    private_kb();
    let before = private_kb();
    for rank in job.ranks().map(|rank| rank.rank) {
        let all = job.localities(rank).into_iter().flatten();
        shared.iter_mut().zip(all).for_each(|(slot, locality)| *slot = locality);
        assert!(shared.iter().all(|it| it.shares(Locality::NODE)));
    }
    println!("localities of {} ranks {}", shared.len(), private_kb() - before);
    true
}

/// Anonymous memory of this process in kB. Pages of shared files are private as long as no other
/// process has touched them, so they are not counted.
fn private_kb() -> i64 {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("Anonymous:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).expect("a figure")
}

/// Prints the number of objects of the topology, from whichever source it is loaded.
fn load() -> bool {
    match topobroker::node::load() {
        Ok(adopted) => println!("{}", adopted.topology().object_count()),
        Err(error) => println!("error {}", with_causes(&error)),
    }
    true
}

fn adopts() -> bool {
    say(adopt())
}

fn say(adopted: Result<&'static Adopted, AdoptError>) -> bool {
    match adopted {
        Ok(adopted) => {
            let topology = adopted.topology();
            let pus = topology.objects_with_type(ObjectType::PU);
            let objects = topology.object_count();
            let below = topology.root().pus().map_or(0, |pus| pus.len());
            assert_eq!(pus.count(), below, "PUs of tree and root differ");
            let (segment, placement) = (adopted.header().segment_name(), adopted.placement());
            let refused = adopted.address_error().map_or(0, OsError::raw_os_error);
            println!(
                "ok {segment} {placement:?} {:p} {objects} {refused}",
                adopted.bytes().as_ptr()
            );
            true
        }
        Err(error) => {
            println!("error {}", with_causes(&error));
            false
        }
    }
}

/// Adopts while another mapping is at the preferred address.
fn taken() -> bool {
    let address = Keys::from_env().map_or(0, |keys| keys.address());
    let address = usize::try_from(address).unwrap_or(0);
    let flags = rustix::mm::MapFlags::PRIVATE | rustix::mm::MapFlags::FIXED_NOREPLACE;
    let protection = rustix::mm::ProtFlags::READ;
    // SAFETY: FIXED_NOREPLACE makes a new mapping and replaces none, and nothing refers to its
    // memory.
    let mapped = unsafe {
        let address = std::ptr::without_provenance_mut(address);
        rustix::mm::mmap_anonymous(address, 4096, protection, flags)
    };
    mapped.expect("the address is free at first");
    say(adopt())
}

fn threads(count: usize) -> bool {
    let together = std::sync::Barrier::new(count);
    let places = std::thread::scope(|scope| {
        let one = || {
            together.wait();
            adopt().map(|adopted| std::ptr::from_ref(adopted).addr())
        };
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(one)).collect();
        let joined = threads.into_iter().map(|thread| thread.join().expect("no panic"));
        joined.collect::<Result<std::collections::BTreeSet<usize>, AdoptError>>()
    });
    println!("places {}", places.map_or(0, |places| places.len()));
    say(adopt())
}

/// Runs `child` in a forked process and waits for it.
fn fork(child: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child process only runs `child`, which prints whole lines at most, and ends with
    // `_exit`. It never returns to the caller.
    match unsafe { libc::fork() } {
        0 => {
            let code = i32::from(!child());
            // SAFETY: `_exit` has no preconditions, and never returns.
            unsafe { libc::_exit(code) }
        }
        child => {
            let mut status = 0;
            // SAFETY: `status` is writable, and `child` is a child of this process.
            unsafe { libc::waitpid(child, &raw mut status, 0) };
            status == 0
        }
    }
}

/// Forks again and again while another thread adopts. Every child adopts too.
fn fork_while() -> bool {
    let started = std::sync::Barrier::new(2);
    let mut children = true;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            started.wait();
            // Prints nothing, because a child that is forked during the print would wait for the
            // lock of standard output forever.
            adopt().is_ok()
        });
        started.wait();
        for _ in 0..50 {
            children &= fork(|| adopt().is_ok());
        }
    });
    println!("children {children}");
    children
}

/// Forks children one after the other, each of which adopts the newest generation. Prints how many
/// of them failed, and how many generations the others saw.
fn generations(count: usize) -> bool {
    let (mut seen, mut failures) = (std::collections::BTreeSet::new(), 0);
    for _ in 0..count {
        let (mut reading, mut writing) = std::io::pipe().expect("a pipe");
        let child = || match adopt() {
            Ok(adopted) => {
                let pus = adopted.topology().objects_with_type(ObjectType::PU).count();
                let generation = adopted.header().generation;
                // The number of PUs follows from the number of the generation.
                pus as u64 == 2 + generation % 7
                    && writing.write_all(&generation.to_le_bytes()).is_ok()
            }
            Err(error) => {
                eprintln!("{}", with_causes(&error));
                false
            }
        };
        let mut generation = [0; 8];
        match fork(child) {
            true => {
                reading.read_exact(&mut generation).expect("its generation");
                seen.insert(generation);
            }
            false => failures += 1,
        }
    }
    println!("failures {failures} generations {}", seen.len());
    true
}

/// Adopts here and in a library that has its own copy of the reader.
fn copy(library: &str) -> bool {
    say(adopt());
    // SAFETY: the library is part of this project, and runs no code when it is loaded.
    let library = unsafe { libloading::Library::new(library) }.expect("the library");
    // SAFETY: `examples/reader_copy.rs` defines the function with this signature.
    let address = unsafe {
        let adopt: libloading::Symbol<'_, unsafe extern "C" fn() -> usize> =
            library.get(b"reader_copy_adopt").expect("its function");
        adopt()
    };
    let maps = std::fs::read_to_string("/proc/self/maps").expect("maps");
    let mappings = maps.lines().filter(|line| line.contains("topobroker-")).count();
    println!("copy {address:#x} {mappings}");
    true
}
