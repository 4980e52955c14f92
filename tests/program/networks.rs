//! Networks of jobs: those that a site, a user and a cluster say.

use topobroker::nics::NicFilter;
use topobroker_reader::devices::{NetworkId, NicChoice};
use topobroker_samples::made_nodes::{self, FACTORY, Kind, nic, node};
use topobroker_tests::segments::topobroker_file;

#[test]
fn a_network_that_reaches_all_nodes_of_the_cluster_comes_before_a_wider_one_that_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let ib = Kind::InfiniBand(FACTORY);
    // The first node alone has a second network, which is wider.
    let first = [
        nic("mlx5_0", 0, 100, ib),
        nic("mlx5_1", 1, 100, Kind::Roce),
        nic("mlx5_2", 1, 100, Kind::Roce),
    ];
    let nodes = [("n1", node(2, &first)), ("n2", node(2, &first[..1]))];
    for (name, xml) in &nodes {
        std::fs::write(folder.path().join(format!("{name}.xml")), xml).unwrap();
    }
    let run = |script: &str| {
        let program = topobroker_file();
        let mut command = std::process::Command::new("sh");
        command.args(["-c", script]).env("T", program).current_dir(folder.path());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    run("$T cluster build c n1=n1.xml n2=n2.xml");
    let alone = run("$T networks -i n1.xml");
    assert!(alone.starts_with("InfiniBand") && !alone.contains("reaches"), "{alone}");
    let network = |all: &str| all.lines().next().unwrap().split(' ').next().unwrap().to_owned();
    assert_eq!(network(&run("$T networks -i n1.xml --network roce")), "RoCE,");
    let in_cluster = run("TOPOBROKER_CLUSTER=$PWD/c $T networks -i n1.xml");
    let lines: Vec<&str> = in_cluster.lines().collect();
    assert!(
        lines[0].starts_with("InfiniBand") && lines[0].ends_with(", reaches 2 of 2 nodes"),
        "{in_cluster}"
    );
    assert!(
        lines[1].starts_with("RoCE") && lines[1].ends_with(", reaches 1 of 2 nodes"),
        "{in_cluster}"
    );
    // The filter puts what reaches all nodes first, whatever its bandwidth is.
    let topology = made_nodes::topology(2, &first);
    let kinds = |filter: NicFilter| {
        let all = filter.networks(topology, NicChoice::Active);
        all.iter().map(|network| network.id.kind()).collect::<Vec<_>>()
    };
    assert_eq!(kinds(NicFilter::default()), ["RoCE", "InfiniBand"]);
    let everywhere = vec![NetworkId::InfiniBand(Some(FACTORY))];
    assert_eq!(kinds(NicFilter::default().preferring(everywhere)), ["InfiniBand", "RoCE"]);
}

#[test]
fn jobs_use_the_nics_that_the_site_of_the_topology_says_unless_their_user_says_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let nics = [
        nic("mlx5_0", 0, 200, Kind::InfiniBand(FACTORY)),
        nic("mlx5_1", 1, 200, Kind::InfiniBand(FACTORY)),
        nic("mlx5_2", 1, 100, Kind::Roce),
    ];
    std::fs::write(folder.path().join("n.xml"), node(2, &nics)).unwrap();
    let run = |site: &str, script: &str| {
        std::fs::write(folder.path().join("site"), site).unwrap();
        let script = format!(
            "$T run -i n.xml --site site --folder $PWD -- sh -c '{script} > keys && $T job nics j && rm keys'"
        );
        let program = topobroker_file();
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &script]).env("T", program).current_dir(folder.path());
        let output = command.env("PWD", folder.path()).output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    let add = "$T job add j --map-by package";
    let starts = |text: String, with: &str| assert!(text.starts_with(with), "{text}");
    starts(run("", add), "0 mlx5_0\n1 mlx5_1\n");
    starts(
        run("# the network for messages\nTOPOBROKER_NETWORK=roce\n", add),
        "0 mlx5_2\n1 mlx5_2\n",
    );
    starts(run("TOPOBROKER_NO_NIC=mlx5_0", add), "0 mlx5_1\n1 mlx5_1\n");
    let user = format!("{add} --nic mlx5_0");
    starts(run("TOPOBROKER_NETWORK=roce", &user), "0 mlx5_0\n1 mlx5_0\n");
    let user = format!("{add} --no-nic mlx5_1");
    starts(run("TOPOBROKER_NO_NIC=mlx5_0", &user), "0 mlx5_0\n1 mlx5_0\n");
    for (site, said) in [
        ("NETWORK=roce", "line 1 is \"NETWORK=roce\": another name"),
        ("\nTOPOBROKER_NIC", "line 2 is \"TOPOBROKER_NIC\": no equals sign"),
        ("TOPOBROKER_NIC=", "no value"),
        ("TOPOBROKER_NIC=a,,b", "a name is empty"),
        (
            "TOPOBROKER_NETWORK=a\nTOPOBROKER_NETWORK=b",
            "line 2 is \"TOPOBROKER_NETWORK=b\": named before",
        ),
    ] {
        let text = run(site, add);
        assert!(text.contains(said), "{site}: {text}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}
