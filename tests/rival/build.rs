//! Compiles `queries.c`, which calls hwloc's inline functions, against the hwloc that this
//! workspace links.

fn main() {
    let mut installed = pkg_config::Config::new();
    let hwloc = installed.atleast_version("2.8").cargo_metadata(false).probe("hwloc");
    let hwloc = hwloc.expect("hwloc's headers: install libhwloc-dev");
    println!("cargo:rerun-if-changed=src/queries.c");
    cc::Build::new()
        .file("src/queries.c")
        .includes(hwloc.include_paths)
        .opt_level(2)
        .compile("rival");
}
