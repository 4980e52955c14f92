/* What the locality of all peers costs a PMIx client, and its strings the server.
 *
 *     locality_cost SYNTHETIC|XML COUNT PUS
 *
 * A PMIx server gives COUNT ranks PUS PUs each, in turn, and starts itself as the client of rank 0.
 * Prints numbers in one line: microseconds of one locality string, and of the distances of the
 * devices of rank 0; then of getting the strings of all ranks, of comparing them, and of storing the
 * result as Open MPI does; kB of private memory that the client grows by meanwhile. */
#define _GNU_SOURCE
#include "cost.h"
#include "pmix_cost.h"
#include <hwloc.h>
#include <string.h>

static int client(void)
{
    pmix_proc_t me, peer;
    pmix_value_t *value;
    pmix_info_t optional;
    double start, got, compared, stored;
    long before;

    check(PMIx_Init(&me, NULL, 0), "PMIx_Init");
    PMIX_LOAD_PROCID(&peer, me.nspace, PMIX_RANK_WILDCARD);
    check(PMIx_Get(&peer, PMIX_JOB_SIZE, NULL, 0, &value), "job size");
    const uint32_t count = value->data.uint32;
    char **strings = calloc(count, sizeof *strings);
    pmix_locality_t *shared = calloc(count, sizeof *shared);
    PMIX_INFO_LOAD(&optional, PMIX_OPTIONAL, NULL, PMIX_BOOL);
    before = private_kb();
    start = now();
    for (peer.rank = 0; peer.rank < count; peer.rank++) {
        check(PMIx_Get(&peer, PMIX_LOCALITY_STRING, &optional, 1, &value), "string");
        if (asprintf(&strings[peer.rank], "hwloc:%s", value->data.string) < 0)
            return 1;
        PMIX_VALUE_RELEASE(value);
    }
    got = now();
    for (uint32_t rank = 0; rank < count; rank++)
        PMIx_Get_relative_locality(strings[me.rank], strings[rank], &shared[rank]);
    compared = now();
    for (peer.rank = 0; peer.rank < count; peer.rank++) {
        pmix_value_t keep = { .type = PMIX_UINT16, .data.uint16 = shared[peer.rank] };
        check(PMIx_Store_internal(&peer, PMIX_LOCALITY, &keep), "store");
    }
    stored = now();
    printf("%.1f %.1f %.1f %ld\n", got - start, compared - got, stored - compared, private_kb() - before);
    fflush(stdout);
    PMIx_Finalize(NULL, 0);
    return 0;
}

/* PMIx_Compute_distances hides the status of this function, which libpmix exports. */
pmix_status_t pmix_hwloc_compute_distances(pmix_topology_t *topology, pmix_cpuset_t *set, pmix_info_t infos[],
                                           size_t count, pmix_device_distance_t **distances, size_t *found);

/* Prints microseconds of the distances of the devices of a set; the least of many. */
static void compute_distances(pmix_topology_t *topology, pmix_cpuset_t *set)
{
    double least = 1e9;

    for (int i = 0; i < 200; i++) {
        pmix_device_distance_t *distances = NULL;
        size_t count = 0;
        double start = now();

        pmix_hwloc_compute_distances(topology, set, NULL, 0, &distances, &count);
        start = now() - start;
        if (start < least)
            least = start;
        PMIX_DEVICE_DIST_FREE(distances, count);
    }
    printf("%.2f ", least);
}

/* Registers ranks with their locality strings. Prints microseconds of one string. */
static void register_ranks(hwloc_topology_t topology, uint32_t count, unsigned pus)
{
    const unsigned all = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    pmix_info_t *infos;
    double spent = 0;

    PMIX_INFO_CREATE(infos, count + USUAL);
    usual_infos(infos, count);
    for (uint32_t rank = 0; rank < count; rank++) {
        pmix_cpuset_t set = { .source = (char *)"hwloc", .bitmap = hwloc_bitmap_alloc() };
        pmix_data_array_t *of_rank;
        char *text = NULL;

        for (unsigned pu = 0; pu < pus; pu++) {
            hwloc_obj_t object = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU, (rank * pus + pu) % all);
            hwloc_bitmap_set(set.bitmap, object->os_index);
        }
        spent -= now();
        check(PMIx_server_generate_locality_string(&set, &text), "string");
        spent += now();
        PMIX_DATA_ARRAY_CREATE(of_rank, 2, PMIX_INFO);
        PMIX_INFO_LOAD(&((pmix_info_t *)of_rank->array)[0], PMIX_RANK, &rank, PMIX_PROC_RANK);
        PMIX_INFO_LOAD(&((pmix_info_t *)of_rank->array)[1], PMIX_LOCALITY_STRING, text, PMIX_STRING);
        PMIX_LOAD_KEY(infos[rank + USUAL].key, PMIX_PROC_DATA);
        infos[rank + USUAL].value.type = PMIX_DATA_ARRAY;
        infos[rank + USUAL].value.data.darray = of_rank;
        hwloc_bitmap_free(set.bitmap);
        free(text);
    }
    check(PMIx_server_register_nspace(NSPACE, (int)count, infos, count + USUAL, NULL, NULL), "register");
    printf("%.3f ", spent / count);
}

int main(int argc, char **argv)
{
    pmix_topology_t given = { .source = (char *)"hwloc", .topology = NULL };
    hwloc_topology_t topology;
    pmix_info_t infos[2];
    char folder[] = "/tmp/locality-cost-XXXXXX";
    int failures;

    if (argc != 4)
        return client();
    hwloc_topology_init(&topology);
    if (strchr(argv[1], '/') != NULL ? hwloc_topology_set_xml(topology, argv[1])
                                     : hwloc_topology_set_synthetic(topology, argv[1]))
        return 2;
    hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    if (hwloc_topology_load(topology) != 0 || mkdtemp(folder) == NULL)
        return 2;
    given.topology = topology;
    PMIX_INFO_LOAD(&infos[0], PMIX_SERVER_TMPDIR, folder, PMIX_STRING);
    PMIX_LOAD_KEY(infos[1].key, PMIX_TOPOLOGY2);
    infos[1].value.type = PMIX_TOPO;
    infos[1].value.data.topo = &given;
    check(PMIx_server_init(&module, infos, 2), "PMIx_server_init");
    register_ranks(topology, (uint32_t)atoi(argv[2]), (unsigned)atoi(argv[3]));
    pmix_cpuset_t first = { .source = (char *)"hwloc", .bitmap = hwloc_bitmap_alloc() };
    hwloc_bitmap_set(first.bitmap, hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU, 0)->os_index);
    compute_distances(&given, &first);
    fflush(stdout);
    sleep(1);
    start_client(0);
    failures = wait_clients();
    PMIx_server_finalize();
    rmdir(folder);
    return failures != 0;
}
