/* A program with the full library that uses a library with the thin one. Both libraries have
 * functions of the same names. Each caller uses its own library, and both share one mapping. */

#include "thinlib.h"
#include <stdio.h>
#include <topobroker.h>

int main(void)
{
    const tb_topology *topology, *again;
    tb_segment segment;
    size_t cores = thinlib_cores();

    if (cores == 0 || tb_load(&topology) != TB_OK || tb_adopted(&again) != TB_OK ||
        tb_topology_segment(topology, &segment, sizeof segment) != TB_OK) {
        fprintf(stderr, "both: %s\n", tb_error_detail());
        return 1;
    }
    tb_topology_free((tb_topology *)topology);
    puts(thinlib_segment() == segment.start ? "one mapping" : "two mappings");
    return topology != again || thinlib_cores() != cores;
}
