/* A typical program that knows only hwloc: loads its topology, binds itself to the first PU, and
 * prints the number of PUs and its binding. */

#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    hwloc_topology_t topology;
    hwloc_bitmap_t first = hwloc_bitmap_alloc(), bound = hwloc_bitmap_alloc();
    const struct hwloc_topology_support *support;
    char *list;

    if (hwloc_topology_init(&topology) != 0 || hwloc_topology_load(topology) != 0)
        return 1;
    support = hwloc_topology_get_support(topology);
    hwloc_bitmap_only(first, hwloc_bitmap_first(hwloc_topology_get_topology_cpuset(topology)));
    if (hwloc_set_cpubind(topology, first, HWLOC_CPUBIND_PROCESS) != 0 ||
        hwloc_get_cpubind(topology, bound, HWLOC_CPUBIND_PROCESS) != 0)
        perror("cpubind");
    hwloc_bitmap_list_asprintf(&list, bound);
    printf("%d PUs, cpubind %d, bound to %s\n", hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU),
           support->cpubind->set_thisproc_cpubind, list);
    free(list);
    hwloc_bitmap_free(first);
    hwloc_bitmap_free(bound);
    hwloc_topology_destroy(topology);
    return 0;
}
