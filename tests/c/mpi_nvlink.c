/* Each rank writes the ranks of the communicator of its NVLink domain, or that it has none. */
#include <mpi.h>
#include <stdio.h>
#include <topobroker_mpi.h>
#include "rank_order.h"

int main(int argc, char **argv) {
    const tb_topology *topology;
    tb_job *job;
    MPI_Comm made;
    char line[1024];
    int own, size, written, ranks[64], i;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    if (tb_adopt(&topology) != TB_OK || tb_job_adopt(topology, NULL, &job) != TB_OK ||
        tb_mpi_comm_nvlink(MPI_COMM_WORLD, job, -own, &made) != MPI_SUCCESS) {
        fprintf(stderr, "%d: %s\n", own, tb_error_detail());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    written = snprintf(line, sizeof line, "%d:", own);
    if (made != MPI_COMM_NULL) {
        MPI_Comm_size(made, &size);
        MPI_Allgather(&own, 1, MPI_INT, ranks, 1, MPI_INT, made);
        for (i = 0; i < size; i++)
            written += snprintf(line + written, sizeof line - (size_t)written, " %d", ranks[i]);
        MPI_Comm_free(&made);
    }
    snprintf(line + written, sizeof line - (size_t)written, "\n");
    write_in_rank_order(line, sizeof line);
    tb_job_free(job);
    MPI_Finalize();
    return 0;
}
