/* What PMIx says of the distances of devices, to compare with.
 *
 *     distances_reference XML LIST...
 *
 * Prints for each list of OS indexes four lines, for all kinds of devices and for GPUs, network
 * interfaces and OpenFabrics devices: the status, and for each device its name, least and greatest
 * distance and id. */

#include <hwloc.h>
#include <pmix.h>
#include <pmix_server.h>
#include <stdio.h>
#include <string.h>

/* PMIx_Compute_distances hides the status of this function, which libpmix exports. */
pmix_status_t pmix_hwloc_compute_distances(pmix_topology_t *topology, pmix_cpuset_t *set, pmix_info_t infos[],
                                           size_t count, pmix_device_distance_t **distances, size_t *found);

static const pmix_device_type_t KINDS[] = { PMIX_DEVTYPE_UNKNOWN, PMIX_DEVTYPE_GPU, PMIX_DEVTYPE_NETWORK,
                                            PMIX_DEVTYPE_OPENFABRICS };

int main(int argc, char **argv)
{
    static pmix_server_module_t module;
    hwloc_topology_t topology;
    pmix_topology_t given = { .source = (char *)"hwloc", .topology = NULL };
    pmix_info_t info;

    if (argc < 2 || hwloc_topology_init(&topology) != 0 || hwloc_topology_set_xml(topology, argv[1]) != 0)
        return 2;
    hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    if (hwloc_topology_load(topology) != 0)
        return 2;
    given.topology = topology;
    memset(&info, 0, sizeof info);
    PMIX_LOAD_KEY(info.key, PMIX_TOPOLOGY2);
    info.value.type = PMIX_TOPO;
    info.value.data.topo = &given;
    if (PMIx_server_init(&module, &info, 1) != PMIX_SUCCESS)
        return 1;
    for (int i = 2; i < argc; i++) {
        pmix_cpuset_t set = { .source = (char *)"hwloc", .bitmap = hwloc_bitmap_alloc() };

        hwloc_bitmap_list_sscanf(set.bitmap, argv[i]);
        for (size_t kind = 0; kind < sizeof KINDS / sizeof *KINDS; kind++) {
            pmix_device_distance_t *distances = NULL;
            pmix_info_t wanted;
            size_t count = 0;

            PMIX_INFO_LOAD(&wanted, PMIX_DEVICE_TYPE, &KINDS[kind], PMIX_DEVTYPE);
            pmix_status_t status =
                pmix_hwloc_compute_distances(&given, &set, kind == 0 ? NULL : &wanted, kind != 0, &distances, &count);
            printf("%s", PMIx_Error_string(status));
            for (size_t device = 0; device < count; device++)
                printf("\t%s %u %u %s", distances[device].osname, distances[device].mindist,
                       distances[device].maxdist, distances[device].uuid);
            printf("\n");
        }
        hwloc_bitmap_free(set.bitmap);
    }
    PMIx_server_finalize();
    return 0;
}
