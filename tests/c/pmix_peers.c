/* A PMIx client that knows nothing of the broker. Prints what PMIx says of each rank of its job,
 * what it shares with that rank, and the distances of its devices. */

#include <pmix.h>
#include <stdio.h>
#include <string.h>

/* A text that PMIx has of a rank; "-" if it has none. */
static void get(const pmix_proc_t *rank, const char *key, char *text, size_t size)
{
    pmix_info_t optional;
    pmix_value_t *value = NULL;

    PMIX_INFO_LOAD(&optional, PMIX_OPTIONAL, NULL, PMIX_BOOL);
    snprintf(text, size, "-");
    if (PMIx_Get(rank, key, &optional, 1, &value) == PMIX_SUCCESS) {
        snprintf(text, size, "%s", value->data.string);
        PMIX_VALUE_RELEASE(value);
    }
}

int main(void)
{
    pmix_proc_t me, peer;
    pmix_value_t *value;
    char mine[512] = "hwloc:", theirs[512] = "hwloc:", cpus[512];

    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
        return 1;
    PMIX_LOAD_PROCID(&peer, me.nspace, PMIX_RANK_WILDCARD);
    if (PMIx_Get(&peer, PMIX_JOB_SIZE, NULL, 0, &value) != PMIX_SUCCESS)
        return 1;
    const uint32_t size = value->data.uint32;
    get(&me, PMIX_LOCALITY_STRING, mine + 6, sizeof mine - 6);
    for (peer.rank = 0; peer.rank < size; peer.rank++) {
        pmix_locality_t shared = 0;

        get(&peer, PMIX_CPUSET, cpus, sizeof cpus);
        get(&peer, PMIX_LOCALITY_STRING, theirs + 6, sizeof theirs - 6);
        if (theirs[6] != '-' && mine[6] != '-')
            PMIx_Get_relative_locality(mine, theirs, &shared);
        printf("rank %u: rank %u on %s is at %s, shares %x\n", me.rank, peer.rank, cpus, theirs + 6, shared);
    }
    if (PMIx_Get(&me, PMIX_DEVICE_DISTANCES, NULL, 0, &value) == PMIX_SUCCESS) {
        const pmix_device_distance_t *distances = value->data.darray->array;

        for (size_t i = 0; i < value->data.darray->size; i++)
            printf("rank %u: %s %u %u %s\n", me.rank, distances[i].osname, distances[i].mindist,
                   distances[i].maxdist, distances[i].uuid);
    }
    fflush(stdout);
    PMIx_Finalize(NULL, 0);
    return 0;
}
