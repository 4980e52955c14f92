//! What a process learns of its node: where the topology comes from, what is in it, and which part
//! is its own.
//!
//! `topobroker run -- cargo run -p topobroker-reader --example node`

use std::error::Error;
use topobroker_reader::{Depth, adopt, jobs::effective_view};

fn main() -> Result<(), Box<dyn Error>> {
    let adopted = adopt()?;
    let topology = adopted.topology();
    let header = adopted.header();
    println!("segment {} from {}", header.segment_name(), header.source.name());
    for depth in (0..topology.depth()).map(Depth::Normal).chain([Depth::NumaNode]) {
        let objects = topology.objects_at_depth(depth);
        if let Some(first) = objects.clone().next() {
            println!("{:>5} {}", objects.len(), first.type_name(true));
        }
    }
    let mine = effective_view()?;
    println!("this process looks at {:?}", mine.topology().root());
    Ok(())
}
