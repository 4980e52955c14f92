//! Jobs over a published topology.

use super::publish::{cs, variable};
use crate::answer::{answer, means_itself};
use crate::call::{call, call_with};
use crate::failure::Failure;
use crate::given::{Found, Given};
use crate::pointers::{Buffer, Handles, Input, List, Out, Text};
use crate::set::tb_set;
use crate::status::tb_status;
use crate::structs::Asked;
use crate::topology::tb_topology;
use std::ffi::{CString, c_char, c_void};
use topobroker::nics::NicFilter;
use topobroker::node::pmix_host;
use topobroker::publish::job::{self, DevicePolicy, JobOptions, JobPublication, Launcher};
use topobroker_reader::{Set, devices::NicChoice};

/// Whether a job stays when the process that added it ends.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum tb_job_end {
    /// The job is removed when its tb_job_publication is freed. If this process ends without that,
    /// tb_job_sweep removes it.
    TB_JOB_WITH_THIS_PROCESS = 0,
    /// The job stays until tb_job_remove removes it.
    TB_JOB_KEPT = -1,
}

/// An added job. Free it with tb_job_publication_free.
pub struct tb_job_publication {
    job: JobPublication,
    base: topobroker_reader::Keys,
    environment: Vec<(CString, CString)>,
}

means_itself!(tb_job_publication);

/// Which NICs and GPUs the ranks of a job are given.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct tb_device_policy<'a> {
    /// NICs for each rank, out of all of the node.
    pub nics_per_rank: u32,
    /// GPUs for each rank, out of all of the node, the nearest ones first.
    pub gpus_per_rank: u32,
    /// Also give out NICs whose state is unknown.
    pub unknown_nics: bool,
    /// The NICs of a rank are to be near its first GPU, and not near its PUs.
    pub nics_near_gpu: bool,
    /// The network that the job uses: infiniband, roce, ethernet, slingshot, efa, omni-path, or a
    /// subnet such as fe80:0000:0000:0001. NULL: the one of the greatest bandwidth.
    pub network: Text<'a>,
    /// Only these NICs, as UCX and NCCL write them: =mlx5_0:1,mlx5_1 or mlx5_* or ^mlx5_2. NULL:
    /// all.
    pub nic: Text<'a>,
    /// NICs to leave out. NULL: no NIC is left out.
    pub no_nic: Text<'a>,
}

/// Adds a job over the adopted topology. Its processes see the objects that are visible in `view`.
///
/// `name` consists of letters, digits, dots, underscores and hyphens, and no other job over the
/// topology has it. `ranks` are the ranks of its processes on this node, in the order of their
/// local ranks, and `cpusets` are their PUs, NULL or empty for a rank that is not bound; both
/// arrays have `count` elements. `launcher` is a tb_job_end, or the pid of the process that the job
/// ends with. With `legacy`, files for unmodified programs of hwloc and PMIx are published next to
/// the job. `devices` says which NICs and GPUs the ranks are given; it may be NULL: one of each,
/// NICs that are known to be active. On a failure nothing is left behind.
#[unsafe(no_mangle)]
pub extern "C" fn tb_job_add(
    view: Option<&tb_topology>,
    name: Text<'_>,
    ranks: List<'_, u32>,
    cpusets: List<'_, Input<'_, tb_set>>,
    count: usize,
    launcher: i32,
    legacy: bool,
    devices: Asked<'_, tb_device_policy<'_>>,
    devices_size: usize,
    job: Out<'_, Box<tb_job_publication>>,
) -> tb_status {
    call_with(|handles| {
        let (view, out) = (view.given("view")?, job.given("job")?);
        let sets = cpusets.get(count, "cpusets")?;
        let ranks = ranks
            .get(count, "ranks")?
            .iter()
            .zip(sets)
            .map(|(rank, set)| (*rank, bound(set, handles).cloned()));
        let launcher = match launcher {
            0 => Launcher::ThisProcess,
            -1 => Launcher::None,
            pid => match u32::try_from(pid) {
                Ok(pid) => Launcher::Process(pid),
                Err(_) => return Err(Failure::argument(format_args!("launcher {pid}"))),
            },
        };
        let options = JobOptions {
            name: name.get("name")?.to_owned(),
            ranks: ranks.collect(),
            launcher,
            private: false,
            legacy,
            devices: devices.optional(devices_size)?.map(policy).transpose()?.unwrap_or_default(),
        };
        let job = job::add(view.adopted()?, view.view(), &options)?;
        let base = view.adopted()?.keys().clone();
        let environment = cs(base.to_env().into_iter().chain(job.to_env()));
        out.write(Box::new(tb_job_publication { job, base, environment }));
        Ok(())
    })
}

/// Writes the file of a job into a buffer, with a zero at its end. The processes of the job have it
/// as TOPOBROKER_JOB. `length` (may be NULL) is set to the bytes of the text without the zero, also
/// with TB_ERR_TRUNCATED.
#[unsafe(no_mangle)]
pub extern "C" fn tb_job_publication_file(
    job: Option<&tb_job_publication>,
    buffer: Buffer<'_>,
    size: usize,
    length: Out<'_, usize>,
) -> tb_status {
    answer!(buffer(size, length), |job| job.job.file().to_string_lossy())
}

/// Stores the name and the value of an environment variable that the processes of the job need.
/// `index` counts from 0: TB_ERR_NOT_FOUND after the last. The texts are valid until the job is
/// freed.
#[unsafe(no_mangle)]
pub extern "C" fn tb_job_publication_env(
    job: Option<&tb_job_publication>,
    index: usize,
    name: Out<'_, *const c_char>,
    value: Out<'_, *const c_char>,
) -> tb_status {
    call(|| variable(&job.given("job")?.environment, index, name, value))
}

/// Stores an array of pmix_info_t for the processes of a job: the array of tb_publication_pmix_info
/// and the file of the job (topobroker.job). The hwloc segment and the XML in it are those of the
/// job's part alone. Free the array with PMIX_INFO_FREE.
#[unsafe(no_mangle)]
pub extern "C" fn tb_job_pmix_info(
    job: Option<&tb_job_publication>,
    infos: Out<'_, *mut c_void>,
    count: Out<'_, usize>,
) -> tb_status {
    call(|| {
        let (job, infos, count) = (job.given("job")?, infos.given("infos")?, count.given("count")?);
        let array = pmix_host::infos(&job.base, Some(job.job.file()), job.job.legacy())?;
        infos.write(array.array);
        count.write(array.count);
        Ok(())
    })
}

/// Stores an array of pmix_info_t with what PMIx publishes about a rank: PMIX_RANK, PMIX_CPUSET,
/// PMIX_LOCALITY_STRING and PMIX_DEVICE_DISTANCES (of the devices that have an id). `view` is the
/// job's part of the topology, and `host` the name of this node. If `cpuset` is NULL or empty, the
/// rank is not bound, and the array has PMIX_RANK alone. Put the array into a PMIX_PROC_DATA of
/// PMIx_server_register_nspace: unmodified programs then know which ranks share what. Free the
/// array with PMIX_INFO_FREE.
#[unsafe(no_mangle)]
pub extern "C" fn tb_job_pmix_rank_info(
    view: Option<&tb_topology>,
    host: Text<'_>,
    rank: u32,
    cpuset: Input<'_, tb_set>,
    infos: Out<'_, *mut c_void>,
    count: Out<'_, usize>,
) -> tb_status {
    call_with(|handles| {
        let (view, infos) = (view.given("view")?, infos.given("infos")?);
        let count = count.given("count")?;
        let cpuset = bound(&cpuset, handles);
        let array = pmix_host::rank_infos(view.get(), host.get("host")?, rank, cpuset)?;
        infos.write(array.array);
        count.write(array.count);
        Ok(())
    })
}

/// Frees a job. Removes it too if it ends with this process, unless this is a forked child of the
/// process that added it. If `job` is NULL, nothing happens.
#[unsafe(no_mangle)]
pub extern "C" fn tb_job_publication_free(job: Option<Box<tb_job_publication>>) {
    drop(job);
}

/// Removes the job with a name. Processes that have adopted it keep it. TB_ERR_NOT_FOUND if there
/// is none.
#[unsafe(no_mangle)]
pub extern "C" fn tb_job_remove(topology: Option<&tb_topology>, name: Text<'_>) -> tb_status {
    call(|| Ok(job::remove(topology.given("topology")?.adopted()?, name.get("name")?)?))
}

/// Removes the jobs whose launcher is gone, and stores their number in `count` (may be NULL).
#[unsafe(no_mangle)]
pub extern "C" fn tb_job_sweep(topology: Option<&tb_topology>, count: Out<'_, usize>) -> tb_status {
    call(|| {
        let removed = job::sweep(topology.given("topology")?.adopted()?)?;
        count.store(removed);
        Ok(())
    })
}

/// Writes the name of one of the jobs over the topology, with a zero at its end. `index` counts
/// from 0, in the order of names: TB_ERR_NOT_FOUND after the last. `length` (may be NULL) is set to
/// the bytes of the text without the zero, also with TB_ERR_TRUNCATED.
#[unsafe(no_mangle)]
pub extern "C" fn tb_job_list(
    topology: Option<&tb_topology>,
    index: usize,
    buffer: Buffer<'_>,
    size: usize,
    length: Out<'_, usize>,
) -> tb_status {
    call(|| {
        let jobs = job::list(topology.given("topology")?.adopted()?)?;
        let job = jobs.get(index).found(|| format!("no job {index} of {}", jobs.len()))?;
        buffer.fill(&job.name, size, length)
    })
}

fn policy(devices: tb_device_policy<'_>) -> Result<DevicePolicy, Failure> {
    let (network, only) = (devices.network.optional("network")?, devices.nic.optional("nic")?);
    let site = NicFilter::new(network, only, devices.no_nic.optional("no_nic")?)?;
    Ok(DevicePolicy {
        site,
        nics_per_rank: devices.nics_per_rank,
        gpus_per_rank: devices.gpus_per_rank,
        nics: NicChoice::new(devices.unknown_nics),
        nics_near_gpu: devices.nics_near_gpu,
        mapped_gpus: Vec::new(),
    })
}

/// The PUs of a rank, `None` if it is not bound.
fn bound<'h>(set: &Input<'_, tb_set>, handles: &'h Handles) -> Option<&'h Set> {
    set.optional(handles).map(|set| &set.0).filter(|set| !set.is_empty())
}
