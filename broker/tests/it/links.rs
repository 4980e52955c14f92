//! The graph of links, compared with networkx, and as other programs read it.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use topobroker::hwloc::Input;
use topobroker::links::{dot, jgf, json, matrix};
use topobroker_layout::job as layout;
use topobroker_reader::jobs::runs_of_pus;
use topobroker_reader::{
    Archive, ObjectType, Topology, View,
    jobs::Job,
    links::{
        Direction, Link, LinkClass, LinkOrigin, LinkPath, Links, LinksError, Measure, Paths,
        SwitchModel, Vertex, VertexId, VertexKind,
    },
};
use topobroker_samples::jobs::segment_of_job;
use topobroker_samples::{archived, describe, machines, shared, skip, synthetic, topology_of};

/// Runs `ask` over the topology of a machine.
pub(crate) fn with<R>(file: &Path, ask: impl FnOnce(Topology<'_>) -> R) -> R {
    let archive = archived(file);
    ask(Archive::open(&archive).unwrap().topology())
}

/// A topology for graphs whose vertices are no objects.
pub(crate) fn any_topology() -> Topology<'static> {
    topology_of(&synthetic("PU:1"))
}

/// Bandwidth, links of the widest path, links of the shortest, latency, whether a bandwidth is
/// unknown.
type Row = (Option<u32>, u16, u16, Option<u32>, bool);

/// All paths, by the names of their ends.
fn all_paths(links: &Links<'_>, may_relay: bool) -> BTreeMap<(String, String), Row> {
    let mut search = Paths::new(links, may_relay);
    let mut all = BTreeMap::new();
    for from in links.vertex_ids() {
        let [widest, fewest, quickest]: [Vec<Option<LinkPath>>; 3] =
            [Measure::Bandwidth, Measure::Hops, Measure::Latency]
                .map(|measure| search.of(from, Direction::Outgoing, measure).to_vec());
        for to in links.vertex_ids() {
            let at = to.index();
            let Some(wide) = widest[at] else {
                assert!(fewest[at].is_none() && quickest[at].is_none());
                continue;
            };
            let names = [from, to].map(|it| links.name(it).into_owned());
            let [one, other] = names;
            let hops = fewest[at].unwrap().hops;
            all.insert(
                (one, other),
                (
                    wide.bandwidth,
                    wide.hops,
                    hops,
                    quickest[at].unwrap().latency,
                    wide.has_unknown_bandwidth,
                ),
            );
            // A single search finds the same, and its way has the right length.
            let single = search.between(from, to, Measure::Bandwidth).unwrap();
            assert_eq!((single.bandwidth, single.hops), (wide.bandwidth, wide.hops));
            let way: Vec<VertexId> = search.way(to).collect();
            assert_eq!(way.len(), usize::from(single.hops) + 1);
            assert_eq!((way.first(), way.last()), (Some(&to), Some(&from)));
            assert_is_a_way(links, &way);
        }
    }
    for to in links.vertex_ids() {
        let name = links.name(to);
        for (from, path) in
            links.vertex_ids().zip(search.of(to, Direction::Incoming, Measure::Bandwidth))
        {
            let pair = (links.name(from).into_owned(), name.clone().into_owned());
            let known = all.get(&pair).map(|row| (row.0, row.1));
            assert_eq!(path.map(|it| (it.bandwidth, it.hops)), known, "{pair:?}");
        }
    }
    all
}

/// Checks that each step of a way is a link.
fn assert_is_a_way(links: &Links<'_>, way: &[VertexId]) {
    for step in way.windows(2) {
        let is_step =
            |it: &Link| [[it.one, it.other], [it.other, it.one]].contains(&[step[0], step[1]]);
        assert!(links.links().iter().any(is_step), "{way:?}: {step:?} is no link");
    }
}

/// What networkx says of a graph; `None` if there is no networkx.
fn by_networkx(graph: &Value, may_relay: bool) -> Option<BTreeMap<(String, String), Row>> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("graph.json");
    std::fs::write(&file, graph.to_string()).unwrap();
    let has = |python: &&str| {
        let found = Command::new(python).args(["-c", "import networkx"]).output();
        found.is_ok_and(|output| output.status.success())
    };
    let Some(python) = ["/usr/bin/python3", "python3"].into_iter().find(has) else {
        skip(format_args!("there is no networkx; scripts/test installs it"));
        return None;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/links_reference.py");
    let mut command = Command::new(python);
    command.arg(script).arg(&file).args(may_relay.then_some("relay"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let row = |line: &str| {
        let [from, to, width, hops_of_widest, fewest, latency, unknown] =
            line.split(' ').collect::<Vec<_>>()[..]
        else {
            panic!("{line}")
        };
        let number = |text: &str| text.parse().ok();
        let hops = |text: &str| text.parse().unwrap();
        let unknown = unknown == "True";
        let row = (number(width), hops(hops_of_widest), hops(fewest), number(latency), unknown);
        ((from.to_owned(), to.to_owned()), row)
    };
    Some(text.lines().map(row).collect())
}

#[test]
fn all_pairs_of_machines_with_links_are_those_of_networkx() {
    let Some(shared) = shared() else { return };
    let names = [
        "flux-core__ipa20",
        "flux-core__tuo.SPX",
        "flux-core__tuo.TPX",
        "flux-core__tuo.CPX",
        "hwloc-v2.x__nvidiaDGX2",
        "openpmix__summit.h17n08.lstopo-2.2.0",
        "flux-core__sierra",
        "mpibind__epyc-corona",
    ];
    let mut pairs = 0;
    for name in names {
        let file = shared.join("topologies").join(name).with_extension("xml");
        let file = if file.exists() { file } else { shared.join(format!("topologies/{name}.xml")) };
        for (switches, relay) in [
            (SwitchModel::One, false),
            (SwitchModel::Separate, false),
            (SwitchModel::Separate, true),
        ] {
            if switches == SwitchModel::Separate && !name.contains("DGX2") && !relay {
                continue;
            }
            let counted = with(&file, |topology| {
                let links = topology.links(switches).unwrap();
                let ours = all_paths(&links, relay);
                let theirs = by_networkx(&json(&links), relay)?;
                for (pair, row) in &theirs {
                    assert_eq!(ours.get(pair), Some(row), "{name} {switches:?} {relay}: {pair:?}");
                }
                assert_eq!(ours.len(), theirs.len(), "{name}");
                Some(ours.len())
            });
            let Some(counted) = counted else { return };
            pairs += counted;
        }
    }
    eprintln!("{pairs} pairs");
    assert!(pairs > 20_000, "{pairs}");
}

#[test]
fn a_link_less_never_makes_a_path_wider_or_shorter() {
    let Some(shared) = shared() else { return };
    for name in ["flux-core__ipa20.xml", "flux-core__tuo.SPX.xml", "hwloc-v2.x__nvidiaDGX2.xml"] {
        with(&shared.join("topologies").join(name), |topology| {
            let links = topology.links(SwitchModel::One).unwrap();
            let all = all_paths(&links, false);
            for without in 0..links.links().len() {
                let mut fewer = links.links().to_vec();
                let removed = fewer.remove(without);
                let fewer = Links::new(topology, links.vertices().to_vec(), fewer).unwrap();
                for (pair, row) in all_paths(&fewer, false) {
                    // A path with a link of unknown bandwidth promises nothing.
                    let sure = |row: &Row| row.0.filter(|_| !row.4).unwrap_or(0);
                    let before = all[&pair];
                    assert!(
                        sure(&row) <= sure(&before) && row.2 >= before.2,
                        "{name}: {pair:?} without {removed:?}"
                    );
                }
            }
        });
    }
}

#[test]
fn a_way_of_unknown_links_is_taken_only_if_there_is_no_other() {
    let vertex = |kind| Vertex { kind, object: None, name: None };
    let kinds = [VertexKind::Gpu, VertexKind::Gpu, VertexKind::PciSwitch];
    let unknown = |one, other| {
        Link::between(VertexId(one), VertexId(other), LinkClass::Pci, LinkOrigin::Assumed)
    };
    let nvlink = Link::between(VertexId(0), VertexId(1), LinkClass::NvLink, LinkOrigin::Declared);
    let nvlink = Link { forward: Some(100), backward: Some(100), ..nvlink };
    for (links, expected) in [
        (vec![unknown(0, 2), unknown(2, 1), nvlink], (Some(100), false, 1)),
        (vec![unknown(0, 2), unknown(2, 1)], (None, true, 2)),
    ] {
        let graph = Links::new(any_topology(), kinds.map(vertex).to_vec(), links).unwrap();
        let mut search = Paths::new(&graph, false);
        let path = search.between(VertexId(0), VertexId(1), Measure::Bandwidth).unwrap();
        assert_eq!((path.bandwidth, path.has_unknown_bandwidth, path.hops), expected);
        // The way is that of the path, although there is another one.
        let way: Vec<VertexId> = search.way(VertexId(1)).collect();
        assert_eq!(way.len(), usize::from(path.hops) + 1);
        assert_is_a_way(&graph, &way);
    }
}

#[test]
fn latencies_between_cpus_follow_from_the_matrix_and_the_latency_of_own_memory() {
    let Some(shared) = shared() else { return };
    with(&shared.join("topologies/flux-core__ipa20.xml"), |topology| {
        let links = topology.links(SwitchModel::One).unwrap();
        let mut search = Paths::new(&links, false);
        let mut latency = |from: &str, to: &str| {
            let [from, to] = [from, to].map(|name| links.find(name).unwrap());
            search.between(from, to, Measure::Latency).unwrap().latency
        };
        // Own memory takes 91 ns, which the matrix calls 10; 12 in a package, 21 in the other one.
        assert_eq!(latency("group0:0", "numanode:0"), Some(91));
        assert_eq!(latency("group0:0", "numanode:3"), Some(91 + 18));
        assert_eq!(latency("group0:0", "numanode:7"), Some(91 + 100));
    });
    // Without nanoseconds, a matrix has no meaning.
    let bare = describe(&Input::Synthetic("Package:2 NUMANode:1 Core:2 PU:1".to_owned()));
    let topology = topology_of(&bare);
    let links = topology.links(SwitchModel::One).unwrap();
    assert!(links.links().iter().all(|link| link.latency.is_none()));
}

#[test]
fn a_sum_of_latencies_that_does_not_fit_is_unknown() {
    let vertex = Vertex { kind: VertexKind::Mesh, object: None, name: None };
    let link = |one, other, latency| Link {
        latency: Some(latency),
        ..Link::between(VertexId(one), VertexId(other), LinkClass::Smp, LinkOrigin::Declared)
    };
    let links = vec![link(0, 1, u32::MAX - 1), link(1, 2, u32::MAX - 1), link(2, 3, 1)];
    let graph = Links::new(any_topology(), vec![vertex; 4], links).unwrap();
    let mut search = Paths::new(&graph, false);
    let latency = |search: &mut Paths<&Links<'_>>, to| {
        search
            .between(VertexId(0), VertexId(to), Measure::Latency)
            .map(|it| (it.latency, it.hops))
            .unwrap()
    };
    assert_eq!(latency(&mut search, 1), (Some(u32::MAX - 1), 1));
    assert_eq!(latency(&mut search, 2), (None, 2));
    assert_eq!(latency(&mut search, 3), (None, 3));
}

#[test]
fn vertices_and_links_that_are_no_graph_are_refused() {
    let vertex = Vertex { kind: VertexKind::Gpu, object: None, name: None };
    let vertices = vec![vertex.clone(), vertex];
    let link = |one, other| {
        Link::between(VertexId(one), VertexId(other), LinkClass::NvLink, LinkOrigin::Declared)
    };
    let made = |links: Vec<Link>| Links::new(any_topology(), vertices.clone(), links).unwrap_err();
    assert_eq!(
        made(vec![link(0, 1), link(0, 2)]),
        LinksError::Vertex { link: 1, found: VertexId(2), vertices: 2 }
    );
    assert_eq!(made(vec![link(1, 1)]), LinksError::ToItself { link: 0, vertex: VertexId(1) });
    let many = vec![link(0, 1); Links::MOST_LINKS + 1];
    assert!(matches!(made(many), LinksError::TooMany { .. }));
}

#[test]
fn every_machine_has_a_graph_of_links_in_all_formats() {
    let Some(shared) = shared() else { return };
    let mut drawn = 0;
    for machine in &machines(&shared) {
        with(&machine.path, |topology| {
            let links = topology.links(SwitchModel::One).unwrap();
            let names: std::collections::BTreeSet<String> =
                links.vertex_ids().map(|vertex| links.name(vertex).into_owned()).collect();
            assert_eq!(names.len(), links.vertices().len(), "{}: names differ", machine.name);
            for name in &names {
                assert_eq!(
                    links.find(name).map(|it| links.name(it).into_owned()).as_ref(),
                    Some(name)
                );
            }
            // All memory and CPUs are connected.
            let mut search = Paths::new(&links, false);
            let is_cpu =
                |kind| matches!(kind, VertexKind::Cpu | VertexKind::Mesh | VertexKind::Memory);
            let cpus = links.vertex_ids().zip(links.vertices()).filter(|(_, it)| is_cpu(it.kind));
            let cpus: Vec<VertexId> = cpus.map(|(vertex, _)| vertex).collect();
            if let [first, others @ ..] = &cpus[..] {
                let paths = search.of(*first, Direction::Outgoing, Measure::Hops);
                let lost = others.iter().find(|it| paths[it.index()].is_none());
                assert_eq!(lost.map(|it| links.name(*it)), None, "{}", machine.name);
            }
            let graph = jgf(&links);
            assert_eq!(graph["graph"]["nodes"].as_array().unwrap().len(), links.vertices().len());
            assert_eq!(graph["graph"]["edges"].as_array().unwrap().len(), 2 * links.links().len());
            assert!(matrix(&links).contains("NUMA Affinity"));
            let mut draw = Command::new("dot");
            draw.arg("-Tplain")
                .stdin(std::process::Stdio::piped())
                .stdout(std::process::Stdio::null());
            if links.links().len() < 60
                && drawn < 10
                && let Ok(mut running) = draw.spawn()
            {
                let text = dot(&links);
                std::io::Write::write_all(&mut running.stdin.take().unwrap(), text.as_bytes())
                    .unwrap();
                assert!(running.wait().unwrap().success(), "{}: {text}", machine.name);
                drawn += 1;
            }
        });
    }
    if drawn == 0 {
        skip(format_args!("there is no dot; scripts/test installs it"));
    }
}

#[test]
fn ranks_are_where_their_memory_or_gpu_is_and_other_nodes_are_behind_their_nic() {
    let Some(shared) = shared() else { return };
    with(&shared.join("topologies/flux-core__ipa20.xml"), |topology| {
        let node = |number: u32| {
            let mut nodes = topology.objects_with_type(ObjectType::NUMANode);
            nodes.nth(number as usize).unwrap().cpuset().unwrap()
        };
        let pus = |number| runs_of_pus(topology, &node(number));
        // Two ranks on the first node, one on the third, one that is not bound.
        let ranks = [(0, pus(0)), (1, pus(0)), (2, pus(3)), (3, None)];
        let overlay = View::whole(topology).to_overlay().unwrap();
        let job = layout::Job::new([0; 16], "ranks", overlay, &ranks);
        let index = |name: &str| topology.os_device(name).unwrap().logical_index();
        let nics = layout::DevicesOfRanks::pack(1, &[index("mlx5_0"); 4]);
        let segment = segment_of_job(&layout::Job { nics, ..job }).unwrap();
        let resources = Job::from_segment(topology, &segment).unwrap().hw_resources();
        let links = topology.links(SwitchModel::One).unwrap();
        let mut paths = Paths::new(&links, false);
        let mut of = |rank, others: &[u32], direction| {
            let measure = Measure::Bandwidth;
            let found = paths.of_ranks(&resources, rank, others, direction, measure).unwrap();
            found.collect::<Vec<_>>()
        };
        let found = of(0, &[0, 1, 2, 3, 9], Direction::Outgoing);
        assert_eq!(found[0], None);
        // The memory of the node, written to.
        let same = found[1].unwrap();
        assert_eq!((same.bandwidth, same.hops, same.latency), (Some(184_654), 0, Some(91)));
        let other = found[2].unwrap();
        assert_eq!((other.bandwidth, other.has_unknown_bandwidth), (Some(184_654), true));
        assert_eq!(found[3], None);
        let outside = found[4].unwrap();
        let [nic, from] = ["mlx5_0", "numanode:0"].map(|name| links.find(name).unwrap());
        let way = Paths::new(&links, false).between(from, nic, Measure::Bandwidth).unwrap();
        assert_eq!((outside.bandwidth, outside.hops), (way.bandwidth, way.hops + 1));
        assert!(outside.has_unknown_bandwidth && outside.latency.is_none());
        assert_eq!(of(3, &[0, 9], Direction::Outgoing), [None, None]);
        // To and from: each sees the same path.
        let back = of(2, &[0], Direction::Incoming);
        assert_eq!(back[0].map(|it| (it.bandwidth, it.hops)), Some((other.bandwidth, other.hops)));
    });
}

#[test]
fn a_hostile_graph_with_as_many_bandwidths_as_links_is_searched_in_bounded_time() {
    let count = 1024;
    let vertex = Vertex { kind: VertexKind::Mesh, object: None, name: None };
    let mut random = fastrand::Rng::with_seed(9);
    let mut bandwidth = 1;
    let links = (0..8192).map(|number| {
        let one = if number < count { number } else { random.u16(..count) };
        bandwidth += 1;
        let class = LinkClass::ALL[usize::from(random.u8(..9))];
        let plain = Link::between(
            VertexId(one % count),
            VertexId((one + 1 + random.u16(..500)) % count),
            class,
            LinkOrigin::Declared,
        );
        Link {
            forward: Some(bandwidth),
            backward: Some(bandwidth),
            latency: Some(bandwidth),
            ..plain
        }
    });
    let graph =
        Links::new(any_topology(), vec![vertex; usize::from(count)], links.collect()).unwrap();
    let mut search = Paths::new(&graph, true);
    let start = std::time::Instant::now();
    for measure in [Measure::Bandwidth, Measure::Latency, Measure::Hops] {
        let all = search.of(VertexId(0), Direction::Outgoing, measure);
        assert_eq!(all.iter().flatten().count(), usize::from(count) - 1);
    }
    eprintln!("{:?}", start.elapsed());
}
