//! The C libraries: every function, and the examples.

use crate::shared_libraries::declared;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use topobroker_embedding::{assert_one_address, compile, has, prefix, said, succeed, topobroker};
use topobroker_samples::checkout;

#[test]
fn the_header_compiles_as_c99_and_as_cpp17_without_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    for (compiler, standard, name) in [("cc", "-std=c99", "a.c"), ("c++", "-std=c++17", "a.cpp")] {
        let source = folder.path().join(name);
        let program =
            "#include <topobroker.h>\nint main(void) { return tb_adopt(0) != TB_ERR_ARGUMENT; }\n";
        std::fs::write(&source, program).unwrap();
        let mut command = Command::new(compiler);
        command.args([
            standard,
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Werror",
            "-c",
            "-o",
            "/dev/null",
        ]);
        succeed(command.arg("-I").arg(prefix().join("include")).arg(&source));
    }
}

/// What a program prints on a machine of two packages with four cores of two PUs each, under
/// valgrind.
fn printed_on_16_pus(program: &Path) -> String {
    let mut run = topobroker();
    run.args(["run", "-i", "Package:2 Core:4 PU:2", "--"]);
    if has("valgrind") {
        run.args(["valgrind", "--quiet", "--leak-check=full", "--error-exitcode=9"]);
    }
    succeed(run.arg(program))
}

#[test]
fn handles_of_cpp_free_themselves_and_failures_are_exceptions() {
    let folder = tempfile::tempdir().unwrap();
    for standard in ["-std=c++11", "-std=c++20"] {
        let flags = [standard, "-Wpedantic"];
        let program =
            compile(folder.path(), "c++", "raii.cpp", "raii", &["topobroker-reader"], &flags);
        assert_eq!(printed_on_16_pus(&program), "0 failures\n", "{standard}");
    }
}

#[test]
fn a_program_in_fortran_asks_by_the_module() {
    if !has("gfortran") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("module");
    let library = prefix().join("lib");
    let mut compiler = Command::new("gfortran");
    compiler.current_dir(&folder).args(["-std=f2008", "-Wall", "-Wextra", "-Werror", "-o"]);
    compiler.arg(&program).arg(prefix().join("include/topobroker.f90"));
    compiler
        .arg(checkout().join("tests/c/module.f90"))
        .arg(library.join("libtopobroker-reader.so"));
    succeed(compiler.arg(format!("-Wl,-rpath,{}", library.display())));
    let expected = "the node has no GPU\n1 NUMA node, 8 cores, 8 PUs\n";
    assert_eq!(printed_on_16_pus(&program), expected);
}

/// The functions that C declarations have: names, and the kinds of results and arguments.
fn prototypes(declarations: &str) -> BTreeMap<String, Vec<&'static str>> {
    let kind = |text: &str| match text.split_whitespace().find(|word| *word != "const") {
        _ if text.contains('*') => "pointer",
        Some("tb_status" | "tb_obj" | "int32_t" | "uint32_t" | "int") => "int",
        Some("size_t" | "int64_t" | "uint64_t" | "long") => "long",
        Some("bool" | "_Bool") => "bool",
        _ => "nothing",
    };
    let lines = declarations.lines().filter(|line| !line.trim_start().starts_with(['/', '#']));
    let code = lines.collect::<Vec<_>>().join(" ").replace(['{', '}'], ";");
    let functions = code.split(';').filter_map(|declaration| {
        let (start, arguments) = declaration.rsplit_once(')')?.0.split_once('(')?;
        let name = start.trim().rsplit([' ', '*']).next()?;
        let of_arguments = arguments.split(',').map(kind);
        Some((name.to_owned(), std::iter::once(kind(start)).chain(of_arguments).collect()))
    });
    functions.collect()
}

#[test]
fn the_module_of_fortran_has_the_functions_and_numbers_of_the_headers() {
    if !has("gfortran") {
        return;
    }
    let module = checkout().join("ffi/include/topobroker.f90");
    let headers = ["status", "sets", "core", "jobs", "devices"].map(|name| {
        let file = checkout().join(format!("ffi/include/topobroker/{name}.h"));
        std::fs::read_to_string(file).unwrap()
    });
    let headers = headers.concat();
    let folder = tempfile::tempdir().unwrap();
    let mut compiler = Command::new("gfortran");
    compiler.current_dir(&folder).args(["-fc-prototypes", "-fsyntax-only"]).arg(&module);
    let (ours, theirs) = (prototypes(&headers), prototypes(&succeed(&mut compiler)));
    for (name, kinds) in &theirs {
        // A function without arguments: `void` or nothing.
        assert_eq!(ours.get(name), Some(kinds), "{name}");
    }
    assert!(theirs.len() > 10, "{theirs:?}");
    let module = std::fs::read_to_string(module).unwrap();
    let code = module.lines().filter(|line| !line.trim_start().starts_with('!'));
    let code: String = code.map(|line| line.trim_end_matches('&').to_owned() + "\n").collect();
    let numbers = code.split([',', '\n', ':']).map(str::trim);
    let numbers: Vec<&str> =
        numbers.filter(|it| it.starts_with("TB_") && it.contains(" = ")).collect();
    let is_wrong =
        |it: &&&str| !headers.contains(&format!("  {it},")) && **it != "TB_OBJ_NONE = -1";
    let wrong: Vec<_> = numbers.iter().filter(is_wrong).collect();
    assert!(numbers.len() > 10 && wrong.is_empty(), "{wrong:?}");
}

/// Builds the program that calls every function of the header with right and wrong arguments, and
/// compares the answers with hwloc's.
fn interface(folder: &Path, flags: &[&str]) -> std::path::PathBuf {
    compile(folder, "cc", "api.c", "api", &["topobroker", "hwloc"], flags)
}

#[test]
fn every_function_answers_as_hwloc_does_and_refuses_what_makes_no_sense() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(succeed(&mut Command::new(interface(folder.path(), &[]))), "0 failures\n");
    let test = std::fs::read_to_string(checkout().join("tests/c/api.c")).unwrap();
    let mut untested = declared(&|_| true);
    untested.retain(|name| !test.contains(&format!("{name}(")));
    assert!(untested.is_empty(), "{untested:?}");
}

/// A valgrind command that fails on any error and any leak except those of hwloc itself.
pub(crate) fn valgrind() -> Command {
    let mut command = Command::new("valgrind");
    let suppressions = checkout().join("tests/c/valgrind.supp");
    command.args([
        "--quiet",
        "--leak-check=full",
        "--error-exitcode=9",
        // Suppressions name functions that are far up the stack of a build that is not optimised.
        "--num-callers=40",
    ]);
    command.arg(format!("--suppressions={}", suppressions.display()));
    command
}

#[test]
fn the_interface_is_clean_under_valgrind() {
    if !has("valgrind") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut command = valgrind();
    assert_eq!(succeed(command.arg(interface(folder.path(), &[]))), "0 failures\n");
}

#[test]
fn the_interface_is_clean_under_address_sanitizer() {
    let folder = tempfile::tempdir().unwrap();
    let program =
        interface(folder.path(), &["-fsanitize=address,undefined", "-fno-sanitize-recover"]);
    assert_eq!(succeed(&mut Command::new(program)), "0 failures\n");
}

/// Builds the examples in a folder, with their Makefile, against the installed files.
fn examples(folder: &Path, flags: &str) {
    let mut make = Command::new("make");
    make.arg("--silent").arg("-C").arg(checkout().join("ffi/examples"));
    make.env("PKG_CONFIG_PATH", prefix().join("lib/pkgconfig")).env("CFLAGS", flags);
    succeed(make.arg(format!("OUT={}", folder.display())));
}

#[test]
fn make_builds_the_installed_examples_with_a_given_pkg_config_path() {
    let folder = tempfile::tempdir().unwrap();
    let mut make = Command::new("make");
    make.arg("--silent").arg("-C").arg(prefix().join("share/doc/topobroker/examples"));
    make.arg(format!("PKG_CONFIG_PATH={}", prefix().join("lib/pkgconfig").display()));
    succeed(make.env_remove("PKG_CONFIG_PATH").arg(format!("OUT={}", folder.path().display())));
    assert!(folder.path().join("client").exists());
}

#[test]
fn a_program_is_linked_statically_with_what_pkg_config_says() {
    let folder = tempfile::tempdir().unwrap();
    let mut pkg_config = Command::new("pkg-config");
    pkg_config.env("PKG_CONFIG_PATH", prefix().join("lib/pkgconfig"));
    let flags = succeed(pkg_config.args(["--static", "--cflags", "--libs", "topobroker-reader"]));
    for way in ["-static", "-no-pie"] {
        let program = folder.path().join("rank");
        let mut compiler = Command::new("cc");
        compiler.args([way, "-o"]).arg(&program).arg(checkout().join("tests/c/rank.c"));
        succeed(compiler.args(flags.split_whitespace()));
        let mut run = topobroker();
        run.args(["run", "-i", "Core:2 PU:2", "--"]).arg(&program);
        run.env("LD_LIBRARY_PATH", prefix().join("lib"));
        assert!(succeed(&mut run).contains(" sees PUs 0-3"), "{way}");
    }
}

#[test]
fn cmake_finds_the_libraries() {
    if !has("cmake") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let build = folder.path().join("build");
    let configure = |components: &str| {
        let mut lists = format!(
            "cmake_minimum_required(VERSION 3.16)\nproject(rank C)\n\
             find_package(topobroker 1.0 REQUIRED COMPONENTS {components})\n"
        );
        for target in ["reader", "reader_static", "topobroker", "topobroker_static"] {
            lists += &format!(
                "add_executable({target} {})\ntarget_link_libraries({target} topobroker::{target})\n",
                checkout().join("tests/c/rank.c").display()
            );
        }
        std::fs::write(folder.path().join("CMakeLists.txt"), lists).unwrap();
        let mut cmake = Command::new("cmake");
        cmake.arg("-S").arg(folder.path()).arg("-B").arg(&build);
        cmake.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix().display()));
        cmake
    };
    let missing = said(&configure("reader fabric").output().unwrap());
    assert!(missing.contains("component fabric: expected reader or topobroker"), "{missing}");
    succeed(&mut configure("reader topobroker"));
    succeed(Command::new("cmake").arg("--build").arg(&build));
    for program in ["reader", "reader_static", "topobroker", "topobroker_static"] {
        let mut run = topobroker();
        run.args(["run", "-i", "Core:2 PU:2", "--"]).arg(build.join(program));
        assert!(succeed(&mut run).contains(" sees PUs 0-3"), "{program}");
        let needs = succeed(Command::new("ldd").arg(build.join(program)));
        assert_eq!(needs.contains("libtopobroker"), !program.ends_with("_static"), "{needs}");
    }
}

#[test]
fn licences_documents_and_completions_are_installed() {
    for file in [
        "share/doc/topobroker/LICENSE-MIT",
        "share/doc/topobroker/docs/book/administrator.md",
        "share/bash-completion/completions/topobroker",
        "share/zsh/site-functions/_topobroker",
        "share/fish/vendor_completions.d/topobroker.fish",
        "share/man/man1/topobroker-draw.1",
        "share/man/man3/topobroker-sets.3",
        "share/man/man5/topobroker-segment.5",
        "share/man/man7/topobroker.7",
    ] {
        let length = std::fs::metadata(prefix().join(file)).map(|it| it.len());
        assert!(length.is_ok_and(|length| length > 150), "{file}");
    }
}

#[test]
fn a_tool_of_openmp_gives_the_runtime_the_cores_that_are_published() {
    let found = Command::new("sh").args(["-c", "ls /usr/lib/llvm-*/lib/libomp.so.5"]).output();
    let found = String::from_utf8(found.unwrap().stdout).unwrap();
    let Some(runtime) = found.lines().next() else {
        topobroker_samples::skip(format_args!("there is no libomp.so.5; scripts/test installs it"));
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    examples(folder.path(), "-O2");
    let program = folder.path().join("places");
    let mut compiler = Command::new("cc");
    // Without -fopenmp, so that GCC's own runtime is not there too.
    compiler.arg("-o").arg(&program).arg(checkout().join("tests/c/omp_places.c")).arg(runtime);
    succeed(&mut compiler);
    let places = |tool: &str| {
        let mut run = topobroker();
        run.args(["run", "-i", "Core:1 PU:2", "--"]).arg(&program);
        run.env("OMP_PROC_BIND", "close").env_remove("OMP_PLACES");
        run.env("OMP_TOOL_LIBRARIES", tool);
        succeed(&mut run)
    };
    let tool = folder.path().join("libomp_places.so");
    // On a machine whose PUs are threads of one core, the runtime has the same place alone.
    assert_eq!(places(tool.to_str().unwrap()), "{0,1}\n");
    assert!(!places("").is_empty());
}

#[test]
fn a_launcher_in_c_hands_the_topology_to_its_children_and_their_libraries() {
    let folder = tempfile::tempdir().unwrap();
    examples(folder.path(), "-O2");
    let mut launcher = Command::new(folder.path().join("launcher"));
    launcher.env("LAUNCHER_SYNTHETIC", "Package:2 Core:4 PU:2").arg(folder.path().join("client"));
    let lines = succeed(&mut launcher);
    assert_eq!(lines.lines().count(), 8);
    for line in lines.lines() {
        assert!(line.starts_with("28 objects, "), "{line}");
        assert!(line.ends_with("the same mapping"), "{line}");
    }
    assert_one_address(lines.lines().map(|line| {
        let address = line.split_once(" at ").unwrap().1;
        address.split([',', ' ', ';']).next().unwrap()
    }));
}

#[test]
fn a_dvm_in_c_gives_each_of_two_jobs_its_part() {
    let folder = tempfile::tempdir().unwrap();
    examples(folder.path(), "-O2");
    let mut dvm = Command::new(folder.path().join("dvm"));
    let lines = succeed(dvm.arg(folder.path().join("client")));
    let parts =
        lines.lines().filter(|line| line.starts_with("28 objects, 15 of them mine")).count();
    assert_eq!(parts, 4, "{lines}");
    assert!(lines.contains(
        "job first: rank 1 bound to socket 0[core 1[hwt 0-1]]: [../BB/../..][../../../..]"
    ));
    assert!(lines.contains(
        "job second: rank 0 bound to socket 1[core 4[hwt 0-1]]: [../../../..][BB/../../..]"
    ));
}

#[test]
fn the_examples_are_clean_under_valgrind() {
    if !has("valgrind") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    examples(folder.path(), "-O1 -g");
    for launcher in ["launcher", "dvm"] {
        let mut command = valgrind();
        command.arg("--trace-children=yes");
        // A synthetic machine, because hwloc's plugins leak memory when they discover a real one.
        command.env("LAUNCHER_SYNTHETIC", "Package:2 Core:4 PU:2");
        succeed(command.arg(folder.path().join(launcher)).arg(folder.path().join("client")));
    }
}

#[test]
fn the_full_and_the_thin_library_in_one_process_keep_their_symbols_apart() {
    let folder = tempfile::tempdir().unwrap();
    examples(folder.path(), "-O2");
    let include = format!("-I{}", checkout().join("ffi/examples").display());
    let here = folder.path().display().to_string();
    let flags = [&include, &format!("-L{here}"), "-lthinlib", &format!("-Wl,-rpath,{here}")];
    let program = compile(folder.path(), "cc", "both.c", "both", &["topobroker"], &flags);
    let run = |checker: &[&str]| {
        let mut command = topobroker();
        command.args(["run", "-i", "Core:4 PU:2", "--"]).args(checker).arg(&program);
        succeed(&mut command)
    };
    assert_eq!(run(&[]), "one mapping\n");
    if has("valgrind") {
        // Under valgrind, a taken address is only a hint, as for kernels before 4.17.
        let valgrind = ["valgrind", "--quiet", "--leak-check=full", "--error-exitcode=9"];
        assert_eq!(run(&valgrind), "one mapping\n");
    }
}

#[test]
fn a_program_that_ends_without_freeing_leaves_nothing_published() {
    let folder = tempfile::tempdir().unwrap();
    let program = compile(folder.path(), "cc", "exits.c", "exits", &["topobroker"], &[]);
    let file = succeed(&mut Command::new(program));
    assert!(file.starts_with("/dev/shm/topobroker-"));
    topobroker_embedding::assert_gone(&file);
    topobroker_embedding::assert_gone(&file.replace('\n', "+hwloc"));
}

#[test]
fn manual_pages_and_pkg_config_files_are_installed_and_say_the_version() {
    let version = env!("CARGO_PKG_VERSION");
    for page in ["topobroker.1", "topobroker-run.1", "topobroker-job-add.1", "topobroker-serve.1"] {
        let text = std::fs::read_to_string(prefix().join("share/man/man1").join(page)).unwrap();
        assert!(text.contains(".TH topobroker") && text.contains(version), "{page}");
    }
    for package in ["topobroker-reader", "topobroker"] {
        let mut command = Command::new("pkg-config");
        command.env("PKG_CONFIG_PATH", prefix().join("lib/pkgconfig"));
        // Without `-rc.1`, which pkg-config takes for a later version.
        let number = version.split('-').next().unwrap();
        assert_eq!(succeed(command.args(["--modversion", package])).trim(), number);
    }
}

#[test]
fn the_c_code_of_the_pages_for_libraries_and_launchers_compiles() {
    let page = |name| std::fs::read_to_string(checkout().join("docs/book").join(name)).unwrap();
    let guide = page("libraries.md") + &page("launchers.md");
    let blocks: Vec<&str> =
        guide.split("```c\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert_eq!(blocks.len(), 6);
    let folder = tempfile::tempdir().unwrap();
    for code in blocks {
        let packages: &[&str] = match code.contains("<pmix") {
            true => &["topobroker", "pmix"],
            false => &["topobroker", "hwloc"],
        };
        if !Command::new("pkg-config").args(&packages[1..]).status().unwrap().success() {
            topobroker_samples::skip(format_args!("there is no {}", packages[1]));
            continue;
        }
        let source = folder.path().join("guide.c");
        std::fs::write(&source, code).unwrap();
        compile(folder.path(), "cc", source.to_str().unwrap(), "guide.o", packages, &["-c"]);
    }
}
