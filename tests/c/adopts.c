/* What the whole cost of the library is measured with: adopts, and counts PUs. */
#include <stdio.h>
#include <topobroker.h>

int main(void)
{
    const tb_topology *topology;
    if (tb_adopt(&topology) != TB_OK) {
        fprintf(stderr, "%s\n", tb_error_detail());
        return 1;
    }
    printf("%zu\n", tb_objs_count_with_type(topology, TB_PU));
    return 0;
}
