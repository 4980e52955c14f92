//! The nodes of a cluster for launchers and for Kubernetes: a line for each node.

use super::slurm_nodes::core_count;
use std::fmt::Write;
use topobroker_reader::cluster::{Cluster, ClusterOpenError, GroupKind, NodeGroup};

/// A hostfile of Open MPI and PRRTE: each node with a slot for each core.
///
/// # Errors
///
/// [`ClusterOpenError`] if a class is damaged.
pub fn hostfile(cluster: &Cluster<'_>) -> Result<String, ClusterOpenError> {
    let mut text = String::new();
    for node in cluster.nodes() {
        let opened = node.open()?;
        let slots = core_count(opened.archive().topology());
        let _ = writeln!(text, "{} slots={slots}", node.name());
    }
    Ok(text)
}

/// Labels for nodes of Kubernetes, as `kubectl label node` takes them: the name of the node, and
/// pairs of key and value with the class, the leaf switch, the switches above it, and the block of
/// the node. Values are what Kubernetes allows: other letters become underscores.
///
/// # Errors
///
/// [`ClusterOpenError`] if the groups are damaged.
pub fn kubernetes_labels(cluster: &Cluster<'_>) -> Result<String, ClusterOpenError> {
    let mut text = String::new();
    for node in cluster.nodes() {
        let _ = write!(text, "{} topobroker.io/class={}", node.name(), node.class());
        let mut level = 0;
        let above =
            std::iter::successors(Some(node.group()?), |group: &NodeGroup<'_>| group.parent());
        for group in above.filter(|group| group.parent().is_some()) {
            let key = match group.kind() {
                GroupKind::Switch => {
                    level += 1;
                    // The leaf first: switch, switch-2, switch-3.
                    if level == 1 { "switch".to_owned() } else { format!("switch-{level}") }
                }
                kind => kind.name().to_owned(),
            };
            let _ = write!(text, " topobroker.io/{key}={}", label(group.name()));
        }
        text.push('\n');
    }
    Ok(text)
}

/// A name as the value of a label: at most 63 letters, digits, dots, hyphens and underscores, with
/// a letter or digit at both ends.
fn label(name: &str) -> String {
    let plain = |it: char| {
        if it.is_ascii_alphanumeric() || "-_.".contains(it) { it } else { '_' }
    };
    let is_end = |it: char| !it.is_ascii_alphanumeric();
    let text: String = name.chars().map(plain).collect();
    let text: String = text.trim_start_matches(is_end).chars().take(63).collect();
    text.trim_end_matches(is_end).to_owned()
}

#[cfg(test)]
mod tests {
    use super::label;

    #[test]
    fn values_of_labels_are_what_kubernetes_allows() {
        assert_eq!(label("leaf1"), "leaf1");
        assert_eq!(label("-00a1;sw/2)"), "00a1_sw_2");
        assert_eq!(label(&"x".repeat(80)).len(), 63);
        assert_eq!(label("---"), "");
    }
}
