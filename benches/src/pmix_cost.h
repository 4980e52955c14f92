/* A PMIx server that starts its own program as clients. */
#ifndef PMIX_COST_H
#define PMIX_COST_H

#include <pmix.h>
#include <pmix_server.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const pmix_nspace_t NSPACE = "topobroker-cost";

static inline void check(pmix_status_t status, const char *what)
{
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED) {
        fprintf(stderr, "%s: %s\n", what, PMIx_Error_string(status));
        exit(1);
    }
}

/* Answers at once: no process waits for what connects or ends here. */
static inline pmix_status_t seen(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t callback, void *data)
{
    (void)proc, (void)object, (void)callback, (void)data;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_server_module_t module = { .client_connected = seen, .client_finalized = seen };

/* Number of entries that every namespace has. */
#define USUAL 6

/* Fills in these entries: one node, with all ranks on it. */
static inline void usual_infos(pmix_info_t *infos, uint32_t count)
{
    char host[256], *ranks = malloc(8 * count), *at = ranks, *nodes, *places;

    gethostname(host, sizeof host);
    for (uint32_t rank = 0; rank < count; rank++)
        at += sprintf(at, rank == 0 ? "%u" : ",%u", rank);
    check(PMIx_generate_regex(host, &nodes), "nodes");
    check(PMIx_generate_ppn(ranks, &places), "places");
    PMIX_INFO_LOAD(&infos[0], PMIX_JOB_SIZE, &count, PMIX_UINT32);
    PMIX_INFO_LOAD(&infos[1], PMIX_UNIV_SIZE, &count, PMIX_UINT32);
    PMIX_INFO_LOAD(&infos[2], PMIX_LOCAL_SIZE, &count, PMIX_UINT32);
    PMIX_INFO_LOAD(&infos[3], PMIX_LOCAL_PEERS, ranks, PMIX_STRING);
    PMIX_INFO_LOAD(&infos[4], PMIX_NODE_MAP, nodes, PMIX_REGEX);
    PMIX_INFO_LOAD(&infos[5], PMIX_PROC_MAP, places, PMIX_REGEX);
    free(ranks);
}

/* Starts this program without arguments as the client with a rank. */
static inline void start_client(uint32_t rank)
{
    char **environment = NULL;
    pmix_proc_t proc;

    PMIX_LOAD_PROCID(&proc, NSPACE, rank);
    check(PMIx_server_register_client(&proc, getuid(), getgid(), NULL, NULL, NULL), "register a client");
    check(PMIx_server_setup_fork(&proc, &environment), "setup");
    if (fork() == 0) {
        for (char **variable = environment; variable != NULL && *variable != NULL; variable++)
            putenv(*variable);
        execl("/proc/self/exe", "client", NULL);
        _exit(127);
    }
}

/* Waits for all clients, and returns how many have failed. */
static inline int wait_clients(void)
{
    int failures = 0;

    for (int status; wait(&status) > 0;)
        failures += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    return failures;
}

#endif
