/* An MPI program that knows nothing of topobroker: prints where each rank is bound, and what MPI's
 * own splits say of it. */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, split, shared, sum = 0;
    char bound[600] = "";
    cpu_set_t cpus;
    MPI_Comm own;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    sched_getaffinity(0, sizeof cpus, &cpus);
    for (int cpu = 0, at = 0; cpu < CPU_SETSIZE && at < 590; cpu++) {
        if (CPU_ISSET(cpu, &cpus))
            at += snprintf(bound + at, sizeof bound - at, "%d,", cpu);
    }
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &own);
    MPI_Comm_size(own, &split);
    MPI_Comm_rank(own, &shared);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d of %d on %s shares with %d as %d, sum %d\n", rank, size, bound, split, shared, sum);
#ifdef OPEN_MPI
    /* Open MPI's own levels, each from the topology. */
    const int types[] = { OMPI_COMM_TYPE_HWTHREAD, OMPI_COMM_TYPE_CORE, OMPI_COMM_TYPE_L1CACHE,
                          OMPI_COMM_TYPE_L2CACHE, OMPI_COMM_TYPE_L3CACHE, OMPI_COMM_TYPE_SOCKET,
                          OMPI_COMM_TYPE_NUMA, OMPI_COMM_TYPE_BOARD };
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++) {
        MPI_Comm part;
        MPI_Comm_split_type(MPI_COMM_WORLD, types[i], 0, MPI_INFO_NULL, &part);
        if (part != MPI_COMM_NULL) {
            MPI_Comm_size(part, &split);
            MPI_Comm_free(&part);
            printf("rank %d level %u: %d\n", rank, i, split);
        }
    }
#endif
    MPI_Comm_free(&own);
    MPI_Finalize();
    return 0;
}
