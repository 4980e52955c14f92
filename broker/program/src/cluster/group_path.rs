//! Where a group of a cluster is.

use topobroker_reader::cluster::NodeGroup;

/// Names of a group and of those that it is in, the outermost first.
pub(super) fn path(group: NodeGroup<'_>) -> Vec<String> {
    let all = std::iter::successors(Some(group), |group| group.parent());
    let mut path: Vec<String> =
        all.filter(|group| group.parent().is_some()).map(|group| group.name().to_owned()).collect();
    path.reverse();
    path
}
