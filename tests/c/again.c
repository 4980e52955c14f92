/* Adopts for every line of standard input, and prints the number of PUs and the handle. */

#include <stdio.h>
#include <topobroker.h>

int main(void)
{
    const tb_topology *topology;
    char line[16];

    while (fgets(line, sizeof line, stdin) != NULL) {
        tb_status status = tb_adopt(&topology);
        if (status == TB_OK)
            printf("adopted %zu PUs, handle %p\n", tb_objs_count_with_type(topology, TB_PU), (const void *)topology);
        else
            printf("%s: %s\n", tb_strerror(status), tb_error_detail());
        fflush(stdout);
    }
    return 0;
}
