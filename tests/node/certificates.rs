//! Publishers that say that they have checked what they have not.

use topobroker_layout::encode::AlignedVec;
use topobroker_layout::header::{HEADER_LEN, Header, mark_ready};
use topobroker_layout::{OpenError, RULES, open_archive, open_certified};
use topobroker_tests::segments::{adopter, usual};

/// Breaks a rule of a segment that readers check only if they do not believe its publisher, and
/// seals it again. Returns the rule.
pub(crate) fn break_a_rule(segment: &mut [u8]) -> String {
    let header = Header::read(segment).unwrap();
    assert_eq!(header.certificate, RULES, "publishers certify what they publish");
    let aligned = |bytes: &[u8]| {
        let mut aligned = AlignedVec::<16>::new();
        aligned.extend_from_slice(bytes);
        aligned
    };
    let (mut sealed, mut archive) = (aligned(segment), aligned(&segment[HEADER_LEN..]));
    for place in 0..archive.len() {
        archive[place] ^= 1;
        if let Err(OpenError::Invalid(rule)) = open_archive(&archive) {
            header.write(&archive, &mut sealed).unwrap();
            mark_ready(&mut sealed);
            if open_certified(&sealed, true).is_ok() {
                segment.copy_from_slice(&sealed);
                return rule.to_string();
            }
        }
        archive[place] ^= 1;
    }
    unreachable!("no rule is left to readers that do not believe");
}

#[test]
fn what_its_own_user_certifies_wrongly_is_adopted_and_refused_on_demand() {
    let published = usual();
    let mut rule = String::new();
    published.rewrite(|bytes| rule = break_a_rule(bytes));
    let once = |check: &str| {
        let output = adopter(&published.keys).arg("once").env("TOPOBROKER_CHECK", check).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    assert!(once("0").starts_with("ok "), "{}", once("0"));
    let refused = once("1");
    assert!(refused.starts_with("error ") && refused.contains(&rule), "{refused}, {rule}");
}

#[test]
fn what_a_newer_or_an_older_version_of_the_rules_certifies_is_checked_by_all_rules() {
    for certificate in [0, RULES + 1] {
        let published = usual();
        published.rewrite(|bytes| {
            break_a_rule(bytes);
            let header = Header { certificate, ..Header::read(bytes).unwrap() };
            let archive = bytes[HEADER_LEN..].to_vec();
            header.write(&archive, bytes).unwrap();
            mark_ready(bytes);
        });
        let output = adopter(&published.keys).arg("once").output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.starts_with("error ") && said.contains("its archive breaks a rule"), "{said}");
    }
}
