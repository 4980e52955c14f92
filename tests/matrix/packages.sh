#!/bin/sh
# Runs in a root, for scripts/matrix: installs packages that scripts/packages has made, tries what is installed
# as row.sh does and as C programs find it, and removes it. $1 is the checkout, $2 the folder of the reference
# data, $3 the folder of the packages: Debian's, RPM's if there are none, else a tar file. Prints as row.sh.
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
checkout="$1" shared="$2" packages="$3"
failed=0
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
found() { printf '%s\t%s\n' "$1" "$(printf %s "$2" | tr '\n' ';')"; }
check() { # check NAME VALUE EXPECTED
    if [ "$2" = "$3" ]; then found "$1" "$2"; else found "$1" "FAILED: $2; expected $3"; failed=1; fi
}
# All files but those that any installation changes.
files() {
    find /etc /usr /opt /run /var/lib -xdev ! -type d ! -path '/var/lib/apt/*' ! -path '/var/lib/dpkg/*' ! -path '/var/lib/rpm/*' \
        ! -path '/run/lock/*' ! -path '/etc/ld.so.cache' ! -path '*/__pycache__/*' 2>/dev/null | LC_ALL=C sort
    ls /dev/shm
}

! command -v topobroker >/dev/null || { found "packages" "FAILED: topobroker is installed already: $(command -v topobroker)"; exit 1; }
kind=deb prefix=/usr
ls "$packages"/*.deb >/dev/null 2>&1 || { ls "$packages"/*.rpm >/dev/null 2>&1 && kind=rpm || kind=tar prefix=/opt/topobroker; }
if [ $kind = deb ]; then
    # What the packages need is not counted.
    needs="$(apt-get install -s --no-install-recommends "$packages"/*.deb 2>/dev/null | sed -n 's/^Inst \([^ ]*\).*/\1/p' | grep -v topobroker)"
    [ -z "$needs" ] || apt-get install -y -qq --no-install-recommends $needs >/dev/null 2>&1
fi
files >"$work/before"
begin="$(date +%s)"
case $kind in
deb) apt-get install -y -qq --no-install-recommends "$packages"/*.deb >"$work/said" 2>&1 ;;
# What the packages need is known to Debian, and not to rpm, whose plugins want more than a root.
rpm) rpm -i --noplugins --nodeps "$packages"/*.rpm >"$work/said" 2>&1 ;;
tar) mkdir "$work/tar" && tar -C "$work/tar" -xf "$packages"/topobroker-*.tar.xz && "$work"/tar/*/install >"$work/said" 2>&1 ;;
esac || { found "$kind: installed" "FAILED: $(tail -3 "$work/said")"; exit 1; }
found "$kind: seconds to install" "$(($(date +%s) - begin))"
export PATH=$prefix/bin:/usr/sbin:/usr/bin:/sbin:/bin LD_LIBRARY_PATH=/usr/lib64
libraries="$(dirname "$(find $prefix -name libtopobroker-reader.so | head -1)")"
[ $kind != tar ] || LD_LIBRARY_PATH="$libraries"
# CMake does not look below lib64 on Debian, where RPM's packages are tried too.
export PKG_CONFIG_PATH="$libraries/pkgconfig" topobroker_DIR="$libraries/cmake/topobroker"

# The plugin of the packages is for one release of Slurm: with that of this suite it is compiled again.
if command -v slurmctld >/dev/null; then
    spank="$prefix/lib/topobroker/topobroker_spank.so"
    before="$(cksum <"$spank")"
    "$prefix/lib/topobroker/build-spank"
    found "plugin of Slurm, compiled here" "$([ "$before" = "$(cksum <"$spank")" ] && echo "the same" || echo "another one")"
fi
sh "$checkout/tests/matrix/row.sh" "$checkout" "$shared" "$prefix" || failed=1

sees() { topobroker run -i 'package:2 core:4 pu:1' -- "$@" 2>&1 | grep -o 'sees PUs [0-9-]*'; }
expected="sees PUs 0-7"
rank="$checkout/tests/c/rank.c"
cc -o "$work/shared" "$rank" $(pkg-config --cflags --libs topobroker-reader)
check "C by pkg-config" "$(sees "$work/shared")" "$expected"
cc -o "$work/static" "$rank" $(pkg-config --cflags topobroker-reader) "$libraries/libtopobroker-reader.a" -lpthread -ldl
check "C with the static library" "$(sees "$work/static")" "$expected"
mkdir "$work/source"
cp "$rank" "$work/source/"
if command -v cmake >/dev/null; then
    printf 'cmake_minimum_required(VERSION 3.13)\nproject(rank C)\nfind_package(topobroker REQUIRED COMPONENTS reader topobroker)\n' >"$work/source/CMakeLists.txt"
    for target in reader reader_static topobroker topobroker_static; do
        printf 'add_executable(%s rank.c)\ntarget_link_libraries(%s topobroker::%s)\n' $target $target $target >>"$work/source/CMakeLists.txt"
    done
    cmake -S "$work/source" -B "$work/cmake" >"$work/said" 2>&1 && cmake --build "$work/cmake" >>"$work/said" 2>&1 || tail -5 "$work/said" >&2
    for target in reader reader_static topobroker topobroker_static; do
        check "C by CMake, $target" "$(sees "$work/cmake/$target")" "$expected"
    done
    sed -i 's/COMPONENTS reader/COMPONENTS fabric/' "$work/source/CMakeLists.txt"
    check "a component that is not there" "$(cmake -S "$work/source" -B "$work/none" 2>&1 | grep -o 'component fabric: expected reader or topobroker')" \
        "component fabric: expected reader or topobroker"
fi
if command -v meson >/dev/null; then
    printf "project('rank', 'c')\nexecutable('rank', 'rank.c', dependencies: dependency('topobroker-reader'))\n" >"$work/source/meson.build"
    meson setup "$work/meson" "$work/source" >"$work/said" 2>&1 && ninja -C "$work/meson" >>"$work/said" 2>&1 || tail -5 "$work/said" >&2
    check "C by Meson" "$(sees "$work/meson/rank")" "$expected"
fi
[ $kind != deb ] || check "Python" "$(topobroker run -i 'core:4 pu:1' -- python3 -c 'import topobroker; print(len(topobroker.adopt().pus))')" 4
check "hwloc's names" "$(PATH="$prefix/lib/topobroker/hwloc-names:$PATH" hwloc-calc -i 'core:4 pu:1' -N pu all)" 4
check "manual pages" "$(find $prefix/share/man -name 'topobroker*.1*' | wc -l)" "$(topobroker manual "$work/source" && ls "$work"/source/*.1 | wc -l)"

# Installed again while a daemon runs and a job is on it. (Without systemd no one starts the daemon again.)
mkdir -m 755 "$work/run"
TOPOBROKER_RUN="$work/run" topobroker serve --keep --folder "$work/run" 2>/dev/null &
daemon=$!
while [ ! -e "$work/run/keys" ]; do sleep 0.1; done
export TOPOBROKER_RUN="$work/run"
topobroker job add held -n 1 --map-by slot >/dev/null
case $kind in
deb) apt-get install -y -qq --reinstall --no-install-recommends "$packages"/topobroker_*.deb "$packages"/libtopobroker*.deb >"$work/said" 2>&1 ;;
rpm) rpm -U --noplugins --nodeps --replacepkgs "$packages"/*.rpm >"$work/said" 2>&1 ;;
tar) "$work"/tar/*/install >"$work/said" 2>&1 ;;
esac || { found "installed again" "FAILED: $(tail -3 "$work/said")"; failed=1; }
check "jobs of a daemon whose packages were installed again" "$(topobroker job list 2>/dev/null | grep -c held)" 1
kill $daemon
wait $daemon
topobroker unpublish "$work"/run/topobroker-* >/dev/null 2>&1
unset TOPOBROKER_RUN

begin="$(date +%s)"
case $kind in
deb) apt-get purge -y -qq '*topobroker*' >"$work/said" 2>&1 ;;
rpm) rpm -e --noplugins $(rpm -qa | grep topobroker) >"$work/said" 2>&1 ;;
tar) $prefix/share/topobroker/uninstall >"$work/said" 2>&1 ;;
esac || { found "$kind: removed" "FAILED: $(tail -3 "$work/said")"; failed=1; }
files >"$work/after"
check "files that are left" "$(diff "$work/before" "$work/after" | sed -n 's/^[<>]/&/p' | head -3)" ""
exit $failed
