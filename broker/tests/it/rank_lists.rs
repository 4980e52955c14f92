//! Ranks that files name one by one.

use topobroker::placement::{ListError, Policy, RankList, Room};
use topobroker_reader::{Archive, Format, Topology};
use topobroker_samples::{archived, shared};

/// Calls a function with a reference machine of two packages of 56 cores, each of two hardware
/// threads.
fn with_machine(check: impl FnOnce(Topology<'_>)) {
    let Some(shared) = shared() else { return };
    let file = shared.join("topologies/flux-core__ipa20.xml");
    let bytes = archived(file);
    check(Archive::open(&bytes).unwrap().topology());
}

fn placed(
    topology: Topology<'_>,
    list: &RankList,
    map_by: &str,
    bind_to: Option<&str>,
    count: Option<usize>,
) -> Result<Vec<String>, ListError> {
    let policy = Policy::parse(map_by, bind_to).unwrap();
    let here = |host: &str| ["+n0", "localhost"].contains(&host).then_some(0);
    let placed = list.place(&[Room { topology, slots: None }], here, &policy, count)?;
    let text = |(rank, it): &(u32, topobroker::placement::PlacedRank<'_>)| {
        let set = it.cpuset.as_ref().map_or("-".to_owned(), |set| set.to_text(Format::List));
        format!("{rank} {set}")
    };
    Ok(placed.iter().map(text).collect())
}

/// What prterun 5.0.0rc1 maps: rankfiles with their options and PUs, or `None` if it refuses them.
type Known = (
    &'static str,
    &'static str,
    Option<&'static str>,
    Option<usize>,
    Option<&'static [&'static str]>,
);
const KNOWN: &[Known] = &[
    (
        "rank 0=+n0 slot=P1:32;59\nrank 1=+n0 slot=P1:40;65\nrank 2=localhost slot=0:5\n",
        "slot",
        None,
        None,
        Some(&["0 59,88,171,200", "1 65,96,177,208", "2 5,117"]),
    ),
    (
        "rank 0=+n0 slots=99-101\nrank 1=+n0 slot=52\nrank 2=+n0 slots=117\n",
        "slot",
        None,
        Some(3),
        None,
    ),
    ("rank 0=+n0 slots=P0:2;154\n", "slot:hwtcpus", None, Some(1), Some(&["0 2,77,114"])),
    (
        "rank 0=+n0 slots=P0:33;69\nrank 2=localhost slot=1:*\nrank 1=+n0 slots=1:16\nrank 3=+n0 slots=86-87\n",
        "slot",
        Some("core:overload-allowed"),
        None,
        Some(&["0 33,69,145,181", "1 72,184", "2 56-111,168-223", "3 86-87,198-199"]),
    ),
    (
        "rank 3=+n0 slots=57-60\nrank 2=+n0 slot=1:0-1\nrank 1=+n0 slot=P0\nrank 0=+n0 slot=68,101\n",
        "slot",
        None,
        Some(1),
        Some(&["0 68,101,180,213"]),
    ),
    (
        "rank 1=+n0 slot=P1:43;40\nrank 0=+n0 slots=P0\n",
        "slot:hwtcpus",
        Some("core:overload-allowed"),
        None,
        Some(&["0 0-55,112-167", "1 20,99,211"]),
    ),
    (
        "rank 3=+n0 slot=P1:19;87\nrank 2=localhost slots=27,84\nrank 1=+n0 slots=1:18\nrank 0=+n0 slots=S1\n",
        "slot",
        None,
        None,
        None,
    ),
    (
        "# a comment\nrank 0=+n0 slots=36 # and another\n",
        "slot:hwtcpus",
        None,
        None,
        Some(&["0 18"]),
    ),
    (
        "/* two\nlines */\nrank 0=+n0 /* inside */ slots=36/* # */\nrank 1=+n0 slot=38 // y /* z\n",
        "slot",
        None,
        None,
        Some(&["0 36,148", "1 38,150"]),
    ),
];

#[test]
fn ranks_of_a_rankfile_have_the_pus_that_prterun_5_gives_them() {
    with_machine(|topology| {
        for (text, map_by, bind_to, count, expected) in KNOWN {
            let list = RankList::rankfile(text).unwrap();
            let found = placed(topology, &list, map_by, *bind_to, *count);
            match expected {
                Some(expected) => assert_eq!(found.unwrap(), *expected, "{text}"),
                None => assert!(found.is_err(), "{text}: {found:?}"),
            }
        }
    });
}

#[test]
fn ranks_of_sequences_lsf_and_hydra_have_their_hosts_and_pus() {
    with_machine(|topology| {
        let sequence = RankList::sequence("# hosts\nlocalhost\nn2 0\nlocalhost\n").unwrap();
        assert_eq!(sequence.hosts().collect::<Vec<_>>(), ["localhost", "n2"]);
        // prterun 5.0.0rc1 binds each rank of a host to its next core.
        assert_eq!(
            placed(topology, &sequence, "slot", None, None).unwrap(),
            ["0 0,112", "2 1,113"]
        );
        let lsf = RankList::lsf("localhost 0,1 0 2\nn2 4,5 1 2\nlocalhost 0-1\n").unwrap();
        assert_eq!(placed(topology, &lsf, "slot", None, None).unwrap(), ["0 0-1", "2 0-1"]);
        // As mpiexec of MPICH 4.0.2: ranks after the last entry are not bound.
        let hydra = RankList::hydra("0+2,1", Some(3)).unwrap();
        assert_eq!(placed(topology, &hydra, "slot", None, None).unwrap(), ["0 0,2", "1 1", "2 -"]);
        let beyond = RankList::hydra("0,224", None).unwrap();
        let error = placed(topology, &beyond, "slot", None, None).unwrap_err().to_string();
        assert_eq!(
            error,
            "rank 1, \"224\": there is no PU with OS index 224; the topology has 0-223"
        );
    });
}

#[test]
fn wrong_lists_of_ranks_are_refused_with_the_line() {
    for (list, expected) in [
        (
            RankList::rankfile("rank 0=n1 slot=0 /* a\nb */\nrank 0=n2 slot=1\n"),
            "line 3: rank 0 has a line before it",
        ),
        (
            RankList::rankfile("rank 0=n1 slot=0\n/*/ rank 1=n2 slot=1\n"),
            "line 2: \"/*/ rank 1=n2 slot=1\" is a comment without its end, */; expected rank 0",
        ),
        (RankList::rankfile("rank 0=n1\n"), "line 1: \"rank 0=n1\" is without slots"),
        (RankList::rankfile("rank x=n1 slot=0\n"), "without a number of the rank"),
        (RankList::rankfile("n1 slots=4\n"), "\"n1 slots=4\" is not a rank"),
        (RankList::rankfile("# nothing\n"), "names no ranks; expected rank 0=HOST slot=0:1-2"),
        (RankList::lsf("n1\n"), "line 1: \"n1\" is without a list of PUs"),
        (RankList::hydra("0,,1", None), "\"\" is not a list of PUs"),
        (RankList::hydra("0", Some(1 << 20)), "1048576 ranks"),
    ] {
        let error = list.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    with_machine(|topology| {
        for (text, expected) in [
            ("rank 0=+n0 slot=0\nrank 2=+n0 slot=1\n", "rank 1 is not named"),
            ("rank 0=+n0 slot=0\nrank 1=+n0 slot=0\n", "rank 1: another rank has PUs 0,112 too"),
            (
                "rank 0=+n0 slot=2:0\n",
                "there is no Package with logical index 2; the topology has 2",
            ),
            (
                "rank 0=+n0 slot=0:56\n",
                "there is no Core with logical index 56; the topology has 56 there",
            ),
            ("rank 0=+n0 slot=a\n", "\"a\" is not a list of numbers"),
        ] {
            let list = RankList::rankfile(text).unwrap();
            let error = placed(topology, &list, "slot", None, None).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    });
}

#[test]
fn a_rankfile_may_have_fifty_thousand_ranks_and_hosts() {
    let lines: String = (0..50_000).map(|rank| format!("rank {rank}=n{rank} slot=0\n")).collect();
    assert_eq!(RankList::rankfile(&lines).unwrap().hosts().count(), 50_000);
}
