//! Tests that the headers in the repository are what cbindgen generates from the sources.

use std::path::{Path, PathBuf};

/// Folder of the C interface.
const FFI: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// A header, and the sources that declare what is in it, in its order.
struct Part {
    name: &'static str,
    about: &'static str,
    sources: &'static [&'static str],
}

/// The parts of `topobroker.h`. Each of them includes the one before it.
const PARTS: [Part; 7] = [
    Part { name: "status", about: "What calls return.", sources: &["status", "call"] },
    Part { name: "sets", about: "Sets of PUs and of NUMA nodes.", sources: &["set", "members"] },
    Part {
        name: "core",
        about: "The topology: adopting it, its objects and their relations.",
        sources: &[
            "keys",
            "topology",
            "object",
            "levels",
            "attributes",
            "relatives",
            "inside",
            "memory",
            "hardware",
        ],
    },
    Part {
        name: "jobs",
        about: "Views of a part of the topology, jobs, and what their processes share.",
        sources: &["part", "job", "locality", "scope"],
    },
    Part {
        name: "devices",
        about: "Devices, what is between them, and groups of ranks at the same hardware.",
        sources: &["devices", "ports", "nics", "groups", "links", "link_paths"],
    },
    Part {
        name: "cluster",
        about: "Many nodes, and what connects them.",
        sources: &["cluster", "cluster_groups"],
    },
    Part {
        name: "launcher",
        about: "Publishing, for launchers. Only libtopobroker has these functions.",
        sources: &[
            "broker/capture",
            "broker/publish",
            "broker/jobs",
            "broker/placement",
            "broker/binding",
            "broker/gpus",
            "broker/hwloc",
            "broker/gather",
        ],
    },
];

/// Structs of `topobroker-layout` that C has too, by their names there.
const OF_LAYOUT: [(&str, &str); 3] =
    [("Pci", "tb_pci"), ("Group", "tb_group"), ("PageType", "tb_page_type")];
const OF_LAYOUT_SOURCES: [&str; 3] =
    ["attributes/pci.rs", "attributes/group.rs", "attributes/page_type.rs"];

/// What these sources also declare.
const NOT_IN_C: [&str; 1] = ["BusId"];

/// Enums of the libraries whose values C has too: the section of the header, the source, the names
/// there and in C, what the names of values begin with in C (the word of the value follows), and
/// the first number.
const ENUMS: [Enum; 7] = [
    ("topology", "layout/src/header.rs", "Scope", "tb_segment_scope", "TB_SCOPE_", 1),
    ("topology", "layout/src/header.rs", "Source", "tb_segment_source", "TB_FROM_", 1),
    ("levels", "layout/src/object_type.rs", "ObjectType", "tb_type", "TB_", 0),
    ("links", "layout/src/links/kinds.rs", "VertexKind", "tb_vertex_kind", "TB_VERTEX_", 0),
    ("links", "layout/src/links/kinds.rs", "LinkClass", "tb_link_class", "TB_LINK_", 0),
    ("links", "layout/src/links/kinds.rs", "LinkOrigin", "tb_link_origin", "TB_LINK_", 0),
    ("cluster_groups", "reader/src/cluster/above.rs", "GroupKind", "tb_group_kind", "TB_GROUP_", 0),
];
type Enum = (&'static str, &'static str, &'static str, &'static str, &'static str, usize);

const RULES: &str = "\
/* topobroker: the hwloc topology of a node, once in shared memory, adopted by every process.
 *
 * libtopobroker has all that is declared here; libtopobroker-reader has all but launcher.h.
 *
 * - Most functions return a tb_status, which is 0 or negative; tb_error_detail() returns a message
 *   for the last failure. A function that fails stores nothing, unless its documentation says
 *   otherwise.
 * - A pointer must not be NULL unless the documentation of the function says that it may be. An
 *   array of 0 elements and a buffer of 0 bytes may be NULL. Any other NULL, and a number that no
 *   object has, is TB_ERR_ARGUMENT.
 * - The size of a struct follows it: tb_obj_get(topology, obj, &data, sizeof data). So a program and
 *   a library of different versions go together. Of a struct that is filled, what an older library
 *   does not know becomes 0. Of a struct that is read, what an older program does not know is 0, and
 *   what an older library does not know must be 0. A struct within a struct never grows.
 * - If an array is too short and `count` is NULL, the function fills the array and returns
 *   TB_ERR_TRUNCATED. If `count` is not NULL, it returns TB_OK.
 * - A text that a function stores as `const char *` is valid as long as the handle that it comes
 *   from: for the adopted topology, for the life of the process.
 * - What is stored in a `tb_x **` belongs to the caller, who frees it with tb_x_free. What is stored
 *   in a `const tb_x **` stays for the life of the process.
 * - Any thread may call any function. While one thread changes or frees a handle, no other thread
 *   may use it.
 * - A signal handler may call only tb_strerror, tb_version and, if it was called before,
 *   tb_adopted, because other functions allocate memory. If a handler interrupts an adoption and
 *   adopts too, it gets TB_ERR_BUSY. */";

#[test]
fn the_headers_are_what_cbindgen_makes_of_the_sources() {
    let include = Path::new(FFI).join("include");
    let parts = PARTS.iter().enumerate().map(|(at, part)| {
        let before = at.checked_sub(1).and_then(|before| PARTS.get(before));
        (include.join("topobroker").join(part.name).with_extension("h"), part.header(before))
    });
    for (file, generated) in parts.chain([(include.join("topobroker.h"), whole())]) {
        if std::env::var_os("TOPOBROKER_UPDATE_HEADER").is_some() {
            std::fs::write(&file, &generated).unwrap();
        }
        let kept = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            kept == generated,
            "{} is stale: run this test with TOPOBROKER_UPDATE_HEADER=1, and look at what changed",
            file.display()
        );
    }
}

#[test]
fn unsafe_blocks_are_where_pointers_of_c_are_used() {
    let sources = PARTS.iter().flat_map(|part| part.sources);
    for file in sources.chain([&"lib"]).map(|name| source(name)) {
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(!text.contains("unsafe {"), "{}", file.display());
    }
}

fn source(name: &str) -> PathBuf {
    Path::new(FFI).join("src").join(name).with_extension("rs")
}

/// The header that includes all parts.
fn whole() -> String {
    let includes = PARTS.iter().map(|part| format!("#include <topobroker/{}.h>\n", part.name));
    let includes: String = includes.collect();
    format!("{RULES}\n#ifndef TOPOBROKER_H\n#define TOPOBROKER_H\n\n{includes}\n#endif\n")
}

impl Part {
    fn header(&self, before: Option<&Self>) -> String {
        let guard = format!("TOPOBROKER_{}_H", self.name.to_uppercase());
        let includes = match before {
            Some(before) => format!("#include <topobroker/{}.h>", before.name),
            None => "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>".to_owned(),
        };
        let sections: String = self.sources.iter().map(|name| section(name)).collect();
        format!(
            "/* {} The rules for all functions are in topobroker.h.\n *\n * Generated by cbindgen from \
             the sources of topobroker-ffi; do not edit. */\n#ifndef {guard}\n#define {guard}\n\n\
             {includes}\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n{sections}\n#ifdef \
             __cplusplus\n}}\n#endif\n\n#endif\n",
            self.about
        )
    }
}

/// The declarations of a source below a heading: the first sentence of its documentation.
fn section(name: &str) -> String {
    let text = std::fs::read_to_string(source(name)).expect("a source");
    let about: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//! ")).collect();
    let about = about.join(" ");
    let heading = about.split_inclusive('.').next().unwrap_or_default();
    let enums: String = ENUMS.iter().filter(|it| it.0 == name).map(in_c).collect();
    format!("\n/* ---- {heading} ---- */\n\n{enums}{}\n", declarations(&source(name)).trim())
}

/// The enum as C has it, made of the lines of `words!`.
fn in_c((_, source, name, c_name, prefix, first): &Enum) -> String {
    let text = std::fs::read_to_string(Path::new(FFI).join("..").join(source));
    let text = text.expect("a source");
    let beginning = format!("    pub enum {} {{\n", name);
    let (before, rest) = text.split_once(&beginning).expect("the enum");
    let about = before.rsplit_once("words! {\n").expect("its macro").1;
    let about = about.lines().filter(|line| line.trim().starts_with("///")).map(str::trim);
    let mut declared: String = about.map(|line| format!("{line}\n")).collect();
    declared += &format!("typedef enum {c_name} {{\n");
    let mut number = *first;
    for line in rest.lines().map(str::trim).take_while(|line| *line != "}") {
        if let Some((value, word)) = line.split_once(" => \"") {
            let given = value.split_once(" = ").map(|(_, number)| number.parse());
            number = given.transpose().expect("a number").unwrap_or(number);
            let word = word.trim_end_matches("\",").to_uppercase();
            declared += &format!("  {prefix}{word} = {number},\n");
            number += 1;
        } else if line.starts_with("///") {
            declared += &format!("  {line}\n");
        }
    }
    format!("{declared}}} {c_name};\n\n")
}

/// Enums that functions take and return as plain numbers. cbindgen includes them only if they are
/// listed, because no function names them.
fn numbers(source: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(source).expect("a source");
    let enums = text.lines().filter_map(|line| line.strip_prefix("pub enum "));
    enums.map(|line| line.trim_end_matches(" {").to_owned()).collect()
}

/// The declarations that cbindgen generates for a source. The names of our pointer types are
/// replaced by plain pointers.
fn declarations(source_file: &Path) -> String {
    let config = cbindgen::Config {
        language: cbindgen::Language::C,
        style: cbindgen::Style::Both,
        documentation_style: cbindgen::DocumentationStyle::Cxx,
        usize_is_size_t: true,
        no_includes: true,
        line_length: 100,
        export: cbindgen::ExportConfig {
            include: numbers(source_file),
            exclude: NOT_IN_C.map(str::to_owned).into(),
            rename: OF_LAYOUT.map(|(name, c)| (name.to_owned(), c.to_owned())).into(),
            ..cbindgen::ExportConfig::default()
        },
        ..cbindgen::Config::default()
    };
    let builder = cbindgen::Builder::new().with_config(config);
    let builder = builder.with_src(source_file).with_src(source("pointers"));
    let builder =
        OF_LAYOUT_SOURCES.iter().fold(builder.with_src(source("structs")), |builder, file| {
            builder.with_src(Path::new(FFI).join("../layout/src").join(file))
        });
    let mut written = Vec::new();
    builder.generate().expect("sources that cbindgen reads").write(&mut written);
    plain(&String::from_utf8(written).expect("UTF-8"))
}

/// Replaces `typedef T *Room_T;` and its uses by `T *`.
fn plain(text: &str) -> String {
    let is_wrapper = |name: &str| {
        let generic = [
            "Asked_",
            "List_",
            "Room_",
            "Input_",
            "Out_",
            "Output_",
            "Returned_",
            "Struct_",
            "Structs_",
        ];
        ["Text", "Buffer"].contains(&name) || generic.iter().any(|start| name.starts_with(start))
    };
    let mut wrappers = Vec::new();
    let mut kept = String::new();
    let mut documentation = String::new();
    for line in text.lines() {
        let typedef = line.strip_prefix("typedef ").and_then(|line| line.strip_suffix(';'));
        let split = typedef.and_then(|line| line.rfind(['*', ' ']).map(|at| line.split_at(at + 1)));
        match split {
            Some((kind, name)) if is_wrapper(name) => {
                // In C the `const` of a constant pointer follows the asterisk.
                let kind = kind.replace("struct tb_", "tb_");
                let kind = kind.replace("const Output_tb_set *", "tb_set *const *");
                let kind = kind.replace("const Input_tb_set *", "const tb_set *const *");
                wrappers.push((name.to_owned(), kind));
                documentation.clear();
            }
            _ if line.starts_with("///") => {
                documentation.push_str(line);
                documentation.push('\n');
            }
            _ => {
                kept.push_str(&documentation);
                documentation.clear();
                // Types are named by their typedef.
                let is_typedef = line.starts_with("typedef ");
                let line = if is_typedef { line } else { &line.replace("struct tb_", "tb_") };
                kept.push_str(line);
                kept.push('\n');
            }
        }
    }
    // The longest name first, because one name may be the beginning of another.
    wrappers.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    for (name, kind) in wrappers {
        kept = kept.replace(&format!("{name} "), &kind);
    }
    while kept.contains("\n\n\n") {
        kept = kept.replace("\n\n\n", "\n\n");
    }
    kept
}
