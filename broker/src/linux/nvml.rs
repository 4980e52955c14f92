//! What NVIDIA's driver says of the GPUs of this node by its library NVML. hwloc knows a part of
//! it, if it was built with NVML, and most are not.

use nvml_wrapper_sys::bindings::{
    NVML_DEVICE_MIG_ENABLE, NVML_DEVICE_UUID_BUFFER_SIZE, NVML_GPU_FABRIC_STATE_COMPLETED, NvmlLib,
    nvmlDevice_t, nvmlGpuFabricInfo_t, nvmlPciInfo_t, nvmlReturn_enum_NVML_SUCCESS, nvmlReturn_t,
};
use std::ffi::c_uint;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use topobroker_layout::attributes::BusId;

/// The driver's library, as all programs load it.
const LIBRARY: &str = "libnvidia-ml.so.1";

/// A GPU, as NVML knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Gpu {
    pub(super) bus_id: BusId,
    /// NVML's number.
    pub(super) number: u32,
    /// The number of its device file, `/dev/nvidiaN`.
    pub(super) minor: Option<u32>,
    /// `GPU-` and a UUID.
    pub(super) uuid: Option<String>,
    /// The UUID of the cluster of NVLinks that it is in, a dot, and the number of its clique.
    pub(super) nvlink_domain: Option<String>,
    /// The UUIDs of its MIG instances.
    pub(super) instances: Vec<String>,
}

/// The GPUs of this node; none if there is no driver.
pub(super) fn gpus() -> Vec<Gpu> {
    Driver::start().map(|driver| driver.gpus()).unwrap_or_default()
}

/// NVML, initialised. It counts its users in a process: each start needs one shutdown.
struct Driver(NvmlLib);

/// The function of a library, called. `None` if a driver does not have it, or if it fails.
macro_rules! call {
    ($driver:expr, $function:ident($($argument:expr),*)) => {
        $driver.0.$function.as_ref().ok().and_then(|function| {
            // SAFETY: NVML is started, and the arguments are the function's: handles that NVML
            // made, and memory for as much as it stores.
            is_done(unsafe { function($($argument),*) })
        })
    };
}

impl Driver {
    fn start() -> Option<Self> {
        // SAFETY: the library is that of the driver, which all programs load by this name.
        let library = unsafe { NvmlLib::new(LIBRARY) }.ok()?;
        let init = library.nvmlInit_v2.as_ref().ok()?;
        // SAFETY: it takes nothing, and may be called at any time.
        is_done(unsafe { init() })?;
        Some(Self(library))
    }

    fn gpus(&self) -> Vec<Gpu> {
        let mut count: c_uint = 0;
        let answer = call!(self, nvmlDeviceGetCount_v2(&raw mut count));
        let numbers = 0..answer.map_or(0, |()| count);
        numbers.filter_map(|number| self.gpu(number)).collect()
    }

    fn gpu(&self, number: c_uint) -> Option<Gpu> {
        let mut device: nvmlDevice_t = null_mut();
        call!(self, nvmlDeviceGetHandleByIndex_v2(number, &raw mut device))?;
        let mut pci = MaybeUninit::<nvmlPciInfo_t>::zeroed();
        call!(self, nvmlDeviceGetPciInfo_v3(device, pci.as_mut_ptr()))?;
        // SAFETY: all of its fields are numbers, for which 0 is a value, and NVML stored some.
        let pci = unsafe { pci.assume_init() };
        Some(Gpu {
            bus_id: BusId {
                domain: pci.domain,
                bus: u8::try_from(pci.bus).ok()?,
                dev: u8::try_from(pci.device).ok()?,
                func: 0,
            },
            number,
            minor: self.minor(device),
            uuid: self.uuid(device),
            nvlink_domain: self.nvlink_domain(device),
            instances: self.instances(device),
        })
    }

    fn minor(&self, device: nvmlDevice_t) -> Option<u32> {
        let mut minor: c_uint = 0;
        call!(self, nvmlDeviceGetMinorNumber(device, &raw mut minor)).map(|()| minor)
    }

    fn uuid(&self, device: nvmlDevice_t) -> Option<String> {
        let mut text = [0_u8; NVML_DEVICE_UUID_BUFFER_SIZE as usize];
        let length = NVML_DEVICE_UUID_BUFFER_SIZE;
        call!(self, nvmlDeviceGetUUID(device, text.as_mut_ptr().cast(), length))?;
        let text = text.split(|byte| *byte == 0).next()?;
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-/".contains(byte);
        let text = Some(text).filter(|text| !text.is_empty() && text.iter().all(is_plain))?;
        String::from_utf8(text.to_vec()).ok()
    }

    /// A GPU that is not, or not yet, a member of a domain says zeros.
    fn nvlink_domain(&self, device: nvmlDevice_t) -> Option<String> {
        let mut info = MaybeUninit::<nvmlGpuFabricInfo_t>::zeroed();
        call!(self, nvmlDeviceGetGpuFabricInfo(device, info.as_mut_ptr()))?;
        // SAFETY: all of its fields are numbers, for which 0 is a value, and NVML stored some.
        let info = unsafe { info.assume_init() };
        let is_member = u32::from(info.state) == NVML_GPU_FABRIC_STATE_COMPLETED
            && is_done(info.status).is_some()
            && info.clusterUuid != [0; 16];
        is_member.then(|| domain_name(info.clusterUuid, info.cliqueId))
    }

    fn instances(&self, device: nvmlDevice_t) -> Vec<String> {
        let (mut mode, mut later, mut most): (c_uint, c_uint, c_uint) = (0, 0, 0);
        let answer = call!(self, nvmlDeviceGetMigMode(device, &raw mut mode, &raw mut later))
            .filter(|()| mode == NVML_DEVICE_MIG_ENABLE)
            .and_then(|()| call!(self, nvmlDeviceGetMaxMigDeviceCount(device, &raw mut most)));
        let uuid = |place| {
            let mut instance: nvmlDevice_t = null_mut();
            call!(self, nvmlDeviceGetMigDeviceHandleByIndex(device, place, &raw mut instance))?;
            self.uuid(instance)
        };
        (0..answer.map_or(0, |()| most)).filter_map(uuid).collect()
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = call!(self, nvmlShutdown());
    }
}

fn is_done(code: nvmlReturn_t) -> Option<()> {
    (code == nvmlReturn_enum_NVML_SUCCESS).then_some(())
}

/// The name of an NVLink domain, with the UUID as `nvidia-smi` prints it.
fn domain_name(uuid: [u8; 16], clique: u32) -> String {
    let mut name = String::with_capacity(48);
    for (byte, place) in uuid.iter().zip(0..) {
        if [4, 6, 8, 10].contains(&place) {
            name.push('-');
        }
        name += &format!("{byte:02x}");
    }
    name + &format!(".{clique}")
}
