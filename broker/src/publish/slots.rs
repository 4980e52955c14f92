//! The slots for the hwloc guard: hwloc's own segments of this machine, for the loads of unmodified
//! programs. They are in one file next to the node's segment, and are removed with it.

use super::address::OF_SLOTS;
use super::error::LegacyError;
use super::legacy::at_first_free;
use super::options::{PublishOptions, mode};
use crate::file_bytes::with_ending;
use crate::hwloc::{self, HwlocTopology};
use rustix::fs::{MemfdFlags, memfd_create};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use topobroker_process::open_trusted;
use topobroker_reader::Keys;
use topobroker_reader::jobs::SourceError;
use topobroker_slots::{
    CALLERS_LEN, Conditions, FIRST_PAGE, LoadKey, SLOTS_ENDING, Slots, SlotsOfKey,
    hash_of_affinity, hash_of_environment, hash_of_file, place_of_cgroup,
};

/// The loads of the programs that were seen: see `docs/GUARD.md`.
pub const USUAL_KEYS: [&str; 5] = [
    // Open MPI 4, MPICH and PMIx servers: important I/O devices.
    "0x0/00000000011120333110",
    // All I/O devices.
    "0x0/00000000011120000110",
    // The machine itself, whatever the environment says, with important I/O devices.
    "0x2/00000000011120333110",
    // oneTBB: as much as the process is bound to.
    "0x12/00000000011120111110",
    // hwloc's defaults.
    "0x0/00000000011120111110",
];

/// The libraries and programs that were tried with the guard, in the versions that `docs/GUARD.md`
/// lists. They change a topology only in ways that a slot supports. Other callers may free or
/// replace memory that, in a slot, is not on the heap.
pub const TRIED_CALLERS: [&str; 9] = [
    // Open MPI 4, 5 and 6, and their launchers.
    "libopen-pal.so.40",
    "libopen-pal.so.80",
    "libprrte.so.3",
    "libprrte.so.5",
    // PMIx 4 to 7.
    "libpmix.so.2",
    // MPICH 3.4 to 5, and its launcher.
    "libmpich.so.12",
    "libmpi.so.12",
    "hydra_pmi_proxy",
    // oneTBB.
    "libtbbbind_2_5.so.3",
];

/// Environment variable of the publisher with more of them, separated by colons: for launchers that
/// embed the broker, and for Slurm's daemon.
const CALLERS_VARIABLE: &str = "TOPOBROKER_GUARD_CALLERS";

/// Slots for each key: a process may have as many topologies of the same load.
const SLOTS_OF_KEY: u32 = 4;

/// Loads this machine for each key, and writes the slots next to a segment. `published` are the
/// variables that processes get.
///
/// # Errors
///
/// [`LegacyError`].
pub(super) fn publish(
    segment: &Path,
    options: &PublishOptions,
    published: &[(&'static str, OsString)],
) -> Result<(), LegacyError> {
    let path = with_ending(segment, SLOTS_ENDING);
    let hwloc_cannot = |step| cannot(&path, step);
    let page = u64::try_from(rustix::param::page_size().max(FIRST_PAGE)).unwrap_or(u64::MAX);
    let mut end = page;
    let mut loaded = Vec::new();
    let _plugins = hwloc::Plugins::hold();
    let keys = keys(&options.load_keys)?;
    if keys.len() > Slots::MOST {
        return Err(LegacyError::Loads { found: keys.len(), limit: Slots::MOST });
    }
    for key in keys {
        let topology = hwloc::load_as(&key)?;
        let length = hwloc::shmem_length(&topology)
            .map_err(hwloc_cannot("report the length of its segment"))? as u64;
        let any_gl = !topology.has_display();
        // The address is set once it is known which are free.
        let slots = SlotsOfKey {
            key,
            any_gl,
            count: SLOTS_OF_KEY,
            offset: end,
            address: 0,
            length,
            named_types: topology.named_types(),
        };
        end += length * u64::from(SLOTS_OF_KEY);
        loaded.push((slots, topology));
    }
    let published = published.iter().map(|(name, value)| (OsString::from(name), value.clone()));
    let mut first = without_keys(&path, options, published)?;
    let length = usize::try_from(end).unwrap_or(usize::MAX);
    at_first_free(&path, OF_SLOTS, length, mode(options.private), |file, base| {
        for (slots, _) in &mut loaded {
            slots.address = base + (slots.offset - page);
        }
        first.keys = loaded.iter().map(|(slots, _)| *slots).collect();
        write(file, &first, &loaded)
    })?;
    Ok(())
}

/// Whether the slots next to a segment are for the loads, the callers and the conditions for which
/// they would be written now. `lines` are those by which processes find the segment.
pub(crate) fn are_current(segment: &Path, options: &PublishOptions, lines: &str) -> bool {
    let path = with_ending(segment, SLOTS_ENDING);
    let _plugins = hwloc::Plugins::hold();
    let published = Keys::variables_in(lines).map(|(name, value)| (name.into(), value.into()));
    let wanted = without_keys(&path, options, published).ok();
    let (Some(found), Some(wanted), Ok(keys)) = (read(&path), wanted, keys(&options.load_keys))
    else {
        return false;
    };
    found.library == wanted.library
        && found.conditions == wanted.conditions
        && found.callers == wanted.callers
        && found.keys.iter().map(|it| it.key).eq(keys)
}

/// What the first page of a file with slots says.
fn read(path: &Path) -> Option<Slots> {
    let file = File::from(open_trusted(&path.into()).ok()?);
    let mut page = [0; FIRST_PAGE];
    file.read_exact_at(&mut page, 0).ok()?;
    Slots::read(&page, file.metadata().ok()?.len())
}

/// The first page for slots that are written now, without their keys.
fn without_keys(
    path: &Path,
    options: &PublishOptions,
    published: impl Iterator<Item = (OsString, OsString)>,
) -> Result<Slots, LegacyError> {
    let library =
        hwloc::library().map_err(cannot(path, "be found among the files of this process"))?;
    let library = hash_of_file(library.dev(), library.ino());
    let (cgroup, allowed) = place_of_cgroup()?;
    let conditions = Conditions { cgroup: allowed, ..conditions_of(published)? };
    let callers = callers(&options.guard_callers)?;
    Ok(Slots { library, conditions, cgroup, callers, keys: Vec::new() })
}

/// The error that hwloc cannot do a step for a file with slots.
fn cannot(path: &Path, step: &'static str) -> impl FnOnce(io::Error) -> LegacyError {
    let file = path.to_owned();
    move |source| LegacyError::Hwloc { file, step, source }
}

/// The usual keys that programs of this hwloc can ask for, then those that were asked for besides.
fn keys(more: &[LoadKey]) -> Result<Vec<LoadKey>, LegacyError> {
    let mut keys: Vec<LoadKey> = Vec::new();
    for key in USUAL_KEYS.into_iter().filter_map(|key| key.parse().ok()) {
        if hwloc::takes_flags_of(&key)? {
            keys.push(key);
        }
    }
    for key in more {
        if !keys.contains(key) {
            keys.push(*key);
        }
    }
    Ok(keys)
}

/// The callers that were tried, then those that were asked for besides, here or in the environment.
fn callers(more: &[String]) -> Result<Vec<String>, LegacyError> {
    let mut callers: Vec<String> = TRIED_CALLERS.into_iter().map(str::to_owned).collect();
    let of_site = std::env::var(CALLERS_VARIABLE).unwrap_or_default();
    let of_site = of_site.split(':').filter(|it| !it.is_empty()).map(str::to_owned);
    for caller in more.iter().cloned().chain(of_site) {
        let is_name = !caller.is_empty() && !caller.contains(['/', '\n', '\0']);
        if !is_name {
            return Err(LegacyError::Caller { found: caller });
        }
        if !callers.contains(&caller) {
            callers.push(caller);
        }
    }
    let found = callers.iter().map(|it| it.len() + 1).sum();
    if found > CALLERS_LEN {
        return Err(LegacyError::Callers { found, limit: CALLERS_LEN });
    }
    Ok(callers)
}

/// The conditions in this process, and in those that get the published variables, but for the
/// cgroup.
fn conditions_of(
    published: impl Iterator<Item = (OsString, OsString)>,
) -> Result<Conditions, SourceError> {
    let mut variables: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    let texts = |variables: &BTreeMap<OsString, OsString>| -> Vec<Vec<u8>> {
        let both = variables.iter().map(|(name, value)| [name.as_bytes(), value.as_bytes()]);
        both.map(|both| both.join(&b'=')).collect()
    };
    let own = texts(&variables);
    variables.extend(published);
    let of_processes = texts(&variables);
    let [environment, published_environment] =
        [own, of_processes].map(|texts| hash_of_environment(texts.iter().map(Vec::as_slice)));
    let affinity = hash_of_affinity()?;
    Ok(Conditions { environment, published_environment, affinity, ..Conditions::default() })
}

/// Fills the file, whose space is reserved.
fn write(
    mut file: &File,
    first: &Slots,
    loaded: &[(SlotsOfKey, HwlocTopology<'_>)],
) -> io::Result<()> {
    for (slots, topology) in loaded {
        let length = usize::try_from(slots.length).unwrap_or(0);
        for (offset, address) in slots.slots() {
            // hwloc cuts its file off behind the segment, which would give up the reserved space.
            let mut own = File::from(memfd_create("topobroker-slot", MemfdFlags::CLOEXEC)?);
            let address = usize::try_from(address).unwrap_or(0);
            hwloc::write_shmem(topology, &own, address, length)?;
            own.rewind()?;
            file.seek(SeekFrom::Start(offset))?;
            io::copy(&mut own, &mut file)?;
        }
    }
    file.write_all_at(&first.to_page(), 0)
}
