//! Files that other programs wrote, in formats that begin to be read: compressed bytes, tables of
//! `nvidia-smi`, links and PCI trees of NCCL, what a site says, differences of hwloc. The first
//! byte chooses the format.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::io::Write;
use topobroker::description::describe;
use topobroker::file_bytes::FileBytes;
use topobroker::hwloc::reference;
use topobroker::links::{NcclFile, declared, with_pci_tree};
use topobroker::nics::add_site;
use topobroker_layout::encode::to_bytes;
use topobroker_reader::links::SwitchModel;

/// Most bytes that compressed ones may become here.
const MOST: u64 = 1 << 20;

fuzz_target!(|data: &[u8]| {
    let Some((format, data)) = data.split_first() else { return };
    if format % 6 == 0 {
        return compressed(data);
    }
    let Ok(text) = std::str::from_utf8(data) else { return };
    let machine = topobroker_fuzz::machine();
    let topology = machine.topology();
    match format % 6 {
        1 => {
            let links = topology.links(SwitchModel::Separate).expect("links");
            if let Ok(declared) = declared(&links, text) {
                assert!(declared.links.links().iter().all(|link| link.one != link.other));
            }
        }
        2 => {
            if let Ok((moved, _)) = with_pci_tree(&describe(topology), text) {
                to_bytes(&moved).expect("an archive");
            }
        }
        3 => {
            let mut description = describe(topology);
            if add_site(&mut description, text).is_ok() {
                to_bytes(&description).expect("an archive");
            }
        }
        4 => _ = NcclFile::read(text),
        _ => _ = reference(text),
    }
});

fn compressed(data: &[u8]) {
    let (pipe, mut writer) = std::io::pipe().expect("a pipe");
    // What a pipe holds, so that writing does not wait.
    writer.write_all(data.get(..1 << 15).unwrap_or(data)).expect("room");
    drop(writer);
    if let Ok(bytes) = FileBytes::read(pipe, MOST) {
        assert!(bytes.len() as u64 <= MOST);
    }
}
