//! The address at which processes map a segment.

use super::error::PublishError;
use std::fs::File;
use std::ops::Range;
use std::sync::OnceLock;
use topobroker_layout::header::MAX_SEGMENT_LEN;
use topobroker_process::mappings;

/// The address at which processes map a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Address {
    /// At an address that is free nearly everywhere.
    #[default]
    Usual,
    /// At this address.
    At(u64),
    /// At any address. This takes the least memory, but pointers differ between processes.
    Anywhere,
}

/// The address that the header names; 0 if any address will do.
pub(super) fn choose(address: Address, size: u64) -> Result<u64, PublishError> {
    let limit = limit();
    match address {
        Address::Anywhere => Ok(0),
        Address::At(found) if found == 0 || found % 0x1_0000 != 0 || found >= limit - size => {
            Err(PublishError::Address { found, limit })
        }
        Address::At(address) => Ok(address),
        Address::Usual => Ok(usual_address()),
    }
}

/// The first usual address that is free in this process; 0 if none is.
///
/// It is looked up once, because it depends on how the programs of this machine are laid out, and
/// because reading the memory map costs more than writing a segment.
fn usual_address() -> u64 {
    static FREE: OnceLock<Vec<u64>> = OnceLock::new();
    let free = FREE.get_or_init(|| {
        // If /proc/self/maps cannot be read, every address is assumed to be free. Processes in
        // which it is taken map elsewhere.
        let maps = File::open("/proc/self/maps").ok().into_iter().flat_map(mappings);
        let mapped: Vec<Range<u64>> = maps.map(|mapping| mapping.range).collect();
        let below_the_stack = cfg!(target_arch = "x86_64").then_some(BELOW_THE_STACK);
        let parts = below_the_stack.into_iter().chain(OF_SEGMENTS);
        parts.map(at).filter(|start| is_free(&mapped, *start, MAX_SEGMENT_LEN)).collect()
    });
    free.first().copied().unwrap_or(0)
}

fn is_free(mapped: &[Range<u64>], start: u64, size: u64) -> bool {
    mapped.iter().all(|range| range.end <= start || range.start >= start + size)
}

/// The address at which a part begins: what a process may map is divided into 2048 equal parts.
pub(super) fn at(part: u64) -> u64 {
    part * (limit() / 2048)
}

/// The first address that is too high for any process of this machine.
///
/// It is 2^47 on x86-64, and elsewhere what this kernel has: arm64 has kernels of 39 to 48 bits,
/// riscv64 of 38 to 47. The stack is at the upper end of it.
fn limit() -> u64 {
    if cfg!(target_arch = "x86_64") {
        return 1 << 47;
    }
    let of_stack = rustix::param::linux_execfn().as_ptr().addr() as u64;
    of_stack.next_power_of_two()
}

// Parts that are free in native programs and under valgrind, on x86-64 under the sanitizers too.
// Programs begin at two thirds of all on most processors, which is just above part 0x555. No part
// is in the middle of the largest hole, because PMIx puts its own segments there.

/// Parts for topobroker's segments.
const OF_SEGMENTS: [u64; 3] = [0x550, 0x551, 0x7a0];

/// Parts for the hwloc segments of [`super::legacy`].
pub(super) const OF_HWLOC_SEGMENTS: [u64; 4] = [0x552, 0x553, 0x7a1, 0x7b1];

/// Parts for the slots of the hwloc guard.
pub(super) const OF_SLOTS: [u64; 3] = [0x554, 0x7a2, 0x7b2];

/// On x86-64, a part in the same 512 GB as the stack. Every process has page tables for these, so a
/// mapping takes 4 kB of page tables less than elsewhere.
///
/// The address is 47 GB below the lowest place of a stack, so a stack has room to grow. The kernel
/// puts mappings at random within a terabyte below the stack (28 random bits, as is usual, or
/// more). So one of a thousand processes that have mapped a gigabyte before they adopt finds the
/// address taken, and maps elsewhere.
const BELOW_THE_STACK: u64 = 0x7ff;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_usual_address_that_is_free_is_chosen() {
        let mapped = [0x5500_0000_1000..0x5500_0000_2000, 0x7a00_0000_0000..0x7a00_0000_1000];
        assert!(!is_free(&mapped, 0x5500_0000_0000, 0x2000));
        assert!(is_free(&mapped, 0x5500_0000_0000, 0x1000));
        assert!(is_free(&mapped, 0x5510_0000_0000, 0x2000));
    }

    #[test]
    fn the_usual_address_is_below_the_end_of_the_stack_and_a_multiple_of_64_kb() {
        let (usual, on_the_stack) = (usual_address(), 0_u8);
        assert!(usual > 0 && usual % 0x1_0000 == 0 && usual + MAX_SEGMENT_LEN <= limit());
        assert!((&raw const on_the_stack).addr() as u64 <= limit(), "{:#x}", limit());
        assert!(limit().is_power_of_two(), "{:#x}", limit());
    }

    #[test]
    fn an_address_that_cannot_be_mapped_is_refused_before_anything_is_made() {
        for found in [0, 0x1234, limit(), !0xffff] {
            let error = choose(Address::At(found), 4096).unwrap_err();
            assert!(matches!(error, PublishError::Address { .. }), "{error}");
        }
    }
}
