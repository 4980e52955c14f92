//! The rows of nodes and classes, and how a node is found by its name.

use super::blocks::{ClusterBytes, Records, Texts};
use super::head::{CLASS_ROW, Head, NODE_ROW, Part};
use alloc::borrow::Cow;
use xxhash_rust::xxh3::xxh3_64;

/// A node: its name, its class, and its place in the groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeRow {
    /// Place of the name in [`Head::names`].
    pub name: u32,
    /// Number of the class.
    pub class: u16,
    /// Number of the node among those of its class.
    pub member: u32,
    /// The group that the node is directly in.
    pub group: u32,
}

/// A class: the topology of its first node, and what differs between its nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClassRow {
    /// The segment of the topology.
    pub segment: Part,
    /// The fields and their codings.
    pub fields: Part,
    /// The bytes of each node.
    pub rows: Records,
    /// Texts that the codings refer to.
    pub texts: Texts,
    /// Number of nodes.
    pub members: u32,
    /// Number of cores of a node.
    pub cores: u32,
    /// Number of PUs of a node.
    pub pus: u32,
    /// Number of GPUs of a node.
    pub gpus: u32,
}

impl NodeRow {
    /// Number of bytes of a row.
    pub const LEN: u32 = NODE_ROW;

    /// The row as it is written.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN as usize] {
        let mut bytes = [0; Self::LEN as usize];
        let fields = self.name.to_le_bytes().into_iter().chain(self.class.to_le_bytes());
        let fields = fields.chain(self.member.to_le_bytes()).chain(self.group.to_le_bytes());
        bytes.iter_mut().zip(fields).for_each(|(byte, field)| *byte = field);
        bytes
    }

    /// Reads a row.
    #[must_use]
    #[inline]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (name, rest) = bytes.split_first_chunk()?;
        let (class, rest) = rest.split_first_chunk()?;
        let (member, rest) = rest.split_first_chunk()?;
        let (group, _) = rest.split_first_chunk()?;
        let [name, member, group] = [name, member, group].map(|it| u32::from_le_bytes(*it));
        Some(Self { name, class: u16::from_le_bytes(*class), member, group })
    }
}

impl ClassRow {
    /// Number of bytes of a row.
    pub const LEN: u32 = CLASS_ROW;

    /// The row as it is written.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN as usize] {
        let (records, texts) = (self.rows, self.texts);
        let fields: [u64; 16] = [
            self.segment.at,
            self.segment.len,
            self.segment.check,
            self.fields.at,
            self.fields.len,
            self.fields.check,
            records.at,
            records.record.into(),
            records.count.into(),
            texts.at,
            texts.len.into(),
            texts.block.into(),
            self.members.into(),
            self.cores.into(),
            self.pus.into(),
            self.gpus.into(),
        ];
        let mut bytes = [0; Self::LEN as usize];
        let all = fields.iter().flat_map(|field| field.to_le_bytes());
        bytes.iter_mut().zip(all).for_each(|(byte, field)| *byte = field);
        bytes
    }

    /// Reads a row.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (numbers, _) = bytes.as_chunks::<8>();
        let numbers: &[[u8; 8]; 16] = numbers.first_chunk()?;
        let wide = numbers.map(u64::from_le_bytes);
        let [at, len, check, fields_at, fields_len, fields_check, rest @ ..] = wide;
        let [rows_at, record, count, texts_at, texts_len, block, rest @ ..] = rest;
        let [members, cores, pus, gpus] = rest;
        let small = |number: u64| u32::try_from(number).ok();
        Some(Self {
            segment: Part { at, len, check },
            fields: Part { at: fields_at, len: fields_len, check: fields_check },
            rows: Records::new(rows_at, small(record)?, small(count)?),
            texts: Texts { at: texts_at, len: small(texts_len)?, block: small(block)? },
            members: small(members)?,
            cores: small(cores)?,
            pus: small(pus)?,
            gpus: small(gpus)?,
        })
    }
}

/// The table of names: at least half of its places are free, and a name is at the place that its
/// hash says or behind it.
#[must_use]
pub fn places_of<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> alloc::vec::Vec<u32> {
    let mut places = alloc::vec![0_u32; (2 * names.len()).next_power_of_two()];
    for (node, name) in (1..).zip(names) {
        let free = probes(name, places.len()).find(|at| places.get(*at) == Some(&0));
        if let Some(place) = free.and_then(|at| places.get_mut(at)) {
            *place = node;
        }
    }
    places
}

/// Most places that are tried for a name. Of a million names, none is 100 places from its own.
const MOST_PROBES: usize = 4096;

/// The places where a name can be, in the order in which they are tried.
#[inline]
fn probes(name: &str, places: usize) -> impl Iterator<Item = usize> + use<> {
    let mask = places.next_power_of_two().max(1) - 1;
    let first = usize::try_from(xxh3_64(name.as_bytes()) & mask as u64).unwrap_or(0);
    (0..places.min(MOST_PROBES)).map(move |step| (first + step) & mask)
}

impl Head {
    /// The node with a name, in a file in memory whose blocks have been checked.
    #[must_use]
    pub fn find(&self, file: &[u8], name: &str) -> Option<u32> {
        for at in probes(name, self.places.count as usize) {
            let place = self.places.get(file, u32::try_from(at).ok()?)?.first_chunk()?;
            let node = u32::from_le_bytes(*place).checked_sub(1)?;
            let row = NodeRow::read(self.nodes.get(file, node)?)?;
            if self.names.get(file, row.name)? == name {
                return Some(node);
            }
        }
        None
    }

    /// The node with a name, read with the few blocks that are needed. `Ok(None)` if there is none,
    /// `Err` with the name of the part that is damaged.
    ///
    /// # Errors
    ///
    /// The name of the part that cannot be read or whose checksum is wrong.
    pub fn look_up<'a>(
        &self,
        file: &impl ClusterBytes<'a>,
        name: &str,
    ) -> Result<Option<(u32, NodeRow)>, &'static str> {
        for at in probes(name, self.places.count as usize) {
            let place = self.places.read(file, u32::try_from(at).unwrap_or(u32::MAX));
            let place: Cow<'_, [u8]> = place.ok_or("table of names")?;
            let place = place.first_chunk().ok_or("table of names")?;
            let Some(node) = u32::from_le_bytes(*place).checked_sub(1) else { return Ok(None) };
            let row = self.row(file, node).ok_or("nodes")?;
            if self.names.read(file, row.name).ok_or("names")? == name {
                return Ok(Some((node, row)));
            }
        }
        Ok(None)
    }

    /// The row of a node, read with its block.
    pub fn row<'a>(&self, file: &impl ClusterBytes<'a>, node: u32) -> Option<NodeRow> {
        NodeRow::read(&self.nodes.read(file, node)?)
    }

    /// The row of a class, read with its block.
    pub fn class<'a>(&self, file: &impl ClusterBytes<'a>, class: u16) -> Option<ClassRow> {
        ClassRow::read(&self.classes.read(file, class.into())?)
    }
}
