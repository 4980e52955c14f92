//! Devices that ranks are given.

use crate::failure::wrong_value;
use crate::handles::{PyObject, PyTopology};
use crate::object::{Given, within};
use crate::set::AnySet;
use pyo3::prelude::*;
use topobroker_layout::job::MAX_RANKS;
use topobroker_reader::devices::NearTo;

/// Most devices that all ranks are given together.
const MOST_GIVEN: usize = 1 << 24;

/// What a rank should have its devices near to.
enum GivenRank {
    Cpus(AnySet),
    /// The id of a device.
    Device(u32),
}

/// Deals devices to ranks: a list of devices for each.
pub(crate) fn assign(
    topology: &PyTopology,
    devices: &Given,
    ranks: &Bound<'_, PyAny>,
    per_rank: usize,
) -> PyResult<Vec<Vec<PyObject>>> {
    let device_ids = devices.0.iter().map(|it| topology.own_id(it.get()));
    let device_ids: Vec<u32> = device_ids.collect::<PyResult<_>>()?;
    let ranks = within(MAX_RANKS, "ranks", ranks)?;
    let most = MOST_GIVEN / ranks.len().max(1);
    if per_rank.min(device_ids.len()) > most {
        let count = ranks.len();
        return Err(wrong_value(format!(
            "{per_rank} devices for {count} ranks; expected {most} at most"
        )));
    }
    let ranks = ranks.iter().map(|rank| match rank.cast::<PyObject>() {
        Ok(object) => topology.own_id(object.get()).map(GivenRank::Device),
        Err(_) => rank.extract().map(GivenRank::Cpus),
    });
    let ranks: Vec<GivenRank> = ranks.collect::<PyResult<_>>()?;
    let given = topology.0.each(|topology| {
        let object = |id: &u32| topology.object(*id);
        let devices: Vec<_> = device_ids.iter().filter_map(object).collect();
        let near = ranks.iter().filter_map(|rank| match rank {
            GivenRank::Cpus(set) => Some(NearTo::Pus(set)),
            GivenRank::Device(id) => object(id).map(NearTo::Device),
        });
        topology.assign(&devices, &near.collect::<Vec<_>>(), per_rank)
    });
    let each = per_rank.min(device_ids.len());
    let mut given = given.into_iter().map(PyObject);
    Ok(ranks.iter().map(|_| given.by_ref().take(each).collect()).collect())
}
