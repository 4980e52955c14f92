/* A program that loads the topology and ends: by topobroker, or with HWLOC by hwloc, or with
 * HWLOC_IO by hwloc with I/O devices, which topobroker's has and which MPIs load. */
#if defined(HWLOC) || defined(HWLOC_IO)
#include <hwloc.h>
#else
#include <stdio.h>
#include <topobroker.h>
#endif

int main(void)
{
#if defined(HWLOC) || defined(HWLOC_IO)
    hwloc_topology_t topology;

    if (hwloc_topology_init(&topology) != 0)
        return 1;
#ifdef HWLOC_IO
    hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
#endif
    if (hwloc_topology_load(topology) != 0)
        return 1;
    hwloc_topology_destroy(topology);
#else
    const tb_topology *topology;

    if (tb_load(&topology) != TB_OK) {
        fprintf(stderr, "%s\n", tb_error_detail());
        return 1;
    }
#endif
    return 0;
}
