//! Where copies of the reader in one process meet, if a segment may be mapped anywhere.
//!
//! A process may have several copies of the reader, because each library may link its own. They
//! know nothing of each other, but must not map a segment twice. So each tries the same addresses,
//! in the same order, and the kernel maps only one of them at each. Whoever comes second finds the
//! address taken, and only then reads the map of the process to see who took it.
//!
//! The addresses are just above the stack of the first thread: the kernel puts nothing there but
//! its own code (the vDSO), and pages next to the stack are described by a page table that every
//! process has anyway.

use topobroker_layout::header::MAX_SEGMENT_LEN;
use topobroker_process::auxiliary;

/// What is mapped. Topologies and jobs use different addresses if there is room for both, so that
/// they do not collide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guest {
    Topology,
    Job,
}

/// Addresses are multiples of this, whatever the size of a page.
const STEP: u64 = 0x1_0000;

/// Bytes that one page table describes on most machines.
const TABLE: u64 = 0x20_0000;

/// The addresses to try for a mapping of `length` bytes. Empty if the kernel does not say where the
/// stack is.
pub(crate) fn points(guest: Guest, length: u64) -> impl Iterator<Item = u64> {
    let name = auxiliary(libc::AT_EXECFN);
    let above = Above { stack: name, vdso: auxiliary(libc::AT_SYSINFO_EHDR) };
    let points = if name == 0 { [None; 3] } else { above.points(guest, length) };
    // Higher addresses than the stack can have are refused, or need page tables of their own:
    // without address randomisation the stack ends at the highest one.
    let is_in_reach = move |start: &u64| (start + length) >> 47 == name >> 47;
    points.into_iter().flatten().filter(is_in_reach)
}

/// What is at the top of the address space.
struct Above {
    /// An address near the end of the stack: that of the program's name.
    stack: u64,
    /// Address of the kernel's code; 0 if there is none.
    vdso: u64,
}

impl Above {
    /// Below and above the kernel's code, if there is room before the page table ends, otherwise
    /// behind the end. A topology is mapped at one end of each gap, and a job at the other.
    fn points(&self, guest: Guest, length: u64) -> [Option<u64>; 3] {
        let start = above(self.stack);
        let end = start.next_multiple_of(TABLE);
        let rooms = if (start - STEP..end + STEP).contains(&self.vdso) {
            // The data of the kernel's code is in the pages before it.
            [(start, (self.vdso - self.vdso % STEP).saturating_sub(STEP)), (above(self.vdso), end)]
        } else {
            [(start, end), (end, end)]
        };
        let [below, behind] = rooms.map(|(start, end)| {
            let last = end.checked_sub(length.next_multiple_of(STEP))?;
            (last >= start).then_some(match guest {
                Guest::Topology => start,
                Guest::Job => last,
            })
        });
        let outside = match guest {
            Guest::Topology => end + TABLE,
            // Behind the longest topology and its mark.
            Guest::Job => end + TABLE + 2 * MAX_SEGMENT_LEN,
        };
        [below, behind, Some(outside)]
    }
}

/// The first multiple of `STEP` that is more than one `STEP` above an address.
fn above(address: u64) -> u64 {
    (address - address % STEP) + 2 * STEP
}

#[cfg(test)]
mod tests {
    use super::*;

    const STACK: u64 = 0x7ffc_1230_4fe8;

    #[test]
    fn a_topology_and_a_job_are_put_apart_and_around_the_code_of_the_kernel() {
        for vdso in [
            0,
            0x7ffc_1231_f000,
            0x7ffc_1232_8000,
            0x7ffc_1238_0000,
            0x7ffc_123f_f000,
            0x7ffc_9999_9000,
        ] {
            let above = Above { stack: STACK, vdso };
            for length in [0x1_0000, 0x2_1000, 0x20_0000, 0x400_0000] {
                let of = |guest| above.points(guest, length);
                let (topology, job) = (of(Guest::Topology), of(Guest::Job));
                for start in topology.into_iter().chain(job).flatten() {
                    assert!(start % STEP == 0 && start > STACK, "{start:#x}");
                    let kernel = vdso.saturating_sub(STEP / 2)..vdso + 0x4000;
                    assert!(start >= kernel.end || start + length <= kernel.start || vdso == 0);
                }
                assert!(topology.last().unwrap().unwrap() + length <= job.last().unwrap().unwrap());
            }
        }
    }

    #[test]
    fn a_small_segment_shares_the_page_table_of_the_stack() {
        let points = Above { stack: STACK, vdso: 0 }.points(Guest::Topology, 0x1_3000);
        assert_eq!(points[0].unwrap() / TABLE, STACK / TABLE);
    }
}
