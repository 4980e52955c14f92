//! What became of a load, and why the guard has left it to hwloc.

use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::{c_int, c_uint};
use core::fmt;
use topobroker_reader::{FileError, FilePath};
use topobroker_slots::LoadKey;

/// What became of a load.
pub(crate) enum Fate {
    Served,
    Left(Declined),
    /// The guard is off, but would have served it.
    WouldBeServed,
    /// The guard is off, and would have left it to hwloc.
    WouldBeLeft(Declined),
    /// The guard is off, and no notes are taken.
    Unknown,
}

/// Why a load is left to hwloc.
pub(crate) enum Declined {
    /// The guard does not know this version of hwloc.
    Version(c_uint),
    /// Another hwloc library has written the slots, and might have found other things.
    Library,
    /// The program has called this function, so it does not want this machine as it is.
    Input(&'static str),
    /// It is loaded already.
    Loaded,
    /// There is no segment of this node.
    Unpublished,
    /// There are no slots next to the segment, or they cannot be trusted.
    File {
        path: FilePath,
        source: FileError,
    },
    /// The file is not one with slots.
    Damaged {
        path: FilePath,
    },
    /// It was not tried whether this library or program works with what is served.
    Caller {
        caller: String,
        tried: Vec<String>,
    },
    Environment,
    Cgroup,
    Binding,
    /// There are no slots for such loads.
    Key(LoadKey),
    /// This process has that many topologies of the same load.
    InUse(u32),
    /// hwloc cannot adopt the slot.
    Hwloc(c_int),
}

impl fmt::Display for Fate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Served => formatter.write_str("served"),
            Self::Left(why) => write!(formatter, "left to hwloc: {why}"),
            Self::WouldBeServed => formatter.write_str("would be served"),
            Self::WouldBeLeft(why) => write!(formatter, "would be left to hwloc: {why}"),
            Self::Unknown => Ok(()),
        }
    }
}

impl fmt::Display for Declined {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(found) => {
                write!(formatter, "hwloc has version {found:#x}; expected 0x20400 to 0x2ffff")
            }
            Self::Library => {
                formatter.write_str("its hwloc is another file than the one that wrote the slots")
            }
            Self::Input(function) => write!(formatter, "the program has called {function}"),
            Self::Loaded => formatter.write_str("it is loaded already"),
            Self::Unpublished => formatter.write_str("no topology is published for this process"),
            Self::File { path, source } => write!(formatter, "{path}: {source}"),
            Self::Damaged { path } => write!(formatter, "{path}: not a file with slots"),
            Self::Caller { caller, tried } => write!(
                formatter,
                "{caller} was not tried with the guard; tried were {} (--guard-caller adds more)",
                tried.join(" "),
            ),
            Self::Environment => formatter.write_str(
                "its variables that change what hwloc loads (HWLOC_* and those of GPUs) are not \
                 those of the publisher",
            ),
            Self::Cgroup => formatter.write_str(
                "its cgroup does not allow what that of the \
                publisher allows",
            ),
            Self::Binding => formatter.write_str("it wants what the process is bound to"),
            Self::Key(key) => write!(formatter, "there are no slots for {key}"),
            Self::InUse(count) => write!(formatter, "all {count} slots are in use"),
            Self::Hwloc(error) => write!(formatter, "hwloc cannot adopt a slot: error {error}"),
        }
    }
}
