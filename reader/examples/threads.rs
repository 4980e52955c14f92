//! PUs for some threads that are to be far from each other, and the NUMA nodes near each.
//!
//! `topobroker run -- cargo run -p topobroker-reader --example threads 4`

use std::error::Error;
use topobroker_reader::{Distribution, jobs::effective_view};

fn main() -> Result<(), Box<dyn Error>> {
    let count = std::env::args().nth(1).map_or(Ok(2), |count| count.parse())?;
    let mine = effective_view()?;
    let topology = mine.topology();
    let parts = topology.distribute(&[topology.root()], count, Distribution::default());
    for (thread, pus) in parts.iter().enumerate() {
        println!("thread {thread}: PUs {pus:?}, NUMA nodes {:?}", topology.nodeset_of(pus));
    }
    Ok(())
}
