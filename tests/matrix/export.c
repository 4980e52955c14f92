/* hwloc's own export of an XML file with all objects, which `topobroker export` must equal.
 *
 *     export FILE > XML
 */
#include <hwloc.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    hwloc_topology_t topology;
    char *text;
    int length;

    if (argc < 2 || hwloc_topology_init(&topology) != 0 ||
        hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_IMPORT_SUPPORT) != 0 ||
        hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL) != 0 ||
        hwloc_topology_set_xml(topology, argv[1]) != 0 || hwloc_topology_load(topology) != 0 ||
        hwloc_topology_export_xmlbuffer(topology, &text, &length, 0) != 0)
        return 1;
    fwrite(text, 1, length - 1, stdout);
    return 0;
}
