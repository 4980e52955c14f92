/* The launcher side of a DVM: one topology for the node, and two jobs that each see half of its
 * PUs, with ranks placed by core. The processes of a job are started with its environment.
 *
 *     dvm PROGRAM [ARGUMENT...] */

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <topobroker.h>
#include <topobroker_sched.h>
#include <unistd.h>

#define RANKS 2

static void check(tb_status status, const char *what)
{
    if (status != TB_OK) {
        fprintf(stderr, "dvm: %s: %s: %s\n", what, tb_strerror(status), tb_error_detail());
        exit(1);
    }
}

/* Starts the ranks of a job, each bound to its set if the topology is of this machine: the job only
 * says where they belong. PRTE_LAUNCHED shows them that PRRTE launched them. */
static int start(const tb_topology *topology, const tb_job_publication *job, tb_set *const *sets, char **argv)
{
    const char *name, *value;
    for (unsigned rank = 0; rank < RANKS; rank++) {
        char text[16];
        pid_t child = fork();
        if (child < 0)
            return 1;
        if (child > 0)
            continue;
        for (size_t i = 0; tb_job_publication_env(job, i, &name, &value) == TB_OK; i++)
            setenv(name, value, 1);
        snprintf(text, sizeof text, "%u", rank);
        setenv("PMIX_RANK", text, 1);
        setenv("PRTE_LAUNCHED", "1", 1);
        if (tb_topology_is_this_system(topology) && tb_bind_this_thread(sets[rank]) != 0)
            perror("bind");
        execv(argv[0], argv);
        perror(argv[0]);
        _exit(127);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *names[2] = { "first", "second" };
    const tb_topology *topology;
    tb_description *machine;
    tb_publication *published;
    tb_job_publication *jobs[2];
    tb_keys keys;
    uint32_t ranks[RANKS] = { 0, 1 };
    size_t pus;
    int failures = 0;

    if (argc < 2) {
        fprintf(stderr, "usage: dvm PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    check(tb_description_from_synthetic("Package:2 Core:4 PU:2", &machine), "capture");
    check(tb_publish(machine, NULL, 0, &published), "publish");
    tb_description_free(machine);
    check(tb_publication_keys(published, &keys, sizeof keys), "keys");
    check(tb_adopt_keys(&keys, sizeof keys, &topology), "adopt");
    pus = tb_objs_count_with_type(topology, TB_PU);

    for (int i = 0; i < 2; i++) {
        tb_topology *half;
        tb_set *cpus = tb_set_new(), *sets[RANKS] = { tb_set_new(), tb_set_new() };
        const tb_set *placed[RANKS] = { sets[0], sets[1] };
        char line[256];

        for (size_t pu = 0; pu < pus / 2; pu++)
            check(tb_set_add(cpus, (uint32_t)(i * (pus / 2) + pu)), "set");
        check(tb_view_new(topology, cpus, TB_RESTRICT_REMOVE_CPULESS, &half), "view");
        check(tb_place(half, "core", NULL, NULL, 0, sets, RANKS), "place");
        check(tb_job_add(half, names[i], ranks, placed, RANKS, TB_JOB_WITH_THIS_PROCESS, false, NULL, 0, &jobs[i]),
              "add the job");
        for (unsigned rank = 0; rank < RANKS; rank++) {
            check(tb_binding_report(topology, rank, sets[rank], false, line, sizeof line, NULL), "report");
            printf("job %s: %s\n", names[i], line);
        }
        fflush(stdout);
        failures += start(topology, jobs[i], sets, argv + 1);
        for (unsigned rank = 0; rank < RANKS; rank++)
            tb_set_free(sets[rank]);
        tb_set_free(cpus);
        tb_topology_free(half);
    }
    for (int i = 0; i < 2 * RANKS; i++) {
        int status;
        failures += wait(&status) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    }
    tb_job_publication_free(jobs[0]);
    tb_job_publication_free(jobs[1]);
    check(tb_unpublish(published), "unpublish");
    return failures == 0 ? 0 : 1;
}
