/* Gathers the nodes of an MPI job into a cluster file: mpirun ... mpi_gather FILE
 *
 * The exchange is an MPI_Allgatherv. One process of each node reports: the one that has rank 0
 * among those that share memory with it. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <topobroker.h>

static int exchange(void *context, const void *mine, size_t length, tb_exchange_answers *answers) {
    MPI_Comm comm = *(MPI_Comm *)context;
    int size, total = 0, own = (int)length, status = 1;
    if (length > INT32_MAX / 2)
        return 1;
    MPI_Comm_size(comm, &size);
    int *lengths = malloc(2 * sizeof *lengths * (size_t)size), *starts = lengths + size;
    if (!lengths)
        return 1;
    MPI_Allgather(&own, 1, MPI_INT, lengths, 1, MPI_INT, comm);
    for (int rank = 0; rank < size; rank++) {
        starts[rank] = total;
        total += lengths[rank];
    }
    uint8_t *all = malloc(total > 0 ? (size_t)total : 1);
    if (all) {
        MPI_Allgatherv((void *)mine, own, MPI_BYTE, all, lengths, starts, MPI_BYTE, comm);
        status = 0;
        for (int rank = 0; rank < size && status == 0; rank++)
            status = tb_exchange_answer(answers, all + starts[rank], (size_t)lengths[rank]);
    }
    free(all);
    free(lengths);
    return status;
}

int main(int argc, char **argv) {
    char name[MPI_MAX_PROCESSOR_NAME];
    int rank, local, length;
    size_t missing = 0;
    MPI_Comm world = MPI_COMM_WORLD, node;
    const char *given = getenv("TOPOBROKER_HOST");

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &local);
    MPI_Get_processor_name(name, &length);
    int status = argc < 2 ? TB_ERR_ARGUMENT
                          : tb_cluster_gather(exchange, &world, (size_t)rank, local == 0,
                                              given ? given : name, NULL, argv[1], 0400, true,
                                              &missing);
    if (status != TB_OK)
        fprintf(stderr, "rank %d: %s: %s\n", rank, tb_strerror(status), tb_error_detail());
    else if (missing > 0)
        fprintf(stderr, "%zu nodes are missing\n", missing);
    MPI_Comm_free(&node);
    MPI_Finalize();
    return status != TB_OK;
}
