/* What PMIx says of the distances of devices, to compare with.
 *
 *     distances_reference XML LIST...
 *
 * Prints for each list of OS indexes four lines, for all kinds of devices and for GPUs, network
 * interfaces and OpenFabrics devices: the status, and for each device its name, least and greatest
 * distance and id. */

#include "pmix_topology.h"
#include <stdio.h>

/* PMIx_Compute_distances hides the status of this function, which libpmix exports. */
pmix_status_t pmix_hwloc_compute_distances(pmix_topology_t *topology, pmix_cpuset_t *set, pmix_info_t infos[],
                                           size_t count, pmix_device_distance_t **distances, size_t *found);

static const pmix_device_type_t KINDS[] = { PMIX_DEVTYPE_UNKNOWN, PMIX_DEVTYPE_GPU, PMIX_DEVTYPE_NETWORK,
                                            PMIX_DEVTYPE_OPENFABRICS };

int main(int argc, char **argv)
{
    pmix_topology_t given;

    if (argc < 2 || !serve_topology(argv[1], &given))
        return 2;
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
