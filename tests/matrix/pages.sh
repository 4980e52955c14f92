#!/bin/sh
# Runs in a machine that scripts/matrix has booted, with busybox, the program and hwloc's lstopo alone: tries what may depend on
# the size of pages. Prints a line for each check: its name, a tab, and what was found.
export PATH=/opt/topobroker/bin:/usr/bin:/bin HOME=/root
mkdir -p /root /tmp/work
cd /tmp/work || exit 1

found() { printf '%s\t%s\n' "$1" "$(printf %s "$2" | tr '\n' ';')"; }
check() { # check NAME VALUE EXPECTED
    if [ "$2" = "$3" ]; then found "$1" "$2"; else found "$1" "FAILED: $2; expected $3"; fi
}
pus() { topobroker calc -N pu all; }
expected="$(grep -c ^processor /proc/cpuinfo)"

found "pages" "$(grep -m1 KernelPageSize /proc/self/smaps | tr -s ' ' | cut -d' ' -f2,3)"
found "kernel" "$(uname -r)"
found "hwloc" "$(topobroker --version | sed -n 's/^hwloc //p')"
topobroker export >ours.xml
lstopo-no-graphics --no-io --of xml >theirs.xml 2>/dev/null
check "PUs, as hwloc has them" "$(grep -c 'type="PU"' ours.xml)" "$(grep -c 'type="PU"' theirs.xml)"

for address in usual anywhere 0x550000000000 0x3fff00000000; do
    option="--address $address"
    [ "$address" != usual ] || option=""
    # shellcheck disable=SC2086
    keys="$(topobroker publish $option --export)" || { found "address $address" "FAILED"; continue; }
    eval "$keys"
    for i in $(seq 64); do pus >"adopted.$i" & done
    wait
    check "64 processes that adopt, address $address (${TOPOBROKER_ADDR:-none})" "$(cat adopted.* | sort | uniq -c | awk '{print $1, $2}')" "64 $expected"
    file="$TOPOBROKER_FILE" size="$TOPOBROKER_SIZE"
    rm -f adopted.*
    [ "$address" != usual ] || {
        found "bytes of a segment" "$size"
        check "a view" "$(topobroker calc --view 0 -N pu all)" 1
        topobroker job add pages -n 2 --map-by slot >/dev/null 2>&1
        check "ranks of a job" "$(topobroker job show -q pages | grep -c '^rank [01] bound')" 2
        check "a rank's PUs" "$(topobroker job exec pages --rank 1 -- sh -c 'grep Cpus_allowed_list /proc/self/status | cut -f2')" 1
        topobroker job remove pages
        for change in "seek=200" "seek=$((size / 2))" "seek=$((size - 2))"; do
            cp "$file" damaged
            chmod 600 damaged
            printf '\377\376' | dd of=damaged bs=1 conv=notrunc "$change" 2>/dev/null
            chmod 400 damaged
            check "a damaged segment ($change)" "$(TOPOBROKER_FILE=$PWD/damaged TOPOBROKER_ADDR=0 topobroker ls --adopted >/dev/null 2>&1; echo $?)" 1
        done
        dd if="$file" of=cut bs=1 count=$((size - 100)) 2>/dev/null
        chmod 400 cut
        check "a segment that was cut" "$(TOPOBROKER_FILE=$PWD/cut TOPOBROKER_ADDR=0 topobroker ls --adopted >/dev/null 2>&1; echo $?)" 1
    }
    topobroker unpublish >/dev/null
    unset TOPOBROKER_FILE TOPOBROKER_ADDR TOPOBROKER_SIZE
done
check "a sealed memfd" "$(topobroker run --store memfd -- topobroker calc -N pu all)" "$expected"
check "hwloc's own segment and XML" "$(topobroker run --legacy -- sh -c 'test -n "$HWLOC_XMLFILE" && lstopo-no-graphics --no-io | grep -c "PU L#"')" "$expected"
[ ! -e /opt/topobroker/lib/topobroker/libtopobroker-guard.so ] ||
    check "slots of the guard" "$(topobroker run --guard -- sh -c 'ls "$TOPOBROKER_FILE"+slots >/dev/null && echo there' 2>/dev/null)" there
for i in $(seq 16); do topobroker load >"loaded.$i" 2>/dev/null & done
wait
check "16 processes that load, one topology" "$(cat loaded.* | grep -c '^TOPOBROKER_FILE'), $(cat loaded.* | grep '^TOPOBROKER_FILE' | sort -u | wc -l | tr -d ' ')" "16, 1"
topobroker unpublish --all >/dev/null
check "left in /dev/shm" "$(ls /dev/shm | grep -c topobroker)" 0
