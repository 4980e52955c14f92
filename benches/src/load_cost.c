/* A program that loads the topology and ends: by topobroker, or by hwloc with the I/O objects that
 * HWLOC says: NONE; IMPORTANT ones, which MPIs load; or with ALL objects, as topobroker's. */
#ifdef HWLOC
#include <hwloc.h>
#define KEEP(kind) HWLOC_TYPE_FILTER_KEEP_##kind
#define FILTER(kind) KEEP(kind)
#else
#include <stdio.h>
#include <topobroker.h>
#endif

int main(void)
{
#ifdef HWLOC
    enum hwloc_type_filter_e kept = FILTER(HWLOC);
    hwloc_topology_t topology;

    if (hwloc_topology_init(&topology) != 0 ||
        (kept == HWLOC_TYPE_FILTER_KEEP_ALL ? hwloc_topology_set_all_types_filter
                                            : hwloc_topology_set_io_types_filter)(topology, kept) != 0 ||
        hwloc_topology_load(topology) != 0)
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
