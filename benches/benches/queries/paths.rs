//! Compares two builds of this program, query by query: before and after a change of the library,
//! or with a plain path and a fast one.
//!
//! * `paths compare PLAIN FAST`: runs both programs side by side and prints the queries in which
//!   the fast path gains or loses a sixth or more, with the gain on each machine.
//! * `paths serve`: what `compare` runs. For each machine it prints the names of its queries and an
//!   empty line. Then it answers each number of a query with nanoseconds, until an empty line.
#![allow(missing_docs, reason = "a program")]

use anyhow::{Context, bail};
use std::collections::BTreeMap;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use topobroker::hwloc::capture;
use topobroker_benches::machines::{self, Machine};
use topobroker_benches::queries::{Case, Pair, Sets, case, every_query};
use topobroker_layout::encode::to_bytes;
use topobroker_reader::{
    Archive, Object, ObjectType, RestrictFlags, Set, Topology, View, jobs::Job,
};
use topobroker_samples::jobs::job_segment;

/// How long a query is repeated for one time.
const SAMPLE: Duration = Duration::from_micros(100);

/// How often two programs take turns with all queries. The least time of each counts, because the
/// machine may be slowed down for a while, but not sped up.
const TURNS: usize = 24;

/// The least gain that is printed.
const GAIN: f64 = 1.2;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["serve"] => machines().iter().try_for_each(serve),
        ["compare", plain, fast] => compare(plain, fast),
        _ => bail!("usage: paths compare PLAIN FAST"),
    }
}

fn machines() -> Vec<Machine> {
    machines::standard().into_iter().skip(1).chain(machines::largest_shared(3)).collect()
}

/// Answers requests for times on one machine.
fn serve(machine: &Machine) -> anyhow::Result<()> {
    let hwloc = machine.load()?;
    let bytes = to_bytes(&capture(&hwloc)?)?;
    let opened = Archive::open(&bytes)?;
    let topology = opened.topology();
    let ranks = topology.objects_with_type(ObjectType::PU).count();
    let segment = job_segment(topology, u32::try_from(ranks)?, 1)?;
    let job = Job::from_segment(topology, &segment)?;
    let pus = || topology.objects_with_type(ObjectType::PU).filter_map(Object::os_index);
    let (one, many): (Set, Set) = (pus().take(1).collect(), pus().take(ranks / 2).collect());
    let mut outcome = Ok(());
    Pair::with_both(&hwloc, |whole, half| {
        let view = |sets: Sets| {
            let flags = RestrictFlags::REMOVE_CPULESS;
            move || View::new(whole.ours, &sets.ours, flags).map_or(0, |_| 1)
        };
        let made = vec![
            case("validation", 1, || Archive::open(&bytes).map_or(0, |_| 1), || 0),
            case("making a view of half of the PUs", 1, view(whole.contiguous(0, 50)), || 0),
            case("making a view of random PUs", 1, view(whole.random_half()), || 0),
            case(
                "locality of all peers",
                ranks,
                || job.localities(0).map_or(0, |all| all.map(|it| u64::from(it.bits())).sum()),
                || 0,
            ),
            case("locality string of a PU", 1, || string(topology, &one), || 0),
            case("locality string of half of the PUs", 1, || string(topology, &many), || 0),
        ];
        let halves = [("", made), ("", every_query(whole)), (", on a view", every_query(half))];
        outcome = with_gaps(whole, |visited| {
            answer(&mut halves.into_iter().chain([("", visited)]).collect::<Vec<_>>())
        });
    })?;
    outcome
}

/// Length of the locality string of a process that is bound to a set.
fn string(topology: Topology<'_>, set: &Set) -> u64 {
    topology.locality_string(set).map_or(0, |text| text.len() as u64)
}

/// Calls `run` with the traversal of a view of random PUs, whose objects have gaps between them.
fn with_gaps(
    whole: Pair<'_>,
    run: impl FnOnce(Vec<Case<'_>>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let flags = RestrictFlags::REMOVE_CPULESS;
    let view = View::new(whole.ours, &whole.random_half().ours, flags)?;
    let topology = view.topology();
    let visit = || topology.objects().map(|object| u64::from(object.id())).sum();
    run(vec![case("traversal of a view of random PUs", 1, visit, || 0)])
}

/// Answers requests for the times of some cases.
fn answer(cases: &mut [(&str, Vec<Case<'_>>)]) -> anyhow::Result<()> {
    for (part, cases) in cases.iter() {
        cases.iter().for_each(|case| println!("{}{part}", case.name));
    }
    println!();
    let mut cases: Vec<(&mut Case<'_>, u32)> =
        cases.iter_mut().flat_map(|(_, cases)| cases.iter_mut().map(|case| (case, 1))).collect();
    for line in std::io::stdin().lines() {
        let line = line?;
        if line.is_empty() {
            return Ok(());
        }
        let (case, calls) = cases.get_mut(line.parse::<usize>()?).context("no such query")?;
        println!("{}", time(case, calls));
    }
    std::process::exit(0)
}

/// Nanoseconds for an operation of a query. `calls` is the number of calls that fill a sample.
fn time(case: &mut Case<'_>, calls: &mut u32) -> f64 {
    loop {
        let start = Instant::now();
        (0..*calls).for_each(|_| _ = black_box((case.ours)()));
        let time = start.elapsed();
        if time >= SAMPLE / 2 {
            #[expect(clippy::cast_precision_loss, reason = "operations are few")]
            let operations = case.operations as f64 * f64::from(*calls);
            return time.as_secs_f64() * 1e9 / operations;
        }
        *calls *= 2;
    }
}

/// A program that serves times.
struct Server {
    program: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Server {
    fn start(program: &str) -> anyhow::Result<Self> {
        let mut command = Command::new(program);
        command.arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut program = command.spawn().with_context(|| program.to_owned())?;
        let requests = program.stdin.take().context("no standard input")?;
        let answers = program.stdout.take().context("no standard output")?;
        Ok(Self { program, requests, answers: BufReader::new(answers) })
    }

    fn line(&mut self) -> anyhow::Result<String> {
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            bail!("a program ended: {}", self.program.wait()?);
        }
        Ok(line.trim_end().to_owned())
    }

    /// The names of the queries on the next machine.
    fn queries(&mut self) -> anyhow::Result<Vec<String>> {
        let mut queries = Vec::new();
        loop {
            match self.line()? {
                end if end.is_empty() => return Ok(queries),
                query => queries.push(query),
            }
        }
    }

    fn time(&mut self, query: usize) -> anyhow::Result<f64> {
        writeln!(self.requests, "{query}")?;
        Ok(self.line()?.parse()?)
    }
}

fn compare(plain: &str, fast: &str) -> anyhow::Result<()> {
    let [mut plain, mut fast] = [Server::start(plain)?, Server::start(fast)?];
    let mut gains = BTreeMap::<String, Vec<f64>>::new();
    for _ in machines() {
        let queries = fast.queries()?;
        if plain.queries()? != queries {
            bail!("the two programs have different queries");
        }
        let mut least = vec![(f64::MAX, f64::MAX); queries.len()];
        for _ in 0..TURNS {
            for (number, (slow, quick)) in least.iter_mut().enumerate() {
                *slow = slow.min(plain.time(number)?);
                *quick = quick.min(fast.time(number)?);
            }
        }
        for (query, (slow, quick)) in queries.into_iter().zip(least) {
            gains.entry(query).or_default().push(slow / quick);
        }
        writeln!(plain.requests)?;
        writeln!(fast.requests)?;
    }
    let most = |gains: &Vec<f64>| gains.iter().copied().fold(0.0, f64::max);
    let mut gains: Vec<(String, Vec<f64>)> = gains.into_iter().collect();
    gains.sort_by(|(_, one), (_, other)| most(other).total_cmp(&most(one)));
    let counts = |gain: &f64| *gain >= GAIN || *gain <= 1.0 / GAIN;
    for (query, gains) in gains.iter().filter(|(_, gains)| gains.iter().any(counts)) {
        let gains: Vec<String> = gains.iter().map(|gain| format!("{gain:.2}")).collect();
        println!("{query}: {}", gains.join(" "));
    }
    Ok(())
}
