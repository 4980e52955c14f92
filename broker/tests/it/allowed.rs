//! Compares views of what may be used with what hwloc makes of the same machine if only that is
//! allowed.

use crate::queries::config;
use crate::random_cases::{Picks, picks, synthetic};
use crate::views::assert_same_contents;
use proptest::test_runner::TestRunner;
use topobroker::description::describe;
use topobroker::hwloc::{Input, LoadOptions, capture, load};
use topobroker_layout::attributes::Attributes;
use topobroker_layout::description::Description;
use topobroker_layout::encode::to_bytes;
use topobroker_layout::set::Format;
use topobroker_reader::text::xml;
use topobroker_reader::{Archive, Set, Topology, View};
use topobroker_samples::{loaded, machines, shared, topology_of};

/// The XML of a machine of which these PUs and NUMA nodes may be used. hwloc removes the others
/// when it loads it, as it does when it discovers a machine in a cgroup.
fn with_allowed(topology: Topology<'_>, cpus: &Set, nodes: &Set) -> String {
    let text = xml::export(topology);
    let put = |text: String, name: &str, set: &Set| {
        let start = text.find(&format!(" {name}=\"")).unwrap() + name.len() + 3;
        let end = start + text[start..].find('"').unwrap();
        format!("{}{}{}", &text[..start], set.to_text(Format::Hwloc), &text[end..])
    };
    put(put(text, "allowed_cpuset", cpus), "allowed_nodeset", nodes)
}

fn some_nodes(topology: Topology<'_>, picks: &Picks) -> Set {
    let all = topology.root().nodeset().unwrap();
    let bits = picks.bits.iter().rev().cycle().take(all.words().len());
    let some = &all & &Set::from_words(bits.copied(), false);
    if picks.reverse || some.is_empty() { all } else { some }
}

/// hwloc remembers in the complete sets what it has removed, leaves CPU kinds of an XML file as
/// they are, and counts the levels of groups anew. A view does not.
fn without_hidden(mut machine: Description) -> Description {
    for sets in machine.objects.iter_mut().filter_map(|it| it.sets.as_mut()) {
        sets.complete_cpuset = sets.cpuset.clone();
        sets.complete_nodeset = sets.nodeset.clone();
    }
    for object in &mut machine.objects {
        if let Attributes::Group(group) = &mut object.attributes {
            group.depth = 0;
        }
    }
    machine.cpu_kinds.clear();
    machine
}

fn check(input: &Input, picks: &Picks) {
    // Both are read from XML, which does not have all that hwloc knows of a synthetic machine.
    let bytes = to_bytes(&capture(&loaded(input)).unwrap()).unwrap();
    let text = xml::export(Archive::open(&bytes).unwrap().topology());
    let whole = topology_of(&capture(&loaded(&Input::XmlText(text))).unwrap());
    let count = whole.object_count();
    let nth = |pick: usize| whole.objects().nth(picks.objects[pick].index(count)).unwrap();
    // What hwloc does with PUs that are allowed and not there is no matter here.
    let cpus = &picks.set(whole, [nth(0), nth(1)]) & &whole.root().cpuset().unwrap();
    let nodes = some_nodes(whole, picks);
    let what = format!("{input:?} with PUs {cpus} and NUMA nodes {nodes} allowed");
    let view = View::allowed(whole, &cpus, &nodes);
    let text = with_allowed(whole, &cpus, &nodes);
    match (view, load(&Input::XmlText(text), &LoadOptions::default())) {
        (Ok(view), Ok(theirs)) => {
            let theirs = to_bytes(&capture(&theirs).unwrap()).unwrap();
            let theirs = Archive::open(&theirs).unwrap();
            let both = [view.topology(), theirs.topology()].map(|it| without_hidden(describe(it)));
            let [ours, theirs] = both;
            assert_same_contents(ours, theirs, &what);
        }
        (Err(_), _) => assert!(cpus.is_empty(), "{what}"),
        (Ok(_), Err(error)) => panic!("{what}: hwloc refuses: {error}"),
    }
}

#[test]
fn what_may_be_used_of_random_machines_is_what_hwloc_finds_there() {
    let mut runner = TestRunner::new(config(1000));
    let result = runner.run(&(synthetic(), picks()), |(text, picks)| {
        check(&Input::Synthetic(text), &picks);
        Ok(())
    });
    result.unwrap();
}

#[test]
fn what_may_be_used_of_the_reference_machines_is_what_hwloc_finds_there() {
    let Some(shared) = shared() else { return };
    for machine in machines(&shared) {
        let mut runner = TestRunner::new(config(4));
        let result = runner.run(&picks(), |picks| {
            check(&Input::Xml(machine.path.clone()), &picks);
            Ok(())
        });
        result.unwrap_or_else(|error| panic!("{}: {error}", machine.name));
    }
}
