//! No file of a crate is in a circle of imports with others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The files of a crate, by their paths in it, and what each of them uses.
type Arrows = BTreeMap<String, BTreeSet<String>>;

/// Sources without comments, tests, and the declarations of modules.
struct Source {
    name: String,
    code: String,
}

fn sources(root: &Path, folder: &Path, found: &mut Vec<Source>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(root, &path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
            let name = path.strip_prefix(root).unwrap().with_extension("");
            let name = name.to_str().unwrap().to_owned();
            found.push(Source { name, code: lines.collect::<Vec<_>>().join("\n") });
        }
    }
}

/// Paths that a `use` tree names, as `a::b::c`.
fn paths(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((prefix, rest)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or_default().trim();
        return if path.is_empty() { Vec::new() } else { vec![path.to_owned()] };
    };
    let inner = rest.strip_suffix('}').unwrap_or(rest);
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (at, letter) in inner.char_indices().chain([(inner.len(), ',')]) {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let part = inner[start..at].trim();
                let below = paths(part).into_iter().map(|path| format!("{prefix}{path}"));
                found.extend(below);
                start = at + 1;
            }
            _ => {}
        }
    }
    found
}

/// The uses in a source: paths from the root of the crate.
fn uses(source: &Source) -> Vec<String> {
    let mut folder: Vec<&str> = source.name.split('/').collect();
    folder.pop();
    let statements = source.code.split("use ").skip(1).filter_map(|rest| rest.split(';').next());
    let flat = statements.map(|tree| tree.split_whitespace().collect::<Vec<_>>().join(" "));
    let named = flat.flat_map(|tree| paths(&tree)).filter_map(|path| {
        let mut up = folder.clone();
        let mut rest = path.as_str();
        if let Some(path) = rest.strip_prefix("crate::") {
            return Some(path.replace("::", "/"));
        }
        // `super` of a file is its folder, and that of its folder the one above.
        rest = rest.strip_prefix("super::")?;
        while let Some(above) = rest.strip_prefix("super::") {
            up.pop();
            rest = above;
        }
        let rest = rest.replace("::", "/");
        Some(if up.is_empty() { rest } else { format!("{}/{rest}", up.join("/")) })
    });
    named.collect()
}

/// The file that a path leads to: through the exports of rooms.
fn file_of(
    path: &str,
    files: &BTreeSet<&str>,
    exports: &BTreeMap<String, String>,
) -> Option<String> {
    let mut path = path.trim_end_matches("/self").to_owned();
    for _ in 0..8 {
        match exports.get(&path) {
            Some(further) => path.clone_from(further),
            None => break,
        }
    }
    let parts: Vec<&str> = path.split('/').collect();
    let prefixes = (1..=parts.len()).rev().map(|length| parts[..length].join("/"));
    prefixes.into_iter().find(|prefix| files.contains(prefix.as_str()))
}

fn arrows(krate: &str) -> Arrows {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(krate).join("src");
    let mut all = Vec::new();
    sources(&root, &root, &mut all);
    let is_room = |source: &Source| source.name.ends_with("mod") || source.name == "lib";
    let exports: BTreeMap<String, String> = all
        .iter()
        .filter(|it| is_room(it))
        .flat_map(|room| {
            let folder = room.name.strip_suffix("/mod").unwrap_or_default().to_owned();
            let below = move |path: &str| {
                if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") }
            };
            let statements = room.code.split("pub").filter_map(|rest| {
                rest.split_once("use ").map(|(_, rest)| rest.split(';').next().unwrap_or_default())
            });
            let named: Vec<String> = statements
                .map(|tree| tree.split_whitespace().collect::<Vec<_>>().join(" "))
                .flat_map(|tree| paths(&tree))
                .collect();
            named.into_iter().map(move |path| {
                let item = path.rsplit("::").next().unwrap_or_default();
                (below(item), below(&path.replace("::", "/")))
            })
        })
        .collect();
    let files: BTreeSet<&str> =
        all.iter().filter(|it| !is_room(it)).map(|it| it.name.as_str()).collect();
    let mut found = Arrows::new();
    for source in all.iter().filter(|it| !is_room(it)) {
        let uses = uses(source);
        let used = uses.iter().filter_map(|path| file_of(path, &files, &exports));
        found.entry(source.name.clone()).or_default().extend(used.filter(|it| *it != source.name));
    }
    found
}

/// The files that lead back to themselves.
fn circles(arrows: &Arrows) -> Vec<String> {
    let reached = |start: &String| {
        let mut seen: BTreeSet<&String> = BTreeSet::new();
        let mut next: Vec<&String> = arrows.get(start).into_iter().flatten().collect();
        while let Some(file) = next.pop() {
            if seen.insert(file) {
                next.extend(arrows.get(file).into_iter().flatten());
            }
        }
        seen.contains(start)
    };
    arrows.keys().filter(|file| reached(file)).cloned().collect()
}

#[test]
fn no_file_of_a_crate_is_in_a_circle_of_imports() {
    for krate in ["layout", "reader", "broker", "ffi", "ffi/guard"] {
        let arrows = arrows(krate);
        assert!(arrows.len() > 20, "{krate}: {} files", arrows.len());
        let found: BTreeMap<String, &BTreeSet<String>> =
            circles(&arrows).into_iter().map(|file| (file.clone(), &arrows[&file])).collect();
        assert!(found.is_empty(), "{krate}: {found:#?}");
    }
}
