//! Overlays in which objects have moved, to allowed and to forbidden places.

use super::{room, rule, sets, views};
use crate::every_query::{ask_object, ask_topology, ask_with_set};
use crate::machines;
use topobroker_layout::overlay::{self, Moved, Overlay};
use topobroker_reader::{Archive, Object, Topology, View};

/// The children of each object, in the order of the objects.
fn children(order: &[u32], parents: &[u32]) -> Vec<Vec<u32>> {
    let below = |object: &u32| {
        let below = order.iter().zip(parents).filter(|(id, parent)| *parent == object && **id != 0);
        below.map(|(id, _)| *id).collect()
    };
    order.iter().map(below).collect()
}

/// The columns of an overlay for objects in the order of their ordinals, with the parent of each.
fn moved(order: &[u32], parents: &[u32]) -> Moved {
    let mut by_number: Vec<(u32, u32)> = order.iter().copied().zip(0..).collect();
    by_number.sort_unstable();
    let children = children(order, parents);
    let ends = children.iter().scan(0, |end, own| {
        *end += u32::try_from(own.len()).unwrap();
        Some(*end)
    });
    let child_start: Vec<u32> = std::iter::once(0).chain(ends).collect();
    Moved {
        order: Moved::pack(order.iter().copied()),
        ordinal: Moved::pack(by_number.into_iter().map(|(_, ordinal)| ordinal)),
        parent: Moved::pack(parents.iter().copied()),
        child_start: Moved::pack(child_start),
        children: Moved::pack(children.concat()),
    }
}

/// A view of the small machine in which objects have moved.
fn moved_view(whole: Topology<'_>) -> View<'_> {
    views(whole).into_iter().find(|view| !view.is_in_order()).unwrap()
}

/// The objects of a view in the order of their ordinals, and the parent of each.
fn places(view: &View<'_>) -> (Vec<u32>, Vec<u32>) {
    let above = |object: Object<'_>| object.parent().map_or(0, Object::id);
    view.topology().objects().map(|object| (object.id(), above(object))).unzip()
}

#[test]
fn an_overlay_with_objects_in_any_places_is_refused_or_answers_every_query() {
    let archive = machines::small();
    let opened = Archive::open(&archive).unwrap();
    let whole = opened.topology();
    let view = moved_view(whole);
    let right = view.to_overlay().unwrap();
    let (ids, above) = places(&view);
    let mut random = fastrand::Rng::with_seed(1);
    let (mut refused, mut held) = (0, 0);
    // Miri is some thousand times slower, so it asks only a part.
    let (rounds, part) = if cfg!(miri) { (4, 9) } else { (4000, 1) };
    for round in 0..rounds {
        let (mut order, mut parents) = (ids.clone(), above.clone());
        for _ in 0..round % 4 {
            let places = [random.usize(..ids.len()), random.usize(..ids.len())];
            order.swap(places[0], places[1]);
            if random.bool() {
                parents.swap(places[0], places[1]);
            }
        }
        for _ in 0..round % 3 {
            parents[random.usize(..ids.len())] = ids[random.usize(..ids.len())];
        }
        let overlay = Overlay { moved: moved(&order, &parents), ..right.clone() };
        let bytes = overlay::to_bytes(&overlay).unwrap();
        let Ok(view) = View::from_archive(whole, &bytes) else {
            refused += 1;
            continue;
        };
        held += 1;
        let (topology, mut room) = (view.topology(), room());
        ask_topology(topology);
        for set in sets(topology).into_iter().step_by(3 * part) {
            ask_with_set(topology, &set, &mut room);
            for object in topology.objects().step_by(part) {
                let other = topology.object(object.id() / 2).unwrap_or(object);
                ask_object(object, other, &set, &mut room);
            }
        }
    }
    assert!(refused > 0 && held > 0, "{refused} {held}");
}

#[test]
fn an_overlay_that_does_not_begin_with_the_root_is_refused() {
    let archive = machines::small();
    let opened = Archive::open(&archive).unwrap();
    let whole = opened.topology();
    let view = moved_view(whole);
    let (mut order, _) = places(&view);
    let second = order[1];
    let parents: Vec<u32> = order.iter().map(|id| if *id == 0 { second } else { 0 }).collect();
    order.swap(0, 1);
    let overlay = Overlay { moved: moved(&order, &parents), ..view.to_overlay().unwrap() };
    let bytes = overlay::to_bytes(&overlay).unwrap();
    let error = rule(View::from_archive(whole, &bytes).unwrap_err());
    assert!(error.contains("begins with the root"), "{error}");
}

#[test]
fn an_overlay_with_a_package_below_a_device_is_refused() {
    let archive = machines::small();
    let opened = Archive::open(&archive).unwrap();
    let whole = opened.topology();
    let view = moved_view(whole);
    let (order, mut parents) = places(&view);
    let device = view.topology().objects().find(|it| it.object_type().is_io()).unwrap();
    for (parent, is_right) in [(0, true), (device.id(), false)] {
        parents[1] = parent;
        let overlay = Overlay { moved: moved(&order, &parents), ..view.to_overlay().unwrap() };
        let bytes = overlay::to_bytes(&overlay).unwrap();
        let found = View::from_archive(whole, &bytes).map(|_| ()).map_err(rule);
        assert_eq!(found.is_ok(), is_right, "{found:?}");
        assert!(found.is_ok() || found.unwrap_err().contains("normal if that is"));
    }
}

#[test]
fn children_in_another_order_than_their_pus_are_refused() {
    let archive = machines::small();
    let opened = Archive::open(&archive).unwrap();
    let whole = opened.topology();
    let view = moved_view(whole);
    let (order, parents) = places(&view);
    let right = moved(&order, &parents);
    let is_normal = |id: &u32| whole.object(*id).unwrap().object_type().is_normal();
    let mut lists = children(&order, &parents);
    let found = |lists: &[Vec<u32>]| {
        let children = Moved::pack(lists.concat());
        let overlay =
            Overlay { moved: Moved { children, ..right.clone() }, ..view.to_overlay().unwrap() };
        let bytes = overlay::to_bytes(&overlay).unwrap();
        View::from_archive(whole, &bytes).map(|_| ()).map_err(rule)
    };
    assert_eq!(found(&lists), Ok(()));
    let siblings = lists.iter_mut().find(|list| list.iter().filter(|id| is_normal(id)).count() > 1);
    siblings.unwrap().swap(0, 1);
    assert!(found(&lists).unwrap_err().contains("in the order of their PUs"));
}
