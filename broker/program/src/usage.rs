//! Wrong command lines: one line that says what is wrong, and what to type.

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The message for a wrong command line of a command, such as `topobroker job add`.
pub(super) fn message(usage: &Error, command: &str) -> String {
    let what = match usage.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = context(usage, ContextKind::InvalidSubcommand);
            let similar = similar(usage, ContextKind::SuggestedSubcommand);
            format!("no command is named '{word}'{}", or(instead(command, &word), similar))
        }
        ErrorKind::UnknownArgument => {
            let word = context(usage, ContextKind::InvalidArg);
            let similar = similar(usage, ContextKind::SuggestedArg);
            let what = match word.starts_with('-') {
                true => format!("there is no option '{word}'"),
                false => format!("'{word}' is one word too many"),
            };
            what + &or(instead(command, &word), similar)
        }
        _ => expected_number(&in_one_line(usage)),
    };
    let end = if what.ends_with('?') { "" } else { ";" };
    format!("{what}{end} `{command} --help` has more")
}

/// What to type, or what is similar.
fn or(instead: Option<&str>, similar: Vec<String>) -> String {
    match (instead, &similar[..]) {
        (Some(instead), _) => format!(": {instead}"),
        (None, []) => String::new(),
        (None, [best]) => format!("; did you mean '{best}'?"),
        (None, [best, next, ..]) => format!("; did you mean '{best}' or '{next}'?"),
    }
}

fn context(usage: &Error, kind: ContextKind) -> String {
    usage.get(kind).map(ToString::to_string).unwrap_or_default()
}

/// Words like the one that was typed, the most similar first, which clap has last.
fn similar(usage: &Error, kind: ContextKind) -> Vec<String> {
    let words = match usage.get(kind) {
        Some(ContextValue::Strings(words)) => words.clone(),
        Some(ContextValue::String(word)) => vec![word.clone()],
        _ => Vec::new(),
    };
    words.into_iter().rev().filter(|word| !word.ends_with("-no-graphics")).collect()
}

/// The message of clap in one line.
fn in_one_line(usage: &Error) -> String {
    let text = usage.render().to_string();
    let message = text.split("\n\nUsage: ").next().unwrap_or(&text);
    let message = message.trim_start_matches("error: ");
    let message = message.split("\n\nFor more information").next().unwrap_or(message);
    // A list of what is missing, or a tip, is on lines of its own.
    let parts: Vec<&str> = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    parts.join(" ").replace(" tip: ", "; ")
}

/// The message with what a number may be, in place of what Rust's parser and clap say.
fn expected_number(message: &str) -> String {
    let message = message.replace("invalid digit found in string", "expected a number");
    let message =
        message.replace("number too large to fit in target type", "the number is too large");
    let Some((before, range)) = message.split_once(" is not in ") else { return message };
    let Some((least, most)) = range.split_once("..") else { return message };
    let most = most.trim_start_matches('=');
    let before = before.rsplit_once(": ").map_or(before, |(before, _)| before);
    match most.parse::<u64>() {
        Ok(most) if most < u64::from(u32::MAX) => format!("{before}: expected {least} to {most}"),
        _ => format!("{before}: expected {least} or more"),
    }
}

/// What to type in place of a word that other programs have.
fn instead(command: &str, word: &str) -> Option<&'static str> {
    let (_, name) = command.split_once(' ').unwrap_or_default();
    let is_of = |(names, words, _): &&(&str, &str, &str)| {
        names.split(',').any(|it| it == name) && words.split(' ').any(|it| it == word)
    };
    INSTEAD.iter().find(is_of).map(|(_, _, what)| *what)
}

/// Commands, words of hwloc, numactl, taskset, mpirun, srun and ps that they do not have, and what
/// to type.
const INSTEAD: &[(&str, &str, &str)] = &[
    (
        "",
        "list show print topo tree lstopo-graphics",
        "`topobroker ls` prints the topology, `topobroker draw` draws it",
    ),
    (
        "",
        "start daemon server up",
        "`topobroker serve` is the daemon of a node; `topobroker publish` publishes once",
    ),
    (
        "",
        "stop kill down remove rm delete",
        "`topobroker unpublish` takes back what was published; a daemon ends by SIGTERM",
    ),
    ("", "exec mpirun srun prun", "`topobroker run -- COMMAND` publishes and runs a command"),
    ("", "jobs", "`topobroker job list`"),
    (
        "",
        "gpus nics",
        "`topobroker devices` lists NICs and GPUs, `topobroker job gpus JOB` those of ranks",
    ),
    ("", "annotate hwloc-annotate", "use hwloc's own program, then `topobroker publish -i FILE`"),
    (
        "",
        "gather hwloc-gather-topology hwloc-gather-cpuid",
        "use hwloc's own script; -i takes what it wrote. `topobroker cluster gather` is for many \
         nodes",
    ),
    (
        "",
        "compress hwloc-compress-dir",
        "`topobroker cluster build OUTPUT FOLDER` stores alike nodes once",
    ),
    ("job", "create new start submit", "`topobroker job add NAME`"),
    ("job", "gpu", "`topobroker job gpus NAME`"),
    ("job", "nic", "`topobroker job nics NAME`"),
    ("job", "run", "`topobroker job exec NAME --rank RANK -- COMMAND` becomes a rank"),
    ("job", "delete rm kill", "`topobroker job remove NAME`"),
    ("cluster", "list show", "`topobroker cluster ls FILE`"),
    ("cluster", "create make", "`topobroker cluster build OUTPUT INPUT...`"),
    (
        "bind",
        "-c --cpu-list --physcpubind -C --cpus",
        "PUs are locations: `topobroker bind 0-3 -- COMMAND`, or core:0-3",
    ),
    ("bind", "-N --cpunodebind", "NUMA nodes are locations: `topobroker bind numa:0 -- COMMAND`"),
    ("bind", "-m --preferred --preferred-many", "`topobroker bind --membind numa:0 -- COMMAND`"),
    (
        "bind",
        "-i --interleave -w --weighted-interleave",
        "`topobroker bind --membind numa:all --mempolicy interleave -- COMMAND`",
    ),
    (
        "bind",
        "--localalloc -L",
        "`topobroker bind --membind all --mempolicy firsttouch -- COMMAND`",
    ),
    (
        "bind",
        "--hbm --no-hbm",
        "`topobroker bind --membind hbm:all -- COMMAND`, or --best-memattr bandwidth",
    ),
    (
        "bind",
        "--cpu-bind --bind-to --map-by --cpus-per-task --np -n",
        "it binds one process: `topobroker bind core:0 -- COMMAND`; ranks are placed by \
         `topobroker job add`",
    ),
    ("bind", "--distrib", "`topobroker distrib N` prints the parts"),
    (
        "job add",
        "--hostfile --host -H --machinefile",
        "a job is of this node; `topobroker cluster place` is of several",
    ),
    (
        "job add,cluster place",
        "--cpus-per-task -c --cpus-per-rank",
        "`--map-by core:pe=N` gives each rank N cores",
    ),
    (
        "job add,cluster place",
        "--cpu-bind --distribution -m --hint",
        "--map-by, --rank-by and --bind-to, as mpirun has them; docs/SYSTEMS.md has Slurm's words",
    ),
    ("job add,cluster place", "--ntasks --nprocs -N", "`-n COUNT` is the number of ranks"),
    ("job add", "--gpus --gpus-per-task --gres", "`--gpus-per-rank N`"),
    (
        "run,audit",
        "-n --np -N --hostfile --host --map-by --bind-to",
        "that is an option of the launcher: `-- mpirun -n 4 ./app`",
    ),
    ("ls", "-o --output", "the output has no option: `topobroker ls out.svg`"),
    ("ls,draw", "--format --type -T", "`--of FORMAT`"),
    (
        "ls,draw",
        "--ps --top",
        "`topobroker ps` lists processes, and `topobroker draw` the ranks of jobs",
    ),
    ("ls,info", "--pid", "`topobroker ps --pid PID` says where a process is"),
    (
        "ls,info",
        "--allow --flags",
        "--disallowed keeps what may not be used; --restrict takes parts out",
    ),
    ("ls", "--distances-transform", "`topobroker links` prints links"),
    ("draw", "--dark --light --theme", "a page and an SVG follow the mode of the system"),
    ("draw", "--size --height", "SVG and PDF scale as they are"),
    ("info", "--descendant", "`--descendants TYPE`"),
    ("calc", "--hbm", "`hbm:all` is a location"),
    (
        "calc",
        "-c --cpuset",
        "a set is what calc prints; `--taskset` and `--cpuset-output-format list` are other forms",
    ),
    (
        "ps",
        "-f -ef -x -u aux -A",
        "-a lists processes that are not bound too; --uid all those of all users",
    ),
    ("ps", "--user", "`--uid UID`, or `--uid all`"),
    ("ports", "-d --dev", "it lists all; --json is for scripts"),
    ("publish,serve", "--size --length", "the size follows from the topology"),
    (
        "publish",
        "--force -f",
        "publishing replaces nothing: `topobroker unpublish` takes the old one back",
    ),
    ("unpublish", "--force -f", "--all takes back all of yours, --stale what dead publishers left"),
    (
        "serve",
        "--fork --daemonize -d -b",
        "it stays in the foreground: systemd or `&` puts it aside",
    ),
    ("doctor,check", "--fix --repair", "it changes nothing; each line says what to do"),
    ("links", "--matrix", "`--of matrix`"),
    ("links", "--nccl", "`--of nccl`"),
    ("devices", "--nic --nics", "`topobroker devices` lists both kinds; --gpu GPUs alone"),
];
