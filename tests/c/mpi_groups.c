/* Real communicators from the hardware groups of a job: mpi_groups URI... Each rank writes a
 * line for each communicator and group that it gets, with ranks in MPI_COMM_WORLD, or "none". */
#include <mpi.h>
#include <stdio.h>
#include <topobroker_mpi.h>
#include "rank_order.h"

static const tb_topology *topology;
static tb_job *job;
static tb_links *links;
static int own;
static char lines[1 << 17];

#define TRY(call)                                                                                  \
    do {                                                                                           \
        int error_ = (call);                                                                       \
        if (error_ != MPI_SUCCESS) {                                                               \
            fprintf(stderr, "%d: %s: %d %s\n", own, #call, error_, tb_error_detail());             \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                          \
        }                                                                                          \
    } while (0)

static void add(const char *text) {
    strcat(lines, text);
}

static void add_group(MPI_Group group) {
    MPI_Group world;
    int size, ranks[256], of_world[256];
    char text[32];

    MPI_Group_size(group, &size);
    for (int i = 0; i < size; i++)
        ranks[i] = i;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(group, size, ranks, world, of_world);
    for (int i = 0; i < size; i++) {
        snprintf(text, sizeof text, "%s%d", i ? "," : " ", of_world[i]);
        add(text);
    }
    MPI_Group_free(&world);
}

/* Adds the members, uses the communicator, and frees it. */
static void add_comm(MPI_Comm *comm) {
    MPI_Group group;
    int size, sum = 0, one = 1;

    if (*comm == MPI_COMM_NULL) {
        add(" none\n");
        return;
    }
    MPI_Comm_group(*comm, &group);
    add_group(group);
    add("\n");
    MPI_Group_free(&group);
    MPI_Comm_size(*comm, &size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, *comm);
    if (sum != size)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_free(comm);
}

static void start(const char *name, const char *what) {
    char text[128];
    snprintf(text, sizeof text, "%d %s %s", own, name, what);
    add(text);
}

/* Splits a communicator until nothing is left to split. */
static void split(const char *name, MPI_Comm comm) {
    MPI_Comm part;
    MPI_Info info;
    int before, after, has_type = 0;
    char type[64];

    MPI_Info_create(&info);
    TRY(tb_mpi_comm_unguided(comm, job, 0, info, &part));
    MPI_Info_get(info, "mpi_hw_resource_type", sizeof type - 1, type, &has_type);
    MPI_Info_free(&info);
    if (part == MPI_COMM_NULL) {
        if (has_type)
            MPI_Abort(MPI_COMM_WORLD, 3);
        return;
    }
    MPI_Comm_size(comm, &before);
    MPI_Comm_size(part, &after);
    if (after >= before || !has_type)
        MPI_Abort(MPI_COMM_WORLD, 4);
    start(name, "unguided ");
    add(type);
    MPI_Group group;
    MPI_Comm_group(part, &group);
    add_group(group);
    add("\n");
    MPI_Group_free(&group);
    split(name, part);
    MPI_Comm_free(&part);
}

/* Adds the distances of each measure, and checks that MPI gives them back. */
static void distances(const char *name, MPI_Comm comm) {
    static const char *MEASURES[] = { "bandwidth", "latency", "hops" };
    int ranks[256], in[256], out[256], back[4][256], count, indegree, outdegree, weighted;
    MPI_Group group;
    MPI_Comm made;

    MPI_Comm_group(comm, &group);
    for (int measure = 0; measure < 3; measure++) {
        TRY(tb_mpi_hw_dist_graph(job, links, group, measure, NULL, NULL, &count, ranks, in, out));
        start(name, "distances ");
        add(MEASURES[measure]);
        for (int i = 0; i < count; i++) {
            char text[64];
            snprintf(text, sizeof text, " %d:%d:%d", ranks[i], in[i], out[i]);
            add(text);
        }
        add("\n");
        TRY(tb_mpi_dist_graph_comm(comm, job, links, measure, NULL, NULL, 0, &made));
        MPI_Dist_graph_neighbors_count(made, &indegree, &outdegree, &weighted);
        MPI_Dist_graph_neighbors(made, 256, back[0], back[1], 256, back[2], back[3]);
        size_t length = (size_t)count * sizeof *ranks;
        if (indegree != count || outdegree != count || !weighted || memcmp(back[0], ranks, length) ||
            memcmp(back[2], ranks, length) || memcmp(back[1], in, length) || memcmp(back[3], out, length))
            MPI_Abort(MPI_COMM_WORLD, 7);
        MPI_Comm_free(&made);
    }
    MPI_Group_free(&group);
}

/* Splits by an info with a type, with both keys, which is wrong, and with a set of processes. */
static void resource_guided(const char *name, MPI_Comm comm, const char *uri) {
    MPI_Comm made;
    MPI_Info info;
    int size;

    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_hw_resource_type", uri);
    TRY(tb_mpi_comm_resource_guided(comm, job, info, 0, &made));
    start(name, "guided ");
    add(uri);
    add_comm(&made);
    MPI_Info_set(info, "mpi_pset_name", "mpi://SELF");
    if (tb_mpi_comm_resource_guided(comm, job, info, 0, &made) != MPI_ERR_ARG)
        MPI_Abort(MPI_COMM_WORLD, 8);
    MPI_Info_delete(info, "mpi_hw_resource_type");
    TRY(tb_mpi_comm_resource_guided(comm, job, info, 0, &made));
    MPI_Comm_size(made, &size);
    if (size != 1)
        MPI_Abort(MPI_COMM_WORLD, 9);
    MPI_Comm_free(&made);
    MPI_Info_free(&info);
}

static void ask(const char *name, MPI_Comm comm, int count, char **uris) {
    MPI_Comm made;
    tb_mpi_group *groups;
    int found;

    for (int i = 0; i < count; i++) {
        TRY(tb_mpi_comm_guided(comm, job, uris[i], 0, &made));
        start(name, "guided ");
        add(uris[i]);
        add_comm(&made);
    }
    resource_guided(name, comm, uris[0]);
    split(name, comm);
    TRY(tb_mpi_groups(job, comm, 2, &found, &groups));
    for (int i = 0; i < found; i++) {
        if (!tb_mpi_uri_matches(groups[i].uris, "machine") && strstr(groups[i].uris, "Machine"))
            MPI_Abort(MPI_COMM_WORLD, 5);
        start(name, "group");
        add_group(groups[i].group);
        add(" ");
        add(groups[i].uris);
        add("\n");
        start(name, "comm");
        TRY(tb_mpi_comm_from_group(comm, groups[i].group, 0, &made));
        add_comm(&made);
    }
    tb_mpi_groups_free(found, groups);
    distances(name, comm);
}

int main(int argc, char **argv) {
    MPI_Comm odd, made;
    MPI_Info info;
    int keys, flag, size;
    char key[MPI_MAX_INFO_KEY + 1], value[8];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (tb_adopt(&topology) != TB_OK || tb_job_adopt(topology, NULL, &job) != TB_OK) {
        fprintf(stderr, "%s\n", tb_error_detail());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (tb_links_new(topology, false, false, &links) != TB_OK)
        MPI_Abort(MPI_COMM_WORLD, 1);
    ask("world", MPI_COMM_WORLD, argc - 1, argv + 1);
    /* Ranks in another order, and not all of them. */
    MPI_Comm_split(MPI_COMM_WORLD, own % 2, size - own, &odd);
    ask(own % 2 ? "odd" : "even", odd, argc - 1 < 5 ? argc - 1 : 5, argv + 1);
    MPI_Comm_free(&odd);
    TRY(tb_mpi_hw_resource_info(job, &info));
    MPI_Info_get_nkeys(info, &keys);
    for (int i = 0; i < keys; i++) {
        MPI_Info_get_nthkey(info, i, key);
        MPI_Info_get(info, key, sizeof value - 1, value, &flag);
        start("world", "info ");
        add(key);
        add(" ");
        add(value);
        add("\n");
    }
    MPI_Info_free(&info);
    /* One process is wrong, and no other one waits for it. */
    int error = tb_mpi_comm_guided(MPI_COMM_WORLD, job, own ? "core" : "corefoo", 0, &made);
    if (made != MPI_COMM_NULL)
        MPI_Comm_free(&made);
    if (error != (own ? MPI_SUCCESS : MPI_ERR_ARG))
        MPI_Abort(MPI_COMM_WORLD, 6);
    tb_links_free(links);
    tb_job_free(job);
    write_in_rank_order(lines, sizeof lines);
    MPI_Finalize();
    return 0;
}
