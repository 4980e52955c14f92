/* A PMIx server that embeds the broker: publishes a topology with legacy files, registers one
 * namespace with its keys, starts clients, and withdraws everything when they have ended.
 *
 *     pmix_server nspace|resources|job|ranks SYNTHETIC|XML UID COUNT CLIENT [ARGUMENT...]
 *
 * With `nspace`, the keys are registered with the namespace. With `resources`, they are
 * registered for all namespaces, as resources of the node. With `job`, the namespace is a job
 * that sees the first half of the PUs. With `ranks`, each rank is bound to the PU of its number, and
 * everybody gets it from the namespace; the last rank is not bound. */

#define _GNU_SOURCE
#include <grp.h>
#include <pmix.h>
#include <pmix_server.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <topobroker.h>
#include <unistd.h>

static const pmix_nspace_t NSPACE = "topobroker-test";

static void check(tb_status status, const char *what)
{
    if (status != TB_OK) {
        fprintf(stderr, "pmix_server: %s: %s: %s\n", what, tb_strerror(status), tb_error_detail());
        exit(1);
    }
}

static void check_pmix(pmix_status_t status, const char *what)
{
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED) {
        fprintf(stderr, "pmix_server: %s: %s\n", what, PMIx_Error_string(status));
        exit(1);
    }
}

static volatile int done;

static void completed(pmix_status_t status, void *data)
{
    (void)data;
    check_pmix(status, "registering");
    done = 1;
}

static void wait_done(void)
{
    while (!done)
        usleep(1000);
    done = 0;
}

static pmix_status_t connected(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t callback, void *data)
{
    (void)proc, (void)object;
    if (callback != NULL)
        callback(PMIX_SUCCESS, data);
    return PMIX_SUCCESS;
}

static pmix_status_t finalized(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t callback, void *data)
{
    return connected(proc, object, callback, data);
}

/* All ranks are of this server, so what they have put is all there is. */
static pmix_status_t fence(const pmix_proc_t *procs, size_t count, const pmix_info_t *infos, size_t info_count,
                           char *data, size_t size, pmix_modex_cbfunc_t callback, void *given)
{
    (void)procs, (void)count, (void)infos, (void)info_count;
    callback(PMIX_SUCCESS, data, size, given, NULL, NULL);
    return PMIX_SUCCESS;
}

#define OWN 8

/* Fills in the entries that PMIx needs of every namespace: one node, with all ranks on it. */
static void register_usual(pmix_info_t *infos, uint32_t size, uid_t user)
{
    char host[256], ranks[1024] = "0", *nodes, *places;
    uint32_t id = user;

    check_pmix(gethostname(host, sizeof host), "gethostname");
    for (uint32_t rank = 1; rank < size; rank++)
        snprintf(ranks + strlen(ranks), sizeof ranks - strlen(ranks), ",%u", rank);
    check_pmix(PMIx_generate_regex(host, &nodes), "nodes");
    check_pmix(PMIx_generate_ppn(ranks, &places), "places");
    PMIX_INFO_LOAD(&infos[0], PMIX_JOB_SIZE, &size, PMIX_UINT32);
    PMIX_INFO_LOAD(&infos[1], PMIX_UNIV_SIZE, &size, PMIX_UINT32);
    PMIX_INFO_LOAD(&infos[2], PMIX_LOCAL_SIZE, &size, PMIX_UINT32);
    PMIX_INFO_LOAD(&infos[3], PMIX_LOCAL_PEERS, ranks, PMIX_STRING);
    PMIX_INFO_LOAD(&infos[4], PMIX_NODE_MAP, nodes, PMIX_STRING);
    PMIX_INFO_LOAD(&infos[5], PMIX_PROC_MAP, places, PMIX_STRING);
    PMIX_INFO_LOAD(&infos[6], PMIX_USERID, &id, PMIX_UINT32);
    PMIX_INFO_LOAD(&infos[7], PMIX_GRPID, &id, PMIX_UINT32);
    free(nodes);
    free(places);
}

/* Adds a job that has the first half of the PUs. */
static tb_job_publication *add_job(const tb_publication *published)
{
    const tb_topology *topology;
    tb_job_publication *job;
    tb_topology *half;
    tb_set *cpus = tb_set_new();
    tb_keys keys;

    check(tb_publication_keys(published, &keys, sizeof keys), "keys");
    check(tb_adopt_keys(&keys, sizeof keys, &topology), "adopt");
    for (size_t pu = 0; pu < tb_objs_count_with_type(topology, TB_PU) / 2; pu++)
        check(tb_set_add(cpus, (uint32_t)pu), "set");
    check(tb_view_new(topology, cpus, TB_RESTRICT_REMOVE_CPULESS, &half), "view");
    check(tb_job_add(half, "half", NULL, NULL, 0, TB_JOB_WITH_THIS_PROCESS, true, NULL, 0, &job), "add the job");
    tb_topology_free(half);
    tb_set_free(cpus);
    return job;
}

/* Fills in what PMIx publishes about each rank. */
static void register_ranks(pmix_info_t *infos, uint32_t size, const tb_publication *published)
{
    const tb_topology *topology;
    tb_keys keys;

    check(tb_publication_keys(published, &keys, sizeof keys), "keys");
    check(tb_adopt_keys(&keys, sizeof keys, &topology), "adopt");
    for (uint32_t rank = 0; rank < size; rank++) {
        tb_set *cpu = tb_set_new();
        pmix_data_array_t *of_rank = calloc(1, sizeof *of_rank);
        uint16_t local_rank = (uint16_t)rank;
        pmix_info_t *published, *all;
        size_t count;
        void *array;

        check(tb_set_add(cpu, rank), "set");
        check(tb_job_pmix_rank_info(topology, "host", rank, rank + 1 < size ? cpu : NULL, &array, &count),
              "what is published about a rank");
        published = array;
        /* What MPI needs besides. */
        PMIX_INFO_CREATE(all, count + 2);
        for (size_t i = 0; i < count; i++)
            PMIX_INFO_XFER(&all[i], &published[i]);
        PMIX_INFO_FREE(published, count);
        PMIX_INFO_LOAD(&all[count], PMIX_LOCAL_RANK, &local_rank, PMIX_UINT16);
        PMIX_INFO_LOAD(&all[count + 1], PMIX_NODE_RANK, &local_rank, PMIX_UINT16);
        of_rank->type = PMIX_INFO;
        of_rank->array = all;
        of_rank->size = count + 2;
        PMIX_LOAD_KEY(infos[rank].key, PMIX_PROC_DATA);
        infos[rank].value.type = PMIX_DATA_ARRAY;
        infos[rank].value.data.darray = of_rank;
        tb_set_free(cpu);
    }
}

int main(int argc, char **argv)
{
    pmix_server_module_t module;
    tb_publish_options options;
    tb_description *machine;
    tb_publication *published;
    tb_job_publication *job = NULL;
    pmix_info_t *keys, *all, server[2];
    void *array;
    size_t count;
    int failures = 0;

    if (argc < 6) {
        fprintf(stderr, "usage: pmix_server nspace|resources|job|ranks SYNTHETIC|XML UID COUNT CLIENT [ARGUMENT...]\n");
        return 2;
    }
    const uid_t user = (uid_t)atoi(argv[3]);
    const uint32_t size = (uint32_t)atoi(argv[4]);

    check(argv[2][0] == '/' ? tb_description_from_xml(argv[2], &machine) : tb_description_from_synthetic(argv[2], &machine), "capture");
    check(tb_publish_options_init(&options, sizeof options), "options");
    options.legacy = true;
    check(tb_publish(machine, &options, sizeof options, &published), "publish");
    tb_description_free(machine);

    memset(&module, 0, sizeof module);
    module.client_connected = connected;
    module.client_finalized = finalized;
    module.fence_nb = fence;
    char folder[] = "/tmp/topobroker-pmix-XXXXXX";
    if (mkdtemp(folder) == NULL || chmod(folder, 0755) != 0)
        return 1;
    PMIX_INFO_LOAD(&server[0], PMIX_SERVER_TMPDIR, folder, PMIX_STRING);
    PMIX_INFO_LOAD(&server[1], PMIX_SYSTEM_TMPDIR, folder, PMIX_STRING);
    check_pmix(PMIx_server_init(&module, server, 2), "PMIx_server_init");
    if (strcmp(argv[1], "job") == 0)
        job = add_job(published);
    check(job != NULL ? tb_job_pmix_info(job, &array, &count) : tb_publication_pmix_info(published, &array, &count),
          "keys for PMIx");
    keys = array;

    if (strcmp(argv[1], "resources") == 0) {
        check_pmix(PMIx_server_register_resources(keys, count, completed, NULL), "resources");
        wait_done();
        PMIX_INFO_FREE(keys, count);
        count = 0;
    }
    /* The entries that every namespace has, and then our keys. */
    const size_t of_ranks = strcmp(argv[1], "ranks") == 0 ? size : 0;
    PMIX_INFO_CREATE(all, of_ranks + count + OWN);
    register_usual(all, size, user);
    register_ranks(&all[count + OWN], (uint32_t)of_ranks, published);
    for (size_t i = 0; i < count; i++)
        PMIX_INFO_XFER(&all[i + OWN], &keys[i]);
    if (count > 0)
        PMIX_INFO_FREE(keys, count);
    count += OWN + of_ranks;
    check_pmix(PMIx_server_register_nspace(NSPACE, (int)size, all, count, completed, NULL), "register");
    wait_done();

    for (uint32_t rank = 0; rank < size; rank++) {
        pmix_proc_t proc;
        char **environment = NULL;

        PMIX_LOAD_PROCID(&proc, NSPACE, rank);
        check_pmix(PMIx_server_register_client(&proc, user, user, NULL, completed, NULL), "register a client");
        wait_done();
        check_pmix(PMIx_server_setup_fork(&proc, &environment), "setup");
        pid_t child = fork();
        if (child == 0) {
            for (char **variable = environment; variable != NULL && *variable != NULL; variable++)
                putenv(*variable);
            if (user != getuid() && (setgroups(0, NULL) != 0 || setgid(user) != 0 || setuid(user) != 0))
                _exit(126);
            execv(argv[5], argv + 5);
            _exit(127);
        }
        failures += child < 0;
    }
    for (uint32_t rank = 0; rank < size; rank++) {
        int status;
        failures += wait(&status) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    }
    PMIX_INFO_FREE(all, count);
    check_pmix(PMIx_server_finalize(), "finalize");
    tb_job_publication_free(job);
    check(tb_unpublish(published), "unpublish");
    rmdir(folder);
    return failures == 0 ? 0 : 1;
}
