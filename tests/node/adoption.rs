//! Adoption by real processes: many at once, forked, with several copies of the reader, and of bad
//! segments.

use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use topobroker::publish::Address;
use topobroker_layout::header::HEADER_LEN;
use topobroker_tests::segments::{Published, adopter, adopter_file, run_adopter, usual};

#[test]
fn a_process_adopts_at_the_preferred_address() {
    let published = usual();
    let lines = run_adopter(&published.keys, &["once"]);
    let expected =
        format!("ok {} Preferred {:#x} 691 0", published.segment(), published.keys.address());
    assert_eq!(lines, [expected]);
}

#[test]
fn adopting_twice_gives_the_same_topology() {
    let lines = run_adopter(&usual().keys, &["twice"]);
    assert!(lines[0].starts_with("ok ") && lines[0] == lines[1], "{lines:?}");
}

#[test]
fn sixty_four_threads_that_adopt_at_once_get_one_topology() {
    let lines = run_adopter(&usual().keys, &["threads", "64"]);
    assert_eq!(lines[0], "places 1");
    assert!(lines[1].contains(" Preferred "), "{lines:?}");
}

#[test]
fn threads_that_adopt_at_once_without_a_preferred_address_get_one_topology() {
    let published = Published::new(Address::Anywhere);
    let lines = run_adopter(&published.keys, &["threads", "64"]);
    assert_eq!(lines[0], "places 1");
    assert!(lines[1].contains(" Elsewhere "), "{lines:?}");
}

#[test]
fn two_hundred_and_fifty_six_processes_adopt_at_once() {
    let published = usual();
    let start = |_| {
        let mut command = adopter(&published.keys);
        command.arg("once").stdout(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = (0..256).map(start).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let line = String::from_utf8(output.stdout).unwrap();
        assert!(line.starts_with(&format!("ok {} Preferred", published.segment())), "{line}");
    }
}

#[test]
fn children_of_a_fork_have_the_topology_of_their_parent() {
    let lines = run_adopter(&usual().keys, &["fork"]);
    assert_eq!(lines.len(), 3);
    assert!(lines.iter().all(|line| line.starts_with("ok ") && *line == lines[0]), "{lines:?}");
}

#[test]
fn a_child_forked_before_adoption_adopts_by_itself() {
    let lines = run_adopter(&usual().keys, &["fork-first"]);
    assert!(lines.iter().all(|line| line.starts_with("ok ")) && lines.len() == 2, "{lines:?}");
}

#[test]
fn children_forked_in_the_middle_of_adoption_never_hang() {
    let published = usual();
    for _ in 0..10 {
        let lines = run_adopter(&published.keys, &["fork-while"]);
        assert!(lines.contains(&"children true".to_owned()), "{lines:?}");
    }
}

#[test]
fn if_the_preferred_address_is_taken_the_segment_is_mapped_elsewhere() {
    let published = usual();
    let lines = run_adopter(&published.keys, &["taken"]);
    assert!(lines[0].starts_with(&format!("ok {} Elsewhere", published.segment())), "{lines:?}");
    // EEXIST
    assert!(lines[0].ends_with(" 17"), "{lines:?}");
}

#[test]
fn an_address_key_of_0_maps_anywhere() {
    let published = usual();
    let lines = run_adopter(&published.keys.clone().anywhere(), &["once"]);
    assert!(lines[0].starts_with(&format!("ok {} Elsewhere", published.segment())), "{lines:?}");
    assert!(lines[0].ends_with(" 0"), "{lines:?}");
}

#[test]
fn two_copies_of_the_reader_share_one_mapping() {
    let library = topobroker_tests::segments::built("examples/libreader_copy.so");
    for address in [Address::Usual, Address::Anywhere] {
        let published = Published::new(address);
        let lines = run_adopter(&published.keys, &["copy", library.to_str().unwrap()]);
        let own = lines[0].split(' ').nth(3).unwrap();
        assert_eq!(lines[1], format!("copy {own} 1"), "{lines:?}");
    }
}

#[test]
fn a_sealed_memfd_is_inherited_and_adopted() {
    let published = Published::memfd();
    let lines = run_adopter(&published.keys, &["once"]);
    assert!(lines[0].starts_with(&format!("ok {} Preferred", published.segment())), "{lines:?}");
}

#[test]
fn a_failed_adoption_can_be_tried_again() {
    let lines = run_adopter(&usual().keys, &["retry"]);
    assert!(lines[0].starts_with("error ") && lines[1].starts_with("ok "), "{lines:?}");
}

#[test]
fn a_different_segment_is_an_error_that_names_both() {
    let (first, second) = (usual(), usual());
    let [file, address, size] = second.keys.to_env().map(|(_, value)| value.into_string().unwrap());
    let lines = run_adopter(&first.keys, &["another", &file, &address, &size]);
    assert!(lines[0].starts_with("ok "));
    for name in [first.segment(), second.segment(), file] {
        assert!(lines[1].starts_with("error ") && lines[1].contains(&name), "{lines:?}");
    }
}

#[test]
fn a_wrong_address_of_the_adopted_segment_is_an_error_too() {
    let published = usual();
    let [file, _, size] = published.keys.to_env().map(|(_, value)| value.into_string().unwrap());
    let lines = run_adopter(&published.keys, &["another", &file, "0x7a0000000000", &size]);
    assert!(lines[0].starts_with("ok "));
    assert!(lines[1].contains("the address key says 0x7a0000000000"), "{lines:?}");
}

/// Error of a process that adopts after one key was changed.
fn error_with(published: &Published, key: &str, value: &str) -> String {
    let mut command = adopter(&published.keys);
    let output = command.arg("once").env(key, value).output().unwrap();
    error_of(&output)
}

/// Error message that the helper program printed. Asserts that the program itself succeeded.
fn error_of(output: &std::process::Output) -> String {
    assert!(output.status.success(), "{output:?}");
    let line = String::from_utf8(output.stdout.clone()).unwrap();
    line.strip_prefix("error ").unwrap_or_else(|| panic!("{line}")).to_owned()
}

#[test]
fn a_wrong_key_of_each_kind_has_its_own_error() {
    let published = usual();
    for (key, value, message) in [
        ("TOPOBROKER_FILE", "/dev/shm/topobroker-none", "cannot be opened"),
        ("TOPOBROKER_FILE", "relative", "expected an absolute path"),
        ("TOPOBROKER_FILE", "fd:999", "cannot be opened"),
        ("TOPOBROKER_FILE", "fd:0", "expected a regular file"),
        ("TOPOBROKER_FILE", "/dev/shm", "is a directory"),
        ("TOPOBROKER_ADDR", "0x7a0000000000", "the address key says 0x7a0000000000"),
        ("TOPOBROKER_ADDR", "nonsense", "expected a hexadecimal address"),
        ("TOPOBROKER_ADDR", "0x800000000000", "the address key says 0x800000000000"),
        ("TOPOBROKER_ADDR", "0xffffffffffff0000", "expected a user address"),
        ("TOPOBROKER_ADDR", "0x550000000001", "expected a user address"),
        ("TOPOBROKER_SIZE", "4096", "the size key says 4096"),
        ("TOPOBROKER_SIZE", "18446744073709551615", "the size key says 18446744073709551615"),
        ("TOPOBROKER_SIZE", "18446744073709551616", "expected a number of bytes"),
        ("TOPOBROKER_SIZE", "-3", "expected a number of bytes"),
    ] {
        let error = error_with(&published, key, value);
        assert!(error.contains(message), "{key}={value}: {error}");
    }
    let mut command = adopter(&published.keys);
    let output = command.arg("once").env_remove("TOPOBROKER_SIZE").output().unwrap();
    assert!(error_of(&output).contains("TOPOBROKER_SIZE is not set"));
}

#[test]
fn a_bad_segment_of_each_kind_has_its_own_error() {
    type Spoil = fn(&mut Vec<u8>);
    let cases: [(&str, Spoil, &str); 8] = [
        ("other magic", |bytes| bytes[0] = b'X', "not a topobroker segment"),
        ("other version", |bytes| bytes[8] = 9, "format version 9.0, expected 1.x"),
        ("half-written", |bytes| bytes[12..16].fill(0), "half-written"),
        ("flipped bit", |bytes| bytes[HEADER_LEN + 700] ^= 4, "checksum"),
        ("flipped bit in the header", |bytes| bytes[120] ^= 4, "checksum"),
        ("unknown kind", |bytes| bytes[28] = 200, "segment kind 200"),
        ("unknown source", |bytes| bytes[36] = 200, "source 200"),
        ("wrong length", |bytes| bytes[64] ^= 0x10, "the lengths do not fit"),
    ];
    for (name, spoil, message) in cases {
        let published = usual();
        published.rewrite(spoil);
        let error = error_of(&adopter(&published.keys).arg("once").output().unwrap());
        assert!(error.contains(message), "{name}: {error}");
    }
}

#[test]
fn a_truncated_segment_is_refused_whatever_its_size_key_says() {
    for length in [0, 1, 23, 159, 160, 4096, 8000] {
        let published = usual();
        published.rewrite(|bytes| bytes.truncate(length));
        let error = error_of(&adopter(&published.keys).arg("once").output().unwrap());
        assert!(error.contains("truncated"), "{length}: {error}");
        if length > 0 {
            let error = error_with(&published, "TOPOBROKER_SIZE", &length.to_string());
            let fits = error.contains("bytes, expected") || error.contains("truncated");
            assert!(fits, "{length}: {error}");
        }
    }
}

#[test]
fn files_that_others_could_have_made_or_could_change_are_refused() {
    let published = usual();
    let file = published.file();
    let once = || error_of(&adopter(&published.keys).arg("once").output().unwrap());
    for mode in [0o666, 0o664, 0o646, 0o622] {
        std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
        assert!(once().contains(&format!("mode {mode:04o}")), "{}", once());
    }
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o444)).unwrap();
    let link = file.with_extension("link");
    symlink(&file, &link).unwrap();
    let error = error_with(&published, "TOPOBROKER_FILE", link.to_str().unwrap());
    assert!(error.contains("is a symbolic link"), "{error}");
    if !rustix::process::geteuid().is_root() {
        topobroker_samples::skip(format_args!("another owner, for want of root"));
        return;
    }
    chown(&file, Some(12345), None).unwrap();
    assert!(once().contains("belongs to user 12345; expected root or user 0"), "{}", once());
}

#[test]
fn another_user_adopts_what_root_publishes_unless_it_is_private() {
    if !rustix::process::geteuid().is_root() {
        topobroker_samples::skip(format_args!("a second user, for want of root"));
        return;
    }
    let published = usual();
    // Other users may not be able to read the folder in which the program was built.
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let program = folder.path().join("adopter");
    std::fs::copy(adopter_file(), &program).unwrap();
    let without_rights = || {
        let mut command = Command::new(&program);
        command.arg("once").envs(published.keys.to_env()).uid(65534).gid(65534);
        command.output().unwrap()
    };
    let line = String::from_utf8(without_rights().stdout).unwrap();
    assert!(line.starts_with(&format!("ok {}", published.segment())), "{line}");
    std::fs::set_permissions(published.file(), PermissionsExt::from_mode(0o400)).unwrap();
    assert!(error_of(&without_rights()).contains("cannot be opened"));
}
