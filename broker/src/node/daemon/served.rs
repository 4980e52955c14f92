//! The segment that a daemon has announced.

use super::left::is_left;
use crate::publish::found::read;
use crate::publish::legacy::{FOR_HWLOC, companion_files};
use crate::publish::{Address, FileId, Publication, PublishOptions, boot_id, id_of, mode, slots};
use std::fs;
use std::path::{Path, PathBuf};
use topobroker_layout::header::{HEADER_LEN, segment_len};
use topobroker_reader::Keys;
use topobroker_slots::SLOTS_ENDING;

#[derive(Debug)]
pub(super) struct Served {
    pub(super) file: PathBuf,
    /// The lines by which processes find it.
    pub(super) lines: String,
    id: Option<FileId>,
    /// Its files for hwloc.
    for_hwloc: Vec<PathBuf>,
    /// `None` if an earlier daemon has published it.
    publication: Option<Publication>,
}

impl Served {
    pub(super) fn new(publication: Publication) -> Self {
        let (file, lines) = (publication.place(), Keys::lines(publication.to_env()));
        Self::found(file, lines, Some(publication))
    }

    fn found(file: PathBuf, lines: String, publication: Option<Publication>) -> Self {
        let id = fs::symlink_metadata(&file).ok().map(|it| id_of(&it));
        let for_hwloc = companion_files(&file);
        Self { file, lines, id, for_hwloc, publication }
    }

    /// What the keys of a folder name, if it was left to the next daemon and is what would be
    /// published now.
    pub(super) fn left(folder: &Path, archive: &[u8], options: &PublishOptions) -> Option<Self> {
        let lines = fs::read_to_string(Keys::file_in(&folder.into())).ok()?;
        let file = Keys::from_lines(&lines).ok()?.path()?.to_owned();
        let served = Self::found(file, lines, None);
        let published = read(&served.file).ok()?;
        let header = published.header.as_ref().ok()?;
        let has =
            |ending: &str| served.for_hwloc.iter().any(|it| it.to_string_lossy().ends_with(ending));
        let has_address = match options.address {
            Address::At(address) => header.address == address,
            Address::Anywhere => header.address == 0,
            Address::Usual => header.address != 0,
        };
        let has_slots = match has(SLOTS_ENDING) {
            true => {
                (options.guard || options.legacy)
                    && slots::are_current(&served.file, options, &served.lines)
            }
            // With `legacy` alone, a topology of another machine has no slots.
            false => !options.guard,
        };
        let is_alike = is_left(&published)
            && boot_id().is_ok_and(|id| id == header.boot_id)
            && (header.scope, header.source) == (options.scope, options.source)
            && has_address
            && published.mode == mode(options.private)
            && FOR_HWLOC.into_iter().all(|ending| has(ending) == options.legacy)
            && has_slots
            && published.size == segment_len(archive.len()) as u64
            && fs::read(&served.file)
                .ok()?
                .get(HEADER_LEN..)
                .is_some_and(|it| it.starts_with(archive));
        is_alike.then_some(served)
    }

    /// Whether the segment and its files are those that were announced.
    pub(super) fn is_there(&self) -> bool {
        let id = fs::symlink_metadata(&self.file).ok().map(|it| id_of(&it));
        id.is_some() && id == self.id && self.for_hwloc.iter().all(|file| file.exists())
    }

    /// Leaves the removal of the segment to the caller, and returns its file.
    pub(super) fn outlive(self) -> PathBuf {
        self.publication.map(Publication::outlive);
        self.file
    }
}
