//! `topobroker job gpus`: the GPUs of the ranks of a job.

use super::named::{JobName, asked, environment_lines};
use crate::{json, output};
use clap::{Args, ValueEnum};
use std::process::ExitCode;
use topobroker_reader::devices::environment::{Interface, of_gpus_of_rank};
use topobroker_reader::{Adopted, Object};

/// Print the GPUs of the ranks of a job, or the environment lines by which programs use them
#[derive(Debug, Args)]
pub(super) struct Gpus {
    #[command(flatten)]
    job: JobName,
    /// Only of this rank; with --env, leave the rank out of the lines
    #[arg(long, value_name = "RANK")]
    rank: Option<u32>,
    /// Print the environment variables of this programming interface
    #[arg(long, value_enum, value_name = "INTERFACE")]
    env: Option<Env>,
    /// Print JSON
    #[arg(long, conflicts_with = "env")]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Env {
    /// CUDA_VISIBLE_DEVICES
    Cuda,
    /// ROCR_VISIBLE_DEVICES
    Rocm,
    /// ZE_AFFINITY_MASK
    Ze,
    /// GPU_DEVICE_ORDINAL of AMD's OpenCL
    Opencl,
}

impl Gpus {
    pub(super) fn run(&self, base: &'static Adopted) -> anyhow::Result<ExitCode> {
        let job = self.job.adopt(base)?;
        let asked = asked(job, self.rank)?;
        if self.json {
            let of = |rank: &u32| json::GpusOfRank {
                rank: *rank,
                gpus: job.gpus(*rank).map(Object::device_name).collect(),
            };
            let all: Vec<_> = asked.iter().map(of).collect();
            return output::print(&json::text(&all)?);
        }
        let mut text = String::new();
        for rank in asked {
            let gpus: Vec<Object<'_>> = job.gpus(rank).collect();
            let interface = match self.env {
                None => {
                    let names: Vec<_> = gpus.iter().map(|gpu| gpu.device_name()).collect();
                    let names = if names.is_empty() { "-".to_owned() } else { names.join(",") };
                    text += &format!("{rank} {names}\n");
                    continue;
                }
                Some(Env::Cuda) => Interface::Cuda,
                Some(Env::Rocm) => Interface::Rocm,
                Some(Env::Ze) => Interface::LevelZero,
                Some(Env::Opencl) => Interface::OpenCl,
            };
            let variables = of_gpus_of_rank(interface, job, rank);
            text += &environment_lines(rank, self.rank.is_some(), &variables);
        }
        output::print(&text)
    }
}
