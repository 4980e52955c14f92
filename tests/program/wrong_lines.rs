//! Command lines that are wrong: typed too fast, or as another program takes them. Each message
//! says what to type.

use topobroker_tests::segments::topobroker;

/// Command lines, and a part of what is said.
const WRONG: &[(&str, &str)] = &[
    ("lsx", "no command is named 'lsx'; did you mean 'ls'?"),
    ("topo", "`topobroker ls` prints the topology, `topobroker draw` draws it"),
    ("lstop", "no command is named 'lstop'; did you mean 'lstopo' or 'ls'?"),
    ("list", "`topobroker ls` prints the topology, `topobroker draw` draws it"),
    ("show", "`topobroker ls` prints the topology, `topobroker draw` draws it"),
    ("inof core:0", "no command is named 'inof'; did you mean 'info'?"),
    ("dvices", "no command is named 'dvices'; did you mean 'devices'?"),
    ("device", "no command is named 'device'; did you mean 'devices' or 'serve'?"),
    ("link", "no command is named 'link'; did you mean 'links'?"),
    ("pubilsh", "no command is named 'pubilsh'; did you mean 'publish' or 'unpublish'?"),
    ("start", "`topobroker serve` is the daemon of a node; `topobroker publish` publishes once"),
    ("stop", "`topobroker unpublish` takes back what was published; a daemon ends by SIGTERM"),
    ("daemon", "`topobroker serve` is the daemon of a node; `topobroker publish` publishes once"),
    ("server", "`topobroker serve` is the daemon of a node; `topobroker publish` publishes once"),
    ("kill", "`topobroker unpublish` takes back what was published; a daemon ends by SIGTERM"),
    ("help nosuch", "no command and no topic is named 'nosuch'; topics are keys"),
    ("jobs", "no command is named 'jobs': `topobroker job list`"),
    ("job lst", "no command is named 'lst'; did you mean 'list'?"),
    ("job create a", "no command is named 'create': `topobroker job add NAME`"),
    ("job new a -n 2", "no command is named 'new': `topobroker job add NAME`"),
    ("job add", "the following required arguments were not provided: <NAME>"),
    ("job add a -np 4", "invalid value 'p' for '--np <COUNT>': expected a number"),
    ("job add a -n 0", "invalid value '0' for '--np <COUNT>': expected 1 or more"),
    ("job add a -n -1", "there is no option '-1'"),
    ("job add a -n many", "invalid value 'many' for '--np <COUNT>': expected a number"),
    ("job add a --hostfile h", "`topobroker cluster place` is of several"),
    (
        "job add a --cpus-per-task 2",
        "there is no option '--cpus-per-task': `--map-by core:pe=N` gives each rank N cores",
    ),
    (
        "job add a --cpu-bind cores",
        "there is no option '--cpu-bind': --map-by, --rank-by and --bind-to, as mpirun has the",
    ),
    (
        "job add a --distribution block",
        "there is no option '--distribution': --map-by, --rank-by and --bind-to, as mpirun has",
    ),
    ("job exec a ./app", "the following required arguments were not provided: --rank <RANK>"),
    ("job exec a --rank x ./app", "invalid value 'x' for '--rank <RANK>': expected a number"),
    ("cluster list", "no command is named 'list': `topobroker cluster ls FILE`"),
    ("cluster build", "the following required arguments were not provided: <OUTPUT> <INPUT>..."),
    ("cluster build c.topo", "the following required arguments were not provided: <INPUT>..."),
    (
        "cluster gather c.topo",
        "the following required arguments were not provided: <--folder <FOLDER>|--command <COM",
    ),
    ("cluster ls nosuch.topo", "nosuch.topo: No such file or directory (os error 2)"),
    ("cluster ls c.topo --where memory>=32", "expected one such as 32GiB"),
    ("cluster export c.topo", "the following required arguments were not provided: <NODE>"),
    ("ls --josn", "there is no option '--josn'; did you mean '--json'?"),
    ("ls -x", "there is no option '-x'"),
    ("ls -a", "there is no option '-a'"),
    ("ls --format xml", "there is no option '--format': `--of FORMAT`"),
    (
        "ls --of yaml",
        "invalid value 'yaml' for '--of <FORMAT>' [possible values: console, synthetic, xml, s",
    ),
    (
        "ls --of jpg",
        "invalid value 'jpg' for '--of <FORMAT>' [possible values: console, synthetic, xml, sv",
    ),
    (
        "ls out.jpg",
        "expected .svg, .png, .pdf, .html, .tex, .txt, .xml, .synthetic or .console, or --of F",
    ),
    ("ls -o out.svg", "there is no option '-o': the output has no option: `topobroker ls out.svg`"),
    (
        "ls --output out.svg",
        "there is no option '--output': the output has no option: `topobroker ls out.svg`",
    ),
    ("ls --no-io=1", "unexpected value '1' for '--no-io' found; no more were expected"),
    ("ls --only sockets", "hwloc's word is package"),
    (
        "ls --only cpu",
        "invalid value 'cpu' for '--only <TYPE>': no such type of object; hwloc's word is pu",
    ),
    (
        "ls --only nosuch",
        "expected one of Machine, Package, Die, Core, PU, L1 to L5, L1i to L3i, Group, NUMANod",
    ),
    ("ls --filter core:nosuch", "expected none, all, structure or important after the colon"),
    (
        "ls --filter nosuch:all",
        "expected one of Machine, Package, Die, Core, PU, L1 to L5, L1i to L3i, Group, NUMANod",
    ),
    ("ls --restrict nosuch", "expected one mask such as 0xf00000001"),
    ("ls -i \"core:2 pu:1\" --restrict 0x0", "nothing would be left"),
    ("ls --restrict pu:0", "expected one mask such as 0xf00000001"),
    ("ls --ps", "`topobroker ps` lists processes, and `topobroker draw` the ranks of jobs"),
    ("ls --top", "`topobroker ps` lists processes, and `topobroker draw` the ranks of jobs"),
    ("ls --pid 1", "there is no option '--pid': `topobroker ps --pid PID` says where a process is"),
    (
        "ls --allow all",
        "there is no option '--allow': --disallowed keeps what may not be used; --restrict tak",
    ),
    (
        "ls --flags 1",
        "there is no option '--flags': --disallowed keeps what may not be used; --restrict tak",
    ),
    ("ls -i nosuch.xml", "nosuch.xml: cannot be read: No such file or directory (os error 2)"),
    ("ls -i /etc", "/etc/sys: cannot be read: No such file or directory (os error 2)"),
    ("ls -i \"core:2\"", "expected words such as Package:2"),
    ("ls -i \"cores:2 pu:2\"", "expected words such as Package:2"),
    ("ls -i \"core:0 pu:2\"", "expected words such as Package:2"),
    ("ls -i \"core:2 pu:x\"", "expected words such as Package:2"),
    ("ls --view nosuch", "expected a location such as core:2-3, os=eth0, 0x0000000f or all"),
    (
        "ls -i \"core:2 pu:1\" --view 999",
        "there is no PU with logical index 999; the topology has 2",
    ),
    ("ls --fontsize", "a value is required for '--fontsize <fontsize>' but none was supplied"),
    ("info core:", "expected indexes such as 3, 2-5, 2-, 3:2, all, odd or even"),
    ("info core:x", "expected indexes such as 3, 2-5, 2-, 3:2, all, odd or even"),
    (
        "info cpu:0",
        "location \"cpu:0\": no type or depth at position 0; expected pu, as hwloc calls it",
    ),
    (
        "info thread:0",
        "location \"thread:0\": no type or depth at position 0; expected pu, as hwloc calls it",
    ),
    ("info nosuch0", "expected a location such as core:2-3, os=eth0, 0x0000000f or all"),
    (
        "info --ancestor nosuch pu:0",
        "expected one of Machine, Package, Die, Core, PU, L1 to L5, L1i to L3i, Group, NUMANod",
    ),
    ("info --descendant pu core:0", "there is no option '--descendant': `--descendants TYPE`"),
    ("info 0x1", "expected an object such as core:0"),
    (
        "calc pu:0 +pu:1",
        "expected a type such as core or l3, a depth, pci[vendor:device], os[gpu] or numa[dram",
    ),
    ("calc pu:0,pu:1", "expected indexes such as 3, 2-5, 2-, 3:2, all, odd or even"),
    ("calc pu:0,1", "expected indexes such as 3, 2-5, 2-, 3:2, all, odd or even"),
    ("calc core:1.pu", "expected a level and indexes such as core:2-3"),
    ("calc -N cores all", "hwloc's word is core"),
    (
        "calc -N nosuch all",
        "expected one of Machine, Package, Die, Core, PU, L1 to L5, L1i to L3i, Group, NUMANod",
    ),
    ("calc -I", "a value is required for '--intersect <TYPE|DEPTH>' but none was supplied"),
    ("calc 0xg", "expected a location such as core:2-3, os=eth0, 0x0000000f or all"),
    ("calc pu:99999999999", "expected indexes such as 3, 2-5, 2-, 3:2, all, odd or even"),
    ("calc core:-1", "expected indexes such as 3, 2-5, 2-, 3:2, all, odd or even"),
    (
        "calc --best-memattr speed pu:0",
        "expected one of Capacity, Locality, Bandwidth, Latency, ReadBandwidth, WriteBandwidth",
    ),
    ("calc numa:0 --hbm", "there is no option '--hbm': `hbm:all` is a location"),
    (
        "calc -H core:pu all",
        "expected one of Machine, Package, Die, Core, PU, L1 to L5, L1i to L3i, Group, NUMANod",
    ),
    ("distrib", "the following required arguments were not provided: <N>"),
    ("distrib 0", "invalid value '0' for '<N>': expected 1 or more"),
    ("distrib x", "invalid value 'x' for '<N>': expected a number"),
    ("distrib 2 4", "'4' is one word too many"),
    (
        "distrib --at nosuch 2",
        "expected one of Machine, Package, Die, Core, PU, L1 to L5, L1i to L3i, Group, NUMANod",
    ),
    ("distrib --to pus 2", "hwloc's word is pu"),
    ("bind", "nothing to do: give a LOCATION and a command, or --pid, or --get"),
    ("bind core:0", "nothing to do: give a LOCATION and a command, or --pid, or --get"),
    ("bind 0 -- true", "the locations have no PUs to bind to"),
    ("bind -c 0 true", "`topobroker bind 0-3 -- COMMAND`, or core:0-3"),
    ("bind -C 0 true", "`topobroker bind 0-3 -- COMMAND`, or core:0-3"),
    ("bind --physcpubind=0 true", "`topobroker bind 0-3 -- COMMAND`, or core:0-3"),
    ("bind --cpunodebind=0 true", "`topobroker bind numa:0 -- COMMAND`"),
    ("bind -N 0 true", "`topobroker bind numa:0 -- COMMAND`"),
    ("bind -m 0 true", "there is no option '-m': `topobroker bind --membind numa:0 -- COMMAND`"),
    (
        "bind --interleave=all true",
        "`topobroker bind --membind numa:all --mempolicy interleave -- COMMAND`",
    ),
    ("bind --localalloc true", "`topobroker bind --membind all --mempolicy firsttouch -- COMMAND`"),
    ("bind -cp 0 1", "`topobroker bind 0-3 -- COMMAND`, or core:0-3"),
    ("bind -p 0 1", "nothing to do: give a LOCATION and a command, or --pid, or --get"),
    (
        "bind nosuch:0 -- true",
        "expected a type such as core or l3, a depth, pci[vendor:device], os[gpu] or numa[dram",
    ),
    (
        "bind core:0 -- nosuch-program",
        "nosuch-program: cannot be started: No such file or directory (os error 2)",
    ),
    ("bind --pid", "a value is required for '--pid <PID>' but none was supplied"),
    ("bind --pid x core:0", "invalid value 'x' for '--pid <PID>': expected a number"),
    (
        "bind --pid 4194305 core:0",
        "process 4194305: cannot be found: No such file or directory (os error 2)",
    ),
    ("bind --get core:0", "--get prints where something is bound: leave out LOCATION"),
    (
        "bind --mempolicy nosuch --membind numa:0 -- true",
        "invalid value 'nosuch' for '--mempolicy <POLICY>' [possible values: default, firsttou",
    ),
    (
        "bind --cpu-bind core:0 -- true",
        "`topobroker bind core:0 -- COMMAND`; ranks are placed by `topobroker job add`",
    ),
    (
        "bind --bind-to core true",
        "`topobroker bind core:0 -- COMMAND`; ranks are placed by `topobroker job add`",
    ),
    (
        "bind --map-by core true",
        "`topobroker bind core:0 -- COMMAND`; ranks are placed by `topobroker job add`",
    ),
    (
        "bind --hbm -- true",
        "`topobroker bind --membind hbm:all -- COMMAND`, or --best-memattr bandwidth",
    ),
    ("run", "the following required arguments were not provided: <COMMAND>..."),
    (
        "run -n 4 true",
        "there is no option '-n': that is an option of the launcher: `-- mpirun -n 4 ./app`",
    ),
    (
        "run -np 4 true",
        "there is no option '-n': that is an option of the launcher: `-- mpirun -n 4 ./app`",
    ),
    ("run --hostfile h true", "`-- mpirun -n 4 ./app`"),
    (
        "run nosuch-program",
        "nosuch-program: cannot be started: No such file or directory (os error 2)",
    ),
    ("draw out.jpg", "expected .svg, .html, .png, .pdf, .tex or .txt, or --of FORMAT"),
    ("draw -o out", "expected .svg, .html, .png, .pdf, .tex or .txt, or --of FORMAT"),
    ("draw --format png", "there is no option '--format': `--of FORMAT`"),
    ("draw --links --show core", "the argument '--links' cannot be used with '--show <TYPE>'"),
    ("draw --dark", "there is no option '--dark': a page and an SVG follow the mode of the system"),
    (
        "links --from cuda0",
        "\"cuda0\" is no vertex of the graph of links; topobroker links lists them",
    ),
    (
        "links --from cuda0 --to nosuch",
        "\"cuda0\" is no vertex of the graph of links; topobroker links lists them",
    ),
    (
        "links --of xml",
        "invalid value 'xml' for '--of <FORMAT>' [possible values: text, json, dot, jgf, matri",
    ),
    ("devices --rank 0", "the following required arguments were not provided: --job <NAME>"),
    ("ports mlx5_0", "'mlx5_0' is one word too many"),
    (
        "ps -ef",
        "there is no option '-f': -a lists processes that are not bound too; --uid all those o",
    ),
    (
        "ps aux",
        "'aux' is one word too many: -a lists processes that are not bound too; --uid all thos",
    ),
    ("ps --pid 4194305", "process 4194305 is not here, or runs on no PU of this topology"),
    ("ps --user root", "there is no option '--user': `--uid UID`, or `--uid all`"),
    ("publish --address 12345", "expected a multiple of 0x10000 below 0x800000000000"),
    ("publish --size 1G", "there is no option '--size': the size follows from the topology"),
    ("publish --force", "`topobroker unpublish` takes the old one back"),
    ("unpublish nosuch", "nosuch: No such file or directory (os error 2)"),
    (
        "unpublish --force",
        "expected FILE..., --all, or --stale: `topobroker status` lists segments",
    ),
    (
        "serve --fork",
        "there is no option '--fork': it stays in the foreground: systemd or `&` puts it aside",
    ),
    ("completions", "the following required arguments were not provided: <SHELL>"),
    ("completions tcsh", "[possible values: bash, elvish, fish, powershell, zsh]"),
    ("-q ls --josn", "did you mean '--json'? `topobroker ls --help` has more"),
    ("-q bind -N 0 true", "NUMA nodes are locations"),
    ("manual", "the following required arguments were not provided: <FOLDER>"),
    ("doctor --fix", "there is no option '--fix': it changes nothing; each line says what to do"),
    (
        "export --of json",
        "invalid value 'json' for '--of <FORMAT>' [possible values: xml, xml-v1, synthetic]",
    ),
    ("export -o", "a value is required for '--output <FILE>' but none was supplied"),
    ("diff a.xml", "the following required arguments were not provided: <OTHER>"),
    ("patch a.xml", "the following required arguments were not provided: <DIFFERENCE>"),
    ("audit", "the following required arguments were not provided: <COMMAND>..."),
];

#[test]
fn each_wrong_command_line_gets_a_message_that_says_what_to_type() {
    let folder = tempfile::tempdir().unwrap();
    let mut failed = Vec::new();
    for (line, part) in WRONG {
        // What is in quotes is one word.
        let words = line.split('"').enumerate().flat_map(|(place, text)| match place % 2 {
            0 => text.split_whitespace().collect(),
            _ => vec![text],
        });
        let mut command = topobroker();
        command.args(words).current_dir(folder.path()).stdin(std::process::Stdio::null());
        command.env("XDG_RUNTIME_DIR", "/nonexistent").env("TOPOBROKER_RUN", "/nonexistent");
        let output = command.output().unwrap();
        let said =
            String::from_utf8_lossy(&output.stderr).replace("topobroker_for_tests", "topobroker");
        if output.status.success() || !said.contains(part) {
            failed.push(format!("{line}: {part:?} is not in {said}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(folder.path().read_dir().unwrap().next().is_none(), "a wrong line wrote a file");
}
