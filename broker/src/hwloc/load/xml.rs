//! Reads hwloc XML and checks it first, because hwloc reports only that something is wrong.

use super::error::HwlocLoadError;
use crate::hwloc::version::api_version;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use topobroker_layout::archive::INDEX_LIMIT;
use topobroker_reader::internal::bytes_within;

/// Most bytes of an XML file: about ten times what hwloc writes for the largest machines.
const MOST_XML: u64 = 1 << 26;

/// Reads and checks an XML file, and appends a zero byte. The check finds the reason of a failure,
/// because hwloc reports only "invalid argument".
pub(super) fn read(path: &Path) -> Result<Vec<u8>, HwlocLoadError> {
    let input = path.display().to_string();
    let read = |file| bytes_within(MOST_XML, file).map_err(io::Error::from);
    let content = match path == Path::new("-") {
        true => io::stdin().as_fd().try_clone_to_owned().and_then(read),
        false => File::open(path).and_then(|file| read(file.into())),
    };
    let content =
        content.map_err(|source| HwlocLoadError::Read { input: input.clone(), source })?;
    checked(content, &input)
}

/// Checks XML that is in memory already, and appends a zero byte. Errors call it `input`.
pub(super) fn checked(mut content: Vec<u8>, input: &str) -> Result<Vec<u8>, HwlocLoadError> {
    check(&content, input)?;
    content.push(0);
    Ok(content)
}

fn check(content: &[u8], input: &str) -> Result<(), HwlocLoadError> {
    use quick_xml::events::Event;
    let mut reader = quick_xml::Reader::from_reader(content);
    let mut root = None;
    let mut open_elements = 0usize;
    loop {
        let event = reader.read_event();
        let not_xml = |reason: String| HwlocLoadError::NotXml {
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
        check_index(&element, input)?;
    }
}

/// Checks the OS index of a PU or NUMA node. Both hwloc and the archive make sets of these indexes.
/// With a high index hwloc would allocate a gigabyte before the topology is refused. An object
/// without an index would get the highest one, 2^32 - 1.
fn check_index(
    element: &quick_xml::events::BytesStart<'_>,
    input: &str,
) -> Result<(), HwlocLoadError> {
    let is_object = element.name().into_inner() == b"object";
    let value = |name| {
        let attribute = element.try_get_attribute(name).ok().flatten()?;
        Some(String::from_utf8_lossy(&attribute.value).into_owned())
    };
    let in_sets = |object: &String| ["PU", "NUMANode", "Node"].contains(&object.as_str());
    let object = value("type").filter(|object| is_object && in_sets(object));
    let Some(object) = object else { return Ok(()) };
    let found = value("os_index");
    let index = found.as_deref().map(str::trim).map(str::parse::<u64>);
    let is_fine = |index: u64| index < u64::from(INDEX_LIMIT);
    if index.is_some_and(|index| index.is_ok_and(is_fine)) {
        return Ok(());
    }
    let found = found.unwrap_or_else(|| "(none)".to_owned());
    Err(HwlocLoadError::Index { input: input.to_owned(), object, found })
}

fn check_root(
    element: &quick_xml::events::BytesStart<'_>,
    input: &str,
) -> Result<(), HwlocLoadError> {
    let found = String::from_utf8_lossy(element.name().into_inner()).into_owned();
    if found != "topology" && found != "root" {
        return Err(HwlocLoadError::NotTopology { input: input.to_owned(), found });
    }
    let version = element.try_get_attribute("version").ok().flatten();
    let version = version.map(|version| String::from_utf8_lossy(&version.value).into_owned());
    let found = version.unwrap_or_else(|| "1.0".to_owned());
    let major = found.split('.').next().and_then(|major| major.parse::<u32>().ok());
    let hwloc = api_version();
    let supported = major.is_some_and(|major| major <= (hwloc >> 16).max(2));
    if supported {
        Ok(())
    } else {
        let hwloc = format!("{}.{}.{}", hwloc >> 16, hwloc >> 8 & 0xff, hwloc & 0xff);
        Err(HwlocLoadError::XmlVersion { input: input.to_owned(), found, hwloc })
    }
}
