/* A process of a job: adopts the node's topology, looks at its own part of it, and uses a
 * library that adopts the topology too. */

#include "thinlib.h"
#include <stdio.h>
#include <topobroker.h>

static int failed(const char *what, tb_status status)
{
    fprintf(stderr, "client: %s: %s: %s\n", what, tb_strerror(status), tb_error_detail());
    return 1;
}

int main(void)
{
    const tb_topology *topology;
    tb_topology *mine;
    tb_segment segment;
    tb_obj_data node;
    char line[8192];
    size_t count = 0;
    tb_obj obj;
    tb_status status;

    if ((status = tb_adopt(&topology)) != TB_OK)
        return failed("no topology", status);
    if ((status = tb_topology_segment(topology, &segment, sizeof segment)) != TB_OK)
        return failed("no segment", status);
    if ((status = tb_view_effective(&mine)) != TB_OK)
        return failed("no part of it", status);
    for (obj = TB_OBJ_NONE; tb_obj_with_type(mine, TB_NUMANODE, count, &obj) == TB_OK; count++) {
        if ((status = tb_obj_get(mine, obj, &node, sizeof node)) != TB_OK)
            return failed("no object", status);
    }
    snprintf(line, sizeof line, "%zu objects, %zu of them mine with %zu NUMA nodes, %s at %p, library: %zu cores, %s",
             tb_topology_object_count(topology), tb_topology_object_count(mine), count,
             segment.at_address ? "mapped" : "mapped elsewhere", segment.start, thinlib_cores(),
             thinlib_segment() == segment.start ? "the same mapping" : "another mapping");
    puts(line);
    tb_topology_free(mine);
    return thinlib_segment() == segment.start ? 0 : 1;
}
