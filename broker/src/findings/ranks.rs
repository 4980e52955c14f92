//! Ranks in the texts of findings.

/// Ranks as users name them: `rank 3 is`, `ranks 0-3,7 are`.
pub(super) fn ranks_are(ranks: &[u32]) -> String {
    let mut ranks = ranks.to_vec();
    ranks.sort_unstable();
    let follow = |one: &u32, next: &u32| one.checked_add(1) == Some(*next);
    let runs = ranks.chunk_by(follow).filter_map(|run| run.first().zip(run.last()));
    let named = runs.map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    let list = named.collect::<Vec<_>>().join(",");
    if ranks.len() == 1 { format!("rank {list} is") } else { format!("ranks {list} are") }
}
