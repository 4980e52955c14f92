/* What PMIx and Open MPI 4 say of the locality of processes, to compare with.
 *
 *     locality_reference XML
 *
 * Reads pairs of sets from standard input, each as two lists of OS indexes. Prints for each pair the
 * locality strings that PMIx makes ("-" for none), and in hexadecimal what the processes share: by
 * PMIx, and if it is compiled with WITH_OPEN_MPI, by Open MPI. */

#include "pmix_topology.h"
#include <stdio.h>
#include <stdlib.h>

#ifdef WITH_OPEN_MPI
/* Open MPI exports these from libopen-pal and installs no header for them. */
char *opal_hwloc_base_get_locality_string(hwloc_topology_t topology, char *bitmap);
unsigned short opal_hwloc_compute_relative_locality(char *one, char *other);

static void print_of_open_mpi(hwloc_topology_t topology, char *one, char *other)
{
    char *texts[2] = { opal_hwloc_base_get_locality_string(topology, one),
                       opal_hwloc_base_get_locality_string(topology, other) };

    printf(" %x", opal_hwloc_compute_relative_locality(texts[0], texts[1]));
    free(texts[0]);
    free(texts[1]);
}
#endif

#define MOST 65536

static char *pmix_string(const char *list)
{
    pmix_cpuset_t set = { .source = (char *)"hwloc", .bitmap = hwloc_bitmap_alloc() };
    char *text = NULL, *prefixed;

    hwloc_bitmap_list_sscanf(set.bitmap, list);
    PMIx_server_generate_locality_string(&set, &text);
    hwloc_bitmap_free(set.bitmap);
    if (text == NULL)
        return NULL;
    prefixed = malloc(strlen(text) + 7);
    sprintf(prefixed, "hwloc:%s", text);
    free(text);
    return prefixed;
}

static const char *bare(const char *text)
{
    return text == NULL ? "-" : text + 6;
}

int main(int argc, char **argv)
{
    static char one[MOST], other[MOST];
    pmix_topology_t given;

    if (argc != 2 || !serve_topology(argv[1], &given))
        return 2;
    while (scanf("%65535s %65535s", one, other) == 2) {
        char *of_pmix[2] = { pmix_string(one), pmix_string(other) };
        pmix_locality_t shared = 0;

        /* PMIx ends on a missing string. Its status says nothing: 4.2.2 never sets it. */
        if (of_pmix[0] != NULL && of_pmix[1] != NULL)
            PMIx_Get_relative_locality(of_pmix[0], of_pmix[1], &shared);
        printf("%s %s %x", bare(of_pmix[0]), bare(of_pmix[1]), shared);
#ifdef WITH_OPEN_MPI
        print_of_open_mpi(given.topology, one, other);
#endif
        printf("\n");
        free(of_pmix[0]);
        free(of_pmix[1]);
    }
    PMIx_server_finalize();
    return 0;
}
