//! The rules of the tree of objects in hwloc XML of versions 1 and 2. hwloc puts objects where a
//! file has them, and looks at their sets later; with objects in the wrong place or without sets it
//! crashes, and its process with it.

use std::borrow::Cow;
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::set::{Format, Set};
use topobroker_reader::TypeName;

impl Version {
    /// The version that an attribute says; `None` if it has no rules here.
    pub(super) fn of(text: &str) -> Option<Self> {
        match text.split('.').next()? {
            "1" => Some(Self::One),
            "2" => Some(Self::Two),
            _ => None,
        }
    }
}

/// The objects that are open, from the outermost.
pub(super) struct Tree {
    version: Version,
    open: Vec<Object>,
    has_root: bool,
    has_memory: bool,
}

/// An object of a file.
struct Object {
    type_name: String,
    gp_index: Option<String>,
    kind: Kind,
    cpuset: Set,
    /// PUs of the normal objects in it.
    children: Set,
}

/// Where an object may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Normal,
    Memory,
    Io,
    Misc,
    /// Of a type that is not known here: hwloc decides.
    Unknown,
}

/// Sets that each object of the tree of CPUs and each NUMA node has. In version 1 hwloc makes the
/// others of the first.
const SETS: [&str; 4] = ["cpuset", "complete_cpuset", "nodeset", "complete_nodeset"];

/// Formats of XML: in the first one, NUMA nodes are in the tree of CPUs, and hwloc makes sets anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    One,
    Two,
}

impl Object {
    /// An object with its attributes.
    ///
    /// # Errors
    ///
    /// The rule that it breaks.
    fn new<'v>(
        version: Version,
        value: impl Fn(&str) -> Option<Cow<'v, str>>,
    ) -> Result<Self, (String, String)> {
        let type_name = value("type").unwrap_or_default().into_owned();
        let kind = match TypeName::parse(&type_name).map(|it| it.object_type) {
            // Version 1 has one type for all caches.
            None if type_name == "Cache" => Kind::Normal,
            None => Kind::Unknown,
            Some(ObjectType::Misc) => Kind::Misc,
            Some(it) if it.is_io() => Kind::Io,
            Some(it) if it.is_memory() && version == Version::Two => Kind::Memory,
            Some(_) => Kind::Normal,
        };
        let gp_index = value("gp_index").map(Cow::into_owned);
        let (cpuset, children) = (Set::new(), Set::new());
        let mut object = Self { type_name, gp_index, kind, cpuset, children };
        if version == Version::One && object.type_name == "MemCache" {
            return Err((object.name(), "is of a type that version 1 does not have".to_owned()));
        }
        if matches!(kind, Kind::Normal | Kind::Memory) {
            for set in SETS.into_iter().take(if version == Version::One { 1 } else { SETS.len() }) {
                let text = value(set).ok_or_else(|| (object.name(), format!("has no {set}")))?;
                if set == "cpuset" {
                    // hwloc refuses what is no mask.
                    object.cpuset = Set::parse(&text, Format::of_mask(&text)).unwrap_or_default();
                }
            }
        }
        Ok(object)
    }

    /// What it is, for messages: `Core with gp_index 7`.
    fn name(&self) -> String {
        format!("{} with gp_index {}", self.type_name, self.gp_index.as_deref().unwrap_or("(none)"))
    }
}

impl Tree {
    pub(super) fn new(version: Version) -> Self {
        Self { version, open: Vec::new(), has_root: false, has_memory: false }
    }

    /// An object with these attributes begins in the innermost one that is open.
    ///
    /// # Errors
    ///
    /// The object, and the rule that it breaks.
    pub(super) fn begin<'v>(
        &mut self,
        value: impl Fn(&str) -> Option<Cow<'v, str>>,
    ) -> Result<(), (String, String)> {
        let object = Object::new(self.version, value)?;
        let refuse = |rule: String| Err((object.name(), rule));
        self.has_memory |= object.type_name == "NUMANode";
        let Some(parent) = self.open.last_mut() else {
            let is_machine = ["Machine", "System"].contains(&object.type_name.as_str());
            if self.has_root || !is_machine {
                return refuse("is not in the one Machine that a topology has".to_owned());
            }
            self.has_root = true;
            self.open.push(object);
            return Ok(());
        };
        let may_be_in = match object.kind {
            Kind::Normal => parent.kind == Kind::Normal,
            Kind::Memory => matches!(parent.kind, Kind::Normal | Kind::Memory),
            Kind::Io => matches!(parent.kind, Kind::Normal | Kind::Memory | Kind::Io),
            Kind::Misc | Kind::Unknown => true,
        };
        if !may_be_in && parent.kind != Kind::Unknown {
            return refuse(format!("is in {}, where hwloc has no such objects", parent.name()));
        }
        if object.kind == Kind::Normal && self.version == Version::Two {
            if !object.cpuset.is_included_in(&parent.cpuset) {
                return refuse(format!(
                    "has the cpuset {}, and is in {} with {}",
                    object.cpuset,
                    parent.name(),
                    parent.cpuset
                ));
            }
            if object.cpuset.intersects(&parent.children) {
                return refuse(format!(
                    "has PUs of {} that another object in {} has too",
                    object.cpuset,
                    parent.name()
                ));
            }
            parent.children |= &object.cpuset;
        }
        self.open.push(object);
        Ok(())
    }

    /// All objects have ended.
    ///
    /// # Errors
    ///
    /// What is missing.
    pub(super) fn finish(&self) -> Result<(), (String, String)> {
        match self.has_memory || self.version == Version::One {
            true => Ok(()),
            false => Err(("Machine".to_owned(), "has no NUMANode".to_owned())),
        }
    }

    /// The innermost object that is open ends.
    pub(super) fn end(&mut self) {
        self.open.pop();
    }
}

#[cfg(test)]
mod tests {
    use crate::hwloc::{Input, LoadOptions, load};

    /// The reason for which a node whose Machine has these parts is refused; empty if it is not.
    fn refused(parts: &str) -> String {
        let sets =
            "cpuset=\"0x3\" complete_cpuset=\"0x3\" nodeset=\"0x1\" complete_nodeset=\"0x1\"";
        let numa = format!("<object type=\"NUMANode\" os_index=\"0\" {sets} gp_index=\"2\"/>");
        let parts = parts.replace("NUMA", &numa).replace("SETS", sets);
        let pu = |index: u32| {
            let set = format!("0x{}", 1 << index);
            format!(
                "<object type=\"PU\" os_index=\"{index}\" cpuset=\"{set}\" complete_cpuset=\"{set}\" \
                 nodeset=\"0x1\" complete_nodeset=\"0x1\" gp_index=\"{}\"/>",
                10 + index
            )
        };
        let parts = parts.replace("PU0", &pu(0)).replace("PU1", &pu(1));
        let text = format!(
            "<topology version=\"2.0\"><object type=\"Machine\" os_index=\"0\" {sets} \
             allowed_cpuset=\"0x3\" allowed_nodeset=\"0x1\" gp_index=\"1\">{parts}</object></topology>"
        );
        let loaded = load(&Input::XmlText(text), &LoadOptions::default());
        loaded.err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn each_rule_of_the_tree_refuses_what_hwloc_would_crash_with() {
        assert_eq!(refused("NUMA PU0 PU1"), "");
        for (parts, rule) in [
            ("PU0 PU1", "the Machine has no NUMANode"),
            (
                "NUMA <object type=\"Core\" cpuset=\"0x3\" gp_index=\"3\"/>",
                "has no complete_cpuset",
            ),
            ("NUMA PU0 PU0 PU1", "has PUs of 0x00000001 that another object in Machine"),
            (
                "NUMA <object type=\"Misc\" gp_index=\"4\">PU0</object> PU1",
                "the PU with gp_index 10 is in Misc with gp_index 4, where hwloc has no such objects",
            ),
            (
                "NUMA PU0 PU1</object><object type=\"Package\" SETS gp_index=\"5\">",
                "the Package with gp_index 5 is not in the one Machine that a topology has",
            ),
        ] {
            let found = refused(parts);
            assert!(found.contains(rule), "{parts}: {found}");
        }
    }
}
