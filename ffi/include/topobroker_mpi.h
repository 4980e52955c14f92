/* topobroker_mpi: real communicators from the hardware groups of a job.
 *
 * There is no library: all code is in this header. Include it after the mpi.h of any MPI from 3.0
 * on, and link libtopobroker-reader and that MPI. All functions return MPI_SUCCESS or an error
 * class of MPI: MPI_ERR_ARG if an argument is wrong, such as a URI, MPI_ERR_NO_MEM, or
 * MPI_ERR_OTHER if the job does not fit the processes; tb_error_detail() says more. Processes of a
 * communicator must all be of the job, whose ranks are those of MPI_COMM_WORLD. A process that is
 * not bound is only on the machine, and on the GPUs and NICs that it was given; and one that is
 * bound to PUs of several instances is on no instance: it gets MPI_COMM_NULL.
 *
 * What communicates: tb_mpi_groups, tb_mpi_hw_resource_info, tb_mpi_hw_dist_graph and
 * tb_mpi_uri_matches are local. tb_mpi_comm_guided, tb_mpi_comm_resource_guided,
 * tb_mpi_comm_nvlink, tb_mpi_comm_unguided, tb_mpi_comm_node and tb_mpi_dist_graph_comm are
 * collective over the communicator, tb_mpi_nodes over MPI_COMM_WORLD, tb_mpi_comm_from_group over
 * the group. A process whose arguments are wrong takes part all the same and gets MPI_COMM_NULL, so
 * that no other one waits for it. */

#ifndef TOPOBROKER_MPI_H
#define TOPOBROKER_MPI_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <topobroker.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The ranks of a communicator that are on the same hardware resources. */
typedef struct tb_mpi_group {
    /* In the order of their ranks in the communicator. The caller frees it; tb_mpi_groups_free
     * does. */
    MPI_Group group;
    /* What they share: the URIs of all instances, with a space between two. */
    char *uris;
} tb_mpi_group;

/* Ranks in MPI_COMM_WORLD of the processes of a communicator, in its order; -1 for others. The
 * caller frees the array. */
static inline int tb_mpi_world_ranks(MPI_Comm comm, int **ranks, int *size)
{
    MPI_Group own, world;
    int *own_ranks, i, error = MPI_SUCCESS;

    MPI_Comm_size(comm, size);
    MPI_Comm_group(comm, &own);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    *ranks = (int *)malloc((size_t)*size * sizeof **ranks);
    own_ranks = (int *)malloc((size_t)*size * sizeof *own_ranks);
    if (*ranks && own_ranks) {
        for (i = 0; i < *size; i++)
            own_ranks[i] = i;
        error = MPI_Group_translate_ranks(own, *size, own_ranks, world, *ranks);
        for (i = 0; i < *size; i++)
            if ((*ranks)[i] == MPI_UNDEFINED)
                (*ranks)[i] = -1;
    } else {
        error = MPI_ERR_NO_MEM;
    }
    free(own_ranks);
    MPI_Group_free(&own);
    MPI_Group_free(&world);
    if (error != MPI_SUCCESS) {
        free(*ranks);
        *ranks = NULL;
    }
    return error;
}

/* Rank of this process in its job. */
static inline uint32_t tb_mpi_rank(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return (uint32_t)rank;
}

/* The class of MPI for a status of ours. */
static inline int tb_mpi_error(tb_status status)
{
    switch (status) {
    case TB_OK:
        return MPI_SUCCESS;
    case TB_ERR_ARGUMENT:
    case TB_ERR_TEXT:
        return MPI_ERR_ARG;
    default:
        return MPI_ERR_OTHER;
    }
}

/* Whether one of some URIs, which spaces separate, is an instance of a type, or a certain instance.
 * hwloc://Group is any of Group0, Group1 and so on. Counterpart: uricmp of the proposal to the MPI
 * Forum. */
static inline bool tb_mpi_uri_matches(const char *uris, const char *wanted)
{
    char text[64];
    size_t length;

    if (tb_hw_uri(wanted, text, sizeof text, &length) != TB_OK)
        return false;
    while (*uris) {
        size_t word = strcspn(uris, " "), end = length;
        if (word >= length && !memcmp(uris, text, length)) {
            if (!strcmp(text, "hwloc://Group"))
                end += strspn(uris + end, "0123456789");
            if (word == end || uris[end] == '/')
                return true;
        }
        uris += word;
        uris += strspn(uris, " ");
    }
    return false;
}

/* Frees what tb_mpi_groups stored. */
static inline void tb_mpi_groups_free(int count, tb_mpi_group *groups)
{
    int i;
    for (i = 0; i < count; i++) {
        if (groups[i].group != MPI_GROUP_NULL)
            MPI_Group_free(&groups[i].group);
        free(groups[i].uris);
    }
    free(groups);
}

static inline int tb_mpi_compare_ranks(const void *one, const void *other)
{
    int a = *(const int *)one, b = *(const int *)other;
    return (a > b) - (a < b);
}

/* The group of the processes of `comm` that are on an instance. `world` and `ranks` have room
 * for all ranks of the job on this node. */
static inline int tb_mpi_group_on(const tb_job *job, const char *uri, MPI_Group comm, int *world,
                                  int *ranks, MPI_Group *group)
{
    size_t count, place;
    int found = 0, error, size;
    MPI_Group all;
    tb_status status = tb_hw_ranks(job, uri, (uint32_t *)world, tb_job_rank_count(job), &count);

    if (status != TB_OK)
        return tb_mpi_error(status);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (place = 0; place < count; place++)
        if (world[place] < 0 || world[place] >= size)
            return MPI_ERR_OTHER;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    error = MPI_Group_translate_ranks(all, (int)count, world, comm, ranks);
    MPI_Group_free(&all);
    if (error != MPI_SUCCESS)
        return error;
    for (place = 0; place < count; place++)
        if (ranks[place] != MPI_UNDEFINED)
            ranks[found++] = ranks[place];
    qsort(ranks, (size_t)found, sizeof *ranks, tb_mpi_compare_ranks);
    return MPI_Group_incl(comm, found, ranks, group);
}

/* Stores the groups of processes of `comm` that are on the same hardware resource as this one,
 * the largest of the job first, and their number. A group of this process alone is left
 * out, unless `least` is 1. Local: no process is asked, and no communicator is made. Free them
 * with tb_mpi_groups_free. Counterpart: MPI_Hw_groups_get of the proposal to the MPI Forum. */
static inline int tb_mpi_groups(const tb_job *job, MPI_Comm comm, int least, int *count,
                                tb_mpi_group **groups)
{
    /* More types than a topology can have. */
    enum { MOST = 320 };
    size_t rows_found = 0, row;
    size_t here = tb_job_rank_count(job);
    tb_hw_group *rows = (tb_hw_group *)malloc(MOST * sizeof *rows);
    int *world = (int *)malloc((here ? here : 1) * sizeof *world);
    int *ranks = (int *)malloc((here ? here : 1) * sizeof *ranks);
    tb_mpi_group *found = (tb_mpi_group *)calloc(MOST, sizeof *found);
    int known = 0, error = MPI_ERR_NO_MEM;
    MPI_Group all;

    *count = 0;
    *groups = NULL;
    MPI_Comm_group(comm, &all);
    if (rows && world && ranks && found)
        error = tb_mpi_error(tb_hw_groups(job, tb_mpi_rank(), 1, rows, sizeof *rows, MOST, &rows_found));
    for (row = 0; error == MPI_SUCCESS && row < rows_found && row < MOST; row++) {
        MPI_Group group;
        int members, other, same = -1;
        char *uris;

        error = tb_mpi_group_on(job, rows[row].uri, all, world, ranks, &group);
        if (error != MPI_SUCCESS)
            break;
        MPI_Group_size(group, &members);
        /* Groups that differ in the job may be the same in the communicator. */
        for (other = 0; other < known && same < 0; other++) {
            int compared;
            MPI_Group_compare(group, found[other].group, &compared);
            if (compared == MPI_IDENT)
                same = other;
        }
        if (members < least || same >= 0)
            MPI_Group_free(&group);
        if (members < least)
            continue;
        if (same < 0) {
            same = known++;
            found[same].group = group;
        }
        uris = (char *)realloc(found[same].uris, (found[same].uris ? strlen(found[same].uris) : 0) +
                                                     sizeof rows[row].uri + 1);
        if (!uris) {
            error = MPI_ERR_NO_MEM;
            break;
        }
        if (!found[same].uris)
            uris[0] = 0;
        else
            strcat(uris, " ");
        found[same].uris = strcat(uris, rows[row].uri);
    }
    free(rows);
    free(ranks);
    free(world);
    MPI_Group_free(&all);
    if (error != MPI_SUCCESS) {
        if (found)
            tb_mpi_groups_free(known, found);
        return error;
    }
    *count = known;
    *groups = found;
    return MPI_SUCCESS;
}

/* Makes the communicator of the processes of `comm` on this node. Collective. */
static inline int tb_mpi_comm_node(MPI_Comm comm, MPI_Comm *node)
{
    int rank;

    MPI_Comm_rank(comm, &rank);
    return MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, node);
}

/* Splits `comm`: a communicator for the processes on each instance of a type of hardware
 * resource, in the order of `key`, then of their ranks. All processes give the same URI.
 * Processes on no instance, or on several, get MPI_COMM_NULL. Counterpart: MPI_Comm_split_type
 * with MPI_COMM_TYPE_HW_GUIDED. */
static inline int tb_mpi_comm_guided(MPI_Comm comm, const tb_job *job, const char *uri, int key,
                                     MPI_Comm *newcomm)
{
    size_t here = tb_job_rank_count(job), place;
    int32_t *colours = (int32_t *)malloc((here ? here : 1) * sizeof *colours);
    int colour = MPI_UNDEFINED, is_here = 0, error, result;
    uint32_t rank = tb_mpi_rank(), other;
    MPI_Comm node;

    error = colours ? tb_mpi_error(tb_hw_guided(job, uri, colours, here, NULL)) : MPI_ERR_NO_MEM;
    for (place = 0; error == MPI_SUCCESS && !is_here && place < here; place++) {
        error = tb_mpi_error(tb_job_local_rank(job, place, &other, NULL));
        is_here = error == MPI_SUCCESS && other == rank;
        if (is_here && colours[place] >= 0)
            colour = colours[place];
    }
    if (error == MPI_SUCCESS && !is_here)
        error = MPI_ERR_OTHER;
    free(colours);
    *newcomm = MPI_COMM_NULL;
    result = tb_mpi_comm_node(comm, &node);
    if (result == MPI_SUCCESS) {
        result = MPI_Comm_split(node, colour, key, newcomm);
        MPI_Comm_free(&node);
    }
    return error != MPI_SUCCESS ? error : result;
}

/* The longest name of an NVLink domain, with its zero. */
enum { TB_MPI_DOMAIN = 64 };

/* Splits `comm`: a communicator for the processes whose GPUs are in one NVLink domain, in the order
 * of `key`, then of their ranks. A domain may be over several nodes, if the driver says so;
 * otherwise it is on one. Processes without such GPUs get MPI_COMM_NULL. Counterpart: nvlink of
 * Open MPI's mpi_hw_resource_type. Collective. */
static inline int tb_mpi_comm_nvlink(MPI_Comm comm, const tb_job *job, int key, MPI_Comm *newcomm)
{
    char own[TB_MPI_DOMAIN] = "", *all;
    int size, rank, other, colour = MPI_UNDEFINED, error, result;
    MPI_Comm node;

    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    *newcomm = MPI_COMM_NULL;
    /* If one process has no memory, all stop. */
    all = (char *)malloc((size_t)size * sizeof own);
    other = all != NULL;
    error = MPI_Allreduce(&other, &result, 1, MPI_INT, MPI_MIN, comm);
    if (error != MPI_SUCCESS || !result) {
        free(all);
        return error != MPI_SUCCESS ? error : MPI_ERR_NO_MEM;
    }
    error = tb_mpi_comm_guided(comm, job, "topobroker://NVLinkDomain", 0, &node);
    /* A domain of one node is named by its first process. */
    result = rank;
    if (node != MPI_COMM_NULL) {
        MPI_Bcast(&result, 1, MPI_INT, 0, node);
        MPI_Comm_free(&node);
        if (tb_job_nvlink_domain(job, tb_mpi_rank(), own, sizeof own, NULL) != TB_OK)
            snprintf(own, sizeof own, "%d", result);
    }
    result = MPI_Allgather(own, sizeof own, MPI_CHAR, all, sizeof own, MPI_CHAR, comm);
    for (other = 0; result == MPI_SUCCESS && colour == MPI_UNDEFINED && other <= rank; other++)
        if (error == MPI_SUCCESS && own[0] && !strcmp(own, all + (size_t)other * sizeof own))
            colour = other;
    free(all);
    if (result == MPI_SUCCESS)
        result = MPI_Comm_split(comm, colour, key, newcomm);
    return error != MPI_SUCCESS ? error : result;
}

/* Splits `comm` by what `info` says under one of two keys, which is the same in all processes:
 * mpi_hw_resource_type, as tb_mpi_comm_guided does, or mpi_pset_name, the name of a set of
 * processes: mpi://WORLD or mpi://SELF, which are those that an MPI before 4.0 knows. Both at once
 * are an error. Without a key, or with a name that is not known, all processes get MPI_COMM_NULL.
 * Counterpart: MPI_Comm_split_type with MPI_COMM_TYPE_RESOURCE_GUIDED. */
static inline int tb_mpi_comm_resource_guided(MPI_Comm comm, const tb_job *job, MPI_Info info, int key,
                                              MPI_Comm *newcomm)
{
    char type[MPI_MAX_INFO_VAL + 1] = "", set[MPI_MAX_INFO_VAL + 1] = "";
    int has_type = 0, has_set = 0, rank;

    *newcomm = MPI_COMM_NULL;
    if (info != MPI_INFO_NULL) {
        MPI_Info_get(info, "mpi_hw_resource_type", MPI_MAX_INFO_VAL, type, &has_type);
        MPI_Info_get(info, "mpi_pset_name", MPI_MAX_INFO_VAL, set, &has_set);
    }
    if (has_type && has_set)
        return MPI_ERR_ARG;
    if (has_type)
        return tb_mpi_comm_guided(comm, job, type, key, newcomm);
    MPI_Comm_rank(comm, &rank);
    if (has_set && !strcmp(set, "mpi://WORLD"))
        return MPI_Comm_split(comm, 0, key, newcomm);
    if (has_set && !strcmp(set, "mpi://SELF"))
        return MPI_Comm_split(comm, rank, key, newcomm);
    return MPI_SUCCESS;
}

/* Splits `comm` by the outermost resource of which not all of its processes are on the same
 * instance: nodes, if it has several. Each new communicator has fewer processes. `info`, unless
 * it is MPI_INFO_NULL, gets the type as mpi_hw_resource_type. Counterpart: MPI_Comm_split_type
 * with MPI_COMM_TYPE_HW_UNGUIDED. */
static inline int tb_mpi_comm_unguided(MPI_Comm comm, const tb_job *job, int key, MPI_Info info,
                                       MPI_Comm *newcomm)
{
    char uri[64] = "hwloc://Machine";
    int colour = MPI_UNDEFINED, size, size_here = 0, own, i, error, result, *world = NULL;
    int32_t *colours;
    MPI_Comm node;

    *newcomm = MPI_COMM_NULL;
    error = tb_mpi_comm_node(comm, &node);
    if (error != MPI_SUCCESS)
        return error;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(node, &own);
    error = tb_mpi_world_ranks(node, &world, &size_here);
    if (size_here < size) {
        colour = 0;
    } else if (error == MPI_SUCCESS) {
        colours = (int32_t *)malloc((size_t)size_here * sizeof *colours);
        for (i = 0; i < size_here; i++)
            if (world[i] < 0)
                error = MPI_ERR_OTHER;
        if (!colours)
            error = MPI_ERR_NO_MEM;
        if (error == MPI_SUCCESS)
            error = tb_mpi_error(tb_hw_unguided(job, (const uint32_t *)world, (size_t)size_here, colours,
                                                (size_t)size_here, NULL));
        if (error == MPI_SUCCESS && colours[own] >= 0) {
            colour = colours[own];
            error = tb_mpi_error(tb_hw_unguided_uri(job, (const uint32_t *)world, (size_t)size_here,
                                                    (uint32_t)world[own], uri, sizeof uri, NULL));
            if (error == MPI_SUCCESS)
                *strrchr(uri, '/') = 0;
        }
        free(colours);
    }
    free(world);
    result = MPI_Comm_split(node, error == MPI_SUCCESS ? colour : MPI_UNDEFINED, key, newcomm);
    MPI_Comm_free(&node);
    if (error == MPI_SUCCESS && result == MPI_SUCCESS && *newcomm != MPI_COMM_NULL &&
        info != MPI_INFO_NULL)
        result = MPI_Info_set(info, "mpi_hw_resource_type", uri);
    return error != MPI_SUCCESS ? error : result;
}

/* Makes a communicator of a group of processes of `comm`. Only they call it, with the same tag,
 * such as 0: the place of a group among those of tb_mpi_groups is not the same in all processes. */
static inline int tb_mpi_comm_from_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
{
    return MPI_Comm_create_group(comm, group, tag, newcomm);
}

/* Stores a new MPI_Info: for each type of hardware resource that there is, whether this process
 * is restricted to one instance of it, "true" or "false". Local. Free it with MPI_Info_free.
 * Counterpart: MPI_Get_hw_resource_info. */
static inline int tb_mpi_hw_resource_info(const tb_job *job, MPI_Info *info)
{
    enum { MOST = 320 };
    size_t found = 0, i;
    tb_hw_resource *types = (tb_hw_resource *)malloc(MOST * sizeof *types);
    int error = MPI_ERR_NO_MEM;

    *info = MPI_INFO_NULL;
    if (types)
        error = tb_mpi_error(tb_hw_resource_info(job, tb_mpi_rank(), types, sizeof *types, MOST, &found));
    if (error == MPI_SUCCESS)
        error = MPI_Info_create(info);
    for (i = 0; error == MPI_SUCCESS && i < found && i < MOST; i++)
        error = MPI_Info_set(*info, types[i].uri, types[i].is_restricted ? "true" : "false");
    free(types);
    return error;
}

/* Stores the numbers in `cluster` of the nodes of all processes, by rank in MPI_COMM_WORLD;
 * UINT32_MAX for a node that is not in it. Collective over MPI_COMM_WORLD. Free it with free. */
static inline int tb_mpi_nodes(const tb_cluster *cluster, uint32_t **nodes)
{
    uint32_t own;
    int size, error;

    if (tb_cluster_local(cluster, &own) != TB_OK)
        own = UINT32_MAX;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    *nodes = (uint32_t *)malloc((size_t)size * sizeof **nodes);
    error = *nodes ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (*nodes)
        error = MPI_Allgather(&own, 1, MPI_UINT32_T, *nodes, 1, MPI_UINT32_T, MPI_COMM_WORLD);
    return error;
}

/* What tb_mpi_hw_dist_graph says of an unknown distance. */
#define TB_MPI_UNKNOWN 2147483647

/* Whether a rank of MPI_COMM_WORLD is on another node. */
static inline bool tb_mpi_is_elsewhere(const tb_job *job, int rank)
{
    /* PMIX_LOCALITY_NONLOCAL. */
    enum { ELSEWHERE = 0x8000 };
    uint16_t locality;

    return tb_job_locality(job, tb_mpi_rank(), (uint32_t)rank, TB_LOCALITY_PMIX, &locality) == TB_OK &&
           locality == ELSEWHERE;
}

static inline int tb_mpi_weight(const tb_link_path *path, int measure)
{
    int64_t weight = -1;

    if (path->is_there) {
        switch (measure) {
        case TB_MEASURE_BANDWIDTH:
            weight = path->bandwidth;
            break;
        case TB_MEASURE_LATENCY:
            weight = path->latency;
            break;
        default:
            weight = path->hops;
        }
    }
    return weight < 0 || weight > TB_MPI_UNKNOWN ? TB_MPI_UNKNOWN : (int)weight;
}

/* Puts the ways by the fabric in the place of the weights of processes on other nodes: both ends of
 * a way say the same. */
static inline int tb_mpi_fabric_weights(const tb_job *job, int measure, const tb_cluster *cluster,
                                        const uint32_t *nodes, int count, const int *world, int *weights_in,
                                        int *weights_out)
{
    uint32_t own = nodes[tb_mpi_rank()], *others;
    tb_link_path *paths;
    int i, far = 0, error = MPI_ERR_NO_MEM, *places;

    others = (uint32_t *)malloc(((size_t)count + 1) * sizeof *others);
    places = (int *)malloc(((size_t)count + 1) * sizeof *places);
    paths = (tb_link_path *)malloc(((size_t)count + 1) * sizeof *paths);
    if (others && places && paths) {
        for (i = 0; i < count; i++) {
            if (!tb_mpi_is_elsewhere(job, world[i]))
                continue;
            weights_in[i] = weights_out[i] = TB_MPI_UNKNOWN;
            if (own == UINT32_MAX || nodes[world[i]] == UINT32_MAX)
                continue;
            others[far] = nodes[world[i]];
            places[far++] = i;
        }
        error = far == 0 ? MPI_SUCCESS
                         : tb_mpi_error(tb_cluster_distances(cluster, own, others, (size_t)far, paths, sizeof *paths,
                                                             (size_t)far, NULL));
        for (i = 0; error == MPI_SUCCESS && i < far; i++)
            weights_in[places[i]] = weights_out[places[i]] = tb_mpi_weight(&paths[i], measure);
    }
    free(others);
    free(places);
    free(paths);
    return error;
}

/* Stores how far this process is from the others of a group, and they from it: `ranks` are their
 * ranks in the group, in its order; `weights_in` and `weights_out` are MB/s, nanoseconds or numbers
 * of links, depending on the tb_measure, and TB_MPI_UNKNOWN if unknown. A process is where its
 * first GPU is, otherwise where its memory is. Each array has room for all processes of the group.
 * For processes on other nodes the distance is that from node to node in the fabric of `cluster`,
 * with the `nodes` of tb_mpi_nodes; if both are NULL, the distance to the own NIC. Local.
 * Counterpart: MPI_Group_get_hw_dist_graph of the proposal to the MPI Forum. */
static inline int tb_mpi_hw_dist_graph(const tb_job *job, tb_links *links, MPI_Group group, int measure,
                                       const tb_cluster *cluster, const uint32_t *nodes, int *count,
                                       int *ranks, int *weights_in, int *weights_out)
{
    MPI_Group all;
    int size, i, others = 0, error = MPI_ERR_NO_MEM;
    uint32_t own = tb_mpi_rank();
    int *numbers, *world;
    tb_link_path *paths;

    *count = 0;
    MPI_Group_size(group, &size);
    numbers = (int *)malloc(((size_t)size + 1) * sizeof *numbers);
    world = (int *)malloc(((size_t)size + 1) * sizeof *world);
    paths = (tb_link_path *)malloc(((size_t)size + 1) * sizeof *paths);
    if (numbers && world && paths) {
        for (i = 0; i < size; i++)
            numbers[i] = i;
        MPI_Comm_group(MPI_COMM_WORLD, &all);
        error = MPI_Group_translate_ranks(group, size, numbers, all, world);
        MPI_Group_free(&all);
        for (i = 0; error == MPI_SUCCESS && i < size; i++) {
            if (world[i] == MPI_UNDEFINED || (uint32_t)world[i] == own)
                continue;
            ranks[others] = i;
            world[others++] = world[i];
        }
    }
    *count = others;
    for (i = 0; i < others; i++)
        weights_in[i] = weights_out[i] = TB_MPI_UNKNOWN;
    if (error == MPI_SUCCESS)
        error = tb_mpi_error(tb_links_rank_paths(links, job, own, (const uint32_t *)world, (size_t)others, false,
                                             measure, paths, sizeof *paths, (size_t)others, NULL));
    for (i = 0; error == MPI_SUCCESS && i < others; i++)
        weights_out[i] = tb_mpi_weight(&paths[i], measure);
    if (error == MPI_SUCCESS)
        error = tb_mpi_error(tb_links_rank_paths(links, job, own, (const uint32_t *)world, (size_t)others, true,
                                             measure, paths, sizeof *paths, (size_t)others, NULL));
    for (i = 0; error == MPI_SUCCESS && i < others; i++)
        weights_in[i] = tb_mpi_weight(&paths[i], measure);
    if (error == MPI_SUCCESS && cluster && nodes)
        error = tb_mpi_fabric_weights(job, measure, cluster, nodes, others, world, weights_in, weights_out);
    free(numbers);
    free(world);
    free(paths);
    return error;
}

/* Makes a communicator of the processes of `comm` whose virtual topology is how far they are
 * from each other: MPI_Dist_graph_neighbors gives what tb_mpi_hw_dist_graph says. Without a
 * cluster it gives TB_MPI_UNKNOWN for processes on other nodes, because MPI demands that both ends
 * of an edge say the same. `reorder` is MPI's. Collective: if it fails at one process, it fails at
 * all. */
static inline int tb_mpi_dist_graph_comm(MPI_Comm comm, const tb_job *job, tb_links *links, int measure,
                                         const tb_cluster *cluster, const uint32_t *nodes, int reorder,
                                         MPI_Comm *newcomm)
{
    MPI_Group group;
    int size, count = 0, *ranks, *in, *out, *world = NULL, error, failed, i;

    *newcomm = MPI_COMM_NULL;
    MPI_Comm_size(comm, &size);
    ranks = (int *)malloc(3 * (size_t)size * sizeof *ranks);
    in = ranks ? ranks + size : NULL;
    out = ranks ? in + size : NULL;
    error = ranks ? tb_mpi_world_ranks(comm, &world, &size) : MPI_ERR_NO_MEM;
    if (error == MPI_SUCCESS) {
        MPI_Comm_group(comm, &group);
        error = tb_mpi_hw_dist_graph(job, links, group, measure, cluster, nodes, &count, ranks, in, out);
        MPI_Group_free(&group);
    }
    for (i = 0; error == MPI_SUCCESS && i < count && !(cluster && nodes); i++)
        if (tb_mpi_is_elsewhere(job, world[ranks[i]]))
            in[i] = out[i] = TB_MPI_UNKNOWN;
    failed = error != MPI_SUCCESS;
    i = MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, comm);
    if (error == MPI_SUCCESS && i != MPI_SUCCESS)
        error = i;
    if (error == MPI_SUCCESS && failed)
        error = MPI_ERR_OTHER;
    if (error == MPI_SUCCESS)
        error = MPI_Dist_graph_create_adjacent(comm, count, ranks, in, count, ranks, out, MPI_INFO_NULL,
                                               reorder, newcomm);
    free(world);
    free(ranks);
    return error;
}

#ifdef __cplusplus
}
#endif

#endif
