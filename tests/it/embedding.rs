//! What C programs, libraries and launchers do with the files that are installed.

mod audited;
mod c_interface;
mod daemon;
mod installed;
mod legacy;
mod loading;
mod mpi;
mod owners;
mod pmix;
mod slurm;
mod storm;
