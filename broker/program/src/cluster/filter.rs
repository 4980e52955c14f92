//! Which nodes are asked about: `gpus>0 and memory>=512GiB`.

use super::opened::path;
use anyhow::{Context, bail, ensure};
use std::str::FromStr;
use topobroker::name_pattern::is_like;
use topobroker_reader::cluster::{ClusterNode, ClusterOpenError};
use topobroker_reader::devices::NicChoice;
use topobroker_reader::{ObjectType, Topology};

/// What a node has, as far as filters and tables go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NodeSummary {
    pub(super) name: String,
    pub(super) class: u64,
    /// The names of the groups that it is in, the outermost first.
    pub(super) groups: Vec<String>,
    pub(super) packages: u64,
    pub(super) numa_nodes: u64,
    pub(super) cores: u64,
    pub(super) pus: u64,
    pub(super) gpus: u64,
    pub(super) nics: u64,
    /// Bytes.
    pub(super) memory: u64,
    /// The network that jobs would use.
    pub(super) network: String,
}

impl NodeSummary {
    pub(super) fn of(node: ClusterNode<'_>) -> Result<Self, ClusterOpenError> {
        let opened = node.open()?;
        let archive = opened.archive();
        let topology = archive.topology();
        let count = |kind| topology.objects_with_type(kind).count() as u64;
        Ok(Self {
            name: node.name().to_owned(),
            class: node.class().into(),
            groups: path(node.group()?),
            packages: count(ObjectType::Package),
            numa_nodes: count(ObjectType::NUMANode),
            cores: count(ObjectType::Core),
            pus: count(ObjectType::PU),
            gpus: topology.gpus().count() as u64,
            nics: topology.nics(NicChoice::ActiveOrUnknown).count() as u64,
            memory: topology.root().total_memory(),
            network: network(topology),
        })
    }
}

fn network(topology: Topology<'_>) -> String {
    let first = topology.network_shares(NicChoice::ActiveOrUnknown).next();
    first.map_or_else(|| "-".to_owned(), |network| network.id.to_string())
}

/// Conditions that a node must all meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Filter(Vec<Condition>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Condition {
    key: String,
    /// `=`, `!=`, `<`, `<=`, `>` or `>=`.
    sign: &'static str,
    value: String,
    number: u64,
}

/// What can be asked about by number, and by text.
const NUMBERS: [&str; 8] = ["cores", "pus", "packages", "numa", "gpus", "nics", "memory", "class"];
const TEXTS: [&str; 3] = ["name", "group", "network"];

/// Signs, the longer ones first.
const SIGNS: [&str; 7] = ["<=", ">=", "!=", "==", "<", ">", "="];

impl FromStr for Filter {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let parts = text.split("&&").flat_map(|part| part.split(" and "));
        Ok(Self(parts.map(Condition::parse).collect::<Result<_, _>>()?))
    }
}

impl Condition {
    fn parse(text: &str) -> anyhow::Result<Self> {
        let expected = || {
            format!(
                "{text:?}: expected KEY, a sign ({}) and a value, with \"and\" between two; keys \
                 are {} and {}",
                SIGNS.join(" "),
                NUMBERS.join(", "),
                TEXTS.join(", ")
            )
        };
        let at = text.find(['<', '>', '!', '=']).with_context(expected)?;
        let (key, rest) = text.split_at(at);
        let sign = SIGNS.into_iter().find(|sign| rest.starts_with(sign)).with_context(expected)?;
        let value = rest.get(sign.len()..).unwrap_or_default().trim();
        let sign = if sign == "==" { "=" } else { sign };
        ensure!(
            !value.contains(" or ") && !value.contains("||"),
            "{text:?}: conditions are met all together: there is no or"
        );
        ensure!(!value.contains(['<', '>', '!', '=']), expected());
        let key = key.trim().to_ascii_lowercase();
        ensure!(!value.is_empty(), expected());
        let is_text = TEXTS.contains(&key.as_str());
        if is_text {
            ensure!(["=", "!="].contains(&sign), "{text:?}: {key} has only = and !=");
        } else {
            ensure!(NUMBERS.contains(&key.as_str()), expected());
        }
        let number = match (is_text, key.as_str()) {
            (true, _) => 0,
            (_, "memory") => bytes(value)?,
            _ => value.parse().with_context(|| format!("{text:?}: expected a number"))?,
        };
        Ok(Self { key, sign, value: value.to_owned(), number })
    }

    fn is_met(&self, node: &NodeSummary) -> bool {
        let number = match self.key.as_str() {
            "cores" => node.cores,
            "pus" => node.pus,
            "packages" => node.packages,
            "numa" => node.numa_nodes,
            "gpus" => node.gpus,
            "nics" => node.nics,
            "memory" => node.memory,
            "class" => node.class,
            key => {
                let is_it = match key {
                    "name" => is_like(&self.value, &node.name),
                    "group" => node.groups.iter().any(|group| is_like(&self.value, group)),
                    _ => {
                        node.network.to_ascii_lowercase().contains(&self.value.to_ascii_lowercase())
                    }
                };
                return is_it == (self.sign == "=");
            }
        };
        match self.sign {
            "<" => number < self.number,
            "<=" => number <= self.number,
            ">" => number > self.number,
            ">=" => number >= self.number,
            "=" => number == self.number,
            _ => number != self.number,
        }
    }
}

impl Filter {
    pub(super) fn has(&self, node: &NodeSummary) -> bool {
        self.0.iter().all(|condition| condition.is_met(node))
    }
}

/// A number of bytes, with a unit such as GiB behind it.
fn bytes(text: &str) -> anyhow::Result<u64> {
    let end = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let shift = match unit.trim().to_ascii_lowercase().trim_end_matches("ib").trim_end_matches('b')
    {
        "" if digits.bytes().all(|it| it == b'0') => 0,
        "" if !unit.is_empty() => 0,
        "" => bail!("{text:?}: a size without a unit; expected one such as {text}GiB"),
        "bytes" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => bail!("{text:?}: the unit is not known; expected KiB, MiB, GiB or TiB"),
    };
    let number: u64 = digits.parse().with_context(|| format!("{text:?}: expected a number"))?;
    number.checked_mul(1 << shift).with_context(|| format!("{text:?}: is too large"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node() -> NodeSummary {
        NodeSummary {
            name: "n007".to_owned(),
            class: 2,
            groups: vec!["pod1".to_owned(), "leaf3".to_owned()],
            packages: 2,
            numa_nodes: 8,
            cores: 64,
            pus: 128,
            gpus: 4,
            nics: 2,
            memory: 512 << 30,
            network: "InfiniBand fe80:0000:0000:0000".to_owned(),
        }
    }

    #[test]
    fn conditions_are_met_all_together() {
        for (text, expected) in [
            ("gpus>0", true),
            ("gpus > 0 and memory >= 512GiB", true),
            ("memory>512 GiB", false),
            ("memory<1TiB && cores!=32", true),
            ("group=leaf3", true),
            ("group=leaf*", true),
            ("group!=pod1", false),
            ("name=n00*", true),
            ("name=n1*", false),
            ("network=infiniband", true),
            ("class==2 and numa=8 and nics<=2 and pus>=129", false),
        ] {
            assert_eq!(text.parse::<Filter>().unwrap().has(&node()), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_condition_is_refused() {
        for text in [
            "",
            "gpus",
            "gpus>",
            "colour=red",
            "name>a",
            "memory>4XiB",
            "gpus>x",
            ">3",
            "cores>1k",
            "name=a or name=b",
            "name=a=b",
        ] {
            assert!(text.parse::<Filter>().is_err(), "{text}");
        }
    }
}
