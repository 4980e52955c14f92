/* Deals the GPUs of the adopted topology to the ranks of jobs, and prints a line for each rank: the
 * number of the job among the arguments, the local rank, and its GPU. */

#include <stdio.h>
#include <stdlib.h>
#include <topobroker.h>

#define OK(call)                                                               \
    do {                                                                       \
        if ((call) != TB_OK) {                                                 \
            fprintf(stderr, "%s: %s\n", #call, tb_error_detail());             \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

static void deal(const tb_topology *topology, int number, const char *file)
{
    tb_obj gpus[256], dealt[256];
    tb_set *sets[256];
    size_t devices, ranks, dealt_count, rank;
    tb_obj_data data;
    tb_job *job;

    OK(tb_job_adopt(topology, file, &job));
    OK(tb_gpus(topology, gpus, 256, &devices));
    ranks = tb_job_rank_count(job);
    if (devices > 256 || ranks > 256)
        exit(2);
    for (rank = 0; rank < ranks; rank++) {
        sets[rank] = tb_set_new();
        OK(tb_job_local_rank(job, rank, NULL, sets[rank]));
    }
    OK(tb_devices_assign(topology, gpus, devices, (const tb_set *const *)sets, ranks, 1, dealt, 256, &dealt_count));
    if (dealt_count != ranks)
        exit(3);
    for (rank = 0; rank < ranks; rank++) {
        OK(tb_obj_get(topology, dealt[rank], &data, sizeof data));
        printf("%d %zu %s\n", number, rank, data.name);
        tb_set_free(sets[rank]);
    }
    tb_job_free(job);
}

int main(int argc, char **argv)
{
    const tb_topology *topology;
    int number;

    OK(tb_adopt(&topology));
    for (number = 1; number < argc; number++)
        deal(topology, number - 1, argv[number]);
    return 0;
}
