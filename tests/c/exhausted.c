/* Adopts many times while the heap is used up, and then once with memory. The first adoptions
 * must end with a status and a message, and the last one must succeed. With OPENED, the program
 * opens the library that its argument names, instead of being linked to it. */

#include "in_use.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <topobroker.h>
#include <unistd.h>

#define CHILDREN 99
#define THREADS 32

static pthread_barrier_t started;

#ifdef OPENED
#include <dlfcn.h>
static __typeof__(tb_adopt) *adopt;
static __typeof__(tb_error_detail) *error_detail;
static __typeof__(tb_objs_count_with_type) *count_with_type;
static __typeof__(tb_keys_parse) *keys_parse;
#define tb_adopt adopt
#define tb_error_detail error_detail
#define tb_objs_count_with_type count_with_type
#define tb_keys_parse keys_parse
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

/* Makes a call that fails, without memory. Returns NULL if it leaves no message. */
static void *other(void *unused)
{
    (void)unused;
    pthread_barrier_wait(&started);
    tb_status status = tb_keys_parse("relative", "0", "1", NULL, 0);
    return status != TB_OK && tb_error_detail()[0] != '\0' ? &started : NULL;
}

static int child(size_t spared)
{
    const tb_topology *topology;
    struct rlimit before, limit;

    pthread_barrier_init(&started, NULL, THREADS + 1);
    pthread_t others[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&others[i], NULL, other, NULL);
    getrlimit(RLIMIT_AS, &before);
    limit = before;
    limit.rlim_cur = in_use();
    setrlimit(RLIMIT_AS, &limit);
    use_up(spared);
    pthread_barrier_wait(&started);
    for (int i = 0; i < THREADS; i++) {
        void *said;
        pthread_join(others[i], &said);
        if (said == NULL)
            return 3;
    }
    for (int i = 0; i < 20; i++) {
        tb_status status = tb_adopt(&topology);
        if (status != TB_OK && tb_error_detail()[0] == '\0')
            return 3;
        if (i == 0 && status != TB_OK && status != TB_ERR_MAP && status != TB_ERR_OPEN)
            return 4;
    }
    setrlimit(RLIMIT_AS, &before);
    return tb_adopt(&topology) == TB_OK && tb_objs_count_with_type(topology, TB_PU) == 16 ? 0 : 5;
}

int main(int count, char **arguments)
{
    int ended[8] = { 0 }, aborted = 0;

    (void)count, (void)arguments;
#ifdef OPENED
    void *library = dlopen(arguments[1], RTLD_NOW);
    *(void **)&adopt = dlsym(library, "tb_adopt");
    *(void **)&error_detail = dlsym(library, "tb_error_detail");
    *(void **)&count_with_type = dlsym(library, "tb_objs_count_with_type");
    *(void **)&keys_parse = dlsym(library, "tb_keys_parse");
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
