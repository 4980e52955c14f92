//! Loading a topology: this machine, an XML file, a synthetic description, a saved file system.

use super::{Topology, api_version};
use hwlocality_sys as sys;
use std::ffi::{CString, c_int};
use std::io;
use std::path::{Path, PathBuf};
use std::ptr;
use topobroker_layout::object_type::ObjectType;

/// From where a topology is loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Input {
    /// This machine.
    ThisMachine,
    /// An hwloc XML file of version 1 or 2; `-` is standard input.
    Xml(PathBuf),
    /// A synthetic description, such as `Package:2 Core:4 PU:2`.
    Synthetic(String),
    /// The root of a saved Linux file system with `/sys` and `/proc`. hwloc takes it from the
    /// environment, so `HWLOC_FSROOT` must have been set to it when this process was started.
    Fsroot(PathBuf),
}

/// How a topology is loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadOptions {
    /// Sum of `HWLOC_TOPOLOGY_FLAG_*`.
    pub flags: u64,
    /// Filters that differ from "keep everything", in the order in which they are set.
    pub filters: Vec<(ObjectType, Filter)>,
}

/// Which objects of a type are kept. Counterpart: `enum hwloc_type_filter_e`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    /// All.
    All,
    /// None.
    None,
    /// Those that add to the structure of the tree.
    Structure,
    /// Those that matter: of I/O objects those that HPC uses, all others.
    Important,
}

/// Why a topology is not loaded. Every message names the input.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file cannot be read.
    #[error("{input}: cannot be read: {source}")]
    Read {
        /// The file.
        input: String,
        /// Why.
        source: io::Error,
    },
    /// The file is not well-formed XML.
    #[error("{input}: is not XML: {reason}, at byte {position}")]
    NotXml {
        /// The file.
        input: String,
        /// What the parser says.
        reason: String,
        /// Where it says so.
        position: u64,
    },
    /// XML, but of something else.
    #[error("{input}: is XML with root element <{found}>, expected <topology> or <root> as hwloc writes")]
    NotTopology {
        /// The file.
        input: String,
        /// Name of the root element.
        found: String,
    },
    /// An XML format that this hwloc does not know.
    #[error("{input}: is hwloc XML version {found}, and hwloc {hwloc} of this process reads versions 1 and 2; export it again for hwloc 2 (lstopo --export-xml-flags v2)")]
    XmlVersion {
        /// The file.
        input: String,
        /// Its version.
        found: String,
        /// Version of hwloc.
        hwloc: String,
    },
    /// A synthetic description with a word that hwloc does not know.
    #[error("synthetic description {input:?}: {word:?} at position {position}: {reason}; expected words such as Package:2")]
    Synthetic {
        /// The description.
        input: String,
        /// The word.
        word: String,
        /// Its place in the text, from 0.
        position: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The file system root is not announced to hwloc.
    #[error("{input}: HWLOC_FSROOT is {found:?}; hwloc takes the root from the environment, so set HWLOC_FSROOT={input} before this program starts")]
    Fsroot {
        /// The root.
        input: String,
        /// The variable.
        found: String,
    },
    /// hwloc says no.
    #[error("{input}: hwloc cannot {step}: {source}")]
    Hwloc {
        /// The input.
        input: String,
        /// What it was asked for.
        step: &'static str,
        /// Its error.
        source: io::Error,
    },
}

impl Default for LoadOptions {
    /// Everything is kept, and the support bits of an imported topology are those of its machine.
    fn default() -> Self {
        Self { flags: sys::HWLOC_TOPOLOGY_FLAG_IMPORT_SUPPORT, filters: Vec::new() }
    }
}

impl Filter {
    fn raw(self) -> sys::hwloc_type_filter_e {
        match self {
            Self::All => sys::HWLOC_TYPE_FILTER_KEEP_ALL,
            Self::None => sys::HWLOC_TYPE_FILTER_KEEP_NONE,
            Self::Structure => sys::HWLOC_TYPE_FILTER_KEEP_STRUCTURE,
            Self::Important => sys::HWLOC_TYPE_FILTER_KEEP_IMPORTANT,
        }
    }
}

impl Input {
    /// The input in a word or two, as messages name it.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::ThisMachine => "this machine".to_owned(),
            Self::Xml(path) | Self::Fsroot(path) => path.display().to_string(),
            Self::Synthetic(text) => text.clone(),
        }
    }
}

/// Loads a topology. Counterpart: `hwloc_topology_load` and what comes before it.
///
/// # Errors
///
/// [`LoadError`] naming the input and the reason.
#[doc(alias = "hwloc_topology_load")]
pub fn load(input: &Input, options: &LoadOptions) -> Result<Topology<'static>, LoadError> {
    let name = input.name();
    let failed = |step| LoadError::Hwloc {
        input: name.clone(),
        step,
        source: io::Error::last_os_error(),
    };
    let content = match input {
        Input::Xml(path) => Some(read_xml(path)?),
        Input::Fsroot(path) => {
            check_fsroot(path)?;
            None
        }
        Input::ThisMachine | Input::Synthetic(_) => None,
    };
    let topology = new_topology().map_err(|()| failed("make a topology"))?;
    configure(&topology, options).map_err(|()| failed("take the type filters"))?;
    match (input, content) {
        (Input::Synthetic(text), _) => set_synthetic(&topology, text)?,
        (_, Some(content)) => {
            set_xml(&topology, &content).map_err(|()| failed("take the XML"))?;
        }
        _ => {}
    }
    // SAFETY: initialised and not loaded yet.
    match unsafe { sys::hwloc_topology_load(topology.raw) } {
        0 => Ok(topology),
        _ => Err(failed("load the topology")),
    }
}

fn new_topology() -> Result<Topology<'static>, ()> {
    let mut raw = ptr::null_mut();
    // SAFETY: `raw` is an output.
    match unsafe { sys::hwloc_topology_init(&raw mut raw) } {
        0 => Ok(Topology::owned(raw)),
        _ => Err(()),
    }
}

fn ok(error: c_int) -> Result<(), ()> {
    if error == 0 { Ok(()) } else { Err(()) }
}

fn configure(topology: &Topology<'_>, options: &LoadOptions) -> Result<(), ()> {
    let all = Filter::All.raw();
    // SAFETY: initialised and not loaded yet, as for every call here.
    ok(unsafe { sys::hwloc_topology_set_flags(topology.raw, options.flags) })?;
    // SAFETY: above.
    ok(unsafe { sys::hwloc_topology_set_all_types_filter(topology.raw, all) })?;
    for (object_type, filter) in &options.filters {
        let object_type = object_type.raw().into();
        // SAFETY: above.
        ok(unsafe {
            sys::hwloc_topology_set_type_filter(topology.raw, object_type, filter.raw())
        })?;
    }
    Ok(())
}

fn set_synthetic(topology: &Topology<'_>, text: &str) -> Result<(), LoadError> {
    let refused = || {
        let (word, position, reason) = blame_synthetic(text);
        LoadError::Synthetic { input: text.to_owned(), word, position, reason }
    };
    let Ok(raw) = CString::new(text) else { return Err(refused()) };
    // SAFETY: initialised and not loaded yet; the string has an end.
    ok(unsafe { sys::hwloc_topology_set_synthetic(topology.raw, raw.as_ptr()) })
        .map_err(|()| refused())
}

fn set_xml(topology: &Topology<'_>, content: &[u8]) -> Result<(), ()> {
    let length = c_int::try_from(content.len()).map_err(|_| ())?;
    // SAFETY: initialised and not loaded yet; hwloc parses `length` bytes, the last of them the
    // zero that it wants, before this returns.
    ok(unsafe {
        sys::hwloc_topology_set_xmlbuffer(topology.raw, content.as_ptr().cast(), length)
    })
}

/// The first word that cannot be right, with its place and the reason.
fn blame_synthetic(text: &str) -> (String, usize, &'static str) {
    let mut depth = 0usize;
    let mut words: Vec<(usize, String)> = Vec::new();
    let mut fresh = true;
    for (position, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if letter.is_whitespace() && depth == 0 {
            fresh = true;
            continue;
        }
        if fresh {
            words.push((position, String::new()));
        }
        fresh = false;
        if let Some((_, word)) = words.last_mut() {
            word.push(letter);
        }
    }
    for (position, word) in &words {
        if let Some(reason) = wrong_with_synthetic(word) {
            return (word.clone(), *position, reason);
        }
    }
    let (position, word) = words.last().cloned().unwrap_or_default();
    (word, position, "hwloc refuses the description as a whole")
}

fn wrong_with_synthetic(word: &str) -> Option<&'static str> {
    if word.starts_with('(') || word.starts_with('[') {
        return None;
    }
    let word = word.split('(').next().unwrap_or(word);
    let (kind, count) = word.rsplit_once(':').unwrap_or(("", word));
    let letters: String = kind.chars().filter(char::is_ascii_alphabetic).collect();
    let known = ["machine", "package", "socket", "core", "pu", "group", "numanode", "numa", "node",
        "die", "l", "li", "ld", "lu", "lcache", "licache", "ldcache", "lucache", "memcache",
        "memorysidecache"];
    let known_kind = known.iter().any(|name| name.eq_ignore_ascii_case(&letters));
    if !kind.is_empty() && !known_kind {
        return Some("no such type of object");
    }
    match count.parse::<u32>() {
        Ok(0) => Some("a level has at least one object"),
        Ok(_) => None,
        Err(_) => Some("not a number of objects"),
    }
}

fn check_fsroot(path: &Path) -> Result<(), LoadError> {
    let input = path.display().to_string();
    match std::fs::metadata(path.join("sys")) {
        Ok(_) => {}
        Err(source) => return Err(LoadError::Read { input: format!("{input}/sys"), source }),
    }
    let found = std::env::var_os("HWLOC_FSROOT").unwrap_or_default();
    if found == path { Ok(()) } else {
        Err(LoadError::Fsroot { input, found: found.to_string_lossy().into_owned() })
    }
}

/// Reads an XML file with a zero behind it, after checking that hwloc can make sense of it: what
/// hwloc says of a bad one is no more than "invalid argument".
fn read_xml(path: &Path) -> Result<Vec<u8>, LoadError> {
    let input = path.display().to_string();
    let read = |path: &Path| -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        if path == Path::new("-") {
            io::Read::read_to_end(&mut io::stdin(), &mut content)?;
        } else {
            content = std::fs::read(path)?;
        }
        Ok(content)
    };
    let mut content =
        read(path).map_err(|source| LoadError::Read { input: input.clone(), source })?;
    check_xml(&content, &input)?;
    content.push(0);
    Ok(content)
}

fn check_xml(content: &[u8], input: &str) -> Result<(), LoadError> {
    use quick_xml::events::Event;
    let mut reader = quick_xml::Reader::from_reader(content);
    let mut root = None;
    let mut open_elements = 0usize;
    loop {
        let event = reader.read_event();
        let not_xml = |reason: String| LoadError::NotXml {
            input: input.to_owned(),
            reason,
            position: reader.buffer_position(),
        };
        let element = match event {
            Ok(Event::Start(element)) => {
                open_elements += 1;
                element
            }
            Ok(Event::Empty(element)) => element,
            Ok(Event::End(_)) => {
                open_elements -= 1;
                continue;
            }
            Ok(Event::Eof) if open_elements > 0 => {
                return Err(not_xml("it ends before its elements are closed".to_owned()));
            }
            Ok(Event::Eof) if root.is_none() => {
                return Err(not_xml("it has no elements".to_owned()));
            }
            Ok(Event::Eof) => return Ok(()),
            Ok(_) => continue,
            Err(error) => return Err(not_xml(error.to_string())),
        };
        if root.is_none() {
            root = Some(());
            check_root(&element, input)?;
        }
    }
}

fn check_root(element: &quick_xml::events::BytesStart<'_>, input: &str) -> Result<(), LoadError> {
    let found = String::from_utf8_lossy(element.name().into_inner()).into_owned();
    if found != "topology" && found != "root" {
        return Err(LoadError::NotTopology { input: input.to_owned(), found });
    }
    let version = element.try_get_attribute("version").ok().flatten();
    let version = version.map(|version| String::from_utf8_lossy(&version.value).into_owned());
    let found = version.unwrap_or_else(|| "1.0".to_owned());
    let major = found.split('.').next().and_then(|major| major.parse::<u32>().ok());
    let hwloc = api_version();
    let supported = major.is_some_and(|major| major <= (hwloc >> 16).max(2));
    if supported { Ok(()) } else {
        let hwloc = format!("{}.{}.{}", hwloc >> 16, hwloc >> 8 & 0xff, hwloc & 0xff);
        Err(LoadError::XmlVersion { input: input.to_owned(), found, hwloc })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bad_word_of_a_synthetic_description_is_blamed() {
        for (text, word, position) in [
            ("Package:2 Foo:3 PU:1", "Foo:3", 10),
            ("Package:2 Core:x PU:1", "Core:x", 10),
            ("Package:0 PU:1", "Package:0", 0),
            ("Package:2(memory=1 foo) Bar:1", "Bar:1", 24),
        ] {
            let error = load(&Input::Synthetic(text.to_owned()), &LoadOptions::default());
            match error.unwrap_err() {
                LoadError::Synthetic { word: found, position: at, .. } => {
                    assert_eq!((found.as_str(), at), (word, position));
                }
                other => panic!("{other}"),
            }
        }
    }
}
