/* A library that adopts and copies a topology for its program. */
#include <fcntl.h>
#include <hwloc.h>
#include <hwloc/shmem.h>
#include <stdint.h>
#include <unistd.h>

hwloc_topology_t adopt_segment(const char *file)
{
    struct { uint32_t version, length; uint64_t address, size; } header;
    hwloc_topology_t topology;
    int fd = open(file, O_RDONLY);

    if (fd < 0 || read(fd, &header, sizeof header) != sizeof header ||
        hwloc_shmem_topology_adopt(&topology, fd, 0, (void *)header.address, header.size, 0) != 0)
        topology = NULL;
    close(fd);
    return topology;
}

hwloc_topology_t copy_topology(hwloc_topology_t topology)
{
    hwloc_topology_t copy;
    return hwloc_topology_dup(&copy, topology) == 0 ? copy : NULL;
}

hwloc_topology_t load_machine(void)
{
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0)
        return NULL;
    return hwloc_topology_load(topology) == 0 ? topology : NULL;
}

int restrict_to_first(hwloc_topology_t topology)
{
    hwloc_bitmap_t first = hwloc_bitmap_alloc();
    hwloc_bitmap_only(first, 0);
    int result = hwloc_topology_restrict(topology, first, 0);
    hwloc_bitmap_free(first);
    return result;
}

void *root_of(hwloc_topology_t topology)
{
    return hwloc_get_root_obj(topology);
}

int pus_of(hwloc_topology_t topology)
{
    return hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
}

void destroy_topology(hwloc_topology_t topology)
{
    hwloc_topology_destroy(topology);
}
