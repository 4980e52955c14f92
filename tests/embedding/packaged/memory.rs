//! How the libraries lie in memory, and what the guard costs.

use std::path::Path;
use std::process::Command;
use topobroker_embedding::{BROKER, READER, compile, has, listed, prefix, succeed, topobroker};

/// A number that is printed without 0x.
fn hexadecimal(number: &str) -> u64 {
    u64::from_str_radix(number, 16).unwrap()
}

/// The loader writes to the pages of a library that hold pointers, in every process.
#[test]
fn the_thin_library_has_one_page_of_pointers_one_of_values_and_no_storage_of_threads() {
    const PAGE: u64 = 4096;
    let headers = listed("readelf", &["-lW"], READER);
    let segment = |kind: &str| {
        let line = headers.lines().find(|line| line.split_whitespace().next() == Some(kind))?;
        let numbers = line.split_whitespace().filter_map(|word| word.strip_prefix("0x"));
        let numbers = numbers.map(hexadecimal);
        let [_, start, _, _, length, ..] = numbers.collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        Some((start, start + length))
    };
    let (start, end) = segment("GNU_RELRO").unwrap();
    assert!(start / PAGE == (end - 1) / PAGE, "pointers from {start:#x} to {end:#x}");
    assert_eq!(segment("TLS"), None);
    let values = listed("nm", &["--format=sysv"], "libtopobroker-reader.a");
    let small = values.lines().filter(|line| line.contains("OBJECT") && line.contains("|.bss"));
    let sizes =
        small.filter_map(|line| u64::from_str_radix(line.split('|').nth(4)?.trim(), 16).ok());
    let sizes: Vec<u64> = sizes.collect();
    assert!(!sizes.is_empty() && sizes.iter().sum::<u64>() < PAGE, "{sizes:?}");
}

/// What each process runs at its start is in few groups of pages. If the compiler names functions
/// in another way, `adoption.ld` no longer finds them.
#[test]
fn the_code_that_adopts_lies_together_at_the_start_of_the_libraries() {
    for (shared, archive) in [(READER, "libtopobroker-reader.a"), (BROKER, "libtopobroker.a")] {
        // Columns after the name: type, address, offset, size.
        let section = |library: &str, name: &str| {
            let sections = listed("readelf", &["-SW"], library);
            let mut words = sections.split_whitespace().skip_while(|word| *word != name);
            [words.nth(2), words.nth(1)].map(|word| hexadecimal(word.unwrap()))
        };
        let [_, adoption] = section(archive, ".text.hot.adoption");
        assert!((40_000..120_000).contains(&adoption), "{archive}: {adoption} bytes");
        let [code, length] = section(shared, ".text");
        assert!(length > 4 * adoption, "{shared}: {length} bytes of code");
        let exported = listed("nm", &["-D"], shared);
        let adopt = exported.lines().find(|line| line.contains(" tb_adopt@@")).unwrap();
        let place = hexadecimal(adopt.split_whitespace().next().unwrap()) - code;
        assert!(place < adoption + 0x1_0000, "{shared}: tb_adopt is {place} bytes from the start");
    }
}

/// Code that lies elsewhere is another group of pages, which costs each process 3 to 5 us.
#[test]
fn a_process_that_adopts_runs_only_code_that_lies_together() {
    if !has("valgrind") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = compile(folder.path(), "cc", "adopts.c", "adopts", &["topobroker-reader"], &[]);
    let counts = folder.path().join("counts");
    let mut run = topobroker();
    run.args(["run", "-i", "Package:2 Core:4 PU:2", "--", "valgrind", "--tool=callgrind", "-q"]);
    run.arg(format!("--callgrind-out-file={}", counts.display())).arg(&program);
    assert_eq!(succeed(&mut run), "16\n");
    let mut annotate = Command::new("callgrind_annotate");
    let text = succeed(annotate.arg("--threshold=100").arg(&counts));
    // Functions without a name are those that are not exported.
    let own = text.lines().filter(|line| line.contains(READER));
    let addresses: Vec<u64> = own
        .filter_map(|line| line.split("???:0x").nth(1)?.split(' ').next())
        .map(hexadecimal)
        .collect();
    let first = addresses.iter().min().unwrap();
    let far: Vec<_> = addresses.iter().filter(|it| *it - first > 0x2_0000).collect();
    assert!(addresses.len() > 20 && far.is_empty(), "{far:x?}\n{text}");
}

#[test]
fn a_process_without_hwloc_pays_at_most_20_kb_for_the_guard() {
    // The fewest of several processes, because the kernel places stacks at random.
    let anonymous = |preload: &Path| -> u64 {
        let process = || -> u64 {
            let mut grep = Command::new("grep");
            grep.args(["Anonymous", "/proc/self/smaps_rollup"]).env("LD_PRELOAD", preload);
            succeed(&mut grep).split_whitespace().nth(1).unwrap().parse().unwrap()
        };
        (0..20).map(|_| process()).min().unwrap()
    };
    let (without, with) = (
        anonymous(Path::new("")),
        anonymous(&prefix().join("lib/topobroker/libtopobroker-guard.so")),
    );
    assert!(with <= without + 20, "{with} kB, without the guard {without} kB");
}
