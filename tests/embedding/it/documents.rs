//! The pages of documentation: their links lead to files and headings that are there.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use topobroker_samples::checkout;

/// Links of the pages below a folder that lead nowhere, as `page: link`. Links to other hosts are
/// not followed.
pub(crate) fn broken_links(folder: &Path) -> Vec<String> {
    let pages = pages(folder);
    assert!(pages.len() > 10, "{}: {pages:?}", folder.display());
    let broken = |page: &PathBuf| {
        let links = links(&fs::read_to_string(page).unwrap()).into_iter();
        let wrong = links.filter(|link| !link.contains("://") && !leads_somewhere(page, link));
        wrong.map(|link| format!("{}: {link}", page.display())).collect::<Vec<_>>()
    };
    pages.iter().flat_map(broken).collect()
}

fn leads_somewhere(page: &Path, link: &str) -> bool {
    let (file, heading) = link.split_once('#').unwrap_or((link, ""));
    let target = match file {
        "" => page.to_owned(),
        file => page.parent().unwrap().join(file),
    };
    target.exists()
        && (heading.is_empty() || headings(&fs::read_to_string(target).unwrap()).contains(heading))
}

pub(crate) fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_ours = !name.starts_with('.') && !["target", "node_modules"].contains(&&*name);
        if entry.file_type().unwrap().is_dir() {
            found.extend(if is_ours { pages(&path) } else { Vec::new() });
        } else if path.extension().is_some_and(|it| it == "md") {
            found.push(path);
        }
    }
    found
}

fn links(text: &str) -> Vec<String> {
    let link = |event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            Some(dest_url.into_string())
        }
        _ => None,
    };
    Parser::new_ext(text, Options::ENABLE_TABLES).filter_map(link).collect()
}

/// The names by which links reach the headings of a page.
fn headings(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut heading: Option<String> = None;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(text) | Event::Code(text) => {
                heading.iter_mut().for_each(|it| it.push_str(&text));
            }
            Event::End(TagEnd::Heading(_)) => {
                found.extend(heading.take().map(|it| {
                    let lower = it.to_lowercase().replace(' ', "-");
                    lower.replace(|it: char| !it.is_alphanumeric() && it != '-' && it != '_', "")
                }));
            }
            _ => {}
        }
    }
    found
}

#[test]
fn links_of_all_pages_lead_to_files_and_headings() {
    let wrong = broken_links(&checkout());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn names_of_the_c_interface_in_the_pages_are_those_of_the_headers() {
    let root = checkout();
    let words = |text: &str| -> BTreeSet<String> {
        let words = text.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
        let is_ours = |word: &&str| word.starts_with("tb_") || word.starts_with("TB_");
        words.filter(is_ours).filter(|word| !word.ends_with('_')).map(str::to_owned).collect()
    };
    let mut known = BTreeSet::new();
    for folder in ["ffi/include", "ffi/include/topobroker", "ffi/examples"] {
        for entry in fs::read_dir(root.join(folder)).unwrap().flatten() {
            known.extend(words(&fs::read_to_string(entry.path()).unwrap_or_default()));
        }
    }
    let mut unknown = BTreeSet::new();
    for page in pages(&root.join("docs")).into_iter().chain([root.join("README.md")]) {
        let text = fs::read_to_string(&page).unwrap();
        let missing = words(&text).into_iter().filter(|word| !known.contains(word));
        unknown.extend(missing.map(|word| format!("{}: {word}", page.display())));
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
}

#[test]
fn every_page_of_docs_is_in_the_book() {
    let root = checkout();
    let book = root.join("docs/book");
    let summary = fs::read_to_string(book.join("SUMMARY.md")).unwrap();
    let listed: BTreeSet<PathBuf> =
        links(&summary).iter().map(|link| book.join(link).canonicalize().unwrap()).collect();
    let not_listed: Vec<PathBuf> = pages(&root.join("docs"))
        .into_iter()
        .filter(|page| !page.ends_with("SUMMARY.md"))
        .filter(|page| !listed.contains(&page.canonicalize().unwrap()))
        .collect();
    assert!(not_listed.is_empty(), "{not_listed:?}");
}

/// Names of environment variables in the sources of a folder.
fn variables(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            variables(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs" || it == "py") {
            let text = fs::read_to_string(&path).unwrap();
            let names = text.split('"').filter(|it| it.starts_with("TOPOBROKER_"));
            let is_name = |it: &&str| it.bytes().all(|it| it.is_ascii_uppercase() || it == b'_');
            found.extend(names.filter(is_name).map(str::to_owned));
        }
    }
}

#[test]
fn every_environment_variable_that_is_read_is_in_the_page_about_them_and_no_other_one() {
    let root = checkout();
    let mut read = BTreeSet::new();
    let programs = ["broker/src", "broker/cluster/src", "broker/program/src"];
    let libraries = ["reader/src", "reader/process/src", "ffi/src", "ffi/guard/src"];
    for folder in programs.iter().chain(&libraries).chain(&["ffi/python/topobroker"]) {
        variables(&root.join(folder), &mut read);
    }
    // Those of builds and tests.
    read.retain(|it| !["TOPOBROKER_HWLOC", "TOPOBROKER_UPDATE_SCHEMA"].contains(&it.as_str()));
    let page = fs::read_to_string(root.join("docs/ENVIRONMENT.md")).unwrap();
    let named = page.split('`').filter(|it| it.starts_with("TOPOBROKER_"));
    assert_eq!(named.map(str::to_owned).collect::<BTreeSet<_>>(), read);
}
