//! Gathering a cluster of four nodes, all of them this machine, in every way that there is: the
//! result is the same file but for its id and time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use topobroker_embedding::{has, is_root, prefix, succeed};
use topobroker_layout::encode::AlignedVec;
use topobroker_reader::cluster::Cluster;
use topobroker_samples::checkout;
use topobroker_samples::{shared, skip};

fn program() -> PathBuf {
    prefix().join("bin/topobroker")
}

/// `topobroker cluster` with these arguments.
fn cluster(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(program()).arg("cluster").args(arguments).current_dir(folder).output().unwrap()
}

/// A script.
fn script(folder: &Path, name: &str, text: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let file = folder.join(name);
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    file
}

/// The cluster of the nodes n1 to n4, gathered through a folder.
fn by_folder(folder: &Path) -> Vec<u8> {
    let shared = folder.join("shared");
    fs::create_dir(&shared).unwrap();
    for name in ["n3", "n1", "n4", "n2"] {
        let output = cluster(folder, &["join", "shared", "--name", name]);
        assert!(output.status.success(), "{output:?}");
    }
    // The class once, and of each node a few bytes.
    let sizes = fs::read_dir(&shared).unwrap().map(|it| it.unwrap().metadata().unwrap().len());
    let mut sizes: Vec<u64> = sizes.collect();
    sizes.sort_unstable();
    assert!(sizes.len() == 5 && sizes[3] <= 500, "{sizes:?}");
    let output =
        cluster(folder, &["gather", "by-folder", "--folder", "shared", "--hosts", "n[1-4]"]);
    assert!(output.status.success(), "{output:?}");
    fs::read(folder.join("by-folder")).unwrap()
}

/// All but the header, which has id, time and checksum.
fn body(file: &[u8]) -> &[u8] {
    &file[160..]
}

#[test]
fn a_folder_and_a_command_gather_the_same_and_say_who_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let expected = by_folder(folder);
    let shell = script(
        folder,
        "shell",
        "#!/bin/sh\nhost=$1; shift\ncase $host in n8) sleep 60 ;; n9) echo cannot >&2; exit 255 ;; n7) echo \
         hello; exit 0 ;; n3) for i in $(seq 300); do echo \"a long banner, $i\" >&2; done; sleep 0.1; \
         for i in $(seq 300); do echo \"a long banner, $i\" >&2; done ;; esac\n\
         echo \"Welcome to $host, <authorised> users only\"\nTOPOBROKER_HOST=$host exec \"$@\"\n",
    );
    let template = format!("{} {{host}} {} cluster report", shell.display(), program().display());
    let gather = |name: &str, more: &[&str]| {
        let mut arguments = vec!["gather", name, "--command", &template, "--timeout", "10"];
        arguments.extend(more);
        cluster(folder, &arguments)
    };
    let output = gather("by-command", &["--hosts", "n[1-4]"]);
    assert!(output.status.success(), "{output:?}");
    assert!(body(&expected) == body(&fs::read(folder.join("by-command")).unwrap()));
    let some = ["--hosts", "n[1-4]", "--hosts", "n[7-9]", "--timeout", "2", "--retries", "0"];
    let mut arguments = vec!["gather", "some", "--command", &template];
    arguments.extend(some);
    let output = cluster(folder, &arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    for expected in [
        "topobroker: n7: sent \"hello\"; expected a report, a segment or hwloc XML",
        "n8: no answer within 2 s",
        "n9: exit status: 255: cannot",
        "3 nodes are missing: n[7-9]",
    ] {
        assert!(said.contains(expected), "{said}: {expected}");
    }
    let mut bytes: AlignedVec = AlignedVec::new();
    bytes.extend_from_slice(&fs::read(folder.join("some")).unwrap());
    let gathered = Cluster::open(&bytes).unwrap();
    assert_eq!(gathered.missing().unwrap().collect::<Vec<_>>(), ["n7", "n8", "n9"]);
    assert_eq!(gathered.node_count(), 4);
    arguments.extend(["--force", "--allow-missing"]);
    assert!(cluster(folder, &arguments).status.success());
    // A user goes before the name of the host, and is no part of the node's.
    let template = format!(
        "{} $(echo {{host}} | sed s/.*@//) {} cluster report",
        shell.display(),
        program().display()
    );
    let arguments = ["gather", "users", "--command", &template, "--hosts", "root@n[1-4]"];
    let output = cluster(folder, &arguments);
    assert!(output.status.success(), "{output:?}");
    assert!(body(&expected) == body(&fs::read(folder.join("users")).unwrap()));
    // Names go into a command of a shell.
    let output = cluster(folder, &["gather", "x", "--command", "echo {host}", "--hosts", "a;b"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("is no name of a host"), "{output:?}");
}

#[test]
fn nodes_asked_at_once_report_their_class_first_and_one_of_each_class_reports_all() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("sizes")).unwrap();
    // Nodes 2 to 20 are of another class than node 1.
    let shell = script(
        folder,
        "shell",
        "#!/bin/sh\nhost=$1; shift\ncase $host in n1) input='Core:4 PU:2' ;; *) input='NUMANode:2 Core:4 PU:2' ;; \
         esac\nnumber=$(ls sizes | wc -l)\nTOPOBROKER_HOST=$host \"$@\" -i \"$input\" --name $host | \
         tee sizes/$host.$$\n",
    );
    let template = format!("{} {{host}} {} cluster report", shell.display(), program().display());
    let arguments = ["gather", "c", "--command", &template, "--hosts", "n[1-20]", "--at-once", "8"];
    let output = cluster(folder, &arguments);
    assert!(output.status.success(), "{output:?}");
    let mut asked: std::collections::BTreeMap<String, Vec<u64>> = std::collections::BTreeMap::new();
    for file in fs::read_dir(folder.join("sizes")).unwrap().map(Result::unwrap) {
        let name = file.file_name().into_string().unwrap();
        let host = name.split_once('.').unwrap().0.to_owned();
        asked.entry(host).or_default().push(file.metadata().unwrap().len());
    }
    let whole = asked.values().flatten().filter(|size| **size > 500).count();
    assert_eq!(whole, 2, "{asked:?}");
    assert!(asked.len() == 20 && asked.values().all(|sizes| sizes.len() <= 2), "{asked:?}");
    let mut bytes: AlignedVec = AlignedVec::new();
    bytes.extend_from_slice(&fs::read(folder.join("c")).unwrap());
    let gathered = Cluster::open(&bytes).unwrap();
    assert_eq!((gathered.node_count(), gathered.class_count()), (20, 2));
}

#[test]
fn an_interrupted_gathering_ends_its_commands_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let template = "echo $$ > pid; sleep 60; echo {host}";
    let mut gathering = Command::new(program());
    gathering.args(["cluster", "gather", "c", "--command", template, "--hosts", "n1"]);
    let running =
        gathering.current_dir(folder).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let pid = loop {
        match fs::read_to_string(folder.join("pid")).map(|text| text.trim().parse::<i32>()) {
            Ok(Ok(pid)) => break rustix::process::Pid::from_raw(pid).unwrap(),
            _ => std::thread::sleep(std::time::Duration::from_millis(10)),
        }
    };
    rustix::process::kill_process(
        rustix::process::Pid::from_child(&running),
        rustix::process::Signal::TERM,
    )
    .unwrap();
    let output = running.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("interrupted: nothing is written"));
    assert!(!folder.join("c").exists());
    assert!(rustix::process::test_kill_process(pid).is_err(), "the command lives");
}

#[test]
fn a_file_that_cannot_be_used_keeps_no_other_node_of_a_folder_out() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    by_folder(folder);
    let shared = folder.join("shared");
    fs::write(shared.join("README"), "hello").unwrap();
    let whole = fs::read(shared.join("n2.node")).unwrap();
    fs::write(shared.join("n2.node"), &whole[..whole.len() - 9]).unwrap();
    let arguments = ["gather", "--force", "by-folder", "--folder", "shared", "--hosts", "n[1-4]"];
    let output = cluster(folder, &arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    for expected in
        ["README: sent \"hello\"", "n2.node: the report ends too early", "1 node is missing: n2"]
    {
        assert!(said.contains(expected), "{said}: {expected}");
    }
    let listed = cluster(folder, &["ls", "--nodes", "by-folder"]);
    assert!(
        String::from_utf8_lossy(&listed.stdout).starts_with("n1 class 0 in -\nn3 "),
        "{listed:?}"
    );
    // Names that lead out of the folder or hide a file are names of nodes all the same.
    for name in ["../evil", ".hidden", "a/b", "a_b"] {
        assert!(cluster(folder, &["join", "shared", "--name", name]).status.success());
    }
    fs::remove_file(shared.join("README")).unwrap();
    fs::write(shared.join("n2.node"), whole).unwrap();
    let output = cluster(folder, &arguments);
    assert!(output.status.success(), "{output:?}");
    let listed =
        String::from_utf8(cluster(folder, &["ls", "--nodes", "by-folder"]).stdout).unwrap();
    for name in ["../evil", ".hidden", "a/b", "a_b"] {
        assert!(listed.contains(&format!("{name} class 0")), "{listed}");
    }
}

#[test]
fn pmix_and_mpi_below_open_mpi_and_mpich_gather_the_same() {
    if !["mpirun.openmpi", "mpicc.openmpi", "mpirun.mpich", "mpicc.mpich"].into_iter().all(has) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let expected = by_folder(folder);
    // The daemons of all nodes, which here are one machine, would remove each other's sessions.
    let remote = script(
        folder,
        "remote",
        "#!/bin/sh\nwhile :; do case $1 in -*) shift ;; *) break ;; esac; done\n\
         TMPDIR=$(mktemp -d \"$0.XXXXXX\")\nexport TMPDIR\nshift\nexec sh -c \"$*\"\n",
    );
    let open_mpi = |program: &[&str]| {
        let mut command = Command::new("mpirun.openmpi");
        command.args(["--allow-run-as-root", "--mca", "plm", "rsh", "--mca", "plm_rsh_agent"]);
        command.arg(&remote).args(["--mca", "pml", "ob1", "--mca", "btl", "tcp,self"]);
        // The daemons of all nodes, which here are one machine, write hwloc's segment into one file
        // at the same time, and now and then one of them crashes.
        command.args(["--mca", "rtc", "^hwloc", "--bind-to", "none"]);
        command.args(["-host", "n1,n2,n3,n4", "timeout", "60"]).args(program);
        command.current_dir(folder);
        succeed(&mut command);
    };
    let own = program();
    open_mpi(&[
        own.to_str().unwrap(),
        "cluster",
        "gather",
        "by-pmix",
        "--pmix",
        "--hosts",
        "n[1-4]",
    ]);
    assert!(body(&expected) == body(&fs::read(folder.join("by-pmix")).unwrap()), "PMIx");
    // A process that cannot report its node does not keep others waiting.
    let script = "case $OMPI_COMM_WORLD_RANK in 2) export TOPOBROKER_FILE=/nonexistent TOPOBROKER_ADDR=0 \
                  TOPOBROKER_SIZE=8192 ;; esac; \"$@\"; status=$?; [ $status = 3 ] && touch three; exit 0";
    let arguments =
        ["sh", "-c", script, "sh", own.to_str().unwrap(), "cluster", "gather", "some", "--pmix"];
    open_mpi(&arguments);
    assert!(folder.join("three").exists(), "status 3");
    let listed = cluster(folder, &["ls", "--nodes", "some"]);
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.contains("n4 class 0") && listed.contains("n3 is missing"), "{listed}");
    let source = checkout().join("ffi/examples/mpi_gather.c");
    for mpi in ["openmpi", "mpich"] {
        // hwloc keeps the name of the program.
        let program = folder.join(mpi).join("topobroker");
        fs::create_dir(folder.join(mpi)).unwrap();
        let library = prefix().join("lib");
        let mut compile = Command::new(format!("mpicc.{mpi}"));
        compile
            .args(["-std=c99", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-o"])
            .arg(&program);
        compile.arg(&source).arg("-I").arg(prefix().join("include")).arg("-L").arg(&library);
        compile.args(["-ltopobroker".to_owned(), format!("-Wl,-rpath,{}", library.display())]);
        succeed(&mut compile);
        let program = program.to_str().unwrap().to_owned();
        let file = format!("by-mpi-{mpi}");
        let script = "TOPOBROKER_HOST=n$((${OMPI_COMM_WORLD_RANK:-$PMI_RANK} + 1)) exec \"$@\"";
        let named = ["sh", "-c", script, "sh", &program, &file];
        if mpi == "openmpi" {
            open_mpi(&named);
        } else {
            let mut command = Command::new("mpirun.mpich");
            command.args([
                "-launcher",
                "fork",
                "-hosts",
                "n1,n2,n3,n4",
                "-n",
                "4",
                "timeout",
                "60",
            ]);
            succeed(command.args(named).current_dir(folder));
        }
        assert!(body(&expected) == body(&fs::read(folder.join(&file)).unwrap()), "{mpi}");
    }
}

#[test]
fn slurm_gathers_the_same_with_one_task_a_node_and_with_pmix() {
    if !["slurmctld", "slurmd", "srun", "munged"].into_iter().all(has) {
        return;
    }
    let Some(shared) = shared() else { return };
    if !is_root("starting the daemons of Slurm") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let expected = by_folder(folder);
    let state = folder.join("slurm");
    fs::create_dir(&state).unwrap();
    let daemons = Daemons(shared.join("programs/slurm4-down.sh"), state.clone());
    let up = Command::new("bash").arg(shared.join("programs/slurm4-up.sh")).arg(&state).output();
    let up = up.unwrap();
    if !String::from_utf8_lossy(&up.stdout).contains("idle") {
        skip(format_args!("four slurmds do not start here"));
        return;
    }
    let srun = |arguments: &[&str]| {
        let mut command = Command::new("timeout");
        command.args(["60", "srun"]).args(arguments).current_dir(folder);
        succeed(command.env("SLURM_CONF", state.join("slurm.conf")));
    };
    let own = program();
    let own = own.to_str().unwrap();
    fs::create_dir(folder.join("joined")).unwrap();
    srun(&["-N4", own, "cluster", "join", "joined"]);
    let output = cluster(folder, &["gather", "by-srun", "--folder", "joined", "--hosts", "n[1-4]"]);
    assert!(output.status.success(), "{output:?}");
    assert!(body(&expected) == body(&fs::read(folder.join("by-srun")).unwrap()), "srun");
    srun(&["--mpi=pmix", "-N4", "-n8", own, "cluster", "gather", "by-pmix", "--pmix"]);
    assert!(body(&expected) == body(&fs::read(folder.join("by-pmix")).unwrap()), "PMIx");
    // What Slurm itself says of its switches.
    let shown = Command::new("scontrol")
        .args(["show", "topology"])
        .env("SLURM_CONF", state.join("slurm.conf"))
        .output()
        .unwrap();
    fs::write(folder.join("shown"), shown.stdout).unwrap();
    let build = ["gather", "grouped", "--folder", "joined", "--slurm", "shown"];
    assert!(cluster(folder, &build).status.success());
    let tree = String::from_utf8(cluster(folder, &["ls", "--groups", "grouped"]).stdout).unwrap();
    let lines: Vec<&str> = tree.lines().map(str::trim).collect();
    // The nodes of leaf3 were not gathered.
    let expected = [
        "cluster  (4 nodes)",
        "switch top (4 nodes)",
        "switch spine1 (4 nodes)",
        "switch leaf1 (2 nodes)",
        "n1",
        "n2",
        "switch leaf2 (2 nodes)",
        "n3",
        "n4",
    ];
    assert_eq!(lines, expected);
    drop(daemons);
}

/// The daemons of Slurm: the script that ends them, and their folder.
struct Daemons(PathBuf, PathBuf);

impl Drop for Daemons {
    fn drop(&mut self) {
        let _ = Command::new("bash").arg(&self.0).arg(&self.1).status();
    }
}
