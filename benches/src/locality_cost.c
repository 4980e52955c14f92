/* What the locality of all peers costs a PMIx client, and its strings the server.
 *
 *     locality_cost SYNTHETIC|XML COUNT PUS
 *
 * A PMIx server gives COUNT ranks PUS PUs each, in turn, and starts itself as the client of rank 0.
 * Prints numbers in one line: microseconds of one locality string, and of the distances of the
 * devices of rank 0; then of getting the strings of all ranks, of comparing them, and of storing the
 * result as Open MPI does; kB of private memory that the client grows by meanwhile. */
#define _GNU_SOURCE
#include <hwloc.h>
#include <pmix.h>
#include <pmix_server.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const pmix_nspace_t NSPACE = "topobroker-locality";

static void check(pmix_status_t status, const char *what)
{
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED) {
        fprintf(stderr, "locality_cost: %s: %s\n", what, PMIx_Error_string(status));
        exit(1);
    }
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

static long private_kb(void)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    long kb = -1;

    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "Private_Dirty: %ld", &kb) == 1)
            break;
    }
    if (file != NULL)
        fclose(file);
    return kb;
}

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

/* Answers at once: nobody waits for what connects or ends here. */
static pmix_status_t seen(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t callback, void *data)
{
    (void)proc, (void)object, (void)callback, (void)data;
    return PMIX_OPERATION_SUCCEEDED;
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
    char host[256], *ranks = malloc(8 * count), *at = ranks, *nodes, *places;
    pmix_info_t *infos;
    double spent = 0;

    gethostname(host, sizeof host);
    for (uint32_t rank = 0; rank < count; rank++)
        at += sprintf(at, rank == 0 ? "%u" : ",%u", rank);
    check(PMIx_generate_regex(host, &nodes), "nodes");
    check(PMIx_generate_ppn(ranks, &places), "places");
    PMIX_INFO_CREATE(infos, count + 6);
    PMIX_INFO_LOAD(&infos[0], PMIX_JOB_SIZE, &count, PMIX_UINT32);
    PMIX_INFO_LOAD(&infos[1], PMIX_UNIV_SIZE, &count, PMIX_UINT32);
    PMIX_INFO_LOAD(&infos[2], PMIX_LOCAL_SIZE, &count, PMIX_UINT32);
    PMIX_INFO_LOAD(&infos[3], PMIX_LOCAL_PEERS, ranks, PMIX_STRING);
    PMIX_INFO_LOAD(&infos[4], PMIX_NODE_MAP, nodes, PMIX_REGEX);
    PMIX_INFO_LOAD(&infos[5], PMIX_PROC_MAP, places, PMIX_REGEX);
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
        PMIX_LOAD_KEY(infos[rank + 6].key, PMIX_PROC_DATA);
        infos[rank + 6].value.type = PMIX_DATA_ARRAY;
        infos[rank + 6].value.data.darray = of_rank;
        hwloc_bitmap_free(set.bitmap);
        free(text);
    }
    check(PMIx_server_register_nspace(NSPACE, (int)count, infos, count + 6, NULL, NULL), "register");
    printf("%.3f ", spent / count);
}

int main(int argc, char **argv)
{
    pmix_server_module_t module = { .client_connected = seen, .client_finalized = seen };
    pmix_topology_t given = { .source = (char *)"hwloc", .topology = NULL };
    hwloc_topology_t topology;
    pmix_info_t infos[2];
    pmix_proc_t proc;
    char folder[] = "/tmp/locality-cost-XXXXXX", **environment = NULL;
    int status = 0;

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
    PMIX_LOAD_PROCID(&proc, NSPACE, 0);
    check(PMIx_server_register_client(&proc, getuid(), getgid(), NULL, NULL, NULL), "register the client");
    check(PMIx_server_setup_fork(&proc, &environment), "setup");
    if (fork() == 0) {
        for (char **variable = environment; variable != NULL && *variable != NULL; variable++)
            putenv(*variable);
        execl("/proc/self/exe", argv[0], NULL);
        _exit(127);
    }
    wait(&status);
    PMIx_server_finalize();
    rmdir(folder);
    return status != 0;
}
