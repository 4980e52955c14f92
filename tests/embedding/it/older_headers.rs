//! Programs that were compiled with another version of the header.

use std::process::Command;
use topobroker_embedding::{prefix, succeed, topobroker};

/// A program that fills a struct of the header that it was compiled with, and says what stands
/// behind it.
const CALLER: &str = r#"
#include <stdio.h>
#include <string.h>
#include <topobroker.h>
int main(void)
{
    struct { tb_segment segment; unsigned char behind[64]; } own;
    const tb_topology *topology;
    memset(&own, 0xee, sizeof own);
    if (tb_adopt(&topology) != TB_OK || tb_topology_segment(topology, &own.segment, sizeof own.segment) != TB_OK)
        return puts(tb_error_detail()), 1;
    for (size_t i = 0; i < sizeof own.behind; i++)
        if (own.behind[i] != 0xee)
            return puts("written behind the struct"), 1;
    return printf("%zu %d\n", sizeof own.segment, LAST), 0;
}
"#;

#[test]
fn programs_compiled_with_an_older_and_with_a_newer_header_run_with_this_library() {
    let folder = tempfile::tempdir().unwrap();
    let include = folder.path().join("include");
    succeed(Command::new("cp").arg("-r").arg(prefix().join("include")).arg(&include));
    let core = include.join("topobroker/core.h");
    let header = std::fs::read_to_string(&core).unwrap();
    // The last two fields, and the end.
    let start = header.find("  uint32_t publisher_pid;").unwrap();
    let length = header[start..].find("} tb_segment;").unwrap();
    let last = &header[start..start + length];
    let build = |fields: &str, shown: &str| {
        std::fs::write(&core, header.replace(last, fields)).unwrap();
        let (source, program) = (folder.path().join("caller.c"), folder.path().join("caller"));
        std::fs::write(&source, CALLER).unwrap();
        let mut compiler = Command::new("cc");
        compiler.args(["-std=c99", "-Wall", "-Wextra", "-Werror"]).arg(format!("-DLAST={shown}"));
        compiler.arg("-I").arg(&include).arg("-o").arg(&program).arg(&source);
        compiler.arg("-L").arg(prefix().join("lib")).arg("-ltopobroker-reader");
        succeed(&mut compiler);
        let mut run = topobroker();
        run.args(["run", "-i", "Core:2 PU:2", "--"]).arg(&program);
        run.env("LD_LIBRARY_PATH", prefix().join("lib"));
        let said = succeed(&mut run);
        let (size, last) = said.trim().split_once(' ').unwrap();
        (size.parse::<usize>().unwrap(), last.parse::<i64>().unwrap())
    };
    let (size, pid) = build(last, "(int)own.segment.publisher_pid");
    let (smaller, version) = build("", "(int)own.segment.hwloc_version");
    let more = format!("{last}  uint64_t newer[3];\n");
    let (larger, newer) = build(&more, "(int)own.segment.newer[2]");
    assert!(smaller < size && size < larger, "{smaller} {size} {larger}");
    assert!(pid > 0 && version > 0x0002_0000 && newer == 0, "{pid} {version} {newer}");
}
