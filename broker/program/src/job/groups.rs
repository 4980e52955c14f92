//! `topobroker job groups`: the ranks of a job that are on the same hardware resources.

use super::named::{JobName, asked};
use crate::{json, output};
use anyhow::ensure;
use clap::Args;
use std::collections::BTreeMap;
use std::process::ExitCode;
use topobroker::findings::rank_list;
use topobroker_reader::{
    Adopted,
    groups::{HwGroup, HwResources, ResourceType, Unguided, Uri},
};

/// Print which ranks of a job are on the same hardware resource: a line for each group with its
/// ranks and the URIs of what they share
#[derive(Debug, Args)]
pub(super) struct Groups {
    #[command(flatten)]
    job: JobName,
    /// Only groups of this rank
    #[arg(long, value_name = "RANK")]
    rank: Option<u32>,
    /// Also groups of a single rank
    #[arg(long)]
    single: bool,
    #[command(flatten)]
    question: Question,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[group(multiple = false)]
struct Question {
    /// Print the instance of this type that each rank is on, or a hyphen: hwloc://L3Cache,
    /// topobroker://GPU, or a word of MPICH or Open MPI. For an instance such as hwloc://L3Cache/2,
    /// print the ranks on it
    #[arg(long, value_name = "URI")]
    uri: Option<String>,
    /// Print the resources by which MPI's unguided splits separate each rank, until it is alone or
    /// shares all that it is on
    #[arg(long)]
    unguided: bool,
    /// Of which types each rank is on one instance, as `MPI_Get_hw_resource_info` reports
    #[arg(long)]
    info: bool,
}

impl Groups {
    pub(super) fn run(&self, base: &'static Adopted) -> anyhow::Result<ExitCode> {
        let job = self.job.adopt(base)?;
        let resources = job.hw_resources();
        let ranks = asked(job, self.rank)?;
        let Question { uri, unguided, info } = &self.question;
        let (text, json) = match uri {
            Some(uri) => on_uri(&resources, uri, &ranks)?,
            None if *unguided => split(&resources, &ranks)?,
            None if *info => info_of(&resources, &ranks)?,
            None => self.groups(&resources),
        };
        match self.json {
            true => output::print(&json::text(&json)?),
            false => output::print(&text),
        }
    }

    fn groups(&self, resources: &HwResources<'_>) -> (String, json::Groups) {
        let mut groups = resources.groups(if self.single { 1 } else { 2 });
        groups.retain(|group| self.rank.is_none_or(|rank| group.ranks.contains(&rank)));
        let uris = |group: &HwGroup| -> Vec<String> {
            group.uris.iter().map(ToString::to_string).collect()
        };
        let line =
            |group: &HwGroup| format!("{} {}\n", rank_list(&group.ranks), uris(group).join(" "));
        let ranks = |group: &HwGroup| json::Ranks { ranks: group.ranks.clone(), uris: uris(group) };
        let document = json::Groups::OfRanks(groups.iter().map(ranks).collect());
        (groups.iter().map(line).collect(), document)
    }
}

/// The instance of a type that each rank is on, or the ranks on an instance.
fn on_uri(
    resources: &HwResources<'_>,
    text: &str,
    ranks: &[u32],
) -> anyhow::Result<(String, json::Groups)> {
    let uri = Uri::parse(text)?;
    if uri.instance.is_some() {
        let is_there = resources.topology().resource_objects(uri).next().is_some();
        let has_objects = !matches!(uri.resource, ResourceType::Binding | ResourceType::Job);
        ensure!(is_there || !has_objects, "{uri}: the topology has no such instance");
        let on: Vec<u32> = resources.ranks_on(uri)?.filter(|it| ranks.contains(it)).collect();
        let lines = if on.is_empty() { String::new() } else { rank_list(&on) + "\n" };
        return Ok((lines, json::Groups::Instance { uri: uri.to_string(), ranks: on }));
    }
    let instances = resources.instances(uri)?;
    let of = |rank: &u32| {
        let local_rank = resources.job().local_rank_of(*rank)?;
        instances.of(local_rank)
    };
    let word = |rank: &u32| of(rank).map_or("-".to_owned(), |it| it.to_string());
    let text = ranks.iter().map(|rank| format!("{rank} {}\n", word(rank))).collect();
    let row = |rank: &u32| json::InstanceOfRank { rank: *rank, instance: of(rank) };
    let ranks = ranks.iter().map(row).collect();
    Ok((text, json::Groups::Instances { uri: uri.to_string(), ranks }))
}

/// The resources by which each rank is separated from others, the outermost first.
fn split(resources: &HwResources<'_>, ranks: &[u32]) -> anyhow::Result<(String, json::Groups)> {
    let all: Vec<u32> = resources.job().ranks().map(|it| it.rank).collect();
    let mut paths: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    let mut parts = vec![all];
    while let Some(part) = parts.pop() {
        let split = resources.unguided(&part)?;
        let mut of_object: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for rank in &part {
            let Some(object) = split.part(*rank) else { continue };
            let uri = Unguided::uri(object).map(|it| it.to_string()).unwrap_or_default();
            paths.entry(*rank).or_default().push(uri);
            of_object.entry(object.id()).or_default().push(*rank);
        }
        parts.extend(of_object.into_values());
    }
    let path = |rank: &u32| paths.get(rank).cloned().unwrap_or_default();
    let line = |rank: &u32| {
        let path = path(rank);
        format!("{rank} {}\n", if path.is_empty() { "-".to_owned() } else { path.join(" ") })
    };
    let row = |rank: &u32| json::UrisOfRank { rank: *rank, uris: path(rank) };
    let document = json::Groups::Unguided(ranks.iter().map(row).collect());
    Ok((ranks.iter().map(line).collect(), document))
}

/// Of which types each rank is on one instance.
fn info_of(resources: &HwResources<'_>, ranks: &[u32]) -> anyhow::Result<(String, json::Groups)> {
    let (mut text, mut rows) = (String::new(), Vec::new());
    for rank in ranks {
        let info: Vec<(String, bool)> =
            resources.info(*rank)?.map(|(it, is)| (Uri::of(it).to_string(), is)).collect();
        let words = info.iter().map(|(uri, is)| format!(" {uri}={is}"));
        text += &format!("{rank}{}\n", words.collect::<String>());
        rows.push(json::InfoOfRank { rank: *rank, info: info.into_iter().collect() });
    }
    Ok((text, json::Groups::Info(rows)))
}
