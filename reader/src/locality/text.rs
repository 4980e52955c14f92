//! PMIx's locality strings: which objects a process is on, by logical index, such as
//! `SK0:L30:L20-1:L10-1:CR0-1:HT0-3:NM0`.

use super::relative::is_unbound;
use super::{Locality, OBJECTS};
use crate::object::Object;
use crate::topology::Topology;
use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt::{self, Write};
use topobroker_layout::depth::Depth;
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::set::{Format, ParseSetError, Set};

/// The letters of each of [`OBJECTS`].
const CODES: &str = "HT CR L1 L2 L3 SK NM";

/// What `PMIx_Get_relative_locality` demands before a string, up to PMIx 6.
const PREFIX: &str = "hwloc:";

/// A text is not a locality string.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum LocalityTextError {
    /// A part of the text does not begin with the letters of a type.
    #[error(
        "{text:?} is no locality string: {part:?} does not begin with HT, CR, L1, L2, L3, SK or \
         NM; expected parts such as SK0 and HT0-3, separated by colons"
    )]
    Type { text: String, part: String },
    /// The letters of a part are not followed by a list of logical indexes.
    #[error("{text:?} is no locality string")]
    List {
        text: String,
        #[source]
        source: ParseSetError,
    },
}

impl Topology<'_> {
    /// PMIx's locality string of a process that is bound to a set: logical indexes of the objects
    /// that have PUs of the set. `None` if there are none, and for the full infinite set, by which
    /// hwloc means that the process is not bound. Counterpart:
    /// `PMIx_server_generate_locality_string`.
    ///
    /// ```
    /// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documentation/example_machine.rs"));
    /// let text = topology.locality_string(&[0].into_iter().collect());
    /// println!("{}", text.unwrap_or_default());
    /// ```
    #[doc(alias = "PMIx_server_generate_locality_string")]
    #[must_use]
    pub fn locality_string(self, set: &Set) -> Option<String> {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write_locality_string(set, &mut text);
        (!text.is_empty()).then_some(text)
    }

    /// Writes [`Topology::locality_string`], or nothing if there is none.
    ///
    /// # Errors
    ///
    /// That of `out`.
    pub fn write_locality_string(self, set: &Set, out: &mut impl Write) -> fmt::Result {
        if is_unbound(set) {
            return Ok(());
        }
        let mut list = List { out, begun: false };
        let run = self.run_of(set);
        for level in 1..self.depth() {
            let depth = Depth::Normal(level);
            let Some(code) = self.depth_type(depth).and_then(code_of) else { continue };
            match run.and_then(|run| self.ends(level, run)) {
                // Fast path: up to 127 times as fast.
                Some((first, last)) => list.write(code, [(first, last)])?,
                None => {
                    let objects = self.objects_at_depth(depth).filter(|it| it.intersects(set));
                    list.write(code, runs_of(objects))?;
                }
            }
        }
        let near = run.and_then(|(low, high)| self.index.nodes_of_pus(&(low..high + 1)));
        let nodes = near.map_or(self.numa_nodes(), |ids| self.numa_nodes().within(&ids));
        list.write("NM", runs_of(nodes.filter(|node| node.intersects(set))))
    }

    /// The logical PUs of a set, first and last, if it has all PUs between them and no others.
    fn run_of(self, set: &Set) -> Option<(u32, u32)> {
        let index = self.index;
        let (low, high) = index.bounds_of(set).filter(|_| index.is_plain())?;
        index.contiguous?;
        (set.weight() == Some(high - low + 1)).then_some((low, high))
    }

    /// Logical indexes of the first and the last object of a level that have PUs of a run. `None`
    /// if objects between them may have none, as objects without PUs have.
    fn ends(self, level: u32, (low, high): (u32, u32)) -> Option<(u32, u32)> {
        let base = self.index.base_level_of_depth(Depth::Normal(level))?;
        if self.index.pus_of_level(base) == 0 {
            return None;
        }
        let of_pu = |pu| {
            let id = self.index.object_of_level_with(base, pu)?;
            Some(Object::new(self.index, id).logical_index())
        };
        Some((of_pu(low)?, of_pu(high)?))
    }
}

impl Locality {
    /// What two processes share, by their locality strings. The strings may begin with `hwloc:`.
    /// Counterpart: `PMIx_Get_relative_locality`.
    ///
    /// ```
    /// use topobroker_reader::Locality;
    /// let shared = Locality::from_strings("hwloc:SK0:L30:CR0:HT0-1", "SK0:L30:CR1:HT2-3")?;
    /// assert_eq!(shared, Locality::PACKAGE | Locality::L3CACHE | Locality::NODE);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`LocalityTextError`] if a text is not a locality string.
    #[doc(alias = "PMIx_Get_relative_locality")]
    pub fn from_strings(one: &str, other: &str) -> Result<Self, LocalityTextError> {
        let (theirs, own) = (sets_of(other)?, sets_of(one)?);
        let pairs = OBJECTS.iter().zip(own.iter().zip(&theirs));
        let shared = pairs.filter(|(_, (own, theirs))| own.intersects(theirs));
        Ok(shared.fold(Self::NODE, |all, ((_, locality), _)| all | *locality))
    }
}

/// The logical indexes in a locality string, for each of [`OBJECTS`].
fn sets_of(text: &str) -> Result<[Set; OBJECTS.len()], LocalityTextError> {
    let mut sets: [Set; OBJECTS.len()] = Default::default();
    for part in text.strip_prefix(PREFIX).unwrap_or(text).split(':') {
        let (place, set) = parse(text, part)?;
        if let Some(known) = sets.get_mut(place) {
            *known |= &set;
        }
    }
    Ok(sets)
}

/// The place in [`OBJECTS`] of the type of a part, and its logical indexes.
fn parse(text: &str, part: &str) -> Result<(usize, Set), LocalityTextError> {
    let mut known = CODES.split(' ').enumerate();
    let found = known.find_map(|(place, code)| Some((place, part.strip_prefix(code)?)));
    let Some((place, list)) = found else {
        return Err(LocalityTextError::Type { text: text.to_owned(), part: part.to_owned() });
    };
    let refused = |source| LocalityTextError::List { text: text.to_owned(), source };
    if list.is_empty() {
        let (reason, expected) = ("no index", "logical indexes such as 0-3,8");
        let text = part.to_owned();
        return Err(refused(ParseSetError { text, position: part.len(), reason, expected }));
    }
    Ok((place, Set::parse(list, Format::List).map_err(refused)?))
}

fn code_of(object_type: ObjectType) -> Option<&'static str> {
    let place = OBJECTS.iter().position(|(known, _)| *known == object_type)?;
    CODES.split(' ').nth(place)
}

/// Logical indexes of objects of one level, as runs.
fn runs_of<'a>(objects: impl Iterator<Item = Object<'a>>) -> impl Iterator<Item = (u32, u32)> {
    let mut indexes = objects.map(Object::logical_index).peekable();
    core::iter::from_fn(move || {
        let first = indexes.next()?;
        let mut last = first;
        while indexes.next_if_eq(&(last + 1)).is_some() {
            last += 1;
        }
        Some((first, last))
    })
}

/// Writes the parts of a locality string.
struct List<'o, W> {
    out: &'o mut W,
    begun: bool,
}

impl<W: Write> List<'_, W> {
    /// Writes one part; nothing if there are no runs.
    fn write(&mut self, code: &str, runs: impl IntoIterator<Item = (u32, u32)>) -> fmt::Result {
        let mut comma = "";
        for (first, last) in runs {
            if comma.is_empty() {
                self.out.write_str(if self.begun { ":" } else { "" })?;
                self.out.write_str(code)?;
            }
            self.begun = true;
            write!(self.out, "{comma}{first}")?;
            if first != last {
                write!(self.out, "-{last}")?;
            }
            comma = ",";
        }
        Ok(())
    }
}
