//! Publishing, and telling processes of it.

use super::capture::tb_description;
use crate::call::{Failure, Found, Given, call};
use crate::keys::tb_keys;
use crate::pointers::Text;
use crate::scope::scope;
use crate::status::tb_status;
use crate::topology::tb_segment_scope;
use std::ffi::{CString, OsString, c_char, c_void};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use topobroker::node::pmix_host;
use topobroker::publish::{Address, Publication, PublishOptions, Store, publish};

/// Where a segment is kept.
#[derive(Debug, Clone, Copy)]
#[repr(i32)]
pub enum tb_store {
    /// POSIX shared memory.
    TB_STORE_SHM = 0,
    /// A file in a folder, such as the session folder of a launcher.
    TB_STORE_FOLDER = 1,
    /// A sealed memfd, which children inherit.
    TB_STORE_MEMFD = 2,
}

/// The address that is free nearly everywhere.
pub const TB_ADDRESS_USUAL: u64 = 0;
/// Wherever the kernel of each process likes: the least memory, but pointers differ.
pub const TB_ADDRESS_ANYWHERE: u64 = 1;

/// How a topology is published: fill with tb_publish_options_init, then change what differs.
#[repr(C)]
pub struct tb_publish_options<'a> {
    /// A tb_store.
    pub store: i32,
    /// Whose resources it describes: a tb_segment_scope.
    pub scope: i32,
    /// Folder of TB_STORE_FOLDER; otherwise NULL.
    pub folder: Text<'a>,
    /// Where processes map it: TB_ADDRESS_USUAL, TB_ADDRESS_ANYWHERE, or a multiple of 64 KiB.
    pub address: u64,
    /// Number of times that this node was published before.
    pub generation: u64,
    /// Only for this user: mode 0400 instead of 0444.
    pub is_private: bool,
    /// Until it is unpublished, rather than as long as this process runs.
    pub keep: bool,
    /// Beside it what unmodified programs of hwloc and PMIx read: an hwloc segment and XML.
    pub legacy: bool,
}

/// A published topology. Freed by tb_publication_free, or by tb_unpublish.
pub struct tb_publication {
    publication: Publication,
    /// Name and value of each environment variable.
    environment: Vec<(CString, CString)>,
}

/// Fills options with what is usual: shared memory, the usual address, readable by all, removed when
/// this process ends or frees it.
#[unsafe(no_mangle)]
pub extern "C" fn tb_publish_options_init(
    options: Option<&mut MaybeUninit<tb_publish_options<'_>>>,
) -> tb_status {
    call(|| {
        options.given("options")?.write(tb_publish_options {
            store: 0,
            scope: tb_segment_scope::TB_SCOPE_MACHINE as i32,
            folder: Text::null(),
            address: TB_ADDRESS_USUAL,
            generation: 0,
            is_private: false,
            keep: false,
            legacy: false,
        });
        Ok(())
    })
}

/// Publishes a description; with `options` NULL as tb_publish_options_init has it. On a failure nothing
/// is left behind: TB_ERR_FULL if there is no room.
#[unsafe(no_mangle)]
pub extern "C" fn tb_publish(
    description: Option<&tb_description>,
    options: Option<&tb_publish_options<'_>>,
    publication: Option<&mut MaybeUninit<Box<tb_publication>>>,
) -> tb_status {
    call(|| {
        let (what, out) = (description.given("description")?, publication.given("publication")?);
        let mut wanted = PublishOptions { source: what.source, ..PublishOptions::default() };
        if let Some(options) = options {
            wanted = read(options, wanted)?;
        }
        let publication = publish(&what.description, &wanted)?;
        let environment = cs(publication.to_env());
        out.write(Box::new(tb_publication { publication, environment }));
        Ok(())
    })
}

fn read(
    options: &tb_publish_options<'_>,
    usual: PublishOptions,
) -> Result<PublishOptions, Failure> {
    let store = match (options.store, options.folder.optional("folder")?) {
        (0, _) => Store::Shm,
        (1, Some(folder)) => Store::Folder(PathBuf::from(folder)),
        (1, None) => return Err(Failure::argument("folder is NULL, and the store is a folder")),
        (2, _) => Store::Memfd,
        (other, _) => return Err(Failure::argument(format!("store {other}, expected 0 to 2"))),
    };
    let address = match options.address {
        TB_ADDRESS_USUAL => Address::Usual,
        TB_ADDRESS_ANYWHERE => Address::Anywhere,
        address => Address::At(address),
    };
    let (private, keep, legacy) = (options.is_private, options.keep, options.legacy);
    let (scope, generation) = (scope(options.scope)?, options.generation);
    Ok(PublishOptions { store, address, private, keep, legacy, scope, generation, ..usual })
}

/// Names and values as C has them.
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
    keys: Option<&mut MaybeUninit<tb_keys>>,
) -> tb_status {
    call(|| {
        let (publication, keys) = (publication.given("publication")?, keys.given("keys")?);
        keys.write(tb_keys::of(publication.publication.keys())?);
        Ok(())
    })
}

/// Stores the keys of the hwloc segment beside it. TB_ERR_NOT_FOUND if it was published without.
#[unsafe(no_mangle)]
pub extern "C" fn tb_publication_hwloc_keys(
    publication: Option<&tb_publication>,
    keys: Option<&mut MaybeUninit<tb_keys>>,
) -> tb_status {
    call(|| {
        let (publication, keys) = (publication.given("publication")?, keys.given("keys")?);
        let legacy = publication.publication.legacy();
        let legacy = legacy.found(|| "it was published without the legacy lane".to_owned())?;
        keys.write(tb_keys::of(&legacy.keys())?);
        Ok(())
    })
}

/// Stores name and value of an environment variable that processes are to have, from 0:
/// TB_ERR_NOT_FOUND after the last. The texts are valid until the publication is freed.
#[unsafe(no_mangle)]
pub extern "C" fn tb_publication_env(
    publication: Option<&tb_publication>,
    index: usize,
    name: Option<&mut MaybeUninit<*const c_char>>,
    value: Option<&mut MaybeUninit<*const c_char>>,
) -> tb_status {
    call(|| variable(&publication.given("publication")?.environment, index, name, value))
}

pub(super) fn variable(
    environment: &[(CString, CString)],
    index: usize,
    name: Option<&mut MaybeUninit<*const c_char>>,
    value: Option<&mut MaybeUninit<*const c_char>>,
) -> Result<(), Failure> {
    let (name, value) = (name.given("name")?, value.given("value")?);
    let (own_name, own_value) = environment.get(index).found(|| format!("no variable {index}"))?;
    name.write(own_name.as_ptr());
    value.write(own_value.as_ptr());
    Ok(())
}

/// Stores an array of pmix_info_t with the keys of the segment (topobroker.file, .addr, .size), and, if
/// it was published with the legacy lane, PMIX_HWLOC_SHMEM_FILE, _ADDR, _SIZE, PMIX_HWLOC_XML_V2 and _V1: for
/// PMIx_server_register_nspace or PMIx_server_register_resources. libpmix must be loadable as
/// libpmix.so.2. Free the array with PMIX_INFO_FREE.
#[unsafe(no_mangle)]
pub extern "C" fn tb_pmix_info(
    publication: Option<&tb_publication>,
    infos: Option<&mut MaybeUninit<*mut c_void>>,
    count: Option<&mut MaybeUninit<usize>>,
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

/// Withdraws what was published, and frees the publication also if that fails. Processes that have
/// adopted it keep it.
#[unsafe(no_mangle)]
pub extern "C" fn tb_unpublish(publication: Option<Box<tb_publication>>) -> tb_status {
    call(|| {
        let publication = publication.given("publication")?;
        Ok(publication.publication.unpublish()?)
    })
}

/// Frees a publication; withdraws it too unless it was to be kept, or this is a forked child of the
/// process that published. NULL is nothing to do.
#[unsafe(no_mangle)]
pub extern "C" fn tb_publication_free(publication: Option<Box<tb_publication>>) {
    drop(publication);
}
