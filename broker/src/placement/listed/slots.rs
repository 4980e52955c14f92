//! The CPUs of a rank as rankfiles name them, by logical index: `0,2-3`, `1:0-2` (of a package),
//! `P1`, `P0:*;4`.

use super::error::ListError;
use crate::placement::objects::objects;
use topobroker_layout::set::{Format, Set};
use topobroker_reader::{Object, ObjectType, Topology};

const EXPECTED: &str =
    "cores (0,2-3), cores of a package (1:0-2 or 1:*), or packages (P0,1), separated by semicolons";

/// The PUs. `threads` says whether numbers without a package are of hardware threads.
pub(super) fn set(
    topology: Topology<'_>,
    rank: u32,
    text: &str,
    threads: bool,
) -> Result<Set, ListError> {
    let cpu = if threads { ObjectType::PU } else { ObjectType::Core };
    let all = objects(topology, cpu);
    let packages = objects(topology, ObjectType::Package);
    let list = List { rank, text };
    let mut set = Set::new();
    for item in text.split(';').map(str::trim) {
        let unprefixed = item.strip_prefix(['P', 'p', 'S', 's']);
        let own = match (unprefixed.unwrap_or(item).split_once(':'), unprefixed) {
            (None, Some("*")) => topology.root().cpuset().unwrap_or_default(),
            (None, Some(numbers)) => list.union(&packages, ObjectType::Package, numbers)?,
            (None, None) => list.union(&all, cpu, item)?,
            (Some((number, cores)), _) => {
                let of_package = list.union(&packages, ObjectType::Package, number)?;
                let is_inside = |it: &Object<'_>| {
                    it.cpuset().is_some_and(|own| own.is_included_in(&of_package))
                };
                let own = objects(topology, ObjectType::Core).into_iter().filter(is_inside);
                let own: Vec<Object<'_>> = own.collect();
                let mut set = Set::new();
                for cores in cores.split(':') {
                    let cores = cores.strip_prefix(['C', 'c']).unwrap_or(cores);
                    let named = match cores {
                        "*" => of_package.clone(),
                        cores => list.union(&own, ObjectType::Core, cores)?,
                    };
                    set = &set | &named;
                }
                set
            }
        };
        set = &set | &own;
    }
    Ok(set)
}

struct List<'t> {
    rank: u32,
    text: &'t str,
}

impl List<'_> {
    /// The PUs of the objects with these places.
    fn union(
        &self,
        objects: &[Object<'_>],
        kind: ObjectType,
        numbers: &str,
    ) -> Result<Set, ListError> {
        let (rank, text) = (self.rank, self.text.to_owned());
        let places = Set::parse(numbers, Format::List).ok().filter(|it| !it.is_empty());
        let Some(places) = places else {
            let found = numbers.to_owned();
            let reason = "not a list of numbers";
            return Err(ListError::Slots { rank, text, found, reason, expected: EXPECTED });
        };
        let mut set = Set::new();
        for index in places.iter() {
            let Some(object) = objects.get(index as usize) else {
                let (object, numbering) = (kind.name(), "logical");
                let expected = match kind {
                    ObjectType::Core if text.contains(':') => format!("{} there", objects.len()),
                    _ => objects.len().to_string(),
                };
                return Err(ListError::NoObject { rank, text, object, numbering, index, expected });
            };
            set = &set | &object.cpuset().unwrap_or_default();
        }
        Ok(set)
    }
}
