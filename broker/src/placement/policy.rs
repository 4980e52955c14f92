//! Policies as users write them: `--map-by package:PE=2 --bind-to core`.

use crate::links::is_bus_id;
use std::fmt;
use topobroker_layout::archive::INDEX_LIMIT;
use topobroker_layout::job::MAX_RANKS;
use topobroker_reader::ObjectType;

/// How ranks are mapped.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MapBy {
    /// Round robin over the objects of a type.
    Object(ObjectType),
    /// One after the other, over the whole topology.
    Slot,
    /// This many ranks on each object of a type, one object after the other: `ppr:2:package`.
    PerObject(usize, ObjectType),
    /// Each rank on the next CPU of a list.
    CpuList,
    /// Round robin over devices, each rank on the PUs near its device.
    Device {
        /// The devices.
        devices: Devices,
        /// Whether there may be more ranks than devices.
        shared: bool,
    },
}

/// Devices that ranks are mapped by, as PRRTE 5 names them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Devices {
    /// The GPUs ([`Topology::gpus`](topobroker_reader::Topology::gpus)).
    Gpus,
    /// The cards with an OpenFabrics device or a network interface, whatever their state is.
    Network,
    /// The cards with a disk.
    Block,
    /// One device, by its name, its PCI bus id or the UUID of a GPU.
    Named(String),
}

/// What ranks are bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BindTo {
    /// The default of `mpirun`, which depends on the mapping and on the number of ranks.
    Usual,
    /// Nothing: all PUs of the job.
    None,
    /// One object of a type.
    Object(ObjectType),
    /// The PUs near the GPU that the rank is given.
    Gpu,
}

/// How the ranks of a job are placed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// How ranks are mapped.
    pub map: MapBy,
    /// What ranks are bound to.
    pub bind: BindTo,
    /// Number of cores of each rank, or of hardware threads if ranks are bound to these: `PE=n`.
    pub cpus: usize,
    /// Whether more ranks may be bound to an object than it has cores or PUs.
    pub overload: bool,
    /// Whether there may be more ranks than cores: `OVERSUBSCRIBE`. They are not bound then, unless
    /// `overload` is set.
    pub oversubscribe: bool,
}

/// A text is not a policy.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[error("{option} {text:?}: {found:?} is {reason}; expected {expected}")]
pub struct PolicyError {
    /// The option.
    pub option: &'static str,
    /// The text.
    pub text: String,
    /// The part that is wrong.
    pub found: String,
    /// What is wrong with it.
    pub reason: &'static str,
    /// What is expected there.
    pub expected: &'static str,
}

/// Types of objects by the names of `mpirun`. `socket` is its older name of packages.
const OBJECTS: [(&str, ObjectType); 12] = [
    ("hwthread", ObjectType::PU),
    ("core", ObjectType::Core),
    ("l1cache", ObjectType::L1Cache),
    ("l2cache", ObjectType::L2Cache),
    ("l3cache", ObjectType::L3Cache),
    ("numa", ObjectType::NUMANode),
    ("package", ObjectType::Package),
    ("socket", ObjectType::Package),
    ("l1", ObjectType::L1Cache),
    ("l2", ObjectType::L2Cache),
    ("l3", ObjectType::L3Cache),
    ("node", ObjectType::Machine),
];

const MAP_EXPECTED: &str = "slot, node, cpu-list, hwthread, core, l1cache, l2cache, l3cache, numa, package, gpu, device=gpu, device=network, device=block, device=NAME or ppr:N:OBJECT; append :PE=N for N CPUs a rank, :SHARED for several ranks a device, :OVERSUBSCRIBE for more ranks than cores";
const BIND_EXPECTED: &str = "none, hwthread, core, l1cache, l2cache, l3cache, numa, package or gpu; append :overload-allowed to let ranks share CPUs";

pub(super) fn name_of(kind: ObjectType) -> &'static str {
    OBJECTS.into_iter().find(|(_, other)| *other == kind).map_or(kind.name(), |(name, _)| name)
}

fn object(name: &str) -> Option<ObjectType> {
    OBJECTS.into_iter().find(|(other, _)| name.eq_ignore_ascii_case(other)).map(|(_, kind)| kind)
}

impl Policy {
    /// Reads a mapping and a binding. Without a binding, ranks of several CPUs and ranks of a CPU
    /// list are bound to cores, and other ranks as [`BindTo::Usual`] says.
    ///
    /// ```
    /// use topobroker::placement::{BindTo, MapBy, Policy};
    /// use topobroker_reader::ObjectType;
    /// let policy = Policy::parse("ppr:2:socket:PE=3", None)?;
    /// assert_eq!(policy.map, MapBy::PerObject(2, ObjectType::Package));
    /// assert_eq!((policy.bind, policy.cpus), (BindTo::Object(ObjectType::Core), 3));
    /// # Ok::<(), topobroker::placement::PolicyError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`PolicyError`] naming the part that is wrong.
    pub fn parse(map_by: &str, bind_to: Option<&str>) -> Result<Self, PolicyError> {
        let wrong = |found: &str, reason| PolicyError {
            option: "--map-by",
            text: map_by.to_owned(),
            found: found.to_owned(),
            reason,
            expected: MAP_EXPECTED,
        };
        let type_of = |name: &str| object(name).ok_or_else(|| wrong(name, "not a type of object"));
        // The colons of a bus id separate nothing.
        let bus_id = bus_id_in(map_by);
        let (name, rest) = match bus_id {
            Some(end) => map_by.split_at(end),
            None => map_by.split_at(map_by.find(':').unwrap_or(map_by.len())),
        };
        let mut parts = rest.split(':').skip(1);
        let mut map = match name.to_ascii_lowercase().as_str() {
            // On one node they are the same.
            "slot" | "node" => MapBy::Slot,
            "gpu" => MapBy::Device { devices: Devices::Gpus, shared: true },
            lower if lower.starts_with("device=") => {
                let wanted = name.get("device=".len()..).unwrap_or_default();
                if wanted.is_empty() {
                    return Err(wrong(name, "no device"));
                }
                let devices = Devices::named(wanted);
                MapBy::Device { devices, shared: false }
            }
            "cpu-list" => MapBy::CpuList,
            "ppr" => {
                let number = parts.next().unwrap_or_default();
                let each = number.parse().ok().filter(|each| (1..=MAX_RANKS).contains(each));
                let each = each.ok_or_else(|| wrong(number, "not a number from 1 to 65536"))?;
                MapBy::PerObject(each, type_of(parts.next().unwrap_or_default())?)
            }
            _ => MapBy::Object(type_of(name)?),
        };
        let (mut cpus, mut oversubscribe) = (1, false);
        for part in parts.flat_map(|part| part.split(',')) {
            let lower = part.to_ascii_lowercase();
            let number = match lower.as_str() {
                "oversubscribe" | "nooversubscribe" => {
                    oversubscribe = lower == "oversubscribe";
                    continue;
                }
                "shared" => {
                    let MapBy::Device { shared, .. } = &mut map else {
                        return Err(wrong(part, "a modifier of device= alone"));
                    };
                    *shared = true;
                    continue;
                }
                // It is about several nodes.
                "span" => continue,
                modifier => modifier.strip_prefix("pe="),
            };
            let number = number.ok_or_else(|| wrong(part, "not a modifier"))?;
            cpus = number
                .parse()
                .ok()
                .filter(|cpus| (1..=INDEX_LIMIT as usize).contains(cpus))
                .ok_or_else(|| wrong(part, "not a number from 1 to 131072"))?;
        }
        let usual = match map {
            MapBy::CpuList => BindTo::Object(ObjectType::Core),
            _ if cpus > 1 => BindTo::Object(ObjectType::Core),
            _ => BindTo::Usual,
        };
        let (bind, overload) = match bind_to {
            None => (usual, false),
            Some(text) => binding(text)?,
        };
        let fits = match (&map, bind) {
            (_, BindTo::None | BindTo::Usual) => true,
            (MapBy::CpuList, _) => bind_to.is_none(),
            (_, BindTo::Gpu) => cpus == 1,
            (_, BindTo::Object(kind)) => {
                cpus == 1 || matches!(kind, ObjectType::Core | ObjectType::PU)
            }
        };
        if !fits {
            let found = bind_to.unwrap_or_default().to_owned();
            let reason = "no binding for ranks of several cores, or of CPUs of a list";
            let (option, text) = ("--bind-to", found.clone());
            let expected = "none, core or hwthread with PE=N, and none or nothing with cpu-list";
            return Err(PolicyError { option, text, found, reason, expected });
        }
        Ok(Self { map, bind, cpus, overload, oversubscribe })
    }
}

impl Policy {
    /// The policy with [`BindTo::Usual`] replaced by the default binding of `mpirun` of Open MPI
    /// 4.1. `ranks` is the number of ranks that was asked for, if any, and `mapped` is the number
    /// of objects that they are mapped by; of a job over several nodes both are of all nodes together.
    ///
    /// Ranks that are mapped by a type of object are bound to that type. Otherwise up to two ranks
    /// are bound to cores, and more ranks to NUMA nodes.
    ///
    /// `ppr:N:OBJECT` has exceptions. If no number of ranks was asked for, mpirun counts them only
    /// for packages, and binds ranks on other objects to cores. Ranks on hardware threads are bound
    /// to nothing, if no number was asked for or at most two.
    #[must_use]
    pub fn with_usual_binding(&self, ranks: Option<usize>, mapped: usize) -> Self {
        if self.bind != BindTo::Usual {
            return self.clone();
        }
        let few = |ranks: usize| if ranks <= 2 { ObjectType::Core } else { ObjectType::NUMANode };
        let bind = match (&self.map, ranks) {
            (MapBy::Object(kind), _) => BindTo::Object(*kind),
            (MapBy::Device { devices: Devices::Gpus, shared: true }, _) => BindTo::Gpu,
            (MapBy::PerObject(_, ObjectType::PU), None | Some(0..=2)) => BindTo::None,
            (MapBy::PerObject(each, ObjectType::Package), None) => {
                BindTo::Object(few(each.saturating_mul(mapped)))
            }
            (MapBy::PerObject(..), None) => BindTo::Object(ObjectType::Core),
            (_, ranks) => BindTo::Object(few(ranks.unwrap_or(mapped))),
        };
        Self { bind, ..self.clone() }
    }
}

/// Where a mapping by a device with a PCI bus id ends, such as `device=0000:23:00.0`.
fn bus_id_in(map_by: &str) -> Option<usize> {
    let start = "device=".len();
    map_by.get(..start).filter(|it| it.eq_ignore_ascii_case("device="))?;
    let end = start + map_by.get(start..)?.find('.')? + 2;
    map_by.get(start..end).filter(|text| is_bus_id(text)).map(|_| end)
}

fn binding(text: &str) -> Result<(BindTo, bool), PolicyError> {
    let wrong = |found: &str, reason| PolicyError {
        option: "--bind-to",
        text: text.to_owned(),
        found: found.to_owned(),
        reason,
        expected: BIND_EXPECTED,
    };
    let (name, modifier) = match text.split_once(':') {
        Some((name, modifier)) => (name, Some(modifier)),
        None => (text, None),
    };
    let overload = match modifier {
        None => false,
        Some(modifier) if modifier.eq_ignore_ascii_case("overload-allowed") => true,
        Some(modifier) => return Err(wrong(modifier, "not a modifier")),
    };
    let bind = match object(name) {
        _ if name.eq_ignore_ascii_case("none") => BindTo::None,
        _ if name.eq_ignore_ascii_case("gpu") => BindTo::Gpu,
        Some(kind) => BindTo::Object(kind),
        None => return Err(wrong(name, "not a type of object")),
    };
    Ok((bind, overload))
}

impl Devices {
    /// The devices that `device=NAME` means.
    fn named(name: &str) -> Self {
        match name.to_ascii_lowercase().as_str() {
            "gpu" => Self::Gpus,
            "network" | "nic" | "fabric" | "openfabrics" => Self::Network,
            "block" => Self::Block,
            _ => Self::Named(name.to_owned()),
        }
    }
}

/// `gpu`, `network`, `block`, or the name.
impl fmt::Display for Devices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gpus => "gpu",
            Self::Network => "network",
            Self::Block => "block",
            Self::Named(name) => name,
        })
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.map {
            MapBy::Object(kind) => write!(f, "{}", name_of(*kind))?,
            MapBy::Slot => write!(f, "slot")?,
            MapBy::PerObject(each, kind) => write!(f, "ppr:{each}:{}", name_of(*kind))?,
            MapBy::CpuList => write!(f, "cpu-list")?,
            MapBy::Device { devices, shared } => {
                write!(f, "device={devices}{}", if *shared { ":SHARED" } else { "" })?;
            }
        }
        if self.cpus > 1 { write!(f, ":PE={}", self.cpus) } else { Ok(()) }
    }
}
