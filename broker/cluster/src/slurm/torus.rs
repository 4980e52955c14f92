//! The sizes of a torus in three dimensions, and of the parts of it that Slurm gives to jobs.

use super::groups::SlurmGroup;
use std::fmt;

/// Nodes along x, y and z: `2x2x4`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dims(pub(super) [u32; 3]);

impl Dims {
    /// Reads `2x2x4`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let sizes = text.split('x').map(|size| size.parse().ok().filter(|size| *size > 0));
        Some(Self(sizes.collect::<Option<Vec<u32>>>()?.try_into().ok()?))
    }

    /// Number of nodes.
    pub(super) fn count(self) -> u64 {
        self.0.into_iter().fold(1, |count, size| u64::from(size).saturating_mul(count))
    }
}

impl fmt::Display for Dims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.0;
        write!(f, "{x}x{y}x{z}")
    }
}

impl SlurmGroup {
    /// Adds the sizes of parts that jobs are given. `scontrol` also prints those of the whole
    /// torus, files have not.
    pub(super) fn add_placement(&mut self, dims: Dims) {
        if self.dims() != Some(dims) {
            self.sizes += &format!(" {dims}");
        }
    }

    /// The sizes of a torus.
    pub(super) fn dims(&self) -> Option<Dims> {
        Dims::parse(self.sizes.split(' ').next()?)
    }
}
