//! Exports a topology as an hwloc synthetic description, if it is regular enough for one.

use crate::object::Object;
use crate::topology::Topology;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;
use topobroker_layout::attributes::Attributes;
use topobroker_layout::object_type::ObjectType;

/// The topology is not regular enough for a synthetic description.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[error(
    "{what}; expected a topology whose objects of a depth are alike: others can be exported as XML"
)]
pub struct Irregular {
    what: String,
}

/// Exports a topology as text from which hwloc can make a similar one. Counterpart:
/// `hwloc_topology_export_synthetic`.
///
/// # Errors
///
/// [`Irregular`] with the difference that was found.
#[doc(alias = "hwloc_topology_export_synthetic")]
pub fn export(topology: Topology<'_>) -> Result<String, Irregular> {
    let root = topology.root();
    if !root.is_symmetric_subtree() {
        return Err(Irregular { what: "the subtrees of the machine differ".to_owned() });
    }
    check_memory(topology)?;
    let mut parts: Vec<String> = Vec::new();
    let own = attributes(root);
    parts.extend(Some(own).filter(|own| !own.is_empty()));
    parts.extend(memory(root));
    let mut next = root.children().next().map(|child| (child, root.children().len()));
    while let Some((object, arity)) = next {
        let name = match object.object_type() {
            ObjectType::Group => "Group".to_owned(),
            _ => object.type_name(true),
        };
        parts.push(format!("{name}:{arity}{}", attributes(object)));
        parts.extend(memory(object));
        next = object.children().next().map(|child| (child, object.children().len()));
    }
    Ok(parts.join(" "))
}

/// Checks that all objects of a depth with attached memory have the same number of memory children.
fn check_memory(topology: Topology<'_>) -> Result<(), Irregular> {
    for node in topology.objects_with_type(ObjectType::NUMANode) {
        let Some(parent) = node.ancestors().find(|above| above.object_type().is_normal()) else {
            continue;
        };
        let count = |object: Object<'_>| object.memory_children().len();
        if let Some(other) =
            topology.objects_at_depth(parent.depth()).find(|other| count(*other) != count(parent))
        {
            let name = |object: Object<'_>| {
                format!("{} L#{}", object.type_name(false), object.logical_index())
            };
            return Err(Irregular {
                what: format!(
                    "{} has {} memory children, {} has {}",
                    name(parent),
                    count(parent),
                    name(other),
                    count(other)
                ),
            });
        }
    }
    Ok(())
}

/// The attached memory of an object as text: the first NUMA node of each memory child.
fn memory(object: Object<'_>) -> impl Iterator<Item = String> {
    let below = |child| {
        let mut path = core::iter::successors(Some(child), |child: &Object<'_>| {
            child.memory_children().next()
        });
        path.find(|child| child.object_type() == ObjectType::NUMANode)
    };
    let nodes = object.memory_children().filter_map(below);
    nodes.map(|node| format!("[{}{}]", node.type_name(true), attributes(node)))
}

/// The attributes of an object as text: the size of a cache, the memory of a NUMA node. The first
/// PU and the first NUMA node also give the OS indexes of their level, unless these are the
/// logical indexes.
fn attributes(object: Object<'_>) -> String {
    let mut parts = Vec::new();
    match object.attributes() {
        Attributes::Cache(cache) if object.object_type().is_cache() && cache.size > 0 => {
            parts.push(format!("size={}", cache.size));
        }
        Attributes::NumaNode { local_memory } if local_memory > 0 => {
            parts.push(format!("memory={local_memory}"));
        }
        _ => {}
    }
    let is_numbered = matches!(object.object_type(), ObjectType::PU | ObjectType::NUMANode);
    if is_numbered && object.logical_index() == 0 {
        let level = object.topology().objects_at_depth(object.depth());
        let level: Vec<u32> = level.map(|object| object.os_index().unwrap_or(u32::MAX)).collect();
        if level.iter().zip(0..).any(|(os_index, place)| *os_index != place) {
            parts.push(format!("indexes={}", indexes(&level)));
        }
    }
    if parts.is_empty() { String::new() } else { format!("({})", parts.join(" ")) }
}

/// The OS indexes of a level as text: as loops (`step*count`, separated by colons) if possible,
/// otherwise one by one.
fn indexes(level: &[u32]) -> String {
    let mut text = String::new();
    match loops(level) {
        Some(loops) => {
            for (place, (step, count)) in loops.iter().enumerate() {
                let colon = if place == 0 { "" } else { ":" };
                let _ = write!(text, "{colon}{step}*{count}");
            }
        }
        None => {
            let all: Vec<String> = level.iter().map(u32::to_string).collect();
            text = all.join(",");
        }
    }
    text
}

/// The loops that give the OS indexes of a level, as pairs of step and count; `None` if there are
/// none. Each loop takes `count` objects that are `step` logical indexes apart. The first loop
/// changes fastest with the OS index.
fn loops(level: &[u32]) -> Option<Vec<(usize, usize)>> {
    let is = |place: usize, os_index: usize| {
        level.get(place).is_some_and(|found| *found as usize == os_index)
    };
    let total = level.len();
    let mut loops = Vec::new();
    let mut step = 1;
    if !is(0, 0) {
        return None;
    }
    while step != total {
        if !total.is_multiple_of(step) {
            return None;
        }
        let place = (1..total).find(|place| is(*place, step))?;
        let count = (2..total / place).find(|n| !is(place * n, step * n));
        let count = count.unwrap_or((total / place).max(2));
        loops.push((place, count));
        step *= count;
    }
    let index = |place: usize| {
        let digits = loops.iter().scan(1, |weight, (step, count)| {
            let digit = place / step % count * *weight;
            *weight *= count;
            Some(digit)
        });
        digits.sum::<usize>()
    };
    (0..total).all(|place| is(place, index(place))).then_some(loops)
}
