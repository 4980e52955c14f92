/* Splits the processes of a job by the L3 caches that they are bound to, without asking each
 * other. Start it below a launcher that has added the job. */

#include <mpi.h>
#include <stdio.h>
#include <topobroker_mpi.h>

int main(int argc, char **argv)
{
    const tb_topology *topology;
    tb_job *job = NULL;
    tb_mpi_group *groups;
    MPI_Comm near;
    int rank, count, i, error;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (tb_adopt(&topology) != TB_OK || tb_job_adopt(topology, NULL, &job) != TB_OK)
        fprintf(stderr, "rank %d: %s\n", rank, tb_error_detail());

    error = tb_mpi_comm_guided(MPI_COMM_WORLD, job, "hwloc://L3Cache", 0, &near);
    if (error == MPI_SUCCESS && near != MPI_COMM_NULL) {
        int size;
        MPI_Comm_size(near, &size);
        printf("rank %d: %d ranks on its L3 cache\n", rank, size);
        MPI_Comm_free(&near);
    }

    error = tb_mpi_groups(job, MPI_COMM_WORLD, 2, &count, &groups);
    for (i = 0; error == MPI_SUCCESS && i < count; i++) {
        int size;
        MPI_Group_size(groups[i].group, &size);
        printf("rank %d: with %d others on %s\n", rank, size - 1, groups[i].uris);
    }
    if (error == MPI_SUCCESS)
        tb_mpi_groups_free(count, groups);

    tb_job_free(job);
    MPI_Finalize();
    return error != MPI_SUCCESS;
}
