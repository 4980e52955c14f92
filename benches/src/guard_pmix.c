/* What a topology costs an unmodified PMIx client. A PMIx server that shares its topology starts
 * COUNT of itself as clients. Each prints one line: kB of private memory that it grows by over
 * PMIx_Load_topology, and microseconds of it.
 *
 *     guard_pmix COUNT */
#define _GNU_SOURCE
#include <pmix.h>
#include <pmix_server.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const pmix_nspace_t NSPACE = "topobroker-guard";

static void check(pmix_status_t status, const char *what)
{
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED) {
        fprintf(stderr, "guard_pmix: %s: %s\n", what, PMIx_Error_string(status));
        exit(1);
    }
}

static long private_kb(void)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    long kb = -1;

    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "Private_Dirty: %ld", &kb) == 1)
            break;
    }
    if (file != NULL)
        fclose(file);
    return kb;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

static int client(void)
{
    pmix_proc_t me;
    pmix_topology_t topology = { .source = NULL, .topology = NULL };
    long before;
    double start;

    check(PMIx_Init(&me, NULL, 0), "PMIx_Init");
    before = private_kb();
    start = now();
    check(PMIx_Load_topology(&topology), "PMIx_Load_topology");
    start = now() - start;
    printf("%ld %.0f\n", private_kb() - before, start);
    fflush(stdout);
    PMIx_Finalize(NULL, 0);
    return 0;
}

/* Answers at once: nobody waits for what connects or ends here. */
static pmix_status_t seen(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t callback, void *data)
{
    (void)proc, (void)object, (void)callback, (void)data;
    return PMIX_OPERATION_SUCCEEDED;
}

static void register_clients(uint32_t count)
{
    char host[256], ranks[1024] = "0", *nodes, *places;
    pmix_info_t infos[6];

    gethostname(host, sizeof host);
    for (uint32_t rank = 1; rank < count; rank++)
        snprintf(ranks + strlen(ranks), sizeof ranks - strlen(ranks), ",%u", rank);
    check(PMIx_generate_regex(host, &nodes), "nodes");
    check(PMIx_generate_ppn(ranks, &places), "places");
    PMIX_INFO_LOAD(&infos[0], PMIX_JOB_SIZE, &count, PMIX_UINT32);
    PMIX_INFO_LOAD(&infos[1], PMIX_UNIV_SIZE, &count, PMIX_UINT32);
    PMIX_INFO_LOAD(&infos[2], PMIX_LOCAL_SIZE, &count, PMIX_UINT32);
    PMIX_INFO_LOAD(&infos[3], PMIX_LOCAL_PEERS, ranks, PMIX_STRING);
    PMIX_INFO_LOAD(&infos[4], PMIX_NODE_MAP, nodes, PMIX_STRING);
    PMIX_INFO_LOAD(&infos[5], PMIX_PROC_MAP, places, PMIX_STRING);
    check(PMIx_server_register_nspace(NSPACE, (int)count, infos, 6, NULL, NULL), "register");
}

int main(int argc, char **argv)
{
    pmix_server_module_t module = { .client_connected = seen, .client_finalized = seen };
    pmix_info_t infos[3];
    char folder[] = "/tmp/guard-pmix-XXXXXX";
    bool share = true;
    int failures = 0;

    if (argc < 2)
        return client();
    const uint32_t count = (uint32_t)atoi(argv[1]);
    if (mkdtemp(folder) == NULL)
        return 1;
    PMIX_INFO_LOAD(&infos[0], PMIX_SERVER_TMPDIR, folder, PMIX_STRING);
    PMIX_INFO_LOAD(&infos[1], PMIX_SYSTEM_TMPDIR, folder, PMIX_STRING);
    PMIX_INFO_LOAD(&infos[2], PMIX_SERVER_SHARE_TOPOLOGY, &share, PMIX_BOOL);
    check(PMIx_server_init(&module, infos, 3), "PMIx_server_init");
    register_clients(count);
    for (uint32_t rank = 0; rank < count; rank++) {
        pmix_proc_t proc;
        char **environment = NULL;

        PMIX_LOAD_PROCID(&proc, NSPACE, rank);
        check(PMIx_server_register_client(&proc, getuid(), getgid(), NULL, NULL, NULL), "register a client");
        check(PMIx_server_setup_fork(&proc, &environment), "setup");
        if (fork() == 0) {
            for (char **variable = environment; variable != NULL && *variable != NULL; variable++)
                putenv(*variable);
            execl("/proc/self/exe", argv[0], NULL);
            _exit(127);
        }
    }
    for (int status; wait(&status) > 0;)
        failures += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    check(PMIx_server_finalize(), "finalize");
    rmdir(folder);
    return failures != 0;
}
