//! Parts of a topology as users name them: `mine`, `affinity`, `cgroup`, lists, objects.

use anyhow::{Context, bail};
use topobroker::location::{Combine, Location, Reading};
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::set::Set;
use topobroker_reader::{
    Object, Topology, View,
    jobs::{
        Cgroup, CpuList, Numbering, SlurmBinding, affinity, gomp_cpu_affinity, kmp_affinity,
        omp_places, pmix_cpu_list, pmix_cpuset, slurm_cpu_bind,
    },
};

/// The names of parts, for error messages.
pub(super) const EXPECTED: &str = "machine, mine, affinity, cgroup, cgroup:FOLDER, env:VARIABLE, \
                                   cpukind:INDEX, cpukind:NAME=VALUE, a list of logical indexes \
                                   (14,15,0,1 or P0:0-3;P1:*), os:LIST, or objects (numa:0 \
                                   package:1.core:0-3)";

/// The name of all of a topology.
pub(super) const MACHINE: &str = "machine";

/// The environment variables that name PUs, for error messages.
const VARIABLES: &str = "PMIX_CPU_LIST, PMIX_CPUSET, SLURM_CPU_BIND, SLURM_CPU_BIND_LIST, \
                         TOPOBROKER_CPU_LIST, OMP_PLACES, GOMP_CPU_AFFINITY or KMP_AFFINITY";

/// The PUs that a user has chosen.
#[derive(Debug)]
pub(super) struct Chosen<'a> {
    cpus: Set,
    /// The cgroup that they are of.
    cgroup: Option<Cgroup>,
    /// The PUs in the order in which they were named; empty if they were named without an order.
    pub(super) order: Vec<Object<'a>>,
}

impl<'a> Chosen<'a> {
    /// PUs without an order.
    fn of(cpus: Set) -> Self {
        Self { cpus, cgroup: None, order: Vec::new() }
    }

    /// PUs in the order of a list.
    fn listed(list: &CpuList<'a>) -> Self {
        Self { order: list.iter().collect(), ..Self::of(list.to_set()) }
    }

    /// PUs and NUMA nodes of a cgroup.
    fn in_cgroup(cgroup: Cgroup) -> Self {
        Self { cpus: cgroup.cpus.clone(), cgroup: Some(cgroup), order: Vec::new() }
    }

    /// The PUs.
    pub(super) fn cpus(self) -> Set {
        self.cpus
    }

    /// The part as a view: of a cgroup as hwloc would find it there, otherwise with the NUMA nodes
    /// of the PUs.
    pub(super) fn view<'t>(&self, topology: Topology<'t>) -> anyhow::Result<View<'t>> {
        Ok(match &self.cgroup {
            Some(cgroup) => cgroup.view(topology)?,
            None => View::of_pus(topology, &self.cpus)?,
        })
    }
}

/// Reads the name of a part.
pub(super) fn chosen<'a>(topology: Topology<'a>, text: &str) -> anyhow::Result<Chosen<'a>> {
    let is_list =
        text.starts_with(|letter: char| letter.is_ascii_digit()) && !text.starts_with("0x");
    let package = text.strip_prefix(['P', 'p']).unwrap_or_default();
    let is_by_package = package.starts_with(|letter: char| letter.is_ascii_digit());
    if text == MACHINE {
        Ok(Chosen::of(topology.root().cpuset().unwrap_or_default()))
    } else if text == "mine" {
        let mine = topobroker_reader::jobs::effective_view()?;
        Ok(Chosen::of(mine.topology().root().cpuset().unwrap_or_default()))
    } else if text == "affinity" {
        Ok(Chosen::of(affinity()?))
    } else if text == "cgroup" {
        let cgroup = Cgroup::of_this_process()?;
        Ok(Chosen::in_cgroup(
            cgroup.context("this process is in no cgroup with a cpuset controller")?,
        ))
    } else if let Some(folder) = text.strip_prefix("cgroup:") {
        Ok(Chosen::in_cgroup(Cgroup::read(folder)?))
    } else if let Some(kind) = text.strip_prefix("cpukind:") {
        Ok(Chosen::of(cpu_kind(topology, kind)?))
    } else if let Some(list) = text.strip_prefix("os:") {
        Ok(Chosen::listed(&CpuList::parse(topology, list, Numbering::Os)?))
    } else if let Some(variable) = text.strip_prefix("env:") {
        of_variable(topology, variable)
    } else if is_list || is_by_package {
        Ok(Chosen::listed(&CpuList::parse(topology, text, Numbering::Logical)?))
    } else {
        of_locations(topology, text)
    }
}

/// The PUs of the CPU kinds that an index or an info (`NAME=VALUE`) selects.
pub(super) fn cpu_kind(topology: Topology<'_>, text: &str) -> anyhow::Result<Set> {
    let info = text.split_once('=');
    let index: Option<usize> = text.parse().ok();
    if info.is_none() && index.is_none() {
        bail!("{text}: expected an index or NAME=VALUE");
    }
    let kinds = topology.cpu_kinds().enumerate().filter(|(place, kind)| match info {
        Some((name, value)) => kind.infos().any(|it| it.name == name && it.value == value),
        None => Some(*place) == index,
    });
    let chosen: Vec<Set> = kinds.map(|(_, kind)| kind.cpuset()).collect();
    if chosen.is_empty() {
        let count = topology.cpu_kinds().count();
        bail!(
            "{text}: no such CPU kind; the topology has {count}, `topobroker ls --cpukinds` lists \
             them"
        );
    }
    Ok(chosen.into_iter().fold(Set::new(), |all, set| &all | &set))
}

/// Reads the PUs that an environment variable names.
fn of_variable<'a>(topology: Topology<'a>, variable: &str) -> anyhow::Result<Chosen<'a>> {
    if variable.is_empty() {
        bail!("env: names no variable; expected {VARIABLES}");
    }
    let value = std::env::var(variable).with_context(|| variable.to_owned())?;
    match variable {
        "PMIX_CPU_LIST" => Ok(Chosen::listed(&pmix_cpu_list(topology, &value)?)),
        // Set by topobroker's Slurm plugin: the CPUs of the step.
        "TOPOBROKER_CPU_LIST" => {
            Ok(Chosen::listed(&CpuList::parse(topology, &value, Numbering::Os)?))
        }
        "PMIX_CPUSET" => Ok(Chosen::of(pmix_cpuset(topology, &value)?)),
        "SLURM_CPU_BIND" | "SLURM_CPU_BIND_LIST" => {
            let local_id = match std::env::var("SLURM_LOCALID") {
                Ok(id) => id.parse().with_context(|| format!("SLURM_LOCALID {id:?}"))?,
                Err(_) => 0,
            };
            let kind = match variable {
                "SLURM_CPU_BIND" => String::new(),
                _ => std::env::var("SLURM_CPU_BIND_TYPE").unwrap_or_default(),
            };
            match slurm_cpu_bind(topology, &(kind + &value), local_id)? {
                SlurmBinding::Pus(cpus) => Ok(Chosen::of(cpus)),
                SlurmBinding::Automatic => Ok(Chosen::of(affinity()?)),
                SlurmBinding::None => Ok(Chosen::of(topology.root().cpuset().unwrap_or_default())),
            }
        }
        "OMP_PLACES" => Ok(Chosen::of(union(&omp_places(topology, &value)?))),
        "GOMP_CPU_AFFINITY" => Ok(Chosen::listed(&gomp_cpu_affinity(topology, &value)?)),
        "KMP_AFFINITY" => Ok(Chosen::of(union(&kmp_affinity(topology, &value)?))),
        _ => bail!("{variable}: names no PUs; expected {VARIABLES}"),
    }
}

fn union(places: &[Set]) -> Set {
    places.iter().fold(Set::new(), |all, place| &all | place)
}

/// Reads locations separated by blanks, and combines them as `calc` does.
fn of_locations<'a>(topology: Topology<'a>, text: &str) -> anyhow::Result<Chosen<'a>> {
    let (mut cpus, mut order) = (Set::new(), Vec::new());
    for word in text.split_whitespace() {
        let location =
            Location::parse_or_name(word).with_context(|| format!("expected {EXPECTED}"))?;
        let mut own = Set::new();
        match location.as_set() {
            Some(set) => {
                own = set.clone();
                order.extend(own.iter().filter_map(|pu| topology.pu_by_os_index(pu)));
            }
            None => {
                for object in location.objects(topology, Reading::default())? {
                    let place = object.non_io_ancestor();
                    own = &own | &place.cpuset().unwrap_or_default();
                    order.extend(place.objects_inside(ObjectType::PU));
                }
            }
        }
        cpus = match location.combine() {
            Combine::Add => &cpus | &own,
            Combine::Remove => cpus.and_not(&own),
            Combine::Intersect => &cpus & &own,
            Combine::Toggle => &cpus ^ &own,
        };
    }
    // Keeps each PU once, where it was named first.
    let mut left = cpus.clone();
    order.retain(|pu: &Object<'_>| {
        let index = pu.os_index().filter(|index| left.contains(*index));
        index.map(|index| left.remove(index)).is_some()
    });
    if cpus.is_empty() {
        bail!("{text:?} names no PU; expected {EXPECTED}");
    }
    Ok(Chosen { order, ..Chosen::of(cpus) })
}
