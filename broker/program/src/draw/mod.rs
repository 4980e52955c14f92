//! `topobroker draw` and `topobroker cluster draw`: pictures.

mod file;
mod lstopo;
#[cfg(feature = "png")]
mod png;

pub(crate) use file::{Format, PictureFile, ending};
pub(crate) use lstopo::LstopoOptions;

use crate::calc::{self, combined, set_of};
use crate::filter_options::{FilterOptions, type_name};
use crate::job::named;
use crate::links::graph;
use crate::output;
use crate::subject::Subject;
use anyhow::Context;
use clap::Args;
use std::process::ExitCode;
use topobroker::description::Filters;
use topobroker::hwloc::TypeFilter;
use topobroker::location::Location;
use topobroker::publish::job;
use topobroker_draw::{DrawnRank, Fold, Indexes, NodeOptions, Picture, Units, links, node};
use topobroker_layout::set::Set;
use topobroker_reader::jobs::{Job, JobRank};
use topobroker_reader::links::SwitchModel;
use topobroker_reader::{Topology, TypeName};

/// Draw a node: its objects, what a view of it hides, the ranks of its jobs in colour, or its links
#[derive(Debug, Default, Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct Draw {
    #[command(flatten)]
    subject: Subject,
    #[command(flatten)]
    file: PictureFile,
    /// Draw the graph of links
    #[arg(long, conflicts_with_all = ["highlight", "show", "ignore", "filter", "factorize", "no_factorize", "no_ranks", "no_legend", "append_legend", "physical", "logical"])]
    links: bool,
    #[command(flatten)]
    filters: FilterOptions,
    /// Only objects of a type, besides PUs and NUMA nodes. Repeat for others
    #[arg(long, value_name = "TYPE", value_parser = type_name, visible_alias = "only")]
    show: Vec<TypeName>,
    /// Highlight a location of the whole picture, as calc takes it. Repeat for others
    #[arg(long, value_name = "LOCATION")]
    highlight: Vec<String>,
    /// Leave out the ranks of jobs
    #[arg(long)]
    no_ranks: bool,
    /// Of COUNT and more neighbours that are alike, draw the first and the last. By default 4 in
    /// large pictures
    #[arg(long, value_name = "COUNT", num_args = 0..=1, require_equals = true, default_missing_value = "4")]
    factorize: Option<usize>,
    /// Draw everything, whatever repeats
    #[arg(long, conflicts_with = "factorize", visible_alias = "no-collapse")]
    no_factorize: bool,
    /// Write indexes of the operating system
    #[arg(short, long)]
    physical: bool,
    /// Write logical indexes
    #[arg(short, long, conflicts_with = "physical")]
    logical: bool,
    /// Draw no legend, except for the lines of --append-legend
    #[arg(long)]
    no_legend: bool,
    /// Write another line into the legend, such as "Date: $(date)". Repeat for more
    #[arg(long, value_name = "LINE")]
    append_legend: Vec<String>,
    /// Of text: fit it into so many letters, by leaving out I/O, then caches, then PUs. By default
    /// the width of the terminal; 0 leaves out nothing
    #[arg(long, value_name = "LETTERS")]
    width: Option<u32>,
}

impl Draw {
    /// The picture that `lstopo` draws with options of `ls`.
    pub(crate) fn like_lstopo(subject: Subject, file: PictureFile, filters: FilterOptions) -> Self {
        Self { subject, file, filters, ..Self::default() }
    }

    /// The picture with lstopo's options.
    pub(crate) fn with(self, lstopo: &LstopoOptions, [physical, logical]: [bool; 2]) -> Self {
        let &LstopoOptions { no_factorize, factorize, .. } = lstopo;
        let no_legend = lstopo.no_legend || lstopo.no_default_legend;
        let append_legend =
            if lstopo.no_legend { Vec::new() } else { lstopo.append_legend.clone() };
        lstopo.say_what_is_left_out();
        Self { no_legend, append_legend, no_factorize, factorize, physical, logical, ..self }
    }

    pub(crate) fn run(mut self) -> anyhow::Result<ExitCode> {
        self.subject.note_source_for_viewer(false);
        let units = self.file.units()?;
        let picture = if self.links {
            self.subject
                .answer(None, |topology| Ok(links(&graph(topology, SwitchModel::One)?, units)))?
        } else {
            let filters = self.filters();
            self.subject.answer_with_whole(Some(&filters), |whole, part| {
                Ok(self.fitting(whole, self.options(whole, part)?, units))
            })?
        };
        self.file.write(&picture)
    }

    /// The picture. Text is no wider than the terminal, if that can be; a note says what is left
    /// out for that.
    fn fitting(&self, whole: Topology<'_>, options: NodeOptions<'_>, units: Units) -> Picture {
        let most = self.width.or_else(|| {
            let (terminal_size::Width(width), _) = terminal_size::terminal_size()?;
            self.file.is_on_terminal().then(|| width.into())
        });
        let Some(most) = most.filter(|most| *most > 0 && units == Units::LETTERS) else {
            return node(whole, &options, units);
        };
        let mut options = NodeOptions { most_width: Some(most), ..options };
        let mut picture = node(whole, &options, units);
        let mut left_out = Vec::new();
        let may_fold = options.fold != Fold::Nothing;
        let steps = ["I/O devices", "caches", "what repeats", "PUs"];
        for what in steps.into_iter().filter(|what| may_fold || *what != "what repeats") {
            // What has many more lines than the terminal is narrow, and cannot be looked at.
            if picture.width() <= most && picture.height() <= most.saturating_mul(2) {
                break;
            }
            match what {
                "I/O devices" => options.no_io = true,
                "caches" => options.no_caches = true,
                "what repeats" => options.fold = Fold::Alike(3),
                _ => options.no_pus = true,
            }
            let smaller = node(whole, &options, units);
            if smaller.labels().count() < picture.labels().count() {
                left_out.push(what);
            }
            picture = smaller;
        }
        if !left_out.is_empty() || picture.width() > most {
            let left_out =
                if left_out.is_empty() { "nothing".to_owned() } else { left_out.join(", ") };
            output::say(&format!(
                "left out for {most} letters a line, and not too many lines: {left_out}; the \
                 picture has {}; --width 0 draws all, -o node.html a page",
                picture.width()
            ));
        }
        picture
    }

    fn filters(&self) -> Filters {
        let mut filters = self.filters.filters().clone();
        if !self.show.is_empty() {
            filters.set_all(TypeFilter::None);
            self.show.iter().for_each(|it| filters.set(it.object_type, TypeFilter::All));
        }
        filters
    }

    fn options<'a>(
        &self,
        whole: Topology<'_>,
        part: Topology<'a>,
    ) -> anyhow::Result<NodeOptions<'a>> {
        Ok(NodeOptions {
            ranks: if self.no_ranks { Vec::new() } else { self.ranks()? },
            view: Some(part),
            highlighted: self.highlighted(whole)?,
            indexes: match (self.physical, self.logical) {
                (true, _) => Indexes::Physical,
                (_, true) => Indexes::Logical,
                _ => Indexes::Both,
            },
            fold: match (self.factorize, self.no_factorize) {
                (Some(least), _) => Fold::Alike(least),
                (None, true) => Fold::Nothing,
                (None, false) => Fold::Large,
            },
            no_pus: self.filters.leaves_out_pus(),
            no_legend: self.no_legend,
            more_legend: self.append_legend.clone(),
            ..NodeOptions::default()
        })
    }

    /// The ranks of the job that is named, otherwise those of all jobs over the adopted topology.
    fn ranks(&self) -> anyhow::Result<Vec<DrawnRank>> {
        let Some(base) = self.subject.adopted() else { return Ok(Vec::new()) };
        let jobs: Vec<Job<'_>> = match self.subject.job() {
            Some(name) => vec![named(base, name)?],
            // One that goes away meanwhile is not there.
            None => job::list(base)?.iter().filter_map(|it| named(base, &it.name).ok()).collect(),
        };
        let ranks_of = |job: &Job<'_>| {
            let name = job.name().to_owned();
            let rank = |it: JobRank| DrawnRank { job: name.clone(), rank: it.rank, pus: it.cpuset };
            job.ranks().map(rank).collect::<Vec<_>>()
        };
        Ok(jobs.iter().flat_map(ranks_of).collect())
    }

    fn highlighted(&self, topology: Topology<'_>) -> anyhow::Result<Option<Set>> {
        let mut all: Option<Set> = None;
        for word in &self.highlight {
            let location = Location::parse_or_name(word).context("--highlight")?;
            let manner = calc::Manner { physical_input: self.physical, ..calc::Manner::default() };
            let set = set_of(topology, &location, manner, false).context("--highlight")?;
            all = Some(combined(&all.unwrap_or_default(), &set, &location));
        }
        Ok(all)
    }
}
