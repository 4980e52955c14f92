//! A launcher in short: publishes a topology, gives each of two ranks a package of it, and starts a
//! command for each.
//!
//! `cargo run -p topobroker --example launch COMMAND [ARGUMENT...]`

use std::error::Error;
use std::process::Command;
use topobroker::binding::{Target, bind, binding};
use topobroker::hwloc::{Input, LoadOptions, capture, load};
use topobroker::publish::job::{self, JobOptions};
use topobroker::publish::{PublishOptions, publish};
use topobroker_reader::{Object, ObjectType, Source, View, adopt_keys};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let program = arguments.next().ok_or("usage: launch COMMAND [ARGUMENT...]")?;
    let arguments: Vec<String> = arguments.collect();

    // A launcher on a real node takes `Input::ThisMachine`, or the topology that it has loaded
    // already.
    let machine = Input::Synthetic("Package:2 NUMANode:1 Core:2 PU:2".to_owned());
    let description = capture(&load(&machine, &LoadOptions::default())?)?;
    let options = PublishOptions { source: Source::Synthetic, ..PublishOptions::default() };
    let publication = publish(&description, &options)?;

    // The job lists which PUs each rank has. It is removed when `job` is dropped.
    let node = adopt_keys(publication.keys().clone())?;
    let packages = node.topology().objects_with_type(ObjectType::Package);
    let packages = packages.map(Object::cpuset).filter(Option::is_some);
    let ranks = (0..).zip(packages).collect();
    let options = JobOptions { name: "example".to_owned(), ranks, ..JobOptions::default() };
    let job = job::add(node, &View::whole(node.topology()), &options)?;

    // The job only says where its ranks belong. A child is bound as the thread that starts it is.
    let before = binding(Target::ThisThread)?;
    for (rank, pus) in &options.ranks {
        if let Some(pus) = pus.as_ref().filter(|_| node.topology().is_this_system()) {
            bind(Target::ThisThread, pus)?;
        }
        println!("rank {rank} on PUs {:?}", pus.clone().unwrap_or_default());
        let status = Command::new(&program)
            .args(&arguments)
            .envs(publication.to_env())
            .envs(job.to_env())
            .env("PMIX_RANK", rank.to_string())
            .status()?;
        bind(Target::ThisThread, &before)?;
        if !status.success() {
            return Err(format!("rank {rank}: {program} failed: {status}").into());
        }
    }
    Ok(())
}
