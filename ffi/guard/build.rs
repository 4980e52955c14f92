//! Segments stay mapped, so the code that knows of them must stay loaded. Before glibc 2.34 the
//! dynamic loader's functions are in a library of their own.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for option in ["-Wl,-z,nodelete", "-Wl,--as-needed", "-ldl"] {
        println!("cargo:rustc-cdylib-link-arg={option}");
    }
}
