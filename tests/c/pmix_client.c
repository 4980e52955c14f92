/* A typical PMIx client that knows nothing of the broker and loads its topology from PMIx. If it
 * is built WITH_READER, it also adopts the segment whose keys PMIx has. Prints which of the
 * broker's files it has mapped. */

#include <hwloc.h>
#include <pmix.h>
#include <stdio.h>
#include <string.h>
#ifdef WITH_READER
#include <topobroker.h>
#endif

/* Prints the lines of /proc/self/maps that name the broker's files. */
static void print_maps(void)
{
    char line[4096];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        if (strstr(line, "/dev/shm/topobroker-") != NULL)
            printf("map %s", line);
    }
    if (maps != NULL)
        fclose(maps);
}

int main(void)
{
    pmix_proc_t me;
    pmix_status_t status = PMIx_Init(&me, NULL, 0);
    int result = 0;

    if (status != PMIX_SUCCESS) {
        fprintf(stderr, "pmix_client: PMIx_Init: %s\n", PMIx_Error_string(status));
        return 1;
    }
#ifdef WITH_READER
    {
        const tb_topology *topology;
        tb_status adopted = tb_adopt(&topology);
        if (adopted != TB_OK) {
            fprintf(stderr, "pmix_client: %s: %s\n", tb_strerror(adopted), tb_error_detail());
            result = 1;
        } else {
            tb_topology *mine;
            printf("rank %u adopted %zu PUs\n", me.rank, tb_objs_count_with_type(topology, TB_PU));
            if (tb_view_effective(&mine) == TB_OK) {
                printf("rank %u sees %zu PUs\n", me.rank, tb_objs_count_with_type(mine, TB_PU));
                tb_topology_free(mine);
            }
        }
    }
#endif
    {
        pmix_topology_t topology = { .source = NULL, .topology = NULL };
        status = PMIx_Load_topology(&topology);
        if (status != PMIX_SUCCESS) {
            fprintf(stderr, "pmix_client: PMIx_Load_topology: %s\n", PMIx_Error_string(status));
            result = 1;
        } else {
            printf("rank %u loaded %d PUs from %s\n", me.rank,
                   hwloc_get_nbobjs_by_type((hwloc_topology_t)topology.topology, HWLOC_OBJ_PU), topology.source);
        }
    }
    print_maps();
    fflush(stdout);
    PMIx_Finalize(NULL, 0);
    return result;
}
