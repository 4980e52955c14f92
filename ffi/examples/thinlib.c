/* A library that adopts the topology on its own. It gets the one that the process already has,
 * whoever adopted it first, and does not map it again. */

#include "thinlib.h"
#include <topobroker.h>

size_t thinlib_cores(void)
{
    const tb_topology *topology;
    tb_set *own = tb_set_new();
    size_t count = 0;
    int depth = 0;

    if (tb_adopt(&topology) == TB_OK && tb_source_affinity(own) == TB_OK &&
        tb_type_or_below_depth(topology, TB_CORE, &depth) == TB_OK) {
        if (tb_objs_covering(topology, own, depth, NULL, 0, &count) != TB_OK)
            count = 0;
    }
    tb_set_free(own);
    return count;
}

const void *thinlib_segment(void)
{
    const tb_topology *topology;
    tb_segment segment;

    if (tb_adopt(&topology) != TB_OK || tb_topology_segment(topology, &segment, sizeof segment) != TB_OK)
        return NULL;
    return segment.start;
}
