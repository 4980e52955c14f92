//! A whole Slurm cluster on this machine. The plugin publishes for each step, and hands keys and
//! CPUs to its tasks.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use topobroker_embedding::{
    assert_one_address, compile_for_others, has, is_root, prefix, said, succeed, topobroker,
};
use topobroker_samples::Daemon;

/// Slurm's controller and node daemon, and munge, which authenticates them. All their files are in
/// one folder.
struct Cluster {
    folder: tempfile::TempDir,
    daemons: Vec<Child>,
    run: PathBuf,
}

impl Cluster {
    /// Starts a cluster whose plugin has the given arguments. Its daemons and tasks look for the
    /// node's topology in the folder `run`. `None` if Slurm is not installed, or without root.
    fn start(arguments: &str, run: &Path) -> Option<Self> {
        Self::start_with(arguments, run, "task/affinity")
    }

    /// [`Cluster::start`], with these plugins for tasks.
    fn start_with(arguments: &str, run: &Path, task_plugin: &str) -> Option<Self> {
        if !["slurmctld", "slurmd", "srun", "munged"].into_iter().all(has) {
            return None;
        }
        if !is_root("starting the daemons of Slurm") {
            return None;
        }
        let plugin = prefix().join("lib/topobroker/topobroker_spank.so");
        assert!(
            plugin.exists(),
            "{}: libslurm-dev was not here when it was installed",
            plugin.display()
        );
        let folder = tempfile::tempdir().unwrap();
        // Tasks of other users must be able to read it.
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let mut cluster = Self { folder, daemons: Vec::new(), run: run.to_owned() };
        cluster.configure(&format!("required {} {arguments}\n", plugin.display()), task_plugin);
        cluster.start_munge();
        let host = host();
        cluster
            .daemon(Command::new("slurmctld").args(["-D", "-f"]).arg(cluster.file("slurm.conf")));
        cluster.daemon(
            Command::new("slurmd").args(["-D", "-N", &host, "-f"]).arg(cluster.file("slurm.conf")),
        );
        let start = Instant::now();
        while !cluster.is_idle() {
            let logs = ["slurmctld.log", "slurmd.log", "munge/log"]
                .map(|log| fs::read_to_string(cluster.file(log)));
            assert!(start.elapsed() < Duration::from_secs(40), "{logs:?}");
            std::thread::sleep(Duration::from_millis(200));
        }
        Some(cluster)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn configure(&self, plugins: &str, task_plugin: &str) {
        for folder in ["munge", "state", "spool"] {
            fs::create_dir(self.file(folder)).unwrap();
        }
        // Ports that depend on the process id, so that clusters of other tests have different ones.
        let port = 10_000 + 2 * (std::process::id() % 10_000);
        let (folder, host) = (self.folder.path().display(), host());
        let text = format!(
            "ClusterName=lab\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser=root\nSlurmdUser=root\n\
             AuthType=auth/munge\nAuthInfo=socket={folder}/munge/socket\nCryptoType=crypto/munge\n\
             MpiDefault=none\nProctrackType=proctrack/linuxproc\nTaskPlugin={task_plugin}\n\
             SwitchType=switch/none\nJobAcctGatherType=jobacct_gather/none\nSelectType=select/cons_tres\n\
             SelectTypeParameters=CR_Core\nSchedulerType=sched/builtin\nReturnToService=2\n\
             StateSaveLocation={folder}/state\nSlurmdSpoolDir={folder}/spool\n\
             SlurmctldPidFile={folder}/slurmctld.pid\nSlurmdPidFile={folder}/slurmd.pid\n\
             SlurmctldLogFile={folder}/slurmctld.log\nSlurmdLogFile={folder}/slurmd.log\n\
             SlurmctldPort={port}\nSlurmdPort={}\nSrunPortRange=62000-62500\n\
             PlugStackConfig={folder}/plugstack.conf\n\
             NodeName={host} NodeAddr=127.0.0.1 CPUs={} State=UNKNOWN\n\
             PartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8\n",
            port + 1,
            succeed(Command::new("nproc").arg("--all")).trim(),
        );
        fs::write(self.file("slurm.conf"), text).unwrap();
        let cgroups = "CgroupAutomount=no\nCgroupPlugin=cgroup/v1\nConstrainCores=yes\n";
        fs::write(self.file("cgroup.conf"), cgroups).unwrap();
        fs::write(self.file("plugstack.conf"), plugins).unwrap();
    }

    fn start_munge(&mut self) {
        let id = |flag| succeed(Command::new("id").args([flag, "munge"])).trim().parse().unwrap();
        let (user, group) = (id("-u"), id("-g"));
        let key = self.file("munge/key");
        let random = Command::new("head").args(["-c", "128", "/dev/urandom"]).output().unwrap();
        fs::write(&key, random.stdout).unwrap();
        fs::set_permissions(&key, Permissions::from_mode(0o400)).unwrap();
        for file in [&key, &self.file("munge")] {
            chown(file, Some(user), Some(group)).unwrap();
        }
        let munge = |name: &str, file: &str| {
            format!("--{name}={}", self.file("munge").join(file).display())
        };
        let mut command = Command::new("munged");
        command.arg("--foreground").args([
            munge("socket", "socket"),
            munge("key-file", "key"),
            munge("pid-file", "pid"),
            munge("log-file", "log"),
            munge("seed-file", "seed"),
        ]);
        self.daemon(command.uid(user).gid(group));
        let socket = self.file("munge/socket");
        let start = Instant::now();
        while !socket.exists() {
            assert!(start.elapsed() < Duration::from_secs(20), "munged makes no socket");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn daemon(&mut self, command: &mut Command) {
        let quiet = command
            .env("TOPOBROKER_RUN", &self.run)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .stdin(Stdio::null());
        self.daemons.push(quiet.spawn().unwrap());
    }

    fn is_idle(&self) -> bool {
        let mut sinfo = Command::new("sinfo");
        sinfo.args(["-h", "-o", "%t"]).env("SLURM_CONF", self.file("slurm.conf"));
        sinfo.output().unwrap().stdout.starts_with(b"idle")
    }

    /// Sorted lines that the tasks of a step print.
    fn srun(&self, user: u32, arguments: &[&str], program: &Path) -> Vec<String> {
        let mut command = Command::new("srun");
        command.args(arguments).arg(program).env("SLURM_CONF", self.file("slurm.conf"));
        // Keys of the node that srun was started on mean nothing to the tasks.
        command.env("TOPOBROKER_RUN", &self.run).env("TOPOBROKER_FILE", "/elsewhere");
        command.current_dir("/").uid(user).gid(user);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        let text = String::from_utf8(output.stdout).unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for daemon in self.daemons.iter_mut().rev() {
            let pid = rustix::process::Pid::from_raw(daemon.id().cast_signed());
            let _ =
                pid.map(|pid| rustix::process::kill_process(pid, rustix::process::Signal::TERM));
            let start = Instant::now();
            while daemon.try_wait().is_ok_and(|status| status.is_none()) {
                if start.elapsed() > Duration::from_secs(10) {
                    let _ = daemon.kill();
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

fn host() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim().to_owned()
}

/// Id of the segment. Asserts that all lines name this segment, at the usual address.
fn segment(lines: &[String]) -> &str {
    let id = lines[0].split_whitespace().nth(3).unwrap();
    for (rank, line) in lines.iter().enumerate() {
        assert!(line.starts_with(&format!("rank {rank} segment {id} at 0x")), "{line}");
        assert!(line.contains(" launch 4 sees PUs "), "{line}");
    }
    assert_one_address(lines.iter().map(|line| line.split_whitespace().nth(5).unwrap()));
    id
}

fn is_published(segment: &str) -> bool {
    let files = fs::read_dir("/dev/shm").unwrap().flatten();
    files.map(|file| file.file_name()).any(|name| name.to_string_lossy().contains(segment))
}

/// Waits until the segment is removed, which may be after srun has ended.
fn assert_gone(segment: &str) {
    let start = Instant::now();
    while is_published(segment) {
        assert!(start.elapsed() < Duration::from_secs(10), "{segment} is still published");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn tasks_adopt_the_plugins_segment_which_is_removed_with_the_step() {
    let folder = tempfile::tempdir().unwrap();
    let Some(cluster) = Cluster::start("legacy", Path::new("/nonexistent")) else { return };
    let rank = compile_for_others(folder.path(), "rank.c");
    let lines = cluster.srun(0, &["-n", "4", "--overcommit"], &rank);
    assert_eq!(lines.len(), 4);
    let first = segment(&lines).to_owned();
    assert_gone(&first);
    // Each step has its own segment. With one task per CPU, each task sees a part of the machine.
    let count = succeed(Command::new("nproc").arg("--all"));
    let lines = cluster.srun(0, &["-n", count.trim()], &rank);
    assert_ne!(segment(&lines), first);
    let last = count.trim().parse::<u32>().unwrap() - 1;
    let step = if last == 0 { "step 0".to_owned() } else { format!("step 0-{last}") };
    for line in &lines {
        assert!(line.ends_with(&step), "{line}");
        assert!(!line.contains(&format!("sees PUs 0-{last} ")) || last == 0, "{line}");
    }
    assert_gone(segment(&lines));
    // Tasks of another user adopt it too, although the plugin publishes as root.
    let lines = cluster.srun(65534, &["-n", "2", "--overcommit"], &rank);
    assert_eq!(lines.len(), 2);
    assert_gone(segment(&lines));
}

/// Runs `test` while a daemon with these options publishes in a folder.
fn with_daemon(options: &[&str], test: impl FnOnce(&Path, &Path, &str)) {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let mut daemon = Daemon::start(topobroker(), &run, options);
    let keys = fs::read_to_string(run.join("keys")).unwrap();
    test(folder.path(), &run, &keys);
    daemon.end();
    assert!(!run.exists());
}

#[test]
fn if_a_daemon_publishes_the_plugin_only_adds_the_cpus() {
    with_daemon(&[], |folder, run, keys| {
        let Some(cluster) = Cluster::start("", run) else { return };
        let rank = compile_for_others(folder, "rank.c");
        for user in [0, 65534] {
            let lines = cluster.srun(user, &["-n", "1"], &rank);
            let own = segment(&lines);
            assert!(keys.contains(&format!("topobroker-{own}")), "{keys}\n{lines:?}");
            assert!(lines[0].ends_with("step 0"), "{lines:?}");
        }
    });
}

#[test]
fn legacy_of_the_plugin_is_that_of_the_daemon_or_the_steps_own_and_is_said() {
    let task = |cluster: &Cluster| {
        let task = cluster.file("task");
        fs::write(&task, "#!/bin/sh\necho $HWLOC_XMLFILE,$TOPOBROKER_FILE\n").unwrap();
        fs::set_permissions(&task, Permissions::from_mode(0o755)).unwrap();
        cluster.srun(65534, &["-n", "1"], &task).concat()
    };
    with_daemon(&["--legacy"], |_, run, _| {
        let Some(cluster) = Cluster::start("legacy", run) else { return };
        let line = task(&cluster);
        assert!(line.starts_with(run.to_str().unwrap()) && line.ends_with("+xml2,"), "{line}");
    });
    with_daemon(&[], |_, run, _| {
        let Some(cluster) = Cluster::start("legacy", run) else { return };
        let line = task(&cluster);
        assert!(line.starts_with("/dev/shm/") && line.contains("+xml2,/dev/shm/"), "{line}");
        let log = fs::read_to_string(cluster.file("slurmd.log")).unwrap();
        assert!(log.contains("published without --legacy"), "{log}");
    });
}

/// Under task/cgroup a task is in a cpuset. What commands show there is what hwloc's programs do,
/// with the daemon's topology of the whole node.
#[test]
fn a_task_in_the_cgroup_of_its_step_is_shown_what_hwloc_shows_it() {
    if !Path::new("/sys/fs/cgroup/cpuset").exists() {
        return topobroker_samples::skip(format_args!("cgroups of version 1 have no cpuset here"));
    }
    with_daemon(&[], |_, run, keys| {
        let Some(cluster) = Cluster::start_with("", run, "task/affinity,task/cgroup") else {
            return;
        };
        let task = cluster.file("task");
        let program = prefix().join("bin/topobroker");
        // A line for each question: what ours says, and what hwloc's program says.
        let script = format!(
            "#!/bin/sh\nT={}; both() {{ echo $1 $($2 2>/dev/null) $($3); }}\n\
             both count \"$T calc -N pu all\" 'hwloc-calc -N pu all'; both set \"$T calc all\" 'hwloc-calc all'\n\
             both bound \"$T bind core:0 -- hwloc-bind --get\" 'hwloc-bind core:0 -- hwloc-bind --get'\n\
             both machine \"$T calc -N pu all --view machine\" 'nproc --all'\n",
            program.display()
        );
        fs::write(&task, script).unwrap();
        fs::set_permissions(&task, Permissions::from_mode(0o755)).unwrap();
        let lines = cluster.srun(0, &["-n", "1", "-c", "1"], &task);
        drop(cluster);
        // Slurm leaves its cgroup.
        let left = format!("/sys/fs/cgroup/cpuset/slurm_{}", host());
        let _ = Command::new("find").args([&left, "-depth", "-type", "d", "-delete"]).output();
        assert_eq!(lines.len(), 4, "{keys} {lines:?}");
        for line in &lines {
            let [what, ours, theirs] = line.split(' ').collect::<Vec<_>>()[..] else {
                panic!("{lines:?}");
            };
            assert!(ours == theirs && (what != "count" || ours == "1"), "{lines:?}");
        }
    });
}

#[test]
fn with_the_argument_guard_tasks_preload_the_guard_and_their_loads_are_served() {
    let folder = tempfile::tempdir().unwrap();
    let Some(cluster) = Cluster::start("guard", Path::new("/nonexistent")) else { return };
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    // Under a name that was tried with the guard.
    let program = folder.path().join("hydra_pmi_proxy");
    fs::rename(crate::guard::program(folder.path()), &program).unwrap();
    // What a task says of its load goes to the same place as its output.
    let task = folder.path().join("task");
    let lines = format!(
        "#!/bin/sh\nTOPOBROKER_GUARD_VERBOSE=1 '{}' load 0 3 1 2>&1 >/dev/null\necho \"$LD_PRELOAD\"\n",
        program.display()
    );
    fs::write(&task, lines).unwrap();
    fs::set_permissions(&task, Permissions::from_mode(0o755)).unwrap();
    let lines = cluster.srun(0, &["-n", "2"], &task);
    let text = lines.join("\n");
    assert_eq!(text.matches("load by hydra_pmi_proxy: served").count(), 2, "{text}");
    assert!(text.contains(crate::guard::library().to_str().unwrap()), "{text}");
}

#[test]
fn a_plugin_with_wrong_arguments_says_so_and_fails_no_step() {
    let folder = tempfile::tempdir().unwrap();
    let Some(cluster) = Cluster::start("nonesuch folder=/nonexistent", Path::new("/nonexistent"))
    else {
        return;
    };
    let lines = cluster.srun(0, &["-n", "1"], Path::new("/bin/true"));
    assert!(lines.is_empty());
    let log = fs::read_to_string(cluster.file("slurmd.log")).unwrap();
    assert!(
        log.contains("argument nonesuch: expected legacy, guard, threads or folder=FOLDER"),
        "{log}"
    );
    assert!(
        log.contains("topobroker: the topology is not published: the segment cannot be written"),
        "{log}"
    );
    drop(folder);
}
