//! Pictures next to lstopo's of the same machines: their figures, and a sheet to look at.

use crate::docs::{of_file, of_node};
use crate::pictures::{page_like, white};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use topobroker_draw::svg;
use topobroker_samples::{machines, shared, skip};

/// Twelve machines of all kinds: with GPUs, with much memory, of many packages, with groups, with
/// cores of two kinds.
const ON_THE_SHEET: [&str; 12] = [
    "flux-core__tuo.SPX.xml",
    "hwloc-v2.x__nvidiaDGX2.xml",
    "flux-core__sierra.xml",
    "mpibind__epyc-corona.xml",
    "prrte__turin-4gpu-nvml.xml",
    "mpibind__cts1-pascal.xml",
    "hwloc-v2.9__64intel64-fakeKNL-SNC4-hybrid.xml",
    "hwloc__AMD-19h-Zen4-2xEpyc-9654.x86-cpuid.xml",
    "hwloc__Intel-RaptorLake-Corei7-1370P.x86-cpuid.xml",
    "hwloc__256ia64-64n2s2c.linux-sysfs.xml",
    "synth__16gr4pa4l3-8c2t-4096pu-2numa.xml",
    "synth__superdome-32s28c2t-1792pu.xml",
];

/// Whether lstopo is installed. If it is not, the test says so.
fn has_lstopo() -> bool {
    let is_here = Command::new("lstopo-no-graphics").arg("--version").output().is_ok();
    if !is_here {
        skip(format_args!("no lstopo-no-graphics: install hwloc-nox"));
    }
    is_here
}

/// What lstopo draws; `None` of a machine that its hwloc cannot load.
fn lstopos(machine: &Path) -> Option<String> {
    let mut lstopo = Command::new("lstopo-no-graphics");
    let lstopo = lstopo.arg("-i").arg(machine).args(["--of", "nativesvg", "-"]);
    let text = String::from_utf8(lstopo.output().unwrap().stdout).unwrap();
    Some(text).filter(|text| text.contains("</svg>"))
}

/// Width and height of a picture of lstopo, and the share of it, in percent, that is in no box but
/// those of the machine and of groups.
fn measured(text: &str) -> ([u32; 2], u64) {
    let value = |line: &str, name: &str| {
        line.split_once(&format!(" {name}='"))?.1.split('\'').next().map(str::to_owned)
    };
    let number = |line: &str, name: &str| -> u64 {
        value(line, name).unwrap().trim_end_matches("px").parse().unwrap()
    };
    let head = text.lines().find(|line| line.starts_with("<svg")).unwrap();
    let size = ["width", "height"].map(|name| number(head, name));
    let mut coloured: Vec<[u64; 4]> = Vec::new();
    for line in text.lines().filter(|line| line.contains("<rect")) {
        let class = value(line, "class").unwrap_or_default();
        let [x, y, width, height] = ["x", "y", "width", "height"].map(|it| number(line, it));
        let is_inside = |outer: &[u64; 4]| {
            outer[0] <= x && outer[1] <= y && x + width <= outer[2] && y + height <= outer[3]
        };
        // The legend's box has no class.
        let is_white =
            class.is_empty() || ["Machine", "Group", "Bridge"].iter().any(|it| class.contains(it));
        if !is_white && !coloured.iter().any(is_inside) {
            coloured.push([x, y, x + width, y + height]);
        }
    }
    let area: u64 = coloured.iter().map(|it| (it[2] - it[0]) * (it[3] - it[1])).sum();
    let white = 100 - (area * 100 / (size[0] * size[1])).min(100);
    (size.map(|side| u32::try_from(side).unwrap()), white)
}

#[test]
fn pictures_have_more_often_the_form_of_a_page_than_lstopos_and_little_white() {
    let Some(shared) = shared().filter(|_| has_lstopo()) else { return };
    let (mut pages, mut whites) = ([0; 2], [Vec::new(), Vec::new()]);
    for machine in machines(&shared) {
        let Some(text) = lstopos(&machine.path) else { continue };
        let picture = of_file(&machine.path, of_node);
        let (size, its_white) = measured(&text);
        let own = [picture.width(), picture.height()];
        for (way, size, white) in [(0, own, white(&picture)), (1, size, its_white)] {
            pages[way] += u32::from(page_like(size));
            whites[way].push(white);
        }
        println!("{}: {own:?}, lstopo {size:?} {its_white} %", machine.name);
    }
    let drawn = whites[0].len();
    let median = |way: usize| {
        let mut all = whites[way].clone();
        all.sort_unstable();
        all[all.len() / 2]
    };
    println!(
        "of {drawn}, ours and lstopo's: {pages:?} between 1:1 and 16:9; white {} and {} % in the median",
        median(0),
        median(1)
    );
    assert!(drawn > 100 && pages[0] > pages[1], "{drawn}: {pages:?}");
    assert!(median(0) <= 33, "{}", median(0));
}

#[test]
fn a_sheet_of_twelve_machines_next_to_lstopos_is_rendered_in_light_and_in_dark() {
    let Some(shared) = shared().filter(|_| has_lstopo()) else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut rows = String::new();
    for (number, machine) in ON_THE_SHEET.iter().enumerate() {
        let path = shared.join("topologies").join(machine);
        let pictures =
            [("ours", svg(&of_file(&path, of_node))), ("lstopo", lstopos(&path).unwrap())];
        writeln!(rows, "<h2>{machine}</h2>").unwrap();
        for (whose, text) in pictures {
            let name = format!("{number}-{whose}.svg");
            std::fs::write(folder.path().join(&name), text).unwrap();
            writeln!(rows, "<img src=\"{name}\" alt=\"{whose}\">").unwrap();
        }
    }
    let style = ":root { color-scheme: light dark; font: 14px sans-serif } \
                 img { width: 780px; height: 620px; object-fit: contain; object-position: top }";
    let page = format!("<!DOCTYPE html><meta charset=\"utf-8\"><style>{style}</style>\n{rows}");
    std::fs::write(folder.path().join("sheet.html"), page).unwrap();
    let sheets = [("dark", 0), ("light", 1)].map(|(name, scheme)| {
        let sheet = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("sheet-{name}.png"));
        let _ = std::fs::remove_file(&sheet);
        let mut chromium = Command::new("chromium");
        chromium.args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]);
        chromium.args(["--disable-background-networking", "--window-size=1600,8400"]);
        chromium.arg(format!("--user-data-dir={}", folder.path().join(name).display()));
        chromium.arg(format!("--blink-settings=preferredColorScheme={scheme}"));
        chromium.arg(format!("--screenshot={}", sheet.display()));
        chromium.arg(folder.path().join("sheet.html")).env("XDG_RUNTIME_DIR", folder.path());
        chromium.output().ok()?;
        println!("{}", sheet.display());
        Some(std::fs::read(&sheet).unwrap())
    });
    match sheets {
        [Some(dark), Some(light)] => {
            assert!(dark.len().min(light.len()) > 1 << 19 && dark != light);
        }
        _ => skip(format_args!("chromium is not here")),
    }
}
