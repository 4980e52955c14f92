/* A rank of any launcher: adopts the node's topology and prints its own view of it. If it is
 * built WITH_MPI, it calls MPI_Init first. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <topobroker.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif

static const char *or_none(const char *value)
{
    return value == NULL ? "none" : value;
}

int main(int argc, char **argv)
{
    const tb_topology *topology;
    tb_topology *mine;
    tb_segment segment;
    tb_set *cpus = tb_set_new();
    char list[4096], line[8192];
    tb_status status;
    int rank = -1;

    (void)argc, (void)argv;
#ifdef WITH_MPI
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#else
    rank = getenv("SLURM_PROCID") != NULL ? atoi(getenv("SLURM_PROCID")) : -1;
#endif
    status = tb_adopt(&topology);
    if (status == TB_OK)
        status = tb_topology_segment(topology, &segment, sizeof segment);
    if (status == TB_OK)
        status = tb_view_effective(&mine);
    if (status == TB_OK)
        status = tb_obj_set(mine, 0, TB_CPUSET, cpus);
    if (status == TB_OK)
        status = tb_set_text(cpus, TB_SET_LIST, list, sizeof list, NULL);
    if (status != TB_OK) {
        fprintf(stderr, "rank %d: %s: %s\n", rank, tb_strerror(status), tb_error_detail());
        return 1;
    }
    snprintf(line, sizeof line, "rank %d segment %02x%02x%02x%02x at %p launch %d sees PUs %s step %s\n", rank,
             segment.id[0], segment.id[1], segment.id[2], segment.id[3], segment.start, (int)tb_scope_launcher(), list,
             or_none(getenv("TOPOBROKER_CPU_LIST")));
    fputs(line, stdout);
    fflush(stdout);
    tb_set_free(cpus);
    tb_topology_free(mine);
#ifdef WITH_MPI
    MPI_Finalize();
#endif
    return 0;
}
