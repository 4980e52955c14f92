//! Every column of the archive has a rule: a column without a rule would be believed as it is.

use std::collections::BTreeMap;

/// Sources with the structures of the archive.
const STRUCTURES: [&str; 3] = [
    include_str!("../../src/archive.rs"),
    include_str!("../../src/levels.rs"),
    include_str!("../../src/tree.rs"),
];

/// Sources with the rules.
const RULES: [&str; 7] = [
    include_str!("../../src/validate/allowed.rs"),
    include_str!("../../src/validate/columns.rs"),
    include_str!("../../src/validate/levels.rs"),
    include_str!("../../src/validate/tables.rs"),
    include_str!("../../src/validate/texts.rs"),
    include_str!("../../src/validate/tree/rows.rs"),
    include_str!("../../src/validate/tree/mod.rs"),
];

/// Columns for which any value is right, with the reason.
const WITHOUT_RULE: [(&str, &str); 13] = [
    ("cpu_kinds.efficiency", "a number that is only handed on"),
    ("cpu_kinds.forced_efficiency", "a number that is only handed on"),
    ("cpu_kinds.info_value", "checked together with cpu_kinds.info_name"),
    ("distances.kind", "flags of hwloc that are only handed on"),
    ("facts.name", "checked together with facts.object"),
    ("facts.value", "checked together with facts.object"),
    ("machine.flags", "flags of hwloc that are only handed on"),
    ("names.first", "subtracted from a number, and what is then outside the column has no name"),
    ("subtypes.first", "subtracted from a number, and what is then outside the column has none"),
    ("pu_runs.count", "checked together with the other numbers of a run, as \"pu_runs\""),
    ("pu_runs.logical_first", "checked together with the other numbers of a run, as \"pu_runs\""),
    ("pu_runs.os_first", "checked together with the other numbers of a run, as \"pu_runs\""),
    ("pu_runs.step", "checked together with the other numbers of a run, as \"pu_runs\""),
];

/// The fields of each structure, with their types.
fn structures() -> BTreeMap<&'static str, Vec<(&'static str, &'static str)>> {
    let mut found = BTreeMap::new();
    for source in STRUCTURES {
        for part in source.split("\npub struct ").skip(1) {
            let Some((name, rest)) = part.split_once(" {\n") else { continue };
            let (fields, _) = rest.split_once("\n}").unwrap();
            let fields = fields.lines().filter_map(|line| {
                let (name, kind) = line.trim().strip_prefix("pub ")?.split_once(": ")?;
                Some((name, kind.trim_end_matches(',')))
            });
            found.insert(name, fields.collect());
        }
    }
    found
}

/// The columns below a structure, by their paths.
fn columns(
    structures: &BTreeMap<&str, Vec<(&'static str, &'static str)>>,
    name: &str,
    path: &str,
    found: &mut Vec<String>,
) {
    for (field, kind) in &structures[name] {
        let path = if path.is_empty() { (*field).to_owned() } else { format!("{path}.{field}") };
        let element = kind.strip_prefix("Vec<").map_or(*kind, |kind| kind.trim_end_matches('>'));
        // The rows of levels have rules of their own, as "levels.rows".
        match structures.contains_key(element) && path != "levels.rows" {
            true => columns(structures, element, &path, found),
            false => found.push(path),
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "reads sources, which is slow under Miri and has no unsafe code")]
fn every_column_of_the_archive_has_a_rule() {
    let structures = structures();
    let mut all = Vec::new();
    columns(&structures, "TopologyColumns", "", &mut all);
    assert!(all.len() > 60, "the structures are read: {all:?}");
    let has_rule = |path: &String| {
        let literal = format!("\"{path}\"");
        let in_table = format!(" {path}: ");
        // A table of attributes has a rule for each of its columns: the type of what is in it.
        let as_table = format!("topology.{path}.check(");
        let all = [&literal, &in_table, &as_table];
        RULES.iter().any(|rules| all.iter().any(|one| rules.contains(*one)))
    };
    let free = |path: &String| WITHOUT_RULE.iter().any(|(known, _)| known == path);
    let unchecked: Vec<&String> =
        all.iter().filter(|path| !has_rule(path) && !free(path)).collect();
    assert!(unchecked.is_empty(), "no rule in layout/src/validate: {unchecked:?}");
    let stale = WITHOUT_RULE.iter().filter(|(path, _)| {
        let path = (*path).to_owned();
        !all.contains(&path) || has_rule(&path)
    });
    assert_eq!(stale.count(), 0, "every exception is a column without a rule");
}
