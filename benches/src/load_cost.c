/* A program that loads the topology, by topobroker or with HWLOC by hwloc, and ends. */
#ifdef HWLOC
#include <hwloc.h>
#else
#include <stdio.h>
#include <topobroker.h>
#endif

int main(void)
{
#ifdef HWLOC
    hwloc_topology_t topology;

    if (hwloc_topology_init(&topology) != 0 || hwloc_topology_load(topology) != 0)
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
