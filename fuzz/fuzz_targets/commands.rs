//! Commands, exports, placement and views work on any archive or job that passed validation, within
//! the memory limit of the fuzzer.
//!
//! The first byte picks whether an archive or a job is patched (a job is sealed again). The second
//! byte picks what is asked.
#![no_main]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a fault ends the run")]

use clap::Parser;
use libfuzzer_sys::fuzz_target;
use topobroker::description::describe;
use topobroker::placement::{Policy, place};
use topobroker_cli::{calc::Calc, console, distrib::Distrib, info::Info, ls::Ls};
use topobroker_layout::encode::to_bytes;
use topobroker_reader::text::{synthetic, xml};
use topobroker_reader::{Archive, RestrictFlags, Set, Topology, View, jobs::Job};

#[derive(Parser)]
enum Command {
    Ls(Box<Ls>),
    Calc(Box<Calc>),
    Info(Box<Info>),
    Distrib(Box<Distrib>),
}

/// Command lines that together read everything.
const COMMANDS: [&str; 20] = [
    "ls",
    "ls -s",
    "ls -vv --no-collapse",
    "ls -p --cpuset --no-io",
    "ls --distances",
    "ls --memattrs",
    "ls --cpukinds",
    "ls --merge --no-caches",
    "calc all",
    "calc --nodeset-output all",
    "calc --largest 0xf",
    "calc -I numa --po all",
    "calc -H package.numa.pu all",
    "calc --local-memory pu:0",
    "calc --no-smt=1 all",
    "info all",
    "info --objects all",
    "info --descendants pu root",
    "distrib 5",
    "distrib --reverse --single 7",
];

const POLICIES: [&str; 4] = ["core", "slot", "ppr:2:package", "hwthread"];

fuzz_target!(|data: &[u8]| {
    let [kind, asked, rest @ ..] = data else { return };
    let asked = usize::from(*asked);
    if kind & 1 == 0 {
        let Some(bytes) = topobroker_fuzz::archive(rest) else { return };
        let Ok(opened) = Archive::open(&bytes) else { return };
        ask(opened.topology(), asked);
    } else {
        let (base, sealed) = topobroker_fuzz::job(rest);
        let Ok(job) = Job::from_segment(base.topology(), &sealed) else { return };
        let view = job.view();
        assert!(view.topology().object_count() > 0);
        ask(view.topology(), asked);
    }
});

fn ask(topology: Topology<'_>, asked: usize) {
    command(topology, COMMANDS[asked % COMMANDS.len()]);
    match asked / COMMANDS.len() {
        0 => drop(xml::export(topology)),
        1 => drop(synthetic::export(topology)),
        2 => drop(console::print(topology, &console::Style::default())),
        // A description can be built again, or is refused.
        3 => drop(to_bytes(&describe(topology)).map(|bytes| Archive::open(&bytes).map(|_| ()))),
        4 => {
            let policy = Policy::parse(POLICIES[asked % POLICIES.len()], None).expect("a policy");
            let _ = place(topology, &policy, Some(5), &[]);
        }
        _ => views(topology, asked),
    }
}

fn command(topology: Topology<'_>, line: &str) {
    let words = std::iter::once("fuzz").chain(line.split(' '));
    // It is an error if the topology does not have what is asked for, so errors are ignored.
    let _ = match Command::try_parse_from(words).expect(line) {
        Command::Ls(ls) => ls.text(Some(topology)),
        Command::Calc(calc) => calc.text(Some(topology)),
        Command::Info(info) => info.text(Some(topology)),
        Command::Distrib(distrib) => distrib.text(Some(topology)),
    };
}

/// Checks that views by PUs and by NUMA nodes have at least one object, asks them, and makes the
/// overlays that the segments of such jobs would have.
fn views(topology: Topology<'_>, asked: usize) {
    let set = Set::from_words([0x1357_9bdf_0246_8ace >> (asked % 61)], asked & 64 != 0);
    for flags in [0, 1, 7, 8, 24] {
        let Ok(view) = View::new(topology, &set, RestrictFlags::from_bits(flags)) else { continue };
        assert!(view.topology().object_count() > 0);
        command(view.topology(), COMMANDS[asked % 7]);
        let _ = view.to_overlay().map(|overlay| topobroker_layout::overlay::to_bytes(&overlay));
    }
}
