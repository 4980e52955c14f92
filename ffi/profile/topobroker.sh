# For login shells: gives unmodified programs of hwloc and PMIx what `topobroker serve --legacy` publishes on this node.
# Programs of topobroker find it by themselves. Put this into /etc/profile.d.
_topobroker_keys="${TOPOBROKER_RUN:-/run/topobroker}/keys"
if [ -r "$_topobroker_keys" ] && [ -z "${HWLOC_XMLFILE:-}" ]; then
    while IFS='=' read -r _topobroker_name _topobroker_value; do
        case "$_topobroker_name" in
        HWLOC_*|PMIX_HWLOC_*) export "$_topobroker_name=$_topobroker_value" ;;
        esac
    done <"$_topobroker_keys"
fi
unset _topobroker_keys _topobroker_name _topobroker_value
