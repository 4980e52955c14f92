//! Who has which device, if no device may be idle while ranks share another one. Of all such
//! assignments this finds one of the least cost: a transport problem, solved by shortest augmenting
//! paths.

use alloc::vec;
use alloc::vec::Vec;

/// What it costs that a rank has a device. Costs are added up.
pub(super) type Cost = i128;

/// Ranks for which the devices have the same costs.
pub(super) struct Alike {
    /// By device.
    pub(super) costs: Vec<Cost>,
    pub(super) ranks: Vec<usize>,
    /// By device: how many of these ranks have it.
    having: Vec<usize>,
}

/// The cheapest way by which a waiting rank leads to one more rank on a device: it takes the
/// device, or one whose rank moves on.
#[derive(Clone, Copy)]
struct Way {
    cost: Cost,
    /// The device from which a rank moves to this one, and the group of that rank.
    before: Option<(usize, usize)>,
}

impl Alike {
    pub(super) fn new(costs: Vec<Cost>) -> Self {
        Self { having: vec![0; costs.len()], costs, ranks: Vec::new() }
    }

    /// How many of the ranks have no device yet.
    fn waiting(&self) -> usize {
        self.ranks.len().saturating_sub(self.having.iter().sum())
    }

    /// Each rank and its device. Ranks have the devices in turn, the cheapest first.
    pub(super) fn dealt(&self) -> impl Iterator<Item = (usize, usize)> {
        let mut dealt = vec![0; self.having.len()];
        self.ranks.iter().filter_map(move |rank| {
            let left = self.having.iter().zip(&mut dealt).zip(&self.costs).enumerate();
            let left = left.filter(|(_, ((having, dealt), _))| **dealt < **having);
            let (device, ((_, dealt), _)) =
                left.min_by_key(|(device, ((_, dealt), cost))| (**dealt, **cost, *device))?;
            *dealt += 1;
            Some((*rank, device))
        })
    }
}

/// Gives each rank of the groups a device. `parts` says of each device how many ranks can have a
/// part of it that no other rank has.
pub(super) fn spread(groups: &mut [Alike], parts: &[usize]) {
    let ranks: usize = groups.iter().map(|group| group.ranks.len()).sum();
    let each = ranks.checked_div(parts.iter().sum()).unwrap_or(0);
    let mut room = vec![0; parts.len()];
    // First as many ranks as each device has in any case, then those that are left.
    for more in [each, 1] {
        room.iter_mut().zip(parts).for_each(|(room, parts)| *room += parts * more);
        for group in 0..groups.len() {
            while add(groups, group, &mut room).is_some() {}
        }
    }
}

/// Gives some waiting ranks of a group devices, by the cheapest way to one that has room. `None` if
/// no rank waits, or no device has room.
fn add(groups: &mut [Alike], group: usize, room: &mut [usize]) -> Option<()> {
    let waiting = groups.get(group).map(Alike::waiting).filter(|waiting| *waiting > 0)?;
    let ways = cheapest_ways(groups, group)?;
    let open = room.iter().zip(&ways).enumerate().filter(|(_, (room, _))| **room > 0);
    let (last, _) = open.min_by_key(|(_, (_, way))| way.cost)?;
    let (mut first, mut steps) = (last, Vec::new());
    while let Some((from, mover)) = ways.get(first)?.before {
        steps.push((mover, from, first));
        first = from;
    }
    let having = steps.iter().filter_map(|(mover, from, _)| groups.get(*mover)?.having.get(*from));
    let count = having.copied().chain([*room.get(last)?, waiting]).min()?;
    for (mover, from, to) in steps {
        let having = &mut groups.get_mut(mover)?.having;
        *having.get_mut(from)? -= count;
        *having.get_mut(to)? += count;
    }
    *groups.get_mut(group)?.having.get_mut(first)? += count;
    *room.get_mut(last)? -= count;
    Some(())
}

/// The cheapest way from a waiting rank of a group to each device (Bellman and Ford).
fn cheapest_ways(groups: &[Alike], group: usize) -> Option<Vec<Way>> {
    let costs = groups.get(group)?.costs.iter();
    let mut ways: Vec<Way> = costs.map(|cost| Way { cost: *cost, before: None }).collect();
    let mut is_shorter = true;
    while is_shorter {
        is_shorter = false;
        for from in 0..ways.len() {
            let has_it = |it: &Alike| it.having.get(from).is_some_and(|having| *having > 0);
            for (mover, it) in groups.iter().enumerate().filter(|(_, it)| has_it(it)) {
                let left = ways.get(from)?.cost - it.costs.get(from)?;
                for (way, cost) in ways.iter_mut().zip(&it.costs) {
                    if left + cost < way.cost {
                        *way = Way { cost: left + cost, before: Some((from, mover)) };
                        is_shorter = true;
                    }
                }
            }
        }
    }
    Some(ways)
}
