//! `topobroker cluster reach` and `pairs`: ports of two nodes.

use super::opened::{Opened, named};
use crate::{json, output};
use anyhow::ensure;
use clap::{Args, ValueEnum};
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use topobroker_cluster::{Planes, PortPairs, ReachRule, Unpaired, port_pairs, reach};
use topobroker_reader::{Topology, devices::prefix_text, text::rate};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReachWord {
    /// Open MPI's openib BTL: one subnet prefix
    Openib,
    /// The same, with a router between subnets
    #[value(name = "openib+router")]
    OpenibRouter,
    /// UCX: subnet prefixes, routers and partition keys
    Ucx,
}

impl ReachWord {
    fn get(self) -> ReachRule {
        match self {
            Self::Openib => ReachRule::OpenIb,
            Self::OpenibRouter => ReachRule::OpenIbRouter,
            Self::Ucx => ReachRule::Ucx,
        }
    }
}

/// Two nodes of a cluster.
#[derive(Debug, Args)]
struct TwoNodes {
    /// File of the cluster
    file: PathBuf,
    /// A node
    one: String,
    /// Another node
    other: String,
    /// By whose rule ports reach each other
    #[arg(long, value_enum, default_value = "openib")]
    rule: ReachWord,
    /// Take ports that the fabric connects for those of one subnet, whatever their prefixes are
    #[arg(long)]
    subnet_by_fabric: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl TwoNodes {
    fn answer(
        &self,
        answer: impl FnOnce(Topology<'_>, Topology<'_>, Option<&Planes>) -> anyhow::Result<String>,
    ) -> anyhow::Result<String> {
        let opened = Opened::read(&self.file)?;
        let cluster = opened.cluster(&self.file)?;
        let one = named(&cluster, &self.one)?.open()?;
        let other = named(&cluster, &self.other)?.open()?;
        let (one, other) = (one.archive(), other.archive());
        let planes = match self.subnet_by_fabric {
            true => {
                let ports = cluster.fabric()?.ports();
                let planes: Planes = ports.map(|port| (port.guid(), port.plane())).collect();
                ensure!(!planes.is_empty(), "the cluster has no fabric; build it with --fabric");
                Some(planes)
            }
            false => None,
        };
        let rule = self.rule.get().text();
        let answer = answer(one.topology(), other.topology(), planes.as_ref())?;
        if self.json {
            return Ok(answer);
        }
        Ok(format!("# {rule}\n{answer}"))
    }
}

/// Print which ports of two nodes reach each other. The exit status is 1 if none does
#[derive(Debug, Args)]
pub(super) struct Reach {
    #[command(flatten)]
    nodes: TwoNodes,
}

impl Reach {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let mut is_reached = false;
        let text = self.nodes.answer(|one, other, planes| {
            let all = reach(one, other, self.nodes.rule.get(), planes);
            is_reached = !all.is_empty();
            if self.nodes.json {
                let pairs = all.iter().map(|(one, other)| json::Reached { one, other });
                return json::text(&pairs.collect::<Vec<_>>());
            }
            Ok(all.iter().map(|(one, other)| format!("{one} {other}\n")).collect())
        })?;
        output::print(&text)?;
        Ok(if is_reached { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Print which ports of two nodes are paired: of each subnet, the first active port of one node
/// with the first of the other, and so on; what each carries, and its share of a long message; and
/// why others are not
#[derive(Debug, Args)]
pub(super) struct Pairs {
    #[command(flatten)]
    nodes: TwoNodes,
}

impl Pairs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let text = self.nodes.answer(|one, other, planes| {
            let pairs = port_pairs(one, other, self.nodes.rule.get(), planes);
            if self.nodes.json {
                return json::text(&described(&pairs));
            }
            let mut text = String::new();
            for pair in &pairs.pairs {
                let rates =
                    || pair.rates.each_ref().map(|rate| rate.as_deref().unwrap_or("unknown"));
                let unknown = || rates().join(" and ");
                let rate = pair.mbps.map_or_else(unknown, |mbps| rate(mbps.into()));
                let subnet = prefix_text(pair.subnet);
                let _ = write!(text, "{} {} {subnet} {rate}", pair.one, pair.other);
                let share = pair.share.filter(|_| pairs.pairs.len() > 1);
                let share = share.map(|it| format!(", {}.{} %", it / 10, it % 10));
                text += &(share.unwrap_or_default() + "\n");
            }
            let mut left = |node: &str, ports: &[Unpaired]| {
                for port in ports {
                    let _ = writeln!(text, "unpaired: {node} {}: {}", port.port, port.reason);
                }
            };
            left(&self.nodes.one, &pairs.left);
            left(&self.nodes.other, &pairs.right);
            Ok(text)
        })?;
        output::print(&text)
    }
}

fn described(pairs: &PortPairs) -> json::Pairs<'_> {
    let all = pairs.pairs.iter().map(|pair| json::PairOfPorts {
        one: &pair.one,
        other: &pair.other,
        subnet: prefix_text(pair.subnet),
        rate_mbps: pair.mbps,
        rates: pair.rates.each_ref().map(Option::as_deref),
        share_per_mille: pair.share,
    });
    json::Pairs {
        pairs: all.collect(),
        left_of_one: left(&pairs.left),
        left_of_other: left(&pairs.right),
    }
}

fn left(ports: &[Unpaired]) -> Vec<json::Unpaired<'_>> {
    let left =
        ports.iter().map(|it| json::Unpaired { port: &it.port, reason: it.reason.to_string() });
    left.collect()
}
