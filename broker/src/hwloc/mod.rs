//! hwloc behind safe types: all raw hwloc calls of this crate are in this folder.
//!
//! It uses the raw bindings of hwlocality and not the safe crate, for two reasons. The safe crate
//! neither takes nor gives a raw topology, but launchers hand over theirs. It also hides data that
//! an archive must have (all memory attributes, group kinds).
//!
//! ```
//! use topobroker::hwloc::{Input, LoadOptions, TypeFilter, capture, load};
//! use topobroker_layout::object_type::ObjectType;
//! let filters = vec![(ObjectType::Core, TypeFilter::None)];
//! let options = LoadOptions { filters, ..LoadOptions::default() };
//! let machine = load(&Input::Synthetic("Package:2 Core:4 PU:2".to_owned()), &options)?;
//! assert_eq!(capture(&machine)?.objects.len(), 1 + 2 + 16 + 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bitmap;
mod capture;
mod compare;
mod difference;
mod export;
mod import;
mod load;
mod object;
mod shmem;
mod tables;
mod topology;
mod version;

pub use capture::{CaptureError, capture};
pub use compare::{Compared, NoDifferences, compare, patch, reference};
pub use export::{export_synthetic, export_v1};
pub use import::{ImportError, import, import_archive, import_archives};
pub(crate) use load::loads_by_other_means;
pub use load::{HwlocLoadError, Input, LoadOptions, Plugins, load, reads_other_source};
pub(crate) use load::{load_as, takes_flags_of};
pub use shmem::{AdoptedHwloc, adopt_shmem, shmem_length, write_shmem};
pub use topobroker_layout::type_filter::TypeFilter;
pub use topology::HwlocTopology;
pub(crate) use version::library;
pub use version::{BUILT_WITH, api_version, library_version};
