//! The installed files, as C programs, libraries and launchers use them.

mod administration;
mod audited;
mod beside_hwloc;
mod book;
mod c_interface;
mod communicators;
mod daemon;
mod distances;
mod gathering;
mod guard;
mod hostile;
mod hw_groups;
mod installed;
mod legacy;
mod loading;
mod localities;
mod mpi;
mod nic_choices;
mod nvlink_domains;
mod older_headers;
mod owners;
mod pmix;
mod slots;
mod slurm;
mod storm;
mod surroundings;
