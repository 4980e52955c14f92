//! `--map-by pe-list=LIST`: PRRTE's spelling of a job on some cores of the node.

use anyhow::{Context, ensure};
use topobroker_layout::set::Set;
use topobroker_reader::{Object, ObjectType};

/// Cores or hardware threads by their logical indexes, each once, and whether each has one rank, in
/// this order.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PeList {
    /// The job's part, as `--cpu-set` names it.
    pub(super) cpu_set: String,
    by_pu: bool,
    ordered: bool,
}

impl PeList {
    /// Reads a policy; `None` if it is another one.
    pub(super) fn parse(map_by: &str) -> anyhow::Result<Option<Self>> {
        let lower = map_by.to_ascii_lowercase();
        let Some(rest) = lower.strip_prefix("pe-list=") else { return Ok(None) };
        let mut parts = rest.split(':');
        let list = parts.next().unwrap_or_default();
        let (mut by_pu, mut ordered) = (false, false);
        for part in parts {
            match part {
                "ordered" => ordered = true,
                "hwtcpus" => by_pu = true,
                "corecpus" => by_pu = false,
                _ => anyhow::bail!(
                    "--map-by {map_by}: {part:?} is not a modifier; expected ordered, hwtcpus or \
                     corecpus"
                ),
            }
        }
        let object = if by_pu { "pu" } else { "core" };
        let words = list.split(',').map(|range| {
            let is_index =
                |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
            let ends: Vec<&str> = range.splitn(2, '-').collect();
            let numbers: Vec<u32> = ends.iter().filter_map(|end| end.parse().ok()).collect();
            ensure!(
                ends.iter().all(|end| is_index(end))
                    && numbers.len() == ends.len()
                    && numbers.is_sorted(),
                "{range:?} is no logical index and no range"
            );
            Ok(format!("{object}:{range}"))
        });
        let words: anyhow::Result<Vec<String>> = words.collect();
        let words = words.with_context(|| format!("--map-by {map_by}"))?;
        Ok(Some(Self { cpu_set: words.join(" "), by_pu, ordered }))
    }

    /// What ranks are bound to: each to a core or hardware thread of the list, or each to all of
    /// them. `pus` are the PUs of the list, in its order.
    pub(super) fn ranks(
        &self,
        pus: &[Object<'_>],
        count: Option<usize>,
    ) -> anyhow::Result<Vec<Option<Set>>> {
        let kind = if self.by_pu { ObjectType::PU } else { ObjectType::Core };
        let of_kind = pus.iter().map(|pu| pu.ancestor_with_type(kind).unwrap_or(*pu));
        let mut cpus: Vec<Object<'_>> = of_kind.collect();
        cpus.dedup();
        let wanted = count.unwrap_or(cpus.len());
        ensure!(
            wanted <= cpus.len(),
            "{wanted} ranks: the pe-list has {} CPUs; ask for fewer ranks, or add CPUs",
            cpus.len()
        );
        let sets = cpus.into_iter().filter_map(Object::cpuset);
        if self.ordered {
            return Ok(sets.take(wanted).map(Some).collect());
        }
        let all = sets.fold(Set::new(), |all, set| &all | &set);
        Ok(vec![Some(all); wanted])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_as_prrte_writes_them() {
        let read = |text| PeList::parse(text).unwrap();
        assert_eq!(read("slot"), None);
        let cpu_set = "core:0-3 core:6".to_owned();
        assert_eq!(read("PE-LIST=0-3,6"), Some(PeList { cpu_set, by_pu: false, ordered: false }));
        let cpu_set = "pu:4 pu:2".to_owned();
        assert_eq!(
            read("pe-list=4,2:HWTCPUS:ordered"),
            Some(PeList { cpu_set, by_pu: true, ordered: true })
        );
        for wrong in
            ["pe-list=", "pe-list=3-1", "pe-list=0,,1", "pe-list=a", "pe-list=0-", "pe-list=0:PE=2"]
        {
            assert!(PeList::parse(wrong).is_err(), "{wrong}");
        }
    }
}
