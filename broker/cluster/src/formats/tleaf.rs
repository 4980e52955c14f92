//! A cluster as a tree of Scotch: `tleaf`.

use topobroker_reader::{
    Object, ObjectType,
    cluster::{Cluster, ClusterOpenError, NodeGroup},
};

/// Why a cluster is no `tleaf` of Scotch, in which all parts of a level are alike.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum NotRegular {
    /// A part of the cluster is damaged.
    #[error(transparent)]
    Cluster(#[from] ClusterOpenError),
    /// Groups or nodes of one level differ.
    #[error("{what} differ: found {one} and {other}; a tree of Scotch has equal parts")]
    Differ { what: &'static str, one: usize, other: usize },
}

/// The cluster as `tleaf`: groups, nodes, packages and cores, with a link that is twice as long for
/// each level up.
///
/// # Errors
///
/// [`NotRegular`].
pub fn tleaf(cluster: &Cluster<'_>) -> Result<String, NotRegular> {
    let groups = cluster.groups()?;
    let mut level = vec![groups.root()];
    let mut arities = Vec::new();
    loop {
        let below: Vec<Vec<NodeGroup<'_>>> = level
            .iter()
            .map(|group| group.children().filter(|it| it.node_count() > 0).collect())
            .collect();
        let arity = equal("groups in a group", below.iter().map(Vec::len))?;
        if arity == 0 {
            break;
        }
        // Nodes next to groups are of another level than those in groups.
        equal("nodes next to groups", level.iter().map(|it| it.own_nodes().count()).chain([0]))?;
        arities.push(arity);
        level = below.into_iter().flatten().collect();
    }
    arities.push(equal("nodes in a group", level.iter().map(|it| it.own_nodes().count()))?);
    let mut inside = Vec::new();
    for node in cluster.nodes() {
        let opened = node.open()?;
        let archive = opened.archive();
        let topology = archive.topology();
        let packages: Vec<Object<'_>> = topology.objects_with_type(ObjectType::Package).collect();
        let all = topology.objects_with_type(ObjectType::Core).count();
        let cores = |package: Object<'_>| {
            let cores = topology.objects_with_type(ObjectType::Core);
            cores.filter(|core| core.is_in_subtree(package)).count()
        };
        let of_packages = equal("cores of packages", packages.iter().copied().map(cores))?;
        let cores = if packages.is_empty() { all } else { of_packages };
        inside.push((packages.len().max(1), cores.max(1)));
    }
    let packages = equal("packages of nodes", inside.iter().map(|it| it.0))?;
    let cores = equal("cores of packages", inside.iter().map(|it| it.1))?;
    arities.extend([packages, cores]);
    let levels = arities.len();
    let words = arities.iter().enumerate();
    let words = words.map(|(level, arity)| format!(" {arity} {}", 1_u64 << (levels - 1 - level)));
    Ok(format!("tleaf\n{levels}{}\n", words.collect::<String>()))
}

/// The number that all of them are, 0 if there are none.
fn equal(what: &'static str, counts: impl IntoIterator<Item = usize>) -> Result<usize, NotRegular> {
    let mut first = None;
    for other in counts {
        match first {
            None => first = Some(other),
            Some(one) if one != other => return Err(NotRegular::Differ { what, one, other }),
            Some(_) => {}
        }
    }
    Ok(first.unwrap_or(0))
}
