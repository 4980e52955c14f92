//! Environment variables that make programs use their GPUs.

use crate::answer::answer;
use crate::failure::Failure;
use crate::job::tb_job;
use crate::pointers::{Buffer, Out};
use crate::status::tb_status;
use topobroker_reader::devices::environment::{Interface, of_gpus_of_rank};

/// Programming interfaces of GPUs with variables for the GPUs to use.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum tb_gpu_interface {
    /// CUDA: CUDA_VISIBLE_DEVICES.
    TB_GPU_CUDA = 0,
    /// ROCm: ROCR_VISIBLE_DEVICES.
    TB_GPU_ROCM = 1,
    /// Level Zero: ZE_AFFINITY_MASK.
    TB_GPU_LEVEL_ZERO = 2,
    /// OpenCL of AMD: GPU_DEVICE_ORDINAL.
    TB_GPU_OPENCL = 3,
}

/// Writes the environment variables by which a program uses the GPUs that a rank was given, a line
/// NAME=value each, with a zero at its end. `interface` is a tb_gpu_interface. The text is empty if
/// the rank was not given a GPU of that interface. `length` (may be NULL) is set to the bytes of
/// the text without the zero, also with TB_ERR_TRUNCATED.
#[unsafe(no_mangle)]
pub extern "C" fn tb_job_gpu_env(
    job: Option<&tb_job>,
    rank: u32,
    interface: i32,
    buffer: Buffer<'_>,
    size: usize,
    length: Out<'_, usize>,
) -> tb_status {
    answer!(buffer(size, length), |job| {
        let interface = match interface {
            0 => Interface::Cuda,
            1 => Interface::Rocm,
            2 => Interface::LevelZero,
            3 => Interface::OpenCl,
            other => {
                return Err(Failure::argument(format_args!("interface {other}, expected 0 to 3")));
            }
        };
        let variables = of_gpus_of_rank(interface, job, rank);
        variables.iter().map(|(name, value)| format!("{name}={value}\n")).collect::<String>()
    })
}
