//! What a child process may do that reads a file of others: use some memory and time, and write its
//! answer.

use crate::linux::kernel_text;
use rustix::process::{
    Resource, Rlimit, Signal, getrlimit, set_parent_process_death_signal, setrlimit,
};
use rustix::thread::{Gid, Uid};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// Most memory that the child takes for itself in bytes. The largest XML that is read has 64 MiB,
/// and hwloc takes about ten times that for it.
const MOST_MEMORY: u64 = 2 << 30;

/// Most time of a processor in seconds, for all items: the parent limits the time of each.
const MOST_SECONDS: u64 = 1000;

/// User and group `nobody`, which own nothing.
const NOBODY: u32 = 65534;

/// The rights of a child process, made ready before it starts.
pub(super) struct Rights {
    calls: system_calls::Filter,
    /// Limit of its memory with what its parent has, in bytes.
    memory: Option<u64>,
}

impl Rights {
    /// No more than the work needs.
    pub(super) fn least() -> Self {
        Self { calls: system_calls::filter(), memory: memory().map(|own| own + MOST_MEMORY) }
    }

    /// Gives up all other rights of this process, for ever. What the system does not support stays
    /// as it is: each of these is one wall of several.
    pub(super) fn take(&self, answer: &OwnedFd) {
        close_all_but(answer.as_raw_fd());
        let limits = [
            (Resource::Data, self.memory.unwrap_or(u64::MAX)),
            (Resource::Cpu, MOST_SECONDS),
            (Resource::Nofile, 0),
            (Resource::Fsize, 0),
            (Resource::Core, 0),
        ];
        for (resource, limit) in limits {
            let limit = getrlimit(resource).maximum.map_or(limit, |maximum| maximum.min(limit));
            let _ = setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) });
        }
        if rustix::process::geteuid().is_root() {
            drop_user();
        }
        // After that of the user, which clears it.
        let _ = set_parent_process_death_signal(Some(Signal::KILL));
        system_calls::allow_only(&self.calls);
    }
}

/// Memory of this process that counts for its limit, in bytes.
fn memory() -> Option<u64> {
    let status = kernel_text("/proc/self/status").ok()?;
    let size = status.lines().find_map(|line| line.strip_prefix("VmData:"))?;
    Some(size.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}

/// Closes all descriptors but 2, to which hwloc writes warnings, and that of the answer, which is a
/// higher one.
fn close_all_but(answer: RawFd) {
    let answer = answer.cast_unsigned();
    for (first, last) in [(0, 1), (3, answer - 1), (answer + 1, u32::MAX)] {
        if first <= last {
            close_range(first, last);
        }
    }
}

fn close_range(first: u32, last: u32) {
    // SAFETY: the child no longer uses these descriptors, and it ends by `_exit`, so that no owner
    // closes them again.
    if unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) } == 0 {
        return;
    }
    // Before Linux 5.9.
    let names = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let numbers = names.filter_map(|it| it.file_name().to_str()?.parse::<u32>().ok());
    // The list itself is closed when it is whole.
    let numbers: Vec<u32> = numbers.filter(|it| (first..=last).contains(it)).collect();
    for number in numbers {
        // SAFETY: as above.
        unsafe { libc::close(number.cast_signed()) };
    }
}

/// Takes the user and group `nobody`, and no others.
fn drop_user() {
    let (group, user) = (Gid::from_raw(NOBODY), Uid::from_raw(NOBODY));
    let _ = rustix::thread::set_thread_groups(&[]);
    let _ = rustix::thread::set_thread_res_gid(group, group, group);
    let _ = rustix::thread::set_thread_res_uid(user, user, user);
}

/// The system calls that are left: memory of its own, time, and descriptors that are open.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
mod system_calls {
    use seccompiler::SeccompCmpArgLen::Dword;
    use seccompiler::SeccompCmpOp::{Gt, MaskedEq};
    use seccompiler::{
        BackendError, BpfProgram, SeccompAction, SeccompCondition, SeccompFilter, SeccompRule,
        TargetArch, apply_filter,
    };

    pub(super) type Filter = Option<BpfProgram>;

    const ALLOWED: [i64; 17] = [
        libc::SYS_brk,
        libc::SYS_clock_gettime,
        libc::SYS_close,
        libc::SYS_exit,
        libc::SYS_exit_group,
        libc::SYS_futex,
        libc::SYS_getpid,
        libc::SYS_getrandom,
        libc::SYS_gettid,
        libc::SYS_gettimeofday,
        libc::SYS_madvise,
        libc::SYS_mremap,
        libc::SYS_munmap,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sched_yield,
        libc::SYS_write,
    ];

    /// All other calls answer EPERM.
    pub(super) fn filter() -> Filter {
        let others = SeccompAction::Errno(libc::EPERM.cast_unsigned());
        let architecture = TargetArch::try_from(std::env::consts::ARCH).ok()?;
        let mut rules: std::collections::BTreeMap<i64, Vec<SeccompRule>> =
            ALLOWED.into_iter().map(|call| (call, Vec::new())).collect();
        rules.extend(restricted().ok()?);
        SeccompFilter::new(rules, others, SeccompAction::Allow, architecture)
            .and_then(BpfProgram::try_from)
            .ok()
    }

    /// Calls that are allowed with some arguments: memory that is not shared and not executed, and
    /// no reading from a terminal.
    fn restricted() -> Result<[(i64, Vec<SeccompRule>); 3], BackendError> {
        let bits = |argument, mask: i32, value: i32| {
            let [mask, value] = [mask, value].map(|it| u64::from(it.cast_unsigned()));
            SeccompCondition::new(argument, Dword, MaskedEq(mask), value)
        };
        let not_executed = || bits(2, libc::PROT_EXEC, 0);
        let private = bits(3, libc::MAP_TYPE, libc::MAP_PRIVATE)?;
        let other_than_standard = SeccompCondition::new(0, Dword, Gt, 2)?;
        Ok([
            (libc::SYS_mmap, vec![SeccompRule::new(vec![not_executed()?, private])?]),
            (libc::SYS_mprotect, vec![SeccompRule::new(vec![not_executed()?])?]),
            (libc::SYS_read, vec![SeccompRule::new(vec![other_than_standard])?]),
        ])
    }

    pub(super) fn allow_only(calls: &Filter) {
        if let Some(calls) = calls {
            // An old kernel, or a container that has no more filters: the limits hold.
            let _ = apply_filter(calls);
        }
    }
}

/// No filter is known for this processor: the limits hold.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
mod system_calls {
    pub(super) type Filter = ();

    pub(super) fn filter() -> Filter {}

    pub(super) fn allow_only((): &Filter) {}
}
