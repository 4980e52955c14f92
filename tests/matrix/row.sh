#!/bin/sh
# Runs in a root, for scripts/matrix: tries the installed program with the hwloc, launchers and MPIs that
# are there. $1 is the checkout, $2 the folder of the reference data, $3 where it is installed (default
# /opt/topobroker). Prints a line for each check: its name, a tab, and what was found. The exit status is 1
# if one failed.
prefix="${3:-/opt/topobroker}"
export PATH="$prefix/bin:/usr/sbin:/usr/bin:/sbin:/bin" LD_LIBRARY_PATH="${LD_LIBRARY_PATH:-$prefix/lib}"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
checkout="$1"
shared="$2"
topologies="$shared/topologies"
failed=0
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

found() { printf '%s\t%s\n' "$1" "$(printf %s "$2" | tr '\n' ';')"; }
check() { # check NAME VALUE EXPECTED
    if [ "$2" = "$3" ]; then
        found "$1" "$2"
    else
        found "$1" "FAILED: $2; expected $3"
        failed=1
    fi
}
version() { dpkg-query -W -f '${Version}' "$1" 2>/dev/null | sed 's/^[0-9]*://; s/[-+].*//'; }

found glibc "$(version libc6)"
found hwloc "$(topobroker --version | sed -n 's/^hwloc //p')"

# The part that every row has.
check "ls" "$(topobroker ls -i 'Package:2 Core:2 PU:2' | grep -c 'PU L#')" 8
cc -o "$work/export" "$checkout/tests/matrix/export.c" -lhwloc
same=0
loaded=0
differ=""
for file in "$topologies"/*.xml; do
    HWLOC_HIDE_ERRORS=2 "$work/export" "$file" >"$work/theirs" 2>/dev/null || continue
    # hwloc 2.4 also writes memory attributes without values; later ones leave them out.
    case "$(version libhwloc15)" in 2.4.*) sed -i '/<memattr [^>]*\/>$/d' "$work/theirs" ;; esac
    # What hwloc takes but whose sets contradict each other is refused.
    topobroker export -i "$file" >"$work/ours" 2>"$work/said" || continue
    loaded=$((loaded + 1))
    if cmp -s "$work/ours" "$work/theirs"; then same=$((same + 1)); else differ="$differ $(basename "$file")"; fi
done
check "exports that are hwloc's own" "$same of $loaded$differ" "$loaded of $loaded"
eval "$(topobroker publish --export)"
found "address" "$TOPOBROKER_ADDR"
# The Python package, if scripts/wheel has built it for this processor.
wheel="$(ls -t "$checkout"/target/wheels/*-abi3-*_"$(uname -m)".whl 2>/dev/null | head -1)"
if [ -n "$wheel" ] && python3 -m venv "$work/python" 2>/dev/null; then
    "$work/python/bin/pip" install -q --no-index "$wheel" 2>/dev/null
    check "$(python3 --version)" "$("$work/python/bin/python" -c 'import topobroker; print(len(topobroker.adopt().pus))')" "$(topobroker calc -N pu all)"
fi
for i in $(seq 64); do topobroker calc -N pu all >"$work/adopted.$i" & done
wait
check "64 processes that adopt" "$(cat "$work"/adopted.* | sort | uniq -c | awk '{print $1}')" 64
check "a view" "$(topobroker calc --view 0 -N pu all)" 1
topobroker job add matrix -n 2 --map-by slot >/dev/null
check "ranks of a job" "$(topobroker job show matrix | grep -c '^rank [01] bound')" 2
topobroker job remove matrix
topobroker unpublish >/dev/null
unset TOPOBROKER_FILE TOPOBROKER_ADDR TOPOBROKER_SIZE
check "left in /dev/shm" "$(ls /dev/shm | grep -c topobroker)" 0

# Locality strings of sets of PUs, as the PMIx of the row makes them of the same machines.
locality="$work/locality_reference"
# The file for pkg-config of PMIx 4.0 names folders that have neither headers nor library.
pmix2="/usr/lib/$(uname -m)-linux-gnu/pmix2"
if pkg-config --exists pmix && cc -o "$locality" "$checkout/tests/c/locality_reference.c" \
    -I"$pmix2/include" -L"$pmix2/lib" $(pkg-config --cflags --libs pmix hwloc); then
    found libpmix "$(pkg-config --modversion pmix)"
    same=0
    asked=0
    differ=""
    for set in 0 1 3 0-1 0-3 2-5 0,3 0-7; do echo "$set $set"; done >"$work/pairs"
    awk '{print NR - 1, $1}' "$work/pairs" >"$work/ranks"
    for machine in flux-core__sierra openpmix__test-topo hwloc-v2.9__96em64t-4n4d3ca2co-pci; do
        theirs="$("$locality" "$topologies/$machine.xml" <"$work/pairs" | cut -d' ' -f1)"
        ours="$(topobroker run -i "$topologies/$machine.xml" -- sh -c \
            "topobroker job add l --ranks '$work/ranks' >/dev/null && topobroker job locality l" | cut -d' ' -f2)"
        asked=$((asked + 1))
        if [ "$ours" = "$theirs" ]; then same=$((same + 1)); else differ="$differ $machine"; fi
    done
    check "machines with PMIx's locality strings" "$same of $asked$differ" "$asked of $asked"
fi

# A cluster of four nodes on this machine, whose tasks get the topology and the guard from the plugin.
if command -v slurmctld >/dev/null && command -v munged >/dev/null; then
    slurm="$work/slurm"
    mkdir -m 755 "$slurm"
    chmod 755 "$work"
    spank="$prefix/lib/topobroker/topobroker_spank.so"
    [ "$prefix" != /opt/topobroker ] || {
        spank="$slurm/spank.so"
        cc -std=c99 -O2 -shared -fPIC -I"$checkout/ffi/include" -o "$spank" \
            -DTOPOBROKER_GUARD_LIBRARY="\"$prefix/lib/topobroker/libtopobroker-guard.so\"" \
            "$checkout/ffi/spank/topobroker_spank.c" -L"$prefix/lib" -ltopobroker -Wl,-rpath,"$prefix/lib"
    }
    echo "required $spank guard" >"$slurm/plugstack.conf"
    found slurm "$(slurmctld -V | cut -d' ' -f2)"
    # Tasks are in cgroups, where this machine has those of version 1 and Slurm knows them.
    up="$shared/programs/slurm4-up.sh"
    cgroups=/sys/fs/cgroup/cpuset
    if [ -w $cgroups/tasks ] && ls /usr/lib/*/slurm-wlm/cgroup_v1.so >/dev/null 2>&1; then
        sed -e 's#TaskPlugin=task/none#TaskPlugin=task/cgroup,task/affinity#' -e 's#proctrack/linuxproc#proctrack/cgroup#' \
            -e 's#; echo CgroupAutomount=no .*##' "$up" >"$slurm/up"
        printf 'CgroupPlugin=cgroup/v1\nConstrainCores=yes\n' >"$slurm/cgroup.conf"
        up="$slurm/up"
    else
        cgroups=""
    fi
    bash "$up" "$slurm" >"$work/said" 2>&1 || cat "$work/said" >&2
    step() { SLURM_CONF="$slurm/slurm.conf" timeout 60 srun "$@" 2>>"$work/said"; }
    check "slurm: tasks of two nodes that adopt" "$(step -N 2 -n 4 topobroker calc -N pu all | grep -c .)" 4
    check "slurm: tasks that preload the guard" "$(step -n 2 printenv LD_PRELOAD | grep -c libtopobroker-guard)" 2
    # Under a name that was tried with the guard.
    cc -o "$slurm/hydra_pmi_proxy" "$checkout/tests/c/hwloc_load.c" -lhwloc
    check "slurm: loads that the guard serves" \
        "$(step -n 2 env TOPOBROKER_GUARD_VERBOSE=1 sh -c "'$slurm/hydra_pmi_proxy' 2>&1" | grep -c ': served')" 2
    if [ -n "$cgroups" ]; then
        check "slurm: PUs of a task in its cgroup, and of its part" \
            "$(step -n 1 sh -c 'grep -q slurm /proc/self/cgroup && topobroker scope' | sed -n 's/^cgroup: //p; s/^part: PUs \([0-9]*\):.*/\1/p')" "0
0"
    fi
    "$shared/programs/slurm4-down.sh" "$slurm"
    [ -z "$cgroups" ] || { sleep 1; find /sys/fs/cgroup/*/slurm_n[1-4] -depth -type d -exec rmdir {} + 2>/dev/null; }
fi

# What a program may do with an adopted topology, the functions of hwloc that modify among it: as with hwloc's own
# copies. The guard has code for two processors.
guard="$prefix/lib/topobroker/libtopobroker-guard.so"
case "$(uname -m)" in
x86_64 | aarch64)
    cc -o "$work/guarded" "$checkout/tests/c/guarded.c" -lhwloc -lpthread
    "$work/guarded" write "$work/segment" 0x556000000000 >/dev/null
    right=""
    for way in share modify threads forks info; do
        LD_PRELOAD="$guard" timeout 120 "$work/guarded" "$way" "$work/segment" >/dev/null 2>&1 && right="$right $way"
    done
    for way in apart by-hand kinds again; do
        # Loads are served, and what is done with them ends as with hwloc alone. `again` loads what the guard refuses.
        audit="$(timeout 120 topobroker run --guard --guard-caller guarded -- topobroker audit --guard -- "$work/guarded" "$way" 2>&1)" &&
            { [ "$way" = again ] || echo "$audit" | grep -q ': served'; } && right="$right $way"
    done
    check "guard: adopted and loaded topologies" "$right" " share modify threads forks info apart by-hand kinds again"
    ;;
*)
    check "guard: functions that it replaces" "$(nm -D --defined-only "$guard" >"$work/functions" && grep -c ' hwloc_' "$work/functions")" 0
    check "guard: what lstopo prints" "$(topobroker run --guard -- lstopo-no-graphics --of console)" "$(lstopo-no-graphics --of console)"
    ;;
esac

# MPIs: ranks that adopt, then unmodified ranks with and without the guard.
large="$topologies/$(cd "$topologies" && ls -S *.xml | head -40 | xargs grep -c 'type="PU"' | awk -F: '$2 > 255 && $2 < 2000 {print $2 ":" $1}' | sort -n | tail -1 | cut -d: -f2)"
for mpi in openmpi mpich; do
    command -v "mpirun.$mpi" >/dev/null && command -v "mpicc.$mpi" >/dev/null || continue
    found "$mpi" "$(version "$([ $mpi = mpich ] && echo mpich || echo openmpi-bin)")"
    mpirun="mpirun.$mpi -n 2"
    [ $mpi = mpich ] || mpirun="$mpirun --oversubscribe --bind-to core"
    "mpicc.$mpi" -o "$work/rank" "$checkout/tests/matrix/rank.c" || continue
    check "$mpi: ranks that adopt" "$(topobroker run -- $mpirun topobroker calc -N pu all 2>/dev/null | grep -c .)" 2
    alone="$($mpirun "$work/rank" 2>/dev/null | sort)"
    guarded="$(topobroker run --guard -- $mpirun "$work/rank" 2>"$work/said" | sort)"
    check "$mpi: bindings under the guard" "$guarded" "$alone"
    grows() { "$@" 2>&1 >/dev/null | sed -n 's/.*grows by \([0-9]*\) kB.*/\1/p' | sort -n | tail -1; }
    export HWLOC_XMLFILE="$large" HWLOC_THISSYSTEM=1
    [ $mpi = mpich ] || mpirun="mpirun.$mpi -n 2 --oversubscribe --bind-to none"
    found "$mpi: kB a rank grows by, $(basename "$large"): alone, with the guard" \
        "$(grows $mpirun "$work/rank"), $(grows topobroker run --guard -- $mpirun "$work/rank")"
    unset HWLOC_XMLFILE HWLOC_THISSYSTEM
    audit="$(topobroker run --guard -- topobroker audit --guard -- $mpirun "$work/rank" 2>&1)"
    found "$mpi: loads served, left to hwloc" \
        "$(echo "$audit" | grep -c ': served'), $(echo "$audit" | grep -c 'left to hwloc')"
done

# Compares a hundred random placements with prterun's, which maps without launching. docs/SYSTEMS.md says by which
# rules others differ.
if command -v prterun >/dev/null; then
    case "$(prterun --version 2>/dev/null)" in
    *" 3."*) as=prrte3 ;;
    *) as=prrte5 ;;
    esac
    awk 'BEGIN {
        srand(5)
        split("package numa core hwthread l2cache l3cache", object); split("core package numa none", target); split("slot node fill span", order)
        for (i = 0; i < 100; i++) {
            by = object[int(rand() * 6) + 1]; k = int(rand() * 6); n = int(rand() * 8) + 1
            if (k == 2) by = "slot"; else if (k == 3) by = "slot:PE=2"
            else if (k == 4) by = "package:PE=3"; else if (k == 5) by = "ppr:" int(rand() * 3) + 1 ":" by
            print "--map-by", by, (by !~ /PE=/ && rand() < .5 ? "--bind-to " target[int(rand() * 4) + 1] : ""), (rand() < .25 ? "--rank-by " order[int(rand() * 4) + 1] : ""), (by !~ /^ppr/ || rand() < .5 ? "-n " n : "")
        }
    }' >"$work/policies"
    equal=0
    refused=0
    others=0
    export machine="$topologies/flux-core__sierra.xml"
    while read -r policy; do
        # shellcheck disable=SC2086
        theirs="$(prterun --prtemca hwloc_use_topo_file "$machine" --runtime-options donotlaunch --display map $policy true 2>&1 </dev/null |
            sed -n 's/.*Process rank: \([0-9]*\) Bound: \(.*\)/\1 \2/p' | sed 's/:L/:/; s/ N\/A/ -/' | sort -n)"
        ours="$(topobroker run -i "$machine" -- sh -c \
            "topobroker job add p --as $as $policy >/dev/null && topobroker job show p --style prrte" 2>/dev/null </dev/null |
            sed 's/^Rank //; s/ bound to / /; s/ is not bound.*/ -/; s/:L/:/' | sort -n)"
        if [ "$ours$theirs" = "" ]; then
            refused=$((refused + 1))
        elif [ "$ours" = "$theirs" ]; then
            equal=$((equal + 1))
        else
            others=$((others + 1))
        fi
    done <"$work/policies"
    found "placements as prterun's, refused by both, by other rules" "$equal, $refused, $others"
    [ "$others" -le 2 ] || failed=1
fi
exit $failed
