//! Policies as users write them: `--map-by package:PE=2 --bind-to core`.

use super::policy::{BindTo, DeviceMap, Devices, MapBy, Policy, RankBy, Resource, Rules, object};
use crate::links::is_bus_id;
use topobroker_layout::archive::INDEX_LIMIT;
use topobroker_layout::job::MAX_RANKS;
use topobroker_reader::ObjectType;

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

const MAP_EXPECTED: &str = "slot, node, cpu-list, hwthread, core, l1cache, l2cache, l3cache, \
                            numa, package, gpu, device=gpu, device=network, device=block, \
                            device=NAME or ppr:N:ANY_OF_THESE; append :PE=N for N CPUs a rank, \
                            :SHARED for several ranks a device, :NDEV=N for N devices a rank, \
                            :INTERLEAVE=OBJECT for devices of these in turn, :OVERSUBSCRIBE for \
                            more ranks than cores";
const BIND_EXPECTED: &str = "none, hwthread, core, l1cache, l2cache, l3cache, numa, package or \
                             gpu; append :overload-allowed to let ranks share CPUs";

impl Policy {
    /// Reads a mapping and a binding. Without a binding, ranks of a CPU list are bound to cores,
    /// and other ranks as [`BindTo::Usual`] says.
    ///
    /// ```
    /// use topobroker::placement::{BindTo, MapBy, Policy, Resource};
    /// use topobroker_reader::ObjectType;
    /// let policy = Policy::parse("ppr:2:socket:PE=3", None)?;
    /// assert_eq!(policy.map, MapBy::Ppr(2, Resource::Object(ObjectType::Package)));
    /// assert_eq!((policy.bind, policy.cpus), (BindTo::Usual, 3));
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
        let mut words = words(map_by);
        let name = words.next().unwrap_or_default();
        let mut map = match name.to_ascii_lowercase().as_str() {
            "slot" => MapBy::Slot,
            "cpu-list" => MapBy::CpuList,
            "ppr" => {
                let number = words.next().unwrap_or_default();
                let each = number.parse().ok().filter(|each| (1..=MAX_RANKS).contains(each));
                let each = each.ok_or_else(|| wrong(number, "not a number from 1 to 65536"))?;
                MapBy::Ppr(each, resource(words.next().unwrap_or_default(), wrong)?)
            }
            _ => match resource(name, wrong)? {
                Resource::Node => MapBy::Node,
                Resource::Object(kind) => MapBy::Object(kind),
                Resource::Device(map) => MapBy::Device(map),
            },
        };
        let mut policy = Self {
            map: MapBy::Slot,
            rank: None,
            bind: BindTo::Usual,
            cpus: 1,
            threads: false,
            span: false,
            overload: false,
            oversubscribe: false,
            rules: Rules::default(),
        };
        for word in words.flat_map(|word| word.split(',')) {
            let lower = word.to_ascii_lowercase();
            let (key, value) = lower.split_once('=').map_or((&*lower, None), |(k, v)| (k, Some(v)));
            let number = || {
                let number = value.unwrap_or_default().parse().ok();
                let number = number.filter(|it| (1..=INDEX_LIMIT as usize).contains(it));
                number.ok_or_else(|| wrong(word, "not a number from 1 to 131072"))
            };
            let devices = match &mut map {
                MapBy::Device(map) | MapBy::Ppr(_, Resource::Device(map)) => Some(map),
                _ => None,
            };
            match (key, devices) {
                ("oversubscribe", _) => policy.oversubscribe = true,
                ("nooversubscribe", _) => policy.oversubscribe = false,
                ("span", _) => policy.span = true,
                ("hwtcpus", _) => policy.threads = true,
                ("corecpus", _) => policy.threads = false,
                ("pe", _) => policy.cpus = number()?,
                ("shared", Some(map)) => map.shared = true,
                ("ndev", Some(map)) => map.each = number()?,
                ("interleave", Some(map)) => {
                    let kind = value.map_or(Some(ObjectType::Package), object);
                    map.interleave = Some(kind.ok_or_else(|| wrong(word, "not a type of object"))?);
                }
                ("shared" | "ndev" | "interleave", None) => {
                    return Err(wrong(word, "a modifier of devices alone"));
                }
                _ => return Err(wrong(word, "not a modifier")),
            }
        }
        let usual = match map {
            MapBy::CpuList => BindTo::Object(ObjectType::Core),
            _ => BindTo::Usual,
        };
        let (bind, overload) = match bind_to {
            None => (usual, false),
            Some(text) => binding(text)?,
        };
        let fits = match (&map, bind) {
            (_, BindTo::None | BindTo::Usual) => true,
            (MapBy::CpuList, _) => bind_to.is_none(),
            (_, BindTo::Gpu) => policy.cpus == 1,
            (_, BindTo::Object(kind)) => {
                policy.cpus == 1 || matches!(kind, ObjectType::Core | ObjectType::PU)
            }
        };
        if !fits {
            let found = bind_to.unwrap_or_default().to_owned();
            let reason = "no binding for ranks of several cores, or of CPUs of a list";
            let (option, text) = ("--bind-to", found.clone());
            let expected = "none, core or hwthread with PE=N, and none or nothing with cpu-list";
            return Err(PolicyError { option, text, found, reason, expected });
        }
        Ok(Self { map, bind, overload, ..policy })
    }

    /// The policy with the numbering of `--rank-by`.
    ///
    /// # Errors
    ///
    /// [`PolicyError`] if it is none.
    pub fn ranked_by(self, text: &str) -> Result<Self, PolicyError> {
        let all = [RankBy::Slot, RankBy::Node, RankBy::Fill, RankBy::Span];
        let rank = all.into_iter().find(|it| it.name().eq_ignore_ascii_case(text));
        let wrong = || PolicyError {
            option: "--rank-by",
            text: text.to_owned(),
            found: text.to_owned(),
            reason: "not a numbering",
            expected: "slot, node, fill or span",
        };
        Ok(Self { rank: Some(rank.ok_or_else(wrong)?), ..self })
    }
}

/// What ranks are mapped by, or N of them each.
fn resource(
    name: &str,
    wrong: impl Fn(&str, &'static str) -> PolicyError,
) -> Result<Resource, PolicyError> {
    let devices = |devices, is_wide| {
        let shared = is_wide || matches!(devices, Devices::Named(_));
        let map = DeviceMap { devices, shared, is_wide, interleave: None, each: 1 };
        Ok(Resource::Device(map))
    };
    let is_devices = |it: &&str| it.eq_ignore_ascii_case("device=");
    if name.get(.."device=".len()).as_ref().is_some_and(is_devices) {
        let wanted = name.get("device=".len()..).unwrap_or_default();
        return match wanted {
            "" => Err(wrong(name, "no device")),
            wanted => devices(Devices::named(wanted), false),
        };
    }
    match object(name) {
        _ if name.eq_ignore_ascii_case("gpu") => devices(Devices::Gpus, true),
        Some(ObjectType::Machine) => Ok(Resource::Node),
        Some(kind) => Ok(Resource::Object(kind)),
        None => Err(wrong(name, "not a type of object")),
    }
}

/// The words between colons. Those of a PCI bus id, such as `device=0000:23:00.0`, separate
/// nothing.
fn words(map_by: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(map_by);
    std::iter::from_fn(move || {
        let text = rest?;
        let bus_id = text.get("device=".len()..).and_then(|text| {
            let end = text.find('.')? + 2;
            text.get(..end).filter(|it| is_bus_id(it)).map(|_| "device=".len() + end)
        });
        let end = bus_id.or_else(|| text.find(':')).unwrap_or(text.len());
        rest = text.get(end + 1..);
        text.get(..end)
    })
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
