/* What a topology costs an unmodified PMIx client. A PMIx server that shares its topology starts
 * COUNT of itself as clients. Each prints one line: kB of private memory that it grows by over
 * PMIx_Load_topology, and microseconds of it.
 *
 *     guard_pmix COUNT */
#define _GNU_SOURCE
#include "cost.h"
#include "pmix_cost.h"
#include <stdbool.h>

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

int main(int argc, char **argv)
{
    pmix_info_t infos[3], usual[USUAL];
    char folder[] = "/tmp/guard-pmix-XXXXXX";
    bool share = true;
    int failures;

    if (argc < 2)
        return client();
    const uint32_t count = (uint32_t)atoi(argv[1]);
    if (mkdtemp(folder) == NULL)
        return 1;
    PMIX_INFO_LOAD(&infos[0], PMIX_SERVER_TMPDIR, folder, PMIX_STRING);
    PMIX_INFO_LOAD(&infos[1], PMIX_SYSTEM_TMPDIR, folder, PMIX_STRING);
    PMIX_INFO_LOAD(&infos[2], PMIX_SERVER_SHARE_TOPOLOGY, &share, PMIX_BOOL);
    check(PMIx_server_init(&module, infos, 3), "PMIx_server_init");
    usual_infos(usual, count);
    check(PMIx_server_register_nspace(NSPACE, (int)count, usual, USUAL, NULL, NULL), "register");
    for (uint32_t rank = 0; rank < count; rank++)
        start_client(rank);
    failures = wait_clients();
    check(PMIx_server_finalize(), "finalize");
    rmdir(folder);
    return failures != 0;
}
