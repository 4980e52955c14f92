//! Places of OpenMP threads.

use super::error::SourceError;
use super::text::{Text, known};
use crate::topology::Topology;
use alloc::vec::Vec;
use topobroker_layout::archive::INDEX_LIMIT;
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::set::Set;

const EXPECTED: &str =
    "threads, cores, ll_caches, numa_domains or sockets, or places such as {0:4},{4:4}";

/// Limit of the work that a text may ask for: PUs, words of sets, and places that are compared. It
/// takes a moment, and is some ten times what the largest machine needs.
const MOST_WORK: usize = 1 << 20;

/// The places of `OMP_PLACES`, each a set of OS indexes. The text is a name such as `cores`, which
/// may be followed by a number of places in parentheses, or a list of places: `{0,1}`, `{0:4:2}`
/// (four indexes from 0, 2 apart), `{0:4}:8:4` (eight such places, 4 apart). A place of one index
/// needs no braces: `0:4`. `!` leaves an index or a place out.
///
/// # Errors
///
/// [`SourceError`] if it is malformed or empty, or has a PU that the topology lacks.
pub fn omp_places(topology: Topology<'_>, text: &str) -> Result<Vec<Set>, SourceError> {
    let text = Text::new("OMP_PLACES", text.trim());
    let places =
        match text.rest.starts_with(|first: char| "{!".contains(first) || first.is_ascii_digit()) {
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
    let mut work = Work(MOST_WORK);
    loop {
        let out = text.strip("!");
        let (place, rest) = place(out.unwrap_or(text).trimmed(), &mut work)?;
        let (count, stride, rest) = steps(rest, "more places than any machine has")?;
        for step in 0..i64::from(count) {
            let looked_at = if out.is_some() { places.len() } else { 1 };
            work.take(looked_at + place.words().len() + place.iter().count(), text)?;
            let moved = shifted(&place, step.saturating_mul(stride))
                .ok_or_else(|| text.malformed("places that go below 0 or too far", EXPECTED))?;
            let moved = known(topology, text, moved)?;
            match out {
                None => places.push(moved),
                Some(_) => places.retain(|other| *other != moved),
            }
        }
        let rest = rest.trimmed();
        match rest.strip(",") {
            Some(rest) => text = rest.trimmed(),
            None => {
                rest.end(EXPECTED)?;
                return Ok(places);
            }
        }
    }
}

/// Work that a text may still ask for, at first [`MOST_WORK`].
struct Work(usize);

impl Work {
    fn take(&mut self, amount: usize, text: Text<'_>) -> Result<(), SourceError> {
        let left = self.0.checked_sub(amount);
        self.0 = left.ok_or_else(|| text.malformed("more than any machine has", EXPECTED))?;
        Ok(())
    }
}

/// Reads a place: `{0:4,!2}` or a single index.
fn place<'t>(text: Text<'t>, work: &mut Work) -> Result<(Set, Text<'t>), SourceError> {
    let Some(mut text) = text.strip("{") else {
        let (index, rest) = text.index(EXPECTED)?;
        return Ok(([index].into_iter().collect(), rest));
    };
    let mut set = Set::new();
    loop {
        let out = text.trimmed().strip("!");
        let (first, rest) = out.unwrap_or(text).trimmed().index(EXPECTED)?;
        let (count, stride, rest) = steps(rest, "more PUs than any machine has")?;
        let rest = rest.trimmed();
        work.take(count as usize, text)?;
        for step in 0..i64::from(count) {
            let index = index(i64::from(first).saturating_add(step.saturating_mul(stride)));
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

/// Reads `:count` and `:stride`. Each is 1 if it is missing.
fn steps<'t>(text: Text<'t>, too_many: &'static str) -> Result<(u32, i64, Text<'t>), SourceError> {
    let Some(rest) = text.trimmed().strip(":") else { return Ok((1, 1, text)) };
    let (count, rest) = rest.trimmed().number(EXPECTED)?;
    if count > INDEX_LIMIT {
        return Err(text.malformed(too_many, EXPECTED));
    }
    let Some(stride) = rest.trimmed().strip(":") else { return Ok((count, 1, rest)) };
    let stride = stride.trimmed();
    let (sign, stride) = stride.strip("-").map_or((1, stride), |rest| (-1, rest));
    let (stride, rest) = stride.trimmed().number(EXPECTED)?;
    Ok((count, sign * i64::from(stride), rest))
}

fn shifted(set: &Set, by: i64) -> Option<Set> {
    set.iter().map(|own| index(i64::from(own).saturating_add(by))).collect()
}

/// Converts a number to an index, if it is in range.
fn index(number: i64) -> Option<u32> {
    u32::try_from(number).ok().filter(|index| *index < INDEX_LIMIT)
}
