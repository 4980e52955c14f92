//! The archive of links: what an administrator declares about the links of a node, because hwloc
//! does not.

use super::kinds::{LinkClass, LinkOrigin, VertexKind};
use super::link::{Link, Vertex, VertexId};
use crate::archive::ArchivedTopology;
use crate::column::{ArchivedColumn, Column};
use crate::encode::{AlignedVec, EncodeError};
use crate::error::{OpenError, ValidationError};
use crate::header::{Header, Kind};
use crate::open::open_frame;
use crate::packed_texts::{pack_texts, text_at};
use crate::validate::{ROWS_A_BYTE, check_rules, ensure};
use alloc::vec::Vec;
use rkyv::{Archive, Serialize};

/// Maximum number of vertices.
pub const MAX_VERTICES: usize = 4096;

/// Maximum number of links.
pub const MAX_LINKS: usize = 32768;

/// Links of a node that are declared.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct Links {
    pub base: [u8; 16],
    pub kind: Column,
    pub object: Column,
    pub name_end: Column,
    pub names: Vec<u8>,
    pub one: Column,
    pub other: Column,
    pub class: Column,
    pub origin: Column,
    pub count: Column,
    pub forward: Column,
    pub backward: Column,
    pub latency: Column,
}

impl Links {
    /// Packs vertices and links of the topology in the segment `base`.
    #[must_use]
    pub fn pack(base: [u8; 16], vertices: &[Vertex], links: &[Link]) -> Self {
        let plus_one = |value: Option<u32>| value.map_or(0, |value| u64::from(value) + 1);
        let of_vertices = |value: &dyn Fn(&Vertex) -> u64| -> Column {
            Column::pack(&vertices.iter().map(value).collect::<Vec<_>>())
        };
        let of_links = |value: &dyn Fn(&Link) -> u64| -> Column {
            Column::pack(&links.iter().map(value).collect::<Vec<_>>())
        };
        let (name_end, names) =
            pack_texts(vertices.iter().map(|it| it.name.as_deref().unwrap_or_default()));
        Self {
            base,
            kind: of_vertices(&|it| it.kind as u64),
            object: of_vertices(&|it| plus_one(it.object)),
            name_end,
            names,
            one: of_links(&|it| it.one.0.into()),
            other: of_links(&|it| it.other.0.into()),
            class: of_links(&|it| it.class as u64),
            origin: of_links(&|it| it.origin as u64),
            count: of_links(&|it| plus_one(it.links.map(u32::from))),
            forward: of_links(&|it| plus_one(it.forward)),
            backward: of_links(&|it| plus_one(it.backward)),
            latency: of_links(&|it| plus_one(it.latency)),
        }
    }

    /// Archives the links. The bytes are valid at any address that is a multiple of 16.
    ///
    /// # Errors
    ///
    /// [`EncodeError::Serialize`].
    pub fn to_bytes(&self) -> Result<AlignedVec, EncodeError> {
        rkyv::to_bytes::<rkyv::rancor::Error>(self)
            .map_err(|error| EncodeError::Serialize(error.into()))
    }
}

impl ArchivedLinks {
    /// The vertices.
    pub fn vertices(&self) -> impl ExactSizeIterator<Item = Vertex> + '_ {
        (0..self.kind.len()).map(|row| Vertex {
            kind: of_list(&VertexKind::ALL, &self.kind, row),
            object: less_one(self.object.get(row)),
            name: Some(self.name(row)).filter(|name| !name.is_empty()).map(Into::into),
        })
    }

    /// The links.
    pub fn links(&self) -> impl ExactSizeIterator<Item = Link> + '_ {
        let end =
            |column: &ArchivedColumn, row| VertexId(u16::try_from(column.get(row)).unwrap_or(0));
        (0..self.one.len()).map(move |row| Link {
            one: end(&self.one, row),
            other: end(&self.other, row),
            class: of_list(&LinkClass::ALL, &self.class, row),
            origin: of_list(&LinkOrigin::ALL, &self.origin, row),
            links: less_one(self.count.get(row)).and_then(|it| u16::try_from(it).ok()),
            forward: less_one(self.forward.get(row)),
            backward: less_one(self.backward.get(row)),
            latency: less_one(self.latency.get(row)),
        })
    }

    fn name(&self, row: usize) -> &str {
        text_at(&self.name_end, &self.names, row)
    }
}

/// The value whose place in a list a row has; the rules make sure that there is one.
fn of_list<T: Copy, const N: usize>(all: &[T; N], column: &ArchivedColumn, row: usize) -> T {
    let place = usize::try_from(column.get(row)).unwrap_or(0);
    all.get(place).copied().unwrap_or(all[0])
}

fn less_one(value: u64) -> Option<u32> {
    u32::try_from(value.checked_sub(1)?).ok()
}

/// Checks the segment of links and returns its header and its archive, which is read in place.
///
/// # Errors
///
/// [`OpenError`] for the first check that fails.
pub fn open(segment: &[u8]) -> Result<(Header, &ArchivedLinks), OpenError> {
    let (header, archive) = open_frame(segment, Kind::Links)?;
    let links = rkyv::access::<ArchivedLinks, rkyv::rancor::Error>(archive)
        .map_err(|error: rkyv::rancor::Error| OpenError::Archive(error.into()))?;
    validate_columns(links, archive.len())?;
    Ok((header, links))
}

/// Checks the vertices against the topology `base`.
///
/// # Errors
///
/// [`ValidationError`] for the first rule that is broken.
pub fn validate(links: &ArchivedLinks, base: &ArchivedTopology) -> Result<(), ValidationError> {
    let objects = base.tree.len() as u64;
    for row in 0..links.kind.len() {
        let object = links.object.get(row);
        ensure(object <= objects, "links.object", row, "is an object of the topology")?;
        let has_one = (object == 0) != links.name(row).is_empty();
        ensure(has_one, "links.object", row, "a vertex has an object or a name")?;
    }
    Ok(())
}

fn validate_columns(links: &ArchivedLinks, archive_len: usize) -> Result<(), ValidationError> {
    let (vertices, count) = (links.kind.len(), links.one.len());
    ensure(vertices <= MAX_VERTICES, "links.kind", vertices, "has 4096 vertices at most")?;
    ensure(count <= MAX_LINKS, "links.one", count, "has 32768 links at most")?;
    let most_rows = archive_len.saturating_mul(ROWS_A_BYTE);
    // The greatest number stands for no limit while paths are searched.
    let (names, value) = (links.names.len() as u64 + 1, 1 << 32);
    let rules = [
        (&links.kind, vertices, VertexKind::ALL.len() as u64),
        (&links.object, vertices, value),
        (&links.name_end, vertices, names),
        (&links.one, count, vertices as u64),
        (&links.other, count, vertices as u64),
        (&links.class, count, LinkClass::ALL.len() as u64),
        (&links.origin, count, LinkOrigin::ALL.len() as u64),
        (&links.count, count, (1 << 16) + 1),
        (&links.forward, count, value),
        (&links.backward, count, value),
        (&links.latency, count, value),
    ];
    check_rules(&rules, NAMES, most_rows)?;
    for row in 0..count {
        // A value is stored with one added, so that nothing stands for unknown.
        let has_zero = [&links.count, &links.forward, &links.backward].map(|it| it.get(row) == 1);
        ensure(!has_zero.contains(&true), "links.forward", row, "is unknown or greater than 0")?;
        let ends_differ = links.one.get(row) != links.other.get(row);
        ensure(ends_differ, "links.one", row, "a link has different vertices")?;
    }
    let mut first = 0;
    for row in 0..vertices {
        let end = links.name_end.get(row);
        ensure(first <= end, "links.name_end", row, "ends of names ascend")?;
        let bytes = usize::try_from(first).ok().zip(usize::try_from(end).ok());
        let name = bytes.and_then(|(first, end)| links.names.get(first..end));
        let is_text = name.is_some_and(|name| core::str::from_utf8(name).is_ok());
        ensure(is_text, "links.names", row, "names are UTF-8")?;
        first = end;
    }
    Ok(())
}

/// The names of the columns, in the order of the rules.
const NAMES: &str = "links.kind links.object links.name_end links.one links.other links.class \
                     links.origin links.count links.forward links.backward links.latency";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::topology;
    use crate::validate::tests::machine;
    use alloc::string::{String, ToString};
    use rkyv::rancor::Error;
    use rkyv::util::AlignedVec;

    fn vertex(object: Option<u32>, name: Option<&str>) -> Vertex {
        Vertex { kind: VertexKind::Gpu, object, name: name.map(Into::into) }
    }

    fn link(one: u16, other: u16) -> Link {
        let (forward, backward) = (Some(u32::MAX - 1), Some(1));
        let plain =
            Link::between(VertexId(one), VertexId(other), LinkClass::NvLink, LinkOrigin::Declared);
        Link { links: Some(6), forward, backward, ..plain }
    }

    fn sound() -> (Vec<Vertex>, Vec<Link>) {
        let vertices = [vertex(Some(0), None), vertex(None, Some("leaf")), vertex(Some(1), None)];
        (vertices.into(), [link(0, 1), link(2, 0)].into())
    }

    /// A machine of a few objects.
    fn base() -> AlignedVec {
        rkyv::to_bytes::<Error>(&topology(&machine(2)).unwrap()).unwrap()
    }

    /// What is wrong with these links on that machine.
    fn refused(links: &Links, base: &AlignedVec) -> Result<(), String> {
        let base = rkyv::access::<ArchivedTopology, Error>(base).unwrap();
        let bytes = links.to_bytes().unwrap();
        let links = rkyv::access::<ArchivedLinks, Error>(&bytes).unwrap();
        let found = validate_columns(links, bytes.len()).and_then(|()| validate(links, base));
        found.map_err(|error| error.to_string())
    }

    #[test]
    fn vertices_and_links_are_read_back() {
        let (vertices, links) = sound();
        let packed = Links::pack([7; 16], &vertices, &links);
        assert_eq!(refused(&packed, &base()), Ok(()));
        let bytes = packed.to_bytes().unwrap();
        let archive = rkyv::access::<ArchivedLinks, Error>(&bytes).unwrap();
        assert_eq!(archive.vertices().collect::<Vec<_>>(), vertices);
        assert_eq!(archive.links().collect::<Vec<_>>(), links);
    }

    /// A segment has the place in the list, which is packed as the number of the variant.
    #[test]
    fn kinds_classes_and_origins_are_listed_in_the_order_of_their_numbers() {
        let is_number = |(place, number): (usize, usize)| place == number;
        assert!(VertexKind::ALL.map(|it| it as usize).into_iter().enumerate().all(is_number));
        assert!(LinkClass::ALL.map(|it| it as usize).into_iter().enumerate().all(is_number));
        assert!(LinkOrigin::ALL.map(|it| it as usize).into_iter().enumerate().all(is_number));
    }

    #[test]
    fn links_that_break_a_rule_are_refused_with_that_rule() {
        let base = base();
        let refused = |links: &Links| refused(links, &base);
        type Break = fn(&mut Vec<Vertex>, &mut Vec<Link>);
        let cases: [(Break, &str); 6] = [
            (|_, links| links[0].backward = Some(0), "unknown or greater than 0"),
            (|_, links| links[1].links = Some(0), "unknown or greater than 0"),
            (|_, links| links[1].other = VertexId(3), "links.other"),
            (|_, links| links[1].one = VertexId(0), "a link has different vertices"),
            (|vertices, _| vertices[2].object = Some(1 << 20), "is an object of the topology"),
            (|vertices, _| vertices[2].object = None, "a vertex has an object or a name"),
        ];
        for (change, rule) in cases {
            let (mut vertices, mut links) = sound();
            change(&mut vertices, &mut links);
            let error = refused(&Links::pack([0; 16], &vertices, &links)).unwrap_err();
            assert!(error.contains(rule), "{error}: {rule}");
        }
        let (vertices, links) = sound();
        type BreakColumn = fn(&mut Links);
        let columns: [(BreakColumn, &str); 3] = [
            (|links| links.class = Column::pack(&[10, 0]), "links.class"),
            (|links| links.origin = Column::pack(&[6, 0]), "links.origin"),
            (|links| links.kind = Column::pack(&[11, 0, 0]), "links.kind"),
        ];
        for (change, rule) in columns {
            let mut broken = Links::pack([0; 16], &vertices, &links);
            change(&mut broken);
            let error = refused(&broken).unwrap_err();
            assert!(error.contains(rule), "{error}: {rule}");
        }
        let mut broken = Links::pack([0; 16], &vertices, &links);
        broken.name_end = Column::pack(&[0, 4, 3]);
        assert!(refused(&broken).unwrap_err().contains("ends of names ascend"));
        broken.name_end = Column::pack(&[0, 5, 5]);
        assert!(refused(&broken).unwrap_err().contains("links.name_end"));
        let mut broken = Links::pack([0; 16], &vertices, &links);
        broken.names = [0xff; 4].into();
        assert!(refused(&broken).unwrap_err().contains("names are UTF-8"));
        let mut broken = Links::pack([0; 16], &vertices, &links);
        broken.latency = Column::unsound(2);
        assert!(refused(&broken).unwrap_err().contains("links.latency"));
        broken.latency = Column::pack(&[1, 1, 1]);
        assert!(refused(&broken).unwrap_err().contains("links.latency"));
    }
}
