//! The same damage to an hwloc segment and to ours. Each is adopted in a process of its own. Our
//! outcomes are asserted. hwloc's are only printed, because they depend on its version and on
//! chance.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use topobroker_embedding::{compile, is_root, succeed, topobroker};
use topobroker_layout::header::{HEADER_LEN, Header, mark_ready};
use topobroker_reader::Keys;

/// A topology published in our segment and in hwloc's, and a program for each that adopts it.
struct Both {
    folder: tempfile::TempDir,
    ours: Keys,
    theirs: [String; 3],
    programs: [PathBuf; 2],
    /// Output of each program for an undamaged segment.
    whole: [String; 2],
}

const PAGE: usize = 4096;

/// A change to the bytes of a segment.
type Damage = Box<dyn Fn(&mut Vec<u8>)>;

impl Both {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let mut publish = topobroker();
        publish.args(["publish", "--legacy", "-i", "Package:8 NUMANode:2 L2Cache:8 Core:4 PU:2"]);
        let text = succeed(publish.args(["--address", "0x550000000000", "--folder"]).arg(path));
        let key = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
            line.unwrap_or_else(|| panic!("{name}: {text}")).trim_matches('\'').to_owned()
        };
        let programs = [
            compile(path, "cc", "again.c", "ours", &["topobroker-reader"], &[]),
            compile(path, "cc", "hwloc_adopt.c", "theirs", &["hwloc"], &[]),
        ];
        let mut both = Self {
            ours: Keys::from_lines(&text).unwrap(),
            theirs: ["FILE", "ADDR", "SIZE"].map(|name| key(&format!("PMIX_HWLOC_SHMEM_{name}"))),
            folder,
            programs,
            whole: Default::default(),
        };
        both.whole = both.outcomes(&both.ours.clone(), &both.theirs.clone());
        assert!(both.whole[0].starts_with("adopted 1024 PUs"), "{:?}", both.whole);
        assert!(both.whole[1].starts_with("ok "), "{:?}", both.whole);
        both
    }

    /// Output of both processes, or the signals that ended them.
    fn outcomes(&self, ours: &Keys, theirs: &[String; 3]) -> [String; 2] {
        let mut our = Command::new("sh");
        our.args(["-c", "echo | \"$0\""]).arg(&self.programs[0]).envs(ours.to_env());
        let mut their = Command::new(&self.programs[1]);
        their.args(theirs).env("HWLOC_HIDE_ERRORS", "2");
        [our, their].map(|mut command| outcome(&command.output().unwrap()))
    }

    /// Copies both segments under other names, damages the copies in the same way, and returns
    /// their keys.
    fn damaged(&self, damage: &dyn Fn(&mut Vec<u8>)) -> (Keys, [String; 3]) {
        let copy = |from: &Path, name: &str| {
            let (mut bytes, to) = (std::fs::read(from).unwrap(), self.folder.path().join(name));
            damage(&mut bytes);
            let _ = std::fs::remove_file(&to);
            std::fs::write(&to, bytes).unwrap();
            std::fs::set_permissions(&to, PermissionsExt::from_mode(0o444)).unwrap();
            to.to_str().unwrap().to_owned()
        };
        let file = copy(self.ours.path().unwrap(), "damaged");
        let [own, address, size] = &self.theirs;
        let theirs = [copy(Path::new(own), "damaged-hwloc"), address.clone(), size.clone()];
        let (address, size) = (format!("{:#x}", self.ours.address()), self.ours.size().to_string());
        (Keys::parse(&file, &address, &size).unwrap(), theirs)
    }

    /// Asserts that each damage to our segment is an error that says `why`, and counts and prints
    /// the outcomes of hwloc.
    fn row(&self, name: &str, why: &str, damages: &[Damage]) {
        let mut theirs = BTreeMap::<String, usize>::new();
        for damage in damages {
            let (our_keys, their_keys) = self.damaged(damage.as_ref());
            let [ours, their] = self.outcomes(&our_keys, &their_keys);
            assert!(ours.contains(why), "{name}: {ours}");
            let wrong = their.starts_with("ok ") && their != self.whole[1];
            *theirs.entry(if wrong { "another tree".to_owned() } else { their }).or_default() += 1;
        }
        eprintln!("{name}: ours {} errors; hwloc {theirs:?}", damages.len());
    }
}

fn outcome(output: &Output) -> String {
    match output.status.signal() {
        Some(signal) => format!("signal {signal}"),
        None => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    }
}

/// Pseudo-random number made from another number, the same in every run.
fn scrambled(number: u64) -> usize {
    usize::try_from(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40).unwrap()
}

fn damages<D: Fn(&mut Vec<u8>) + 'static>(all: impl Iterator<Item = D>) -> Vec<Damage> {
    all.map(|damage| Box::new(damage) as Damage).collect()
}

/// One of 16 evenly spaced positions in a segment. In hwloc's segment, which has many pages, it is
/// the start of a page.
fn place(number: usize, bytes: &[u8]) -> usize {
    let place = bytes.len() * (number + 1) / 17;
    if bytes.len() > 32 * PAGE { place / PAGE * PAGE } else { place }
}

#[test]
fn every_damage_to_our_segment_is_an_error_that_names_it() {
    let both = Both::new();
    let lengths =
        [0, 23].into_iter().map(|length| move |bytes: &mut Vec<u8>| bytes.truncate(length));
    both.row("0 or 23 bytes", "truncated", &damages(lengths));
    let cuts =
        (0..16).map(|number| move |bytes: &mut Vec<u8>| bytes.truncate(place(number, bytes)));
    both.row("cut before adoption", "truncated", &damages(cuts));
    let flips = (0..60).map(|number| {
        move |bytes: &mut Vec<u8>| {
            // Behind the headers, because hwloc checks its own header.
            let at = 160 + scrambled(number) % (bytes.len() - 160);
            bytes[at] ^= 1 << (number % 8);
        }
    });
    both.row("a random bit flipped", "checksum", &damages(flips));
    let zeroed = (0..16).map(|number| {
        move |bytes: &mut Vec<u8>| {
            let start = place(number, bytes);
            let end = bytes.len().min(start + PAGE);
            bytes[start..end].fill(0);
        }
    });
    both.row("a page zeroed", "checksum", &damages(zeroed));
    let torn = (0..16).map(|number| {
        move |bytes: &mut Vec<u8>| {
            let start = place(number, bytes);
            bytes[start..].fill(0);
        }
    });
    both.row("only the first pages written", "checksum", &damages(torn));
}

#[test]
fn address_length_mode_and_owner_are_checked_although_hwloc_does_not() {
    let both = Both::new();
    let (ours, theirs) = both.damaged(&|_| ());
    let gigabyte = 1u64 << 30;
    let moved = |address: &str| {
        let address = u64::from_str_radix(address.trim_start_matches("0x"), 16).unwrap();
        format!("{:#x}", address + gigabyte)
    };
    let longer = |size: &str| (size.parse::<u64>().unwrap() + (64 << 20)).to_string();
    let file = ours.file().unwrap().to_str().unwrap();
    let (address, size) = (format!("{:#x}", ours.address()), ours.size().to_string());
    let say =
        |name: &str, [ours, theirs]: &[String; 2]| eprintln!("{name}: ours {ours}; hwloc {theirs}");

    // The length in hwloc's header is changed like the one in its key, because hwloc compares them.
    // It is a 64-bit number behind the address.
    both.damaged(&|bytes| {
        if Header::read(bytes).is_err() {
            let length = u64::from_le_bytes(bytes[16..24].try_into().unwrap()) + (64 << 20);
            bytes[16..24].copy_from_slice(&length.to_le_bytes());
        }
    });
    let their = [theirs[0].clone(), theirs[1].clone(), longer(&theirs[2])];
    let outcomes = both.outcomes(&Keys::parse(file, &address, &longer(&size)).unwrap(), &their);
    say("64 MiB past the end", &outcomes);
    assert!(outcomes[0].contains("the size key says"), "{outcomes:?}");

    both.damaged(&|_| ());
    let their = [theirs[0].clone(), moved(&theirs[1]), theirs[2].clone()];
    let outcomes = both.outcomes(&Keys::parse(file, &moved(&address), &size).unwrap(), &their);
    say("another address in the key", &outcomes);
    assert!(outcomes[0].contains("the address key says"), "{outcomes:?}");
    both.damaged(&|bytes| match Header::read(bytes) {
        Ok(header) => {
            let moved = Header { address: header.address + gigabyte, ..header };
            let archive = bytes[HEADER_LEN..].to_vec();
            moved.write(&archive, bytes).unwrap();
            mark_ready(bytes);
        }
        // In hwloc's header, two 32-bit numbers are before the address.
        Err(_) => {
            let address = u64::from_le_bytes(bytes[8..16].try_into().unwrap()) + gigabyte;
            bytes[8..16].copy_from_slice(&address.to_le_bytes());
        }
    });
    let outcomes = both.outcomes(&Keys::parse(file, &moved(&address), &size).unwrap(), &their);
    say("another address in key and header", &outcomes);
    assert!(outcomes[0].starts_with("adopted 1024 PUs"), "{outcomes:?}");

    both.damaged(&|_| ());
    for path in [file, &theirs[0]] {
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o666)).unwrap();
    }
    let outcomes = both.outcomes(&ours, &theirs);
    say("mode 0666", &outcomes);
    assert!(outcomes[0].contains("mode 0666"), "{outcomes:?}");
    if !is_root("a file of another user") {
        return;
    }
    for path in [file, &theirs[0]] {
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o444)).unwrap();
        std::os::unix::fs::chown(path, Some(65534), None).unwrap();
    }
    let outcomes = both.outcomes(&ours, &theirs);
    say("of another user", &outcomes);
    assert!(outcomes[0].contains("belongs to user 65534"), "{outcomes:?}");
}
