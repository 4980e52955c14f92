/* What communicators of hardware groups cost: split_cost WORD, below a launcher that has added
 * the job. Rank 0 prints the medians of 30 runs in microseconds: the split of this MPI by the
 * resource WORD ("-" if it has none), ours with a communicator of the node already made, a
 * communicator from a group, and the local groups. */
#include <mpi.h>
#include <stdio.h>
#include <topobroker_mpi.h>

#define RUNS 30

static int compare(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static double median(double *times) {
    qsort(times, RUNS, sizeof *times, compare);
    return times[RUNS / 2] * 1e6;
}

int main(int argc, char **argv) {
    const tb_topology *topology;
    tb_job *job;
    double own[RUNS], ours[RUNS], made[RUNS], local[RUNS];
    int rank, count, has_own = 0;
    MPI_Comm comm;
    tb_mpi_group *groups;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 2 || tb_adopt(&topology) != TB_OK || tb_job_adopt(topology, NULL, &job) != TB_OK)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int run = -1; run < RUNS; run++) {
        int slot = run < 0 ? 0 : run;
        double start;
#if defined(MPI_COMM_TYPE_HW_GUIDED) || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, "mpi_hw_resource_type", argv[1]);
        MPI_Barrier(MPI_COMM_WORLD);
        start = MPI_Wtime();
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &comm);
        own[slot] = MPI_Wtime() - start;
        if (comm != MPI_COMM_NULL)
            MPI_Comm_free(&comm);
        MPI_Info_free(&info);
        has_own = 1;
#endif
        MPI_Barrier(MPI_COMM_WORLD);
        start = MPI_Wtime();
        tb_mpi_comm_guided(MPI_COMM_WORLD, job, argv[1], 0, &comm);
        ours[slot] = MPI_Wtime() - start;
        if (comm != MPI_COMM_NULL)
            MPI_Comm_free(&comm);
        MPI_Barrier(MPI_COMM_WORLD);
        start = MPI_Wtime();
        tb_mpi_groups(job, MPI_COMM_WORLD, 2, &count, &groups);
        local[slot] = MPI_Wtime() - start;
        MPI_Barrier(MPI_COMM_WORLD);
        start = MPI_Wtime();
        tb_mpi_comm_from_group(MPI_COMM_WORLD, groups[0].group, 0, &comm);
        made[slot] = MPI_Wtime() - start;
        MPI_Comm_free(&comm);
        tb_mpi_groups_free(count, groups);
    }
    if (rank == 0) {
        if (has_own)
            printf("%.0f", median(own));
        else
            printf("-");
        printf(" %.0f %.0f %.0f\n", median(ours), median(made), median(local));
    }
    tb_job_free(job);
    MPI_Finalize();
    return 0;
}
