//! `topobroker calc`: combines locations and prints the result, as `hwloc-calc` does.

mod answer;
mod manner;

pub(crate) use answer::attribute_of;
pub(crate) use manner::{Manner, combined, set_of};

use crate::filter_options::level;
use crate::flag_names;
use crate::json;
use crate::output;
use crate::part;
use crate::set_format::{Named, SetFormat};
use crate::subject::Subject;
use crate::switches::Inputs;
use answer::{Question, Style};
use anyhow::{Context, bail};
use clap::Args;
use std::io::{BufRead, Read};
use std::process::ExitCode;
use topobroker::location::{Location, NamedLevel};
use topobroker_layout::set::{Format, Set};
use topobroker_reader::{LocalNumaNodes, Object, ObjectType, Topology};

/// Combine objects and sets, and print the result in several forms, as hwloc-calc does
#[derive(Debug, Args)]
pub struct Calc {
    #[command(flatten)]
    subject: Subject,
    /// Keep one PU of each core: the first, or the one at INDEX; -1 keeps all, as in hwloc
    #[arg(long, value_name = "INDEX", num_args = 0..=1, require_equals = true, default_missing_value = "0", value_parser = clap::value_parser!(i32).range(-1..))]
    no_smt: Option<i32>,
    /// Keep the PUs of a CPU kind, named by its index or by one of its infos
    #[arg(long, value_name = "INDEX|NAME=VALUE")]
    cpukind: Option<String>,
    /// Print the number of objects of a type or depth that intersect the set
    #[arg(short = 'N', long, value_name = "TYPE|DEPTH", value_parser = level, group = "question", allow_negative_numbers = true)]
    number_of: Option<NamedLevel>,
    /// Print the indexes of the objects of a type or depth that intersect the set
    #[arg(short = 'I', long, value_name = "TYPE|DEPTH", value_parser = level, group = "question", allow_negative_numbers = true)]
    intersect: Option<NamedLevel>,
    /// Print the indexes of the PUs of the set: hwloc's name for --intersect pu
    #[arg(long, alias = "proclist", hide = true, group = "question")]
    pulist: bool,
    /// Print the indexes of the NUMA nodes that intersect the set: --intersect numa
    #[arg(long, hide = true, group = "question")]
    nodelist: bool,
    /// Print the objects of the last type that intersect the set, with paths such as
    /// Package:0.Core:1
    #[arg(short = 'H', long, value_name = "TYPE.TYPE...", value_parser = levels, group = "question")]
    hierarchical: Option<Levels>,
    /// Print the largest objects inside the set
    #[arg(long, group = "question")]
    largest: bool,
    /// Print the NUMA nodes local to the set
    #[arg(long, conflicts_with = "question")]
    local_memory: bool,
    /// Which NUMA nodes are local: larger_locality, smaller_locality, intersect_locality, all, or
    /// parts of these names
    #[arg(long, value_name = "FLAGS", value_parser = local_flags, conflicts_with = "question")]
    local_memory_flags: Option<LocalNumaNodes>,
    /// Print the best local NUMA node by a memory attribute
    #[arg(long, value_name = "NAME", conflicts_with = "question")]
    best_memattr: Option<String>,
    /// Text between the objects or indexes that are printed
    #[arg(long, value_name = "TEXT")]
    sep: Option<String>,
    /// Print objects instead of indexes: Core:2 instead of 2
    #[arg(long, alias = "oo")]
    object_output: bool,
    #[command(flatten)]
    set_format: SetFormat,
    /// Format of the masks that are given: with `list`, 0-3 is PUs, not 0x3
    #[arg(long, alias = "cif", value_enum, value_name = "FORMAT")]
    cpuset_input_format: Option<Named>,
    /// Print only the first PU of the set
    #[arg(long)]
    single: bool,
    /// Leave out what is not there or is no location, and say so, as hwloc-calc does
    #[arg(long)]
    lenient: bool,
    /// The same, but say nothing
    #[arg(short, long)]
    quiet: bool,
    /// Say which set each location is
    #[arg(short, long)]
    verbose: bool,
    /// Print JSON: the set, and what else is asked for
    #[arg(long, conflicts_with_all = ["sep", "taskset", "cpuset_output_format"])]
    json: bool,
    #[command(flatten)]
    inputs: Inputs<Manner>,
}

/// The levels of `--hierarchical`, from the top.
#[derive(Debug, Clone)]
struct Levels(Vec<NamedLevel>);

fn levels(text: &str) -> Result<Levels, String> {
    text.split('.').map(level).collect::<Result<_, _>>().map(Levels)
}

/// Parses the value of `--local-memory-flags`.
pub(crate) fn local_flags(text: &str) -> Result<LocalNumaNodes, String> {
    let names = ["larger_locality", "smaller_locality", "all", "intersect_locality"];
    let bits = flag_names::parse(text, &names)?;
    LocalNumaNodes::from_bits(bits).ok_or_else(|| {
        format!("no such flags; expected a sum of 1, 2, 4, 8 or of {}", names.join(", "))
    })
}

/// The NUMA nodes that are local by default: those of larger and of smaller locality.
pub(crate) fn default_local() -> LocalNumaNodes {
    LocalNumaNodes::LARGER_LOCALITY | LocalNumaNodes::SMALLER_LOCALITY
}

impl Calc {
    pub(crate) fn run(mut self) -> anyhow::Result<ExitCode> {
        self.subject.note_source_if(self.verbose);
        if !self.inputs.locations.is_empty() {
            return output::print(&self.text(None)?);
        }
        // Line by line, because the writer may wait for the answer to each line.
        self.subject.answer(None, |topology| {
            let mut input = std::io::stdin().lock();
            for place in 1.. {
                let line = line_of(&mut input).context("standard input")?;
                let Some(line) = line else { break };
                let words = line.split_whitespace().map(|word| (word, self.inputs.manner));
                let answer = self.line(topology, words);
                output::print(&answer.with_context(|| format!("line {place} of standard input"))?)?;
            }
            Ok(String::new())
        })?;
        Ok(ExitCode::SUCCESS)
    }

    /// The text that this command prints for the locations on the command line, of `loaded` or
    /// otherwise of the topology that its options name.
    pub fn text(&self, loaded: Option<Topology<'_>>) -> anyhow::Result<String> {
        self.subject.answer_of(loaded, None, |topology| self.locations(topology))
    }

    fn locations(&self, topology: Topology<'_>) -> anyhow::Result<String> {
        let words = self.inputs.locations.iter().map(|(word, manner)| (word.as_str(), *manner));
        self.line(topology, words)
    }

    fn line<'w>(
        &self,
        topology: Topology<'_>,
        words: impl Iterator<Item = (&'w str, Manner)>,
    ) -> anyhow::Result<String> {
        let mut set = Set::new();
        for (word, manner) in words {
            let Some((location, part)) = self.given(topology, word, manner)? else { continue };
            if self.verbose {
                output::say(&format!("{word} is {part}"));
            }
            set = combined(&set, &part, &location);
        }
        let mut set = self.choose(topology, set)?;
        if self.single {
            set = set.singlify();
        }
        if self.json {
            return self.as_json(topology, &set);
        }
        let style = self.style(self.sep.clone());
        Ok(self::answer::answer(topology, &set, &self.question(), &style)? + "\n")
    }

    /// A location and its set. What is not there is an error, or nothing with `--lenient` and
    /// `--quiet`.
    fn given(
        &self,
        topology: Topology<'_>,
        word: &str,
        manner: Manner,
    ) -> anyhow::Result<Option<(Location, Set)>> {
        let read = |skip_missing| {
            let location = match self.cpuset_input_format {
                Some(Named(Format::List)) => Location::parse_with_lists(word)?,
                _ => Location::parse_or_name(word)?,
            };
            let part = set_of(topology, &location, manner, skip_missing)?;
            anyhow::Ok((location, part))
        };
        match read(self.quiet) {
            Ok(given) => Ok(Some(given)),
            Err(_) if self.quiet => Ok(None),
            Err(error) if self.lenient => {
                output::say(&format!("{error:#}; it is left out"));
                Ok(read(true).ok())
            }
            Err(error) => Err(error),
        }
    }

    fn style(&self, separator: Option<String>) -> Style {
        let (manner, with_types) = (self.inputs.manner, self.object_output);
        Style { separator, manner, with_types }
    }

    /// The set in both forms, and the words of the answer to a question.
    fn as_json(&self, topology: Topology<'_>, set: &Set) -> anyhow::Result<String> {
        let manner = self.inputs.manner;
        let style = self.style(Some(" ".to_owned()));
        let question = self.question();
        let answer = match &question {
            Question::Mask(_) => None,
            question => Some(self::answer::answer(topology, set, question, &style)?),
        };
        let answer = answer.map(|it| it.split_whitespace().map(str::to_owned).collect());
        let [cpuset, nodeset] = match manner.nodeset_output {
            true => [topology.cpuset_of_nodes(set), set.clone()],
            false => [set.clone(), topology.nodeset_of(set)],
        };
        json::text(&json::Calculated { cpuset: cpuset.into(), nodeset: nodeset.into(), answer })
    }

    /// Reduces the set to the PUs that `--cpukind` and `--no-smt` keep.
    fn choose(&self, topology: Topology<'_>, mut set: Set) -> anyhow::Result<Set> {
        let no_smt = self.no_smt.and_then(|index| usize::try_from(index).ok());
        let chooses = self.cpukind.is_some() || no_smt.is_some();
        if chooses && self.inputs.manner.nodeset_output {
            bail!("--cpukind and --no-smt keep PUs; leave out --nodeset and --nodeset-output");
        }
        if let Some(kind) = &self.cpukind {
            set &= &part::cpu_kind(topology, kind).context("--cpukind")?;
        }
        if let Some(index) = no_smt {
            keep_one_of_each_core(topology, &mut set, index)?;
        }
        Ok(set)
    }

    fn question(&self) -> Question {
        let local = self.local_memory_flags.unwrap_or_else(default_local);
        let is_local = self.local_memory || self.local_memory_flags.is_some();
        match self {
            Self { largest: true, .. } => Question::Largest,
            Self { number_of: Some(level), .. } => Question::NumberOf(level.clone()),
            Self { intersect: Some(level), .. } => Question::Intersect(level.clone()),
            Self { pulist: true, .. } => Question::Intersect(ObjectType::PU.into()),
            Self { nodelist: true, .. } => Question::Intersect(ObjectType::NUMANode.into()),
            Self { hierarchical: Some(levels), .. } => Question::Hierarchical(levels.0.clone()),
            Self { best_memattr: Some(name), .. } => {
                Question::LocalMemory(local, Some(name.clone()))
            }
            _ if is_local => Question::LocalMemory(local, None),
            _ => Question::Mask(self.set_format.format()),
        }
    }
}

/// Keeps one PU of each core, the one at an index: `--no-smt`.
pub(crate) fn keep_one_of_each_core(
    topology: Topology<'_>,
    set: &mut Set,
    index: usize,
) -> anyhow::Result<()> {
    let cores = topology.objects_with_type(ObjectType::Core);
    let most = cores.filter_map(Object::cpuset_weight).max().unwrap_or(0);
    if most == 0 {
        bail!("--no-smt: the topology has no Core objects; expected some to keep a PU of");
    }
    // As in hwloc, a core with fewer PUs keeps none. But an index beyond every core of every
    // processor is a mistake.
    if index >= MOST_THREADS.max(most) as usize {
        bail!("--no-smt={index}: cores have {most} PUs at most; expected 0 to {}", most - 1);
    }
    topology.singlify_per_core(set, index);
    Ok(())
}

/// `--no-smt` accepts every index below this: eight times the most hardware threads that a core of
/// any processor has.
const MOST_THREADS: u32 = 64;

/// Reads the next line; `None` at the end. The length of a line is limited, because the line of a
/// device may never end.
fn line_of(input: &mut impl BufRead) -> std::io::Result<Option<String>> {
    const MOST: u64 = 1 << 20;
    let mut line = String::new();
    input.take(MOST).read_line(&mut line)?;
    if line.len() as u64 == MOST && !line.ends_with('\n') {
        let found = format!("has a line of more than {MOST} bytes");
        return Err(std::io::Error::new(std::io::ErrorKind::FileTooLarge, found));
    }
    Ok((!line.is_empty()).then_some(line))
}
