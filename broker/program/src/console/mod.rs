//! A topology as text, as `lstopo-no-graphics --of console` prints it.

mod collapse;
mod object;
mod style;
mod tables;

pub use style::{Contents, Cpusets, Indexes, Style};

use collapse::Collapse;
use std::fmt::{self, Write};
use topobroker_reader::text::has_pci_domains;
use topobroker_reader::{ChildKind, Depth, Object, ObjectType, Set, Topology, TypeName};

/// Prints `topology` in `style`.
///
/// ```
/// use topobroker::hwloc::{Input, LoadOptions, capture, load};
/// use topobroker_cli::console;
/// use topobroker_layout::encode;
/// use topobroker_reader::Archive;
/// let input = Input::Synthetic("Core:2 PU:1".to_owned());
/// let bytes = encode::to_bytes(&capture(&load(&input, &LoadOptions::default())?)?)?;
/// let text = console::print(Archive::open(&bytes)?.topology(), &console::Style::default());
/// assert!(text.starts_with("Machine (1024MB total)\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn print(topology: Topology<'_>, style: &Style) -> String {
    let mut console = Console {
        text: String::new(),
        style: *style,
        collapse: Collapse::new(topology, !style.no_collapse),
        with_domain: has_pci_domains(topology),
    };
    console.part(topology);
    console.text
}

struct Console {
    text: String,
    style: Style,
    collapse: Collapse,
    with_domain: bool,
}

impl Console {
    fn part(&mut self, topology: Topology<'_>) {
        let verbose = self.style.verbosity > 0;
        match self.style.contents {
            Contents::Summary => self.summary(topology),
            Contents::Distances => self.distances(topology),
            Contents::MemoryAttributes => self.memory_attributes(topology, true),
            Contents::CpuKinds => self.cpu_kinds(topology),
            Contents::Only(wanted) => {
                if verbose {
                    let name = wanted.object_type.name();
                    self.put(format_args!("Only showing {name} objects\n"));
                }
                self.only(topology.root(), wanted);
            }
            Contents::Tree => {
                self.tree(topology.root(), None, 0);
                self.text.push('\n');
                if verbose {
                    self.summary(topology);
                    self.distances(topology);
                    self.memory_attributes(topology, self.style.verbosity > 1);
                    self.cpu_kinds(topology);
                    self.remarks(topology);
                }
            }
        }
    }

    fn put(&mut self, text: fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.text.write_fmt(text);
    }

    fn tree(&mut self, object: Object<'_>, parent: Option<Object<'_>>, depth: usize) {
        if self.style.no_pus && object.object_type() == ObjectType::PU {
            return;
        }
        let devices = match self.collapse.of(object) {
            None => return,
            Some(devices) => devices,
        };
        let mut depth = depth;
        let terse = self.style.verbosity == 0 && self.style.cpusets == Cpusets::No;
        if terse && parent.is_some_and(|parent| is_same_as(object, parent)) {
            self.text.push_str(" + ");
        } else {
            if parent.is_some() {
                self.text.push('\n');
            }
            let blanks = depth * 2;
            self.put(format_args!("{:blanks$}", ""));
            depth += 1;
        }
        if devices > 1 {
            self.put(format_args!("{devices} x {{ "));
        }
        self.object(object, devices);
        if devices > 1 {
            self.text.push_str(" }");
        }
        for kind in [ChildKind::Memory, ChildKind::Normal, ChildKind::Io, ChildKind::Misc] {
            for child in object.children_of_kind(kind) {
                self.tree(child, Some(object), depth);
            }
        }
    }

    fn only(&mut self, object: Object<'_>, wanted: TypeName) {
        if wanted.matches(object) {
            self.object(object, 0);
            self.text.push('\n');
        }
        let normal = object.children();
        normal.for_each(|child| self.only(child, wanted));
        for kind in [ChildKind::Memory, ChildKind::Io, ChildKind::Misc] {
            // Below a memory or I/O child there are only children of the same kind and Misc
            // objects.
            if wanted.object_type.child_kind() == kind || wanted.object_type == ObjectType::Misc {
                object.children_of_kind(kind).for_each(|child| self.only(child, wanted));
            }
        }
    }

    fn summary(&mut self, topology: Topology<'_>) {
        let depth = topology.depth() as usize;
        let width = (depth + 9).max("Special depth -3:".len()) + 2;
        for (level, depth) in (0..topology.depth()).map(Depth::Normal).enumerate() {
            let prefix = format!("{:level$}depth {depth}:", "");
            self.summary_line(topology, depth, &prefix, width);
        }
        // As hwloc lists them: memory, its caches, I/O and Misc.
        for depth in [-3, -8, -4, -5, -6, -7].into_iter().filter_map(Depth::from_raw) {
            self.summary_line(topology, depth, &format!("Special depth {depth}:"), width);
        }
    }

    fn summary_line(&mut self, topology: Topology<'_>, depth: Depth, prefix: &str, width: usize) {
        let mut objects = topology.objects_at_depth(depth);
        let count = objects.len();
        let Some(first) = objects.next() else { return };
        let object_type = first.object_type();
        let name = match depth {
            Depth::Normal(_) => first.type_name(true),
            _ => object_type.name().to_owned(),
        };
        let number = object_type.raw();
        self.put(format_args!("{prefix:width$}{count} {name} (type #{number})\n"));
    }

    /// Prints the last lines: PUs without objects, PUs that are not allowed, and whether the
    /// topology is of another machine.
    fn remarks(&mut self, topology: Topology<'_>) {
        let root = topology.root();
        let cpuset = root.cpuset().unwrap_or_default();
        let complete = root.complete_cpuset().unwrap_or_default();
        let unknown = complete.and_not(&cpuset);
        let disallowed = cpuset.and_not(&topology.allowed_cpuset());
        if complete != cpuset {
            let count = weight(&unknown);
            self.put(format_args!("{count} processors not represented in topology: {unknown}\n"));
        }
        if topology.allowed_cpuset() != cpuset {
            let count = weight(&disallowed);
            self.put(format_args!(
                "{count} processors represented but not allowed: {disallowed}\n"
            ));
        }
        if !topology.is_this_system() {
            self.text.push_str("Topology not from this system\n");
        }
    }
}

/// The weight of a set; -1 if it is infinite, as hwloc prints it.
fn weight(set: &Set) -> i64 {
    set.weight().map_or(-1, i64::from)
}

/// Whether an object adds nothing to its parent: it is the only child and has the same PUs.
fn is_same_as(object: Object<'_>, parent: Object<'_>) -> bool {
    parent.children().len() == 1
        && parent.all_children().len() == 1
        && object.cpuset().is_some_and(|cpuset| parent.cpuset() == Some(cpuset))
}
