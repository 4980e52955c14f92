//! Publishes topologies, and hands the keys of the segments to processes.

use super::capture::tb_description;
use crate::answer::{answer, means_itself};
use crate::call::call;
use crate::failure::Failure;
use crate::given::{Found, Given};
use crate::keys::tb_keys;
use crate::pointers::{Out, Text};
use crate::scope::scope;
use crate::status::tb_status;
use crate::structs::{Asked, Struct};
use std::ffi::{CString, OsString, c_char, c_void};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use topobroker::node::pmix_host;
use topobroker::publish::{Address, Publication, PublishOptions, Store, publish};
use topobroker_reader::Scope;

/// The kind of storage of a segment.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum tb_store {
    /// POSIX shared memory.
    TB_STORE_SHM = 0,
    /// A file in a folder, such as the session folder of a launcher.
    TB_STORE_FOLDER = 1,
    /// A sealed memfd, which children inherit.
    TB_STORE_MEMFD = 2,
}

/// An address that is free nearly everywhere.
pub const TB_ADDRESS_USUAL: u64 = 0;
/// The kernel chooses the address in each process. This takes the least memory, but pointers
/// differ between processes.
pub const TB_ADDRESS_ANYWHERE: u64 = 1;

/// Options of publishing. Fill them with tb_publish_options_init, then change fields.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct tb_publish_options<'a> {
    /// A tb_store.
    pub store: i32,
    /// Whose resources the segment describes: a tb_segment_scope.
    pub scope: i32,
    /// Folder for TB_STORE_FOLDER; otherwise it may be NULL.
    pub folder: Text<'a>,
    /// Address at which processes map the segment: TB_ADDRESS_USUAL, TB_ADDRESS_ANYWHERE, or a
    /// multiple of 64 KiB.
    pub address: u64,
    /// Number of times that the node's topology was published before.
    pub generation: u64,
    /// Whether only this user may read the segment: mode 0400 instead of 0444.
    pub is_private: bool,
    /// Whether the segment stays until it is unpublished, and not only as long as this process
    /// runs.
    pub keep: bool,
    /// Whether an hwloc segment and XML are published too, for unmodified programs of hwloc and
    /// PMIx.
    pub legacy: bool,
    /// Whether slots for the hwloc guard are published too: unmodified programs that preload it
    /// share hwloc's topologies. Only for a description of this machine. `legacy` does it too.
    pub guard: bool,
}

/// A published topology. Free it with tb_publication_free or tb_unpublish.
pub struct tb_publication {
    publication: Publication,
    /// Name and value of each environment variable.
    environment: Vec<(CString, CString)>,
}

means_itself!(tb_publication);

/// Fills options with the defaults: shared memory, the usual address, readable by everybody, and
/// removed when this process ends or frees the publication.
#[unsafe(no_mangle)]
pub extern "C" fn tb_publish_options_init(
    options: Struct<'_, tb_publish_options<'_>>,
    options_size: usize,
) -> tb_status {
    answer!(options(options_size), || tb_publish_options {
        store: 0,
        scope: Scope::Machine.raw().cast_signed(),
        folder: Text::null(),
        address: TB_ADDRESS_USUAL,
        generation: 0,
        is_private: false,
        keep: false,
        legacy: false,
        guard: false,
    })
}

/// Publishes a description. If `options` is NULL, the options are those of tb_publish_options_init.
/// On a failure nothing is left behind. TB_ERR_FULL if there is no room for the segment.
#[unsafe(no_mangle)]
pub extern "C" fn tb_publish(
    description: Option<&tb_description>,
    options: Asked<'_, tb_publish_options<'_>>,
    options_size: usize,
    publication: Out<'_, Box<tb_publication>>,
) -> tb_status {
    answer!(publication, |description| {
        let source = description.source;
        let mut wanted = PublishOptions { source, ..PublishOptions::default() };
        if let Some(options) = options.optional(options_size)? {
            wanted = read(options, wanted)?;
        }
        let publication = publish(&description.description, &wanted)?;
        let environment = cs(publication.to_env());
        Box::new(tb_publication { publication, environment })
    })
}

fn read(options: tb_publish_options<'_>, usual: PublishOptions) -> Result<PublishOptions, Failure> {
    let store = match (options.store, options.folder.optional("folder")?) {
        (0, _) => Store::Shm,
        (1, Some(folder)) => Store::Folder(PathBuf::from(folder)),
        (1, None) => {
            return Err(Failure::argument(format_args!(
                "folder is NULL, and the store is a folder"
            )));
        }
        (2, _) => Store::Memfd,
        (other, _) => {
            return Err(Failure::argument(format_args!("store {other}, expected 0 to 2")));
        }
    };
    let address = match options.address {
        TB_ADDRESS_USUAL => Address::Usual,
        TB_ADDRESS_ANYWHERE => Address::Anywhere,
        address => Address::At(address),
    };
    let (private, keep, legacy) = (options.is_private, options.keep, options.legacy);
    let (scope, generation, guard) = (scope(options.scope)?, options.generation, options.guard);
    Ok(PublishOptions { store, address, private, keep, legacy, guard, scope, generation, ..usual })
}

/// Names and values as C strings.
pub(super) fn cs(
    all: impl IntoIterator<Item = (&'static str, OsString)>,
) -> Vec<(CString, CString)> {
    let c = |text: Vec<u8>| CString::new(text).unwrap_or_default();
    all.into_iter().map(|(name, value)| (c(name.into()), c(value.into_vec()))).collect()
}

/// Stores the keys by which processes find the segment.
#[unsafe(no_mangle)]
pub extern "C" fn tb_publication_keys(
    publication: Option<&tb_publication>,
    keys: Struct<'_, tb_keys>,
    keys_size: usize,
) -> tb_status {
    answer!(keys(keys_size), |publication| tb_keys::of(publication.publication.keys())?)
}

/// Stores the keys of the hwloc segment that was published with a topology. TB_ERR_NOT_FOUND if it
/// was published without the option `legacy`.
#[unsafe(no_mangle)]
pub extern "C" fn tb_publication_hwloc_keys(
    publication: Option<&tb_publication>,
    keys: Struct<'_, tb_keys>,
    keys_size: usize,
) -> tb_status {
    answer!(keys(keys_size), |publication| {
        let legacy = publication.publication.legacy();
        let legacy = legacy.found(|| {
            "it was published without the option `legacy`, so there is no hwloc segment".to_owned()
        })?;
        tb_keys::of(&legacy.keys())?
    })
}

/// Stores the name and the value of an environment variable that processes need. `index` counts
/// from 0: TB_ERR_NOT_FOUND after the last. The texts are valid until the publication is freed.
#[unsafe(no_mangle)]
pub extern "C" fn tb_publication_env(
    publication: Option<&tb_publication>,
    index: usize,
    name: Out<'_, *const c_char>,
    value: Out<'_, *const c_char>,
) -> tb_status {
    call(|| variable(&publication.given("publication")?.environment, index, name, value))
}

pub(super) fn variable(
    environment: &[(CString, CString)],
    index: usize,
    name: Out<'_, *const c_char>,
    value: Out<'_, *const c_char>,
) -> Result<(), Failure> {
    let (name, value) = (name.given("name")?, value.given("value")?);
    let (own_name, own_value) = environment.get(index).found(|| format!("no variable {index}"))?;
    name.write(own_name.as_ptr());
    value.write(own_value.as_ptr());
    Ok(())
}

/// Stores an array of pmix_info_t for PMIx_server_register_nspace or
/// PMIx_server_register_resources. It has the keys of the segment (topobroker.file, .addr, .size).
/// If the topology was published with the option `legacy`, the array also has
/// PMIX_HWLOC_SHMEM_FILE, _ADDR, _SIZE, PMIX_HWLOC_XML_V2 and _V1. libpmix must be in the process
/// already, or be loadable as libpmix.so.2. Free the array with PMIX_INFO_FREE.
#[unsafe(no_mangle)]
pub extern "C" fn tb_publication_pmix_info(
    publication: Option<&tb_publication>,
    infos: Out<'_, *mut c_void>,
    count: Out<'_, usize>,
) -> tb_status {
    call(|| {
        let publication = publication.given("publication")?;
        let (infos, count) = (infos.given("infos")?, count.given("count")?);
        let array = pmix_host::infos(
            publication.publication.keys(),
            None,
            publication.publication.legacy(),
        )?;
        infos.write(array.array);
        count.write(array.count);
        Ok(())
    })
}

/// Withdraws a published topology. Frees the publication, also if that fails. Processes that have
/// adopted the topology keep it.
#[unsafe(no_mangle)]
pub extern "C" fn tb_unpublish(publication: Option<Box<tb_publication>>) -> tb_status {
    call(|| {
        let publication = publication.given("publication")?;
        Ok(publication.publication.unpublish()?)
    })
}

/// Frees a publication. Withdraws the topology too, unless it was published with the option `keep`,
/// or this is a forked child of the process that published it. If `publication` is NULL, nothing
/// happens.
#[unsafe(no_mangle)]
pub extern "C" fn tb_publication_free(publication: Option<Box<tb_publication>>) {
    drop(publication);
}
