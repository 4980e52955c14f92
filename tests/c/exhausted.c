/* Adopts many times while the heap is used up, and then once with memory. The first adoptions
 * must end with a status and a message, and the last one must succeed. */

#include "in_use.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <topobroker.h>
#include <unistd.h>

#define CHILDREN 99

/* Allocates all memory that is left, down to the smallest piece, except `spared` bytes. */
static void use_up(size_t spared)
{
    void *kept = malloc(spared);
    for (size_t size = 1 << 20; size >= 16; size /= 2)
        while (malloc(size) != NULL)
            ;
    free(kept);
}

static int child(size_t spared)
{
    const tb_topology *topology;
    struct rlimit before, limit;

    getrlimit(RLIMIT_AS, &before);
    limit = before;
    limit.rlim_cur = in_use();
    setrlimit(RLIMIT_AS, &limit);
    use_up(spared);
    for (int i = 0; i < 20; i++) {
        tb_status status = tb_adopt(&topology);
        if (status != TB_OK && tb_error_detail()[0] == '\0')
            return 3;
        if (i == 0 && status != TB_OK && status != TB_ERR_MAP && status != TB_ERR_OPEN)
            return 4;
    }
    setrlimit(RLIMIT_AS, &before);
    return tb_adopt(&topology) == TB_OK && tb_count_with_type(topology, TB_PU) == 16 ? 0 : 5;
}

int main(void)
{
    int ended[8] = { 0 }, aborted = 0;

    for (size_t i = 0; i < CHILDREN; i++) {
        int status;
        pid_t pid = fork();
        if (pid == 0)
            _exit(child(i * 64));
        waitpid(pid, &status, 0);
        if (WIFEXITED(status))
            ended[WEXITSTATUS(status) % 8]++;
        else
            aborted++;
    }
    printf("%d of %d well, %d aborted, %d without a message, %d with another status, %d without the topology\n", ended[0],
           CHILDREN, aborted, ended[3], ended[4], ended[5]);
    return 0;
}
