//! URIs of hardware resources: `hwloc://NUMANode` is a type, `hwloc://NUMANode/2` an instance.

use super::legacy::{Meaning, meaning};
use super::resource_type::{HWLOC, ResourceType, TOPOBROKER};
use crate::object::TypeName;
use crate::topology::Topology;
use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt;
use topobroker_layout::object_type::ObjectType;

/// The URI of a type of hardware resource, or of an instance. Counterpart: the values of
/// `mpi_hw_resource_type`, and the keys of `MPI_Get_hw_resource_info`, in MPI 4.1 and 5.0.
///
/// ```
/// use topobroker_reader::{groups::{ResourceType, Uri}, ObjectType};
/// let node = Uri::parse("hwloc://NUMANode/2")?;
/// assert_eq!(node.resource, ResourceType::Object(ObjectType::NUMANode));
/// assert_eq!(node.instance, Some(2));
/// assert_eq!(node.to_string(), "hwloc://NUMANode/2");
/// // The words of MPICH and Open MPI are types too.
/// assert_eq!(Uri::parse("hwthread")?, Uri::parse("hwloc://PU")?);
/// assert!(Uri::parse("hwthreads").is_err());
/// # Ok::<(), topobroker_reader::groups::UriError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Uri<'t> {
    /// The type.
    pub resource: ResourceType,
    /// The instance, by its logical index. Of a domain or hive, its number among those of the node;
    /// of a binding, its number among those of the job. `None` for the type as such.
    pub instance: Option<u32>,
    /// Only NUMA nodes of this subtype, from `?subtype=`. `DRAM` also are nodes without a subtype,
    /// and `HBM` also those with `MCDRAM`.
    pub subtype: Option<&'t str>,
    /// Name of the node that the instance is on, from `?node=`, to distinguish instances of several
    /// nodes apart. No rank is on an instance of a node other than the one with hwloc's `HostName`.
    pub node: Option<&'t str>,
}

/// Why a text is no URI of a hardware resource.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum UriError {
    /// The scheme is not known, or there is none and the text is no word of an MPI.
    #[error(
        "{0:?} is no hardware resource; expected hwloc://TYPE, topobroker://TYPE, or a word of \
         MPICH or Open MPI such as l3cache"
    )]
    Provider(String),
    /// The provider has no such type.
    #[error(
        "{uri:?}: no type {found:?}; hwloc:// has Machine, Package, Die, NUMANode, MemCache, \
         L1Cache to L5Cache, L1iCache to L3iCache, Core, PU and Group0, Group1, ...; \
         topobroker:// has Job, HostBridge, PCISwitch, NVLinkDomain, XGMIHive, NIC, GPU and Binding"
    )]
    Type { uri: String, found: String },
    /// The word means different types.
    #[error(
        "{0:?} is a NUMA node in hwloc and the machine in MPICH; say hwloc://NUMANode or \
         hwloc://Machine"
    )]
    Ambiguous(String),
    /// The instance is no number.
    #[error("{uri:?}: instance {found:?}; expected a number below 2^32")]
    Instance { uri: String, found: String },
    /// What follows the question mark is not known, or does not fit the type.
    #[error("{uri:?}: {found:?}; expected node=NAME or, of NUMA nodes, subtype=NAME")]
    Query { uri: String, found: String },
}

impl<'t> Uri<'t> {
    /// The URI of a type.
    #[must_use]
    pub fn of(resource: ResourceType) -> Self {
        Self { resource, instance: None, subtype: None, node: None }
    }

    /// The URI of an instance of a type.
    #[must_use]
    pub fn of_instance(resource: ResourceType, instance: u32) -> Self {
        Self { instance: Some(instance), ..Self::of(resource) }
    }

    /// Parses a URI, or a word by which Open MPI or MPICH know a type. Case does not matter.
    ///
    /// # Errors
    ///
    /// [`UriError`] with what was found and what was expected.
    pub fn parse(text: &'t str) -> Result<Self, UriError> {
        let Some((provider, rest)) = text.split_once("://") else {
            return Self::of_word(text);
        };
        let (path, query) = rest.split_once('?').map_or((rest, None), |(a, b)| (a, Some(b)));
        let (name, instance) = path.split_once('/').map_or((path, None), |(a, b)| (a, Some(b)));
        let is = |known: &str| provider.eq_ignore_ascii_case(known);
        let resource = match () {
            () if is(HWLOC) => hwloc_type(name),
            () if is(TOPOBROKER) => own_type(name),
            () => return Err(UriError::Provider(text.to_owned())),
        };
        if is(HWLOC) && name.eq_ignore_ascii_case("node") {
            return Err(UriError::Ambiguous(text.to_owned()));
        }
        let found = || UriError::Type { uri: text.to_owned(), found: name.to_owned() };
        let mut uri = Self::of(resource.ok_or_else(found)?);
        if let Some(found) = instance {
            uri.instance = Some(number(found).ok_or_else(|| UriError::Instance {
                uri: text.to_owned(),
                found: found.to_owned(),
            })?);
        }
        for part in query.into_iter().flat_map(|it| it.split('&')) {
            let has_subtypes = uri.resource == ResourceType::Object(ObjectType::NUMANode);
            match part.split_once('=') {
                Some(("node", name)) if !name.is_empty() => uri.node = Some(name),
                Some(("subtype", name)) if has_subtypes && !name.is_empty() => {
                    uri.subtype = Some(name);
                }
                _ => {
                    return Err(UriError::Query { uri: text.to_owned(), found: part.to_owned() });
                }
            }
        }
        Ok(uri)
    }

    /// The URI that a word of Open MPI or MPICH stands for.
    fn of_word(word: &str) -> Result<Self, UriError> {
        match meaning(word).ok_or_else(|| UriError::Provider(word.to_owned()))? {
            Meaning::Type(resource) => Ok(Self::of(resource)),
            Meaning::Memory(subtype) => {
                let nodes = Self::of(ResourceType::Object(ObjectType::NUMANode));
                Ok(Self { subtype: Some(subtype), ..nodes })
            }
            Meaning::Ambiguous => Err(UriError::Ambiguous(word.to_owned())),
        }
    }

    /// Whether an object with a subtype or without one is meant.
    pub(super) fn has_subtype(&self, found: Option<&str>) -> bool {
        self.subtype.is_none_or(|wanted| {
            let is = |known: &str| wanted.eq_ignore_ascii_case(known);
            match found {
                None => is("DRAM"),
                Some(found) => is(found) || (is("HBM") && found == "MCDRAM"),
            }
        })
    }

    /// Whether the node of a topology is meant: any, or the one with its `HostName`.
    pub(super) fn is_of_node(&self, topology: Topology<'_>) -> bool {
        self.node.is_none_or(|node| topology.root().info("HostName") == Some(node))
    }
}

impl fmt::Display for Uri<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.resource.provider(), self.resource)?;
        if let Some(instance) = self.instance {
            write!(f, "/{instance}")?;
        }
        if let Some(subtype) = self.subtype {
            write!(f, "?subtype={subtype}")?;
        }
        if let Some(node) = self.node {
            write!(f, "{}node={node}", if self.subtype.is_some() { '&' } else { '?' })?;
        }
        Ok(())
    }
}

/// A number without a sign.
fn number(digits: &str) -> Option<u32> {
    digits.parse().ok().filter(|_| digits.bytes().all(|it| it.is_ascii_digit()))
}

/// The type with a name of hwloc. Unlike hwloc, the beginning of a name is not enough.
fn hwloc_type(name: &str) -> Option<ResourceType> {
    let is = |known: &str| name.eq_ignore_ascii_case(known);
    let group =
        name.split_at_checked("group".len()).filter(|(it, _)| it.eq_ignore_ascii_case("group"));
    match (group, name.as_bytes()) {
        (Some((_, "")), _) => return Some(ResourceType::Group(None)),
        (Some((_, level)), _) => return Some(ResourceType::Group(Some(number(level)?))),
        (None, [b'l' | b'L', ..]) => {
            return TypeName::parse(name).map(|it| ResourceType::Object(it.object_type));
        }
        _ => {}
    }
    Some(ResourceType::Object(match () {
        () if is("Machine") => ObjectType::Machine,
        () if is("Package") || is("Socket") => ObjectType::Package,
        () if is("Die") => ObjectType::Die,
        () if is("NUMANode") || is("NUMA") => ObjectType::NUMANode,
        () if is("MemCache") => ObjectType::MemCache,
        () if is("Core") => ObjectType::Core,
        () if is("PU") => ObjectType::PU,
        () => return None,
    }))
}

/// The type of ours with a name.
fn own_type(name: &str) -> Option<ResourceType> {
    ResourceType::OWN.into_iter().find(|it| it.name().eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_is_read_back_as_it_is_written() {
        for text in [
            "hwloc://Machine",
            "hwloc://NUMANode/2",
            "hwloc://L1iCache/4294967295",
            "hwloc://Group3/0",
            "hwloc://Group",
            "hwloc://NUMANode?subtype=MCDRAM",
            "hwloc://NUMANode/1?subtype=HBM&node=n12",
            "topobroker://NVLinkDomain/0?node=n12",
            "topobroker://PCISwitch",
        ] {
            assert_eq!(Uri::parse(text).map(|uri| uri.to_string()).as_deref(), Ok(text));
        }
    }

    #[test]
    fn case_aliases_and_words_of_mpis_do_not_matter() {
        for (text, same) in [
            ("HWLOC://numanode/2", "hwloc://NUMANode/2"),
            ("hwloc://L3", "hwloc://L3Cache"),
            ("hwloc://l2i", "hwloc://L2iCache"),
            ("hwloc://socket", "hwloc://Package"),
            ("cpu", "hwloc://Package"),
            ("HWThread", "hwloc://PU"),
            ("l4ucache", "hwloc://L4Cache"),
            ("hbm", "hwloc://NUMANode?subtype=HBM"),
            ("mpi_shared_memory", "hwloc://Machine"),
            ("bindset", "topobroker://Binding"),
            ("topobroker://nic", "topobroker://NIC"),
        ] {
            assert_eq!(Uri::parse(text), Uri::parse(same), "{text}");
        }
    }

    #[test]
    fn what_is_no_uri_is_refused_with_the_reason() {
        for (text, said) in [
            ("", "is no hardware resource"),
            ("custom", "is no hardware resource"),
            ("eth", "is no hardware resource"),
            ("l3cachel3cachel3cachel3cache", "is no hardware resource"),
            ("slurm://Core", "is no hardware resource"),
            ("hwloc://Cor", "no type \"Cor\""),
            ("hwloc://Bridge", "no type \"Bridge\""),
            ("hwloc://L9", "no type \"L9\""),
            ("hwloc://Group-1", "no type \"Group-1\""),
            ("topobroker://Core", "no type \"Core\""),
            ("node", "hwloc://NUMANode or hwloc://Machine"),
            ("hwloc://node/1", "hwloc://NUMANode or hwloc://Machine"),
            ("hwloc://Core/", "instance \"\""),
            ("hwloc://Core/+1", "instance \"+1\""),
            ("hwloc://Core/4294967296", "instance \"4294967296\""),
            ("hwloc://Core?subtype=HBM", "\"subtype=HBM\""),
            ("hwloc://NUMANode?subtype=", "\"subtype=\""),
            ("hwloc://Core?rack=3", "\"rack=3\""),
        ] {
            let error = Uri::parse(text).unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
