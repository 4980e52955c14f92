//! What differs between two nodes of one class, as bytes that one node sends to another.

use super::classes::Prepared;
use super::own_values::Own;
use crate::description::describe;
use topobroker_layout::cluster::bytes::{ByteReader, push_number};
use topobroker_layout::cluster::delta::{NodeValues, SlotValue};
use topobroker_layout::cluster::slot::Slot;
use topobroker_layout::encode::{AlignedVec, to_bytes};
use topobroker_reader::Archive;
use topobroker_reader::internal::archive_of_node;

/// The values of a node that differ from those of another node of its class: their places, and of a
/// text only the middle that differs.
pub(super) fn difference(base: &Prepared, node: &Prepared) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut last = 0;
    for (place, (own, other)) in node.values.iter().zip(&base.values).enumerate() {
        if own.1 == other.1 {
            continue;
        }
        push_number(&mut bytes, (place - last) as u64);
        last = place;
        match (&own.1, &other.1) {
            (Own::Number(own), Own::Number(other)) => {
                // Small steps up or down are short.
                let step = own.wrapping_sub(*other).cast_signed();
                push_number(&mut bytes, (step.cast_unsigned() << 1) ^ (step >> 63).cast_unsigned());
            }
            (own, other) => {
                let (own, other) = (own.text(), other.text());
                let before = same(own.bytes().zip(other.bytes()));
                let most = own.len().min(other.len()) - before;
                let after = same(own.bytes().rev().zip(other.bytes().rev())).min(most);
                let middle = own.as_bytes().get(before..own.len() - after).unwrap_or_default();
                [before, after, middle.len()]
                    .into_iter()
                    .for_each(|it| push_number(&mut bytes, it as u64));
                bytes.extend_from_slice(middle);
            }
        }
    }
    bytes
}

fn same(pairs: impl Iterator<Item = (u8, u8)>) -> usize {
    pairs.take_while(|(one, other)| one == other).count()
}

/// The archive of a node, from that of another node of its class and what differs; `None` if the
/// bytes do not fit.
pub(super) fn apply_difference(base: &Prepared, bytes: &[u8]) -> Option<AlignedVec> {
    let mut from = ByteReader(bytes);
    let mut values: Vec<(Slot, Own<Box<str>>)> = Vec::new();
    let mut place = 0_usize;
    let mut is_first = true;
    while !from.0.is_empty() {
        let step = usize::try_from(from.number()?).ok()?;
        (step > 0 || is_first).then_some(())?;
        is_first = false;
        place = place.checked_add(step)?;
        let (slot, other) = base.values.get(place)?;
        let own = match other {
            Own::Number(other) => {
                let folded = from.number()?;
                let step = (folded >> 1) ^ (folded & 1).wrapping_neg();
                Own::Number(other.wrapping_add(step))
            }
            Own::Text(other) => {
                let mut length = || usize::try_from(from.number()?).ok();
                let (before, after, middle) = (length()?, length()?, length()?);
                let (middle, rest) = from.0.split_at_checked(middle)?;
                from.0 = rest;
                let end = other.len().checked_sub(after)?;
                let mut text = other.as_bytes().get(..before)?.to_vec();
                text.extend_from_slice(middle);
                text.extend_from_slice(other.as_bytes().get(end..)?);
                Own::Text(String::from_utf8(text).ok()?.into_boxed_str())
            }
        };
        values.push((*slot, own));
    }
    let pairs = values.iter().map(|(slot, own)| match own {
        Own::Number(number) => (*slot, SlotValue::Number(*number)),
        Own::Text(text) => (*slot, SlotValue::Text(text)),
    });
    let values = NodeValues::new(pairs)?;
    let opened = Archive::open(base.archive()).ok()?;
    let node = archive_of_node(&opened, &values);
    to_bytes(&describe(node.topology())).ok()
}
