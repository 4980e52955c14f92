//! Compares the locality of processes with what PMIx and Open MPI say of the same sets.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use topobroker_embedding::{compile, has, has_package, said};
use topobroker_layout::job::Rank;
use topobroker_layout::set::{Format, Set};
use topobroker_reader::jobs::runs_of_pus;
use topobroker_reader::{Depth, Locality, RestrictFlags, Topology, View, jobs::Job};
use topobroker_samples::jobs::segment_of_ranks;
use topobroker_samples::{machines, shared, topology_of_xml};

/// The program that asks PMIx and Open MPI. `None` if one of them is not installed.
fn reference(folder: &Path) -> Option<PathBuf> {
    (has_package("pmix") && has("mpirun.openmpi")).then(|| {
        let packages = ["pmix", "hwloc"];
        compile(
            folder,
            "cc",
            "locality_reference.c",
            "reference",
            &packages,
            &["-DWITH_OPEN_MPI", "-lopen-pal"],
        )
    })
}

/// What the reference says of pairs of sets: the two strings, and what they share by PMIx and by
/// Open MPI.
fn ask(reference: &Path, xml: &Path, pairs: &[(Set, Set)]) -> Vec<[String; 4]> {
    let mut text = String::new();
    for (one, other) in pairs {
        writeln!(text, "{} {}", one.to_text(Format::List), other.to_text(Format::List)).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pairs");
    std::fs::write(&file, text).unwrap();
    let mut command = Command::new(reference);
    command.arg(xml).stdin(Stdio::from(std::fs::File::open(file).unwrap()));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}: {}", xml.display(), said(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    let line = |line: &str| -> [String; 4] {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        words.try_into().unwrap()
    };
    text.lines().map(line).collect()
}

/// A set of PUs: one, some anywhere, some next to each other, those of an object, or all.
pub(crate) fn any_set(random: &mut fastrand::Rng, topology: Topology<'_>, pus: &[u32]) -> Set {
    let from = random.usize(..pus.len());
    match random.u8(..16) {
        0..4 => [pus[from]].into_iter().collect(),
        4..8 => (0..random.usize(1..9)).map(|_| pus[random.usize(..pus.len())]).collect(),
        8..12 => pus[from..].iter().take(random.usize(1..=pus.len() / 2 + 1)).copied().collect(),
        12..15 => {
            let depth = Depth::Normal(random.u32(..topology.depth()));
            let mut objects = topology.objects_at_depth(depth);
            let count = topology.objects_at_depth(depth).count();
            objects.nth(random.usize(..count)).unwrap().cpuset().unwrap()
        }
        _ => pus.iter().copied().collect(),
    }
}

/// Compares pairs of random sets. Returns the number of pairs of which PMIx has both strings.
fn compare(reference: &Path, xml: &Path, topology: Topology<'_>, count: usize) -> usize {
    let mut random = fastrand::Rng::with_seed(count as u64);
    let pus: Vec<u32> = topology.root().complete_cpuset().unwrap_or_default().iter().collect();
    let mut pair = || {
        let mut set = || any_set(&mut random, topology, &pus);
        (set(), set())
    };
    // hwloc reads an empty list as something else.
    let pairs = std::iter::repeat_with(&mut pair).filter(|(a, b)| !a.is_empty() && !b.is_empty());
    let pairs: Vec<(Set, Set)> = pairs.take(count).collect();
    let mut both = 0;
    let asked = ask(reference, xml, &pairs);
    assert_eq!(asked.len(), pairs.len());
    for ((one, other), theirs) in pairs.iter().zip(asked) {
        let text = |set| topology.locality_string(set);
        let strings = [text(one), text(other)];
        let shown = strings.clone().map(|text| text.unwrap_or("-".to_owned()));
        assert_eq!(shown, theirs[..2], "{}: {one:?} {other:?}", xml.display());
        let shared = topology.relative_locality(one, other);
        let [Some(first), Some(second)] = strings else {
            // PMIx ends without a string, and Open MPI says that they share the node.
            assert_eq!((shared, theirs[3].as_str()), (Locality::NODE, "f"), "{one:?} {other:?}");
            continue;
        };
        let encoded = [format!("{:x}", shared.bits()), format!("{:x}", shared.to_opal())];
        assert_eq!(encoded, theirs[2..], "{}: {one:?} {other:?}", xml.display());
        let prefixed = format!("hwloc:{first}");
        assert_eq!(Locality::from_strings(&prefixed, &second), Ok(shared), "{first} {second}");
        both += 1;
    }
    both
}

/// Compares what the ranks of a job share with what their sets share in the job's part.
fn compare_job(xml: &Path, whole: Topology<'_>, part: &View<'_>) {
    let topology = part.topology();
    let mut random = fastrand::Rng::with_seed(7);
    let pus: Vec<u32> = topology.root().cpuset().unwrap_or_default().iter().collect();
    let sets = std::iter::repeat_with(|| any_set(&mut random, topology, &pus)).take(120);
    let bound = sets.filter_map(|set| Some((runs_of_pus(whole, &set)?, set)));
    let (runs, sets): (Vec<_>, Vec<Set>) = bound.unzip();
    // Ranks that are a fixed step apart, with an unbound one at the end.
    let numbers = (0..).map(|place| 100 + 3 * place);
    let ranks: Vec<Rank> = numbers.zip(runs.into_iter().map(Some).chain([None])).collect();
    let segment = segment_of_ranks(part, &ranks).unwrap();
    let job = Job::from_segment(whole, &segment).unwrap();
    for ((rank, _), set) in ranks.iter().zip(&sets) {
        assert_eq!(job.rank(*rank).unwrap().cpuset.as_ref(), Some(set), "{}", xml.display());
        let peers: Vec<Locality> = job.localities(*rank).unwrap().collect();
        assert_eq!(peers.last(), Some(&Locality::NODE));
        let mut near = job.sharing(*rank, Locality::NUMA);
        for (((other, _), theirs), shared) in ranks.iter().zip(&sets).zip(peers) {
            let expected = topology.relative_locality(set, theirs);
            assert_eq!(shared, expected, "{}: {set:?} {theirs:?}", xml.display());
            assert_eq!(job.locality(*rank, *other), Some(shared));
            if shared.shares(Locality::NUMA) {
                assert_eq!(near.next(), Some(*other));
            }
        }
        assert_eq!(near.next(), None);
    }
    assert!(job.rank(101).is_none() && job.locality(100, 99).is_none());
}

#[test]
fn locality_strings_and_what_processes_share_are_those_of_pmix_and_open_mpi_on_all_machines() {
    let Some(shared) = shared() else { return };
    let folder = tempfile::tempdir().unwrap();
    let Some(reference) = reference(folder.path()) else { return };
    let mut random = fastrand::Rng::with_seed(24);
    let (mut pairs, mut of_views) = (0, 0);
    for machine in &machines(&shared) {
        let topology = topology_of_xml(&machine.path);
        if topology.root().complete_cpuset().unwrap_or_default().is_empty() {
            continue;
        }
        pairs += compare(&reference, &machine.path, topology, 300);
        compare_job(&machine.path, topology, &View::whole(topology));
        let nodes: Set = topology.root().nodeset().unwrap_or_default().iter().step_by(2).collect();
        if let Ok(part) = View::new(topology, &nodes, RestrictFlags::BYNODESET) {
            compare_job(&machine.path, topology, &part);
        }
        let pus: Vec<u32> = topology.root().cpuset().unwrap().iter().collect();
        let part = any_set(&mut random, topology, &pus);
        let Ok(view) = View::new(topology, &part, RestrictFlags::REMOVE_CPULESS) else { continue };
        let xml = folder.path().join(&machine.name);
        std::fs::write(&xml, topobroker_reader::text::xml::export(view.topology())).unwrap();
        of_views += compare(&reference, &xml, view.topology(), 100);
        compare_job(&machine.path, topology, &view);
    }
    eprintln!("{pairs} pairs of machines, {of_views} of views");
    assert!(pairs > 30_000 && of_views > 5_000, "{pairs} {of_views}");
}
