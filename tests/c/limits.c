/* Adopts under a limit on descriptors or address space that is too low, and again without it.
 * The first adoption must fail with an error, and the second must succeed. */

#include "in_use.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <topobroker.h>

int main(int argc, char **argv)
{
    const int resource = argc > 1 && strcmp(argv[1], "descriptors") == 0 ? RLIMIT_NOFILE : RLIMIT_AS;
    const tb_topology *topology;
    struct rlimit before, limit;
    tb_status within, without;

    /* The first call does the one-time setup, such as that of error messages, before the limit
     * is set. */
    (void)tb_adopted(&topology);
    getrlimit(resource, &before);
    limit = before;
    limit.rlim_cur = resource == RLIMIT_NOFILE ? 3 : in_use() + 8192;
    setrlimit(resource, &limit);
    within = tb_adopt(&topology);
    setrlimit(resource, &before);
    without = tb_adopt(&topology);
    printf("%s, then %s\n", tb_strerror(within), tb_strerror(without));
    return 0;
}
