//! Places of OpenMP threads.

use super::{SourceError, Text, known};
use crate::topology::Topology;
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::set::Set;

const EXPECTED: &str =
    "threads, cores, ll_caches, numa_domains or sockets, or places such as {0:4},{4:4}";

/// Highest index and most PUs of a place that a text may ask for.
const MOST: u32 = 1 << 20;

/// Most places that a text may ask for.
const MOST_PLACES: usize = 1 << 14;

/// The places of `OMP_PLACES`, each a set of OS indexes: a name of objects, with how many of them in
/// parentheses, or places of indexes, `{0,1}`, `{0:4:2}` (four from 0, 2 apart), `{0:4}:8:4` (eight
/// such places, 4 apart); `!` leaves an index or a place out.
///
/// # Errors
///
/// [`SourceError`] when it is malformed or empty.
pub fn omp_places(topology: Topology<'_>, text: &str) -> Result<Vec<Set>, SourceError> {
    let text = Text::new("OMP_PLACES", text.trim());
    let places = match text.rest.starts_with(['{', '!']) {
        true => listed(topology, text)?,
        false => of_objects(topology, text)?,
    };
    if places.is_empty() { Err(text.empty()) } else { Ok(places) }
}

fn of_objects(topology: Topology<'_>, text: Text<'_>) -> Result<Vec<Set>, SourceError> {
    let (name, count) = match text.rest.split_once('(') {
        None => (text.rest, None),
        Some((name, rest)) => {
            let (count, rest) = text.at(rest).number("how many, in parentheses")?;
            rest.strip(")").ok_or_else(|| rest.malformed("no )", EXPECTED))?.end(EXPECTED)?;
            (name, Some(count))
        }
    };
    let kind = match name.to_ascii_lowercase().as_str() {
        "threads" => ObjectType::PU,
        "cores" => ObjectType::Core,
        "sockets" => ObjectType::Package,
        "numa_domains" => ObjectType::NUMANode,
        "ll_caches" => {
            let caches = [
                ObjectType::L5Cache,
                ObjectType::L4Cache,
                ObjectType::L3Cache,
                ObjectType::L2Cache,
                ObjectType::L1Cache,
            ];
            let has = |kind: &ObjectType| topology.objects_with_type(*kind).next().is_some();
            caches.into_iter().find(has).unwrap_or(ObjectType::Core)
        }
        _ => return Err(text.malformed("an unknown name of places", EXPECTED)),
    };
    let sets = topology.objects_with_type(kind).filter_map(|object| object.cpuset());
    let sets = sets.filter(|set| !set.is_empty());
    Ok(sets.take(count.map_or(usize::MAX, |count| count as usize)).collect())
}

fn listed(topology: Topology<'_>, text: Text<'_>) -> Result<Vec<Set>, SourceError> {
    let mut places: Vec<Set> = Vec::new();
    let mut text = text;
    loop {
        let out = text.strip("!");
        let (place, rest) = place(out.unwrap_or(text).trimmed())?;
        let (count, stride, rest) = steps(rest)?;
        if places.len() + count as usize > MOST_PLACES {
            return Err(text.malformed("more places than any machine has", EXPECTED));
        }
        for step in 0..i64::from(count) {
            let moved = shifted(&place, step * stride)
                .ok_or_else(|| text.malformed("places that go below 0 or too far", EXPECTED))?;
            let moved = known(topology, text, moved)?;
            match out {
                None => places.push(moved),
                Some(_) => places.retain(|other| *other != moved),
            }
        }
        match rest.strip(",") {
            Some(rest) => text = rest.trimmed(),
            None => {
                rest.end(EXPECTED)?;
                return Ok(places);
            }
        }
    }
}

/// `{0:4,!2}` or a single index.
fn place(text: Text<'_>) -> Result<(Set, Text<'_>), SourceError> {
    let Some(mut text) = text.strip("{") else {
        let (index, rest) = text.number(EXPECTED)?;
        return Ok(([index].into_iter().collect(), rest));
    };
    let mut set = Set::new();
    loop {
        let out = text.trimmed().strip("!");
        let (first, rest) = out.unwrap_or(text).trimmed().number(EXPECTED)?;
        let (count, stride, rest) = steps(rest)?;
        let rest = rest.trimmed();
        for step in 0..i64::from(count) {
            let index = i64::from(first) + step * stride;
            let index = u32::try_from(index).ok().filter(|index| *index < MOST);
            let index = index
                .ok_or_else(|| text.malformed("indexes that go below 0 or too far", EXPECTED))?;
            match out {
                None => set.insert(index),
                Some(_) => set.remove(index),
            }
        }
        if let Some(rest) = rest.strip("}") {
            return Ok((set, rest.trimmed()));
        }
        text = rest.strip(",").ok_or_else(|| rest.malformed("no }", EXPECTED))?;
    }
}

/// `:count` and `:stride`, 1 each if they are not there.
fn steps(text: Text<'_>) -> Result<(u32, i64, Text<'_>), SourceError> {
    let Some(rest) = text.strip(":") else { return Ok((1, 1, text)) };
    let (count, rest) = rest.number(EXPECTED)?;
    if count > MOST {
        return Err(text.malformed("more than any machine has", EXPECTED));
    }
    let Some(stride) = rest.strip(":") else { return Ok((count, 1, rest)) };
    let (sign, stride) = stride.strip("-").map_or((1, stride), |rest| (-1, rest));
    let (stride, rest) = stride.number(EXPECTED)?;
    Ok((count, sign * i64::from(stride), rest))
}

fn shifted(set: &Set, by: i64) -> Option<Set> {
    let index = |index: u32| u32::try_from(i64::from(index) + by).ok().filter(|it| *it < MOST);
    set.iter().map(index).collect()
}
