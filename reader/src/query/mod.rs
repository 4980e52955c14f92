//! Queries on a topology or on an object. The answers are other objects, or sets.

mod ancestors;
mod closest;
mod covering;
mod default_nodes;
mod depths;
mod devices;
mod distribute;
mod inside;
mod largest;
mod local_numa_nodes;
mod nodesets;
mod objects;
mod objects_of_set;
mod same_locality;
mod singlify;
mod subtree;
mod within;

pub use closest::Closest;
pub use distribute::Distribution;
pub use inside::Inside;
pub use largest::Largest;
pub use local_numa_nodes::LocalNumaNodes;
pub use objects::Objects;
pub use objects_of_set::ObjectsOfSet;
pub use subtree::Subtree;
