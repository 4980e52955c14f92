//! Reads hwloc XML and checks it first, because hwloc reports only that something is wrong.

use super::error::HwlocLoadError;
use super::xml_tree::{Tree, Version};
use crate::file_bytes::FileBytes;
use crate::hwloc::version::library_version;
use quick_xml::events::attributes::Attribute;
use quick_xml::events::{BytesStart, Event};
use std::borrow::Cow;
use std::io;
use std::path::Path;
use topobroker_layout::archive::INDEX_LIMIT;
use topobroker_reader::FileError;

/// Most bytes of an XML file: about ten times what hwloc writes for the largest machines.
const MOST_XML: u64 = 1 << 26;

/// XML that was checked, with a zero byte behind it.
pub(super) struct Checked {
    pub(super) content: Vec<u8>,
    version: String,
}

/// Reads and checks an XML file. The check finds the reason of a failure, because hwloc reports
/// only "invalid argument".
pub(super) fn read(path: &Path) -> Result<Checked, HwlocLoadError> {
    let input = path.display().to_string();
    let content = match path == Path::new("-") {
        true => FileBytes::read(io::stdin(), MOST_XML),
        false => FileBytes::open(path, MOST_XML),
    };
    let content =
        content.map_err(|source| HwlocLoadError::Read { input: input.clone(), source })?;
    // hwloc needs a zero behind it.
    checked(content.to_vec(), &input)
}

/// Checks XML that is in memory already. Errors call it `input`. Blanks and a byte order mark
/// before it are left out, which hwloc refuses.
pub(super) fn checked(content: Vec<u8>, input: &str) -> Result<Checked, HwlocLoadError> {
    if content.len() as u64 > MOST_XML {
        let source = FileError::TooLong { limit: MOST_XML }.into();
        return Err(HwlocLoadError::Read { input: input.to_owned(), source });
    }
    let start = content.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&content).trim_ascii_start();
    let before = content.len() - start.len();
    if !start.starts_with(b"<") && start.contains(&b'<') {
        let found = start.split(|byte| b"<\n".contains(byte)).next().unwrap_or_default();
        let is_text = |text: &&str| !text.contains(|it: char| it.is_control() && it != '\r');
        if let Some(found) = std::str::from_utf8(found).ok().filter(is_text) {
            let found = found.trim_end().chars().take(60).collect();
            let line = 1 + content.iter().take(before).filter(|byte| **byte == b'\n').count();
            return Err(HwlocLoadError::TextBefore { input: input.to_owned(), line, found });
        }
    }
    let mut content = content;
    content.drain(..before);
    let version = check(&content, input)?;
    content.push(0);
    Ok(Checked { content, version })
}

impl Checked {
    /// Why hwloc has refused it, if it is of a version that not every hwloc 2 knows.
    pub(super) fn refused(&self, input: &str) -> Option<HwlocLoadError> {
        let major = self.version.split('.').next().and_then(|major| major.parse::<u32>().ok());
        if major.is_some_and(|major| major <= 2) {
            return None;
        }
        let (input, found) = (input.to_owned(), self.version.clone());
        Some(HwlocLoadError::XmlVersion { input, found, hwloc: library_version() })
    }
}

/// Checks XML, and returns its version.
fn check(content: &[u8], input: &str) -> Result<String, HwlocLoadError> {
    let mut reader = quick_xml::Reader::from_reader(content);
    let mut root: Option<String> = None;
    let mut open_elements = 0usize;
    let mut tree: Option<Tree> = None;
    let breaks = |(object, rule)| HwlocLoadError::Tree { input: input.to_owned(), object, rule };
    loop {
        let event = reader.read_event();
        let not_xml = |reason: String| HwlocLoadError::NotXml {
            input: input.to_owned(),
            reason,
            position: reader.buffer_position(),
        };
        let (element, is_empty) = match event {
            Ok(Event::Start(element)) => {
                open_elements += 1;
                (element, false)
            }
            Ok(Event::Empty(element)) => (element, true),
            Ok(Event::End(element)) => {
                open_elements -= 1;
                if element.name().into_inner() == b"object" {
                    tree.iter_mut().for_each(Tree::end);
                }
                continue;
            }
            Ok(Event::DocType(declared)) if declared.contains(&b'[') => {
                return Err(HwlocLoadError::Declarations { input: input.to_owned() });
            }
            Ok(Event::Eof) if open_elements > 0 => {
                return Err(not_xml("it ends before its elements are closed".to_owned()));
            }
            Ok(Event::Eof) => {
                tree.iter().try_for_each(Tree::finish).map_err(breaks)?;
                return root.ok_or_else(|| not_xml("it has no elements".to_owned()));
            }
            Ok(_) => continue,
            Err(error) => return Err(not_xml(error.to_string())),
        };
        if root.is_none() {
            let version = version_of_root(&element, input)?;
            tree = Version::of(&version).map(Tree::new);
            root = Some(version);
        }
        if element.name().into_inner() != b"object" {
            continue;
        }
        let object = Attributes::of(&element);
        check_index(&object, input)?;
        if let Some(tree) = &mut tree {
            tree.begin(|name| object.value(name)).map_err(breaks)?;
            if is_empty {
                tree.end();
            }
        }
    }
}

/// Attributes of objects that are checked.
const CHECKED: [&str; 7] =
    ["type", "os_index", "gp_index", "cpuset", "complete_cpuset", "nodeset", "complete_nodeset"];

/// The checked attributes of an object.
struct Attributes<'e>([Option<Attribute<'e>>; CHECKED.len()]);

impl<'e> Attributes<'e> {
    fn of(element: &'e BytesStart<'_>) -> Self {
        let mut all = Self(Default::default());
        // What comes after a malformed one is not seen: hwloc refuses such a file.
        for attribute in element.attributes().with_checks(false).map_while(Result::ok) {
            let place = CHECKED.iter().position(|it| it.as_bytes() == attribute.key.as_ref());
            if let Some(first) = place.and_then(|place| all.0.get_mut(place)) {
                first.get_or_insert(attribute);
            }
        }
        all
    }

    /// One of the checked attributes as hwloc sees it: `&#80;U` is a PU.
    fn value(&self, name: &str) -> Option<Cow<'_, str>> {
        debug_assert!(CHECKED.contains(&name), "{name}");
        let attribute = self.0.iter().flatten().find(|it| it.key.as_ref() == name.as_bytes())?;
        let text = attribute.unescape_value();
        Some(text.unwrap_or_else(|_| String::from_utf8_lossy(&attribute.value)))
    }
}

/// Checks the OS index of a PU or NUMA node. Both hwloc and the archive make sets of these indexes.
/// With a high index hwloc would allocate a gigabyte before the topology is refused. An object
/// without an index would get the highest one, 2^32 - 1.
fn check_index(object: &Attributes<'_>, input: &str) -> Result<(), HwlocLoadError> {
    let in_sets = |name: &Cow<'_, str>| ["PU", "NUMANode", "Node"].contains(&name.as_ref());
    let Some(name) = object.value("type").filter(in_sets) else { return Ok(()) };
    let found = object.value("os_index");
    let index = found.as_deref().map(str::trim).map(str::parse::<u64>);
    let is_fine = |index: u64| index < u64::from(INDEX_LIMIT);
    if index.is_some_and(|index| index.is_ok_and(is_fine)) {
        return Ok(());
    }
    let found = found.map_or_else(|| "(none)".to_owned(), Cow::into_owned);
    Err(HwlocLoadError::Index { input: input.to_owned(), object: name.into_owned(), found })
}

fn version_of_root(element: &BytesStart<'_>, input: &str) -> Result<String, HwlocLoadError> {
    let found = String::from_utf8_lossy(element.name().into_inner()).into_owned();
    if found != "topology" && found != "root" {
        return Err(HwlocLoadError::NotTopology { input: input.to_owned(), found });
    }
    let version = element.try_get_attribute("version").ok().flatten();
    let version = version.map(|version| String::from_utf8_lossy(&version.value).into_owned());
    Ok(version.unwrap_or_else(|| "1.0".to_owned()))
}
