//! The GPUs of ranks, as the program, C and Rust deal them.

use std::fmt::Write;
use topobroker_embedding::{compile, prefix, succeed, topobroker};
use topobroker_layout::set::{Format, Set};
use topobroker_reader::devices::NearTo;
use topobroker_reader::{Object, Topology};
use topobroker_samples::{machines, shared, topology_of_xml};

/// Jobs of each machine.
const JOBS: usize = 10;

/// Adds the job of each file of ranks, prints what the program deals to them, and then what C does.
const SCRIPT: &str = r#"
for job in "$ranks"/*; do
    name="job${job##*/}"
    line="$("$topobroker" job add -q "$name" --ranks "$job" | grep ^TOPOBROKER_JOB=)"
    files="$files ${line#*=}"
    "$topobroker" job gpus "$name" | sed "s/^/program ${job##*/} /"
done
"$dealt" $files | sed "s/^/c /"
"#;

/// The PUs of the ranks of a random job: of each, some neighbours.
fn random_ranks(random: &mut fastrand::Rng, topology: Topology<'_>) -> Vec<Set> {
    let pus: Vec<u32> = topology.allowed_cpuset().iter().collect();
    let (ranks, most) = (random.usize(1..=40), random.usize(1..=pus.len()));
    let mut rank = || {
        let first = random.usize(..pus.len());
        let count = random.usize(1..=most.min(pus.len() - first));
        pus[first..first + count].iter().copied().collect()
    };
    (0..ranks).map(|_| rank()).collect()
}

#[test]
fn the_program_c_and_rust_deal_the_gpus_of_random_jobs_alike() {
    let Some(shared) = shared() else { return };
    let folder = tempfile::tempdir().unwrap();
    let c = compile(folder.path(), "cc", "dealt.c", "dealt", &["topobroker-reader"], &[]);
    let mut random = fastrand::Rng::with_seed(54);
    let mut jobs = 0;
    for machine in &machines(&shared) {
        let topology = topology_of_xml(&machine.path);
        let gpus: Vec<Object<'_>> = topology.gpus().collect();
        // GPUs without a name are PCI devices without an OS device.
        if gpus.len() < 2 || gpus.iter().any(|gpu| gpu.name().is_none()) {
            continue;
        }
        let ranks = tempfile::tempdir().unwrap();
        let mut right = [String::new(), String::new()];
        for job in 0..JOBS {
            let sets = random_ranks(&mut random, topology);
            let mut lines = String::new();
            let near: Vec<NearTo<'_, '_>> = sets.iter().map(NearTo::Pus).collect();
            let dealt = topology.assign(&gpus, &near, 1);
            for (rank, (pus, gpu)) in sets.iter().zip(&dealt).enumerate() {
                writeln!(lines, "{rank} {}", pus.to_text(Format::List)).unwrap();
                let gpu = gpu.name().unwrap();
                for (whose, right) in ["program", "c"].iter().zip(&mut right) {
                    writeln!(right, "{whose} {job} {rank} {gpu}").unwrap();
                }
            }
            std::fs::write(ranks.path().join(job.to_string()), lines).unwrap();
        }
        let mut run = topobroker();
        run.args(["run", "-i"]).arg(&machine.path).args(["--", "sh", "-ec", SCRIPT]);
        run.env("ranks", ranks.path()).env("dealt", &c);
        run.env("topobroker", prefix().join("bin/topobroker"));
        assert_eq!(succeed(&mut run), right.concat(), "{}", machine.name);
        jobs += JOBS;
    }
    println!("{jobs} pairs of a machine and a job");
    assert!(jobs >= 200, "{jobs}");
}
