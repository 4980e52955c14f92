/* Real communicators of a job on several nodes. Each rank writes the size of the communicator of
 * its node and of what the unguided split makes of that, and how far the other ranks are. */
#include <mpi.h>
#include <stdio.h>
#include <topobroker_mpi.h>
#include "rank_order.h"

#define TRY(call)                                                                                  \
    do {                                                                                           \
        int error_ = (call);                                                                       \
        if (error_ != MPI_SUCCESS) {                                                               \
            fprintf(stderr, "%d: %s: %d %s\n", own, #call, error_, tb_error_detail());             \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                          \
        }                                                                                          \
    } while (0)

int main(int argc, char **argv) {
    const tb_topology *topology;
    const tb_cluster *cluster;
    tb_job *job;
    tb_links *links;
    MPI_Comm node, part, made;
    MPI_Info info;
    MPI_Group world;
    uint32_t *nodes;
    int own = 0, size, count, found, ranks[64], in[64], out[64], back[4][64];
    char type[2][64] = { "", "" }, line[4096];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    TRY(tb_mpi_error(tb_adopt(&topology)));
    TRY(tb_mpi_error(tb_job_adopt(topology, NULL, &job)));
    TRY(tb_mpi_error(tb_links_new(topology, false, false, &links)));
    TRY(tb_mpi_error(tb_cluster_adopt(NULL, &cluster)));
    TRY(tb_mpi_nodes(cluster, &nodes));
    /* Nodes are the outermost resource; then what is on them. */
    MPI_Info_create(&info);
    TRY(tb_mpi_comm_unguided(MPI_COMM_WORLD, job, 0, info, &node));
    MPI_Info_get(info, "mpi_hw_resource_type", 63, type[0], &found);
    TRY(tb_mpi_comm_unguided(node, job, 0, info, &part));
    MPI_Info_get(info, "mpi_hw_resource_type", 63, type[1], &found);
    MPI_Info_free(&info);
    int node_size, part_size = 0, written;
    MPI_Comm_size(node, &node_size);
    if (part != MPI_COMM_NULL)
        MPI_Comm_size(part, &part_size);
    written = snprintf(line, sizeof line, "%d node %u: %d %s, %d %s;", own, nodes[own], node_size, type[0],
                       part_size, type[1]);
    if (part != MPI_COMM_NULL)
        MPI_Comm_free(&part);
    MPI_Comm_free(&node);
    /* All communicators of a type together have all ranks. */
    TRY(tb_mpi_comm_guided(MPI_COMM_WORLD, job, "hwloc://Machine", 0, &made));
    MPI_Comm_size(made, &found);
    if (found != node_size)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_free(&made);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    static const int MEASURES[] = { TB_MEASURE_HOPS, TB_MEASURE_BANDWIDTH };
    for (int i = 0; i < 2; i++) {
        TRY(tb_mpi_hw_dist_graph(job, links, world, MEASURES[i], cluster, nodes, &count, ranks, in, out));
        written += snprintf(line + written, sizeof line - (size_t)written, i ? " bandwidth" : " hops");
        for (int at = 0; at < count; at++)
            if (nodes[ranks[at]] != nodes[own])
                written += snprintf(line + written, sizeof line - (size_t)written, " %d:%d", ranks[at], out[at]);
        TRY(tb_mpi_dist_graph_comm(MPI_COMM_WORLD, job, links, MEASURES[i], cluster, nodes, 0, &made));
        MPI_Dist_graph_neighbors(made, 64, back[0], back[1], 64, back[2], back[3]);
        if (memcmp(back[1], in, (size_t)count * sizeof *in) || memcmp(back[3], out, (size_t)count * sizeof *out))
            MPI_Abort(MPI_COMM_WORLD, 3);
        MPI_Comm_free(&made);
        /* Without a cluster this is unknown. */
        TRY(tb_mpi_dist_graph_comm(MPI_COMM_WORLD, job, links, MEASURES[i], NULL, NULL, 0, &made));
        MPI_Dist_graph_neighbors(made, 64, back[0], back[1], 64, back[2], back[3]);
        for (int at = 0; at < count; at++)
            if ((nodes[back[0][at]] != nodes[own]) != (back[1][at] == TB_MPI_UNKNOWN) && i == 0)
                MPI_Abort(MPI_COMM_WORLD, 4);
        MPI_Comm_free(&made);
    }
    MPI_Group_free(&world);
    snprintf(line + written, sizeof line - (size_t)written, "\n");
    write_in_rank_order(line, sizeof line);
    free(nodes);
    tb_links_free(links);
    tb_job_free(job);
    MPI_Finalize();
    return 0;
}
