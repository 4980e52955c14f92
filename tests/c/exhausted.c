/* Adopts many times while the heap is used up, and then once with memory. The first adoptions
 * must end with a status and a message, and the last one must succeed. With OPENED, the program
 * opens the library that its argument names, instead of being linked to it. */

#include "in_use.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <topobroker.h>
#include <unistd.h>

#define CHILDREN 99

#ifdef OPENED
#include <dlfcn.h>
static __typeof__(tb_adopt) *adopt;
static __typeof__(tb_error_detail) *error_detail;
static __typeof__(tb_count_with_type) *count_with_type;
#define tb_adopt adopt
#define tb_error_detail error_detail
#define tb_count_with_type count_with_type
#endif

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

int main(int count, char **arguments)
{
    int ended[8] = { 0 }, aborted = 0;

    (void)count, (void)arguments;
#ifdef OPENED
    void *library = dlopen(arguments[1], RTLD_NOW);
    *(void **)&adopt = dlsym(library, "tb_adopt");
    *(void **)&error_detail = dlsym(library, "tb_error_detail");
    *(void **)&count_with_type = dlsym(library, "tb_count_with_type");
#endif
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
