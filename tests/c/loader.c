/* Loads the topology and prints its segment, who published it, and its PUs. With an argument, stays until
 * standard input ends. */

#include <stdio.h>
#include <topobroker.h>

int main(int argc, char **argv)
{
    const tb_topology *topology;
    tb_segment segment;
    tb_status status = tb_load(&topology);

    (void)argv;
    if (status == TB_OK)
        status = tb_topology_segment(topology, &segment);
    if (status != TB_OK) {
        fprintf(stderr, "loader: %s: %s\n", tb_strerror(status), tb_error_detail());
        return 1;
    }
    for (int i = 0; i < 16; i++)
        printf("%02x", segment.id[i]);
    printf(" %u %zu\n", segment.publisher_pid, tb_count_with_type(topology, TB_PU));
    fflush(stdout);
    if (argc > 1)
        getchar();
    return 0;
}
