#!/bin/bash
# Runs in a machine that scripts/matrix has booted, with systemd, and cgroups of version 2 alone: compares what commands answer in
# cgroups and containers with hwloc's programs there, with a daemon and without. Prints a line for each check: its name, a tab, and
# what was found.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
ln -sf /opt/topobroker/bin/topobroker /usr/bin/topobroker
cd "$(mktemp -d)" && chmod 755 . || exit 1

found() { printf '%s\t%s\n' "$1" "$(printf %s "$2" | tr '\n' ';')"; }
check() { # check NAME VALUE EXPECTED
    if [ "$2" = "$3" ]; then found "$1" "$2"; else found "$1" "FAILED: $2; expected $3"; fi
}

# The root of a container has the programs of this machine.
mkdir -p /image/{usr,opt,run/topobroker,run/udev,proc,sys,dev,tmp,var/tmp,etc}
cp -a /bin /sbin /lib /lib64 /image/
cp /etc/passwd /etc/group /image/etc/
daemons_folder="" cgroups=""

bare() { "$@"; }
one_pu() { taskset -c 1 "$@"; }
cgroup() { systemd-run --quiet --scope -p AllowedCPUs=1-2 -p AllowedMemoryNodes=0 "$@"; }
# hwloc reads facts of disks from /run/udev, and of memory modules from /sys/firmware.
# shellcheck disable=SC2086
in_podman() {
    podman run --rm --hostname "$(hostname)" --network host --cpuset-cpus 2-3 --cpuset-mems 1 --security-opt unmask=/sys/firmware \
        -v /usr:/usr:ro -v /opt:/opt:ro -v /run/udev:/run/udev:ro $daemons_folder --rootfs /image "$@"
}
# Without the mount, hwloc's programs see no cgroup either.
apptainer_alone() { apptainer -s exec --cpuset-cpus 2-3 --bind /usr,/opt,/run/udev ${daemons_folder:+--bind /run/topobroker} $cgroups /image "$@"; }
apptainer_with_cgroups() { cgroups="--bind /sys/fs/cgroup" apptainer_alone "$@"; }
slurm_task() { timeout 30 srun -n 1 -c 1 "$@"; }

compare() { # compare NAME PLACE
    check "$1: runs" "$($2 echo yes)" yes
    # What HWLOC.md lists: whose process it is; in a part, also sets of the node that the part does not have, and dies.
    case "$2" in
    bare | one_pu) listed='ProcessName\|LinuxCgroup' dies="" ;;
    *) listed='ProcessName\|LinuxCgroup\|complete cpuset\|complete nodeset' dies="--ignore die" ;;
    esac
    asked=0 same=0 differ=""
    while IFS='|' read -r ours theirs; do
        asked=$((asked + 1))
        # shellcheck disable=SC2086
        $2 topobroker $ours >ours 2>ours.said </dev/null; echo "status $?" >>ours
        # shellcheck disable=SC2086
        $2 $theirs >theirs 2>theirs.said </dev/null; echo "status $?" >>theirs
        if [ "$(grep -v "$listed" ours)" = "$(grep -v "$listed" theirs)" ]; then same=$((same + 1)); else differ="$differ, $ours"; fi
    done <<END_OF_COMMANDS
ls $dies|lstopo-no-graphics $dies
ls -s $dies|lstopo-no-graphics -s $dies
calc -N core all|hwloc-calc -N core all
calc all|hwloc-calc all
calc -I pu --physical-output machine:0|hwloc-calc -I pu --physical-output machine:0
distrib 2|hwloc-distrib 2
info machine:0|hwloc-info machine:0
bind core:0 -- hwloc-bind --get|hwloc-bind core:0 -- hwloc-bind --get
bind all --single -- hwloc-bind --get|hwloc-bind all --single -- hwloc-bind --get
END_OF_COMMANDS
    check "$1: commands that answer as hwloc's" "$same of $asked$differ" "$asked of $asked"
}

found kernel "$(uname -r)"
found systemd "$(systemctl --version | sed -n '1s/systemd \([0-9]*\).*/\1/p')"
found hwloc "$(topobroker --version | sed -n 's/^hwloc //p')"
found engines "$(podman --version; apptainer --version)"
check "cgroups" "$(stat -fc %T /sys/fs/cgroup)" cgroup2fs
check "PUs, NUMA nodes" "$(topobroker calc -N pu all), $(topobroker calc -N numa all)" "4, 2"

# A NIC that is up.
nic="$(ls /sys/class/net | grep -v '^lo$' | head -1)"
ip address add 10.9.9.1/24 dev "$nic" && ip link set "$nic" up

# Tasks of Slurm, in the cgroups of their steps. Its daemons want an address that is not of the loopback, and cgroups of their own.
slurm="$PWD/slurm"
sed -e 's#TaskPlugin=task/none#TaskPlugin=task/cgroup,task/affinity#' -e 's#proctrack/linuxproc#proctrack/cgroup#' \
    -e 's#echo CgroupAutomount=no#printf "CgroupPlugin=cgroup/v2\\nConstrainCores=yes\\n"#' \
    -e 's#/usr/sbin/slurmd -f#systemd-run --quiet -p Delegate=yes /usr/sbin/slurmd -D -f#' /opt/tests/slurm4-up.sh >up
found slurm "$(slurmctld -V | cut -d' ' -f2)"
timeout 100 bash up "$slurm" >slurm.said 2>&1
export SLURM_CONF="$slurm/slurm.conf"
tail -n 5 slurm.said "$slurm"/log/*.log >&2
check "a task of Slurm is in a cgroup of its step" "$(slurm_task sh -c 'grep -c step_ /proc/self/cgroup')" 1

for how in alone "with a daemon"; do
    [ "$how" = alone ] || {
        topobroker serve >serve.said 2>&1 &
        daemon=$!
        for _ in $(seq 100); do [ -e /run/topobroker/keys ] && break; sleep 0.1; done
        check "a daemon" "$(ls /run/topobroker | grep -c '^keys$')" 1
        daemons_folder="-v /run/topobroker:/run/topobroker:ro"
    }
    for place in bare one_pu cgroup in_podman apptainer_with_cgroups apptainer_alone slurm_task; do
        compare "$place, $how" "$place"
    done
done
check "PUs of a cgroup" "$(cgroup topobroker calc -I pu --physical-output all)" 1,2
check "PUs of the node in a cgroup" "$(cgroup topobroker calc -I pu --physical-output all --view machine)" 0,1,2,3
cgroup topobroker job add part --map-by core >/dev/null
check "PUs of a job that is added in a cgroup" "$(topobroker job show part --style ranks)" "0 1
1 2"
topobroker job remove part
check "PUs of a task of Slurm" "$(slurm_task topobroker calc -N pu all)" 1
quota() { sed -n 's/^quota: the CPU time of \([0-9.]*\) PUs.*/\1/p'; }
check "a quota of systemd" "$(systemd-run --quiet --scope -p CPUQuota=150% topobroker scope | quota)" 1.50
check "a quota of podman" "$(podman run --rm --network host --cpus 0.5 -v /usr:/usr:ro -v /opt:/opt:ro --rootfs /image topobroker scope | quota)" 0.50

# The project's own tests of cgroups, but for the one that compares a part with its dies and nodesets: `compare` does it.
export XDG_RUNTIME_DIR="$PWD" TOPOBROKER_LOAD_KEEPS=0 TOPOBROKER_SKIPPED="$PWD/skipped"
touch skipped
/opt/tests/deps/node --test-threads 1 cgroups:: --skip commands_answer_in_a_cgroup >tests.said 2>&1
check "the project's tests of cgroups: failed, skipped" "$(sed -n 's/^test result: .* \([0-9]*\) failed.*/\1/p' tests.said), $(grep -c . skipped)" "0, 0"
cat tests.said skipped >&2

kill "$daemon"
wait "$daemon"
check "left in /dev/shm and /run/topobroker" "$(ls /dev/shm /run/topobroker 2>/dev/null | grep -c 'topobroker-')" 0
