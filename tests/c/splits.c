/* A rank of Open MPI 4 that splits the world by what processes share. Prints for each kind of
 * OMPI_COMM_TYPE_* its rank and the ranks of its part. */

#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define MOST 64

static const struct {
    int type;
    const char *name;
} KINDS[] = {
    { OMPI_COMM_TYPE_HWTHREAD, "PU" },      { OMPI_COMM_TYPE_CORE, "core" }, { OMPI_COMM_TYPE_L1CACHE, "L1" },
    { OMPI_COMM_TYPE_L2CACHE, "L2" },       { OMPI_COMM_TYPE_L3CACHE, "L3" }, { OMPI_COMM_TYPE_SOCKET, "package" },
    { OMPI_COMM_TYPE_NUMA, "NUMA" },        { OMPI_COMM_TYPE_NODE, "node" },
};

int main(int argc, char **argv)
{
    int rank, size, members[MOST];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        char line[1024];
        MPI_Comm part;

        snprintf(line, sizeof line, "%d %s", rank, KINDS[i].name);
        MPI_Comm_split_type(MPI_COMM_WORLD, KINDS[i].type, rank, MPI_INFO_NULL, &part);
        MPI_Comm_size(part, &size);
        if (size > MOST)
            return 1;
        MPI_Allgather(&rank, 1, MPI_INT, members, 1, MPI_INT, part);
        for (int member = 0; member < size; member++)
            snprintf(line + strlen(line), sizeof line - strlen(line), " %d", members[member]);
        puts(line);
        MPI_Comm_free(&part);
    }
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
