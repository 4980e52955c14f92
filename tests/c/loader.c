/* Loads the topology and prints its segment, its publisher's process id, and its number of PUs.
 * With any argument, it stays until standard input ends. With the argument `fork`, another
 * thread forks children while it loads. */

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <topobroker.h>
#include <unistd.h>

#define CHILDREN 40

static pid_t children[CHILDREN];

static void *make_children(void *unused)
{
    (void)unused;
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            pause();
            _exit(0);
        }
        usleep(500);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const tb_topology *topology;
    tb_segment segment;
    int forks = argc > 1 && strcmp(argv[1], "fork") == 0;
    pthread_t thread;
    tb_status status;

    if (forks && pthread_create(&thread, NULL, make_children, NULL) != 0)
        return 1;
    status = tb_load(&topology);
    if (forks)
        pthread_join(thread, NULL);
    if (status == TB_OK)
        status = tb_topology_segment(topology, &segment, sizeof segment);
    if (status != TB_OK) {
        fprintf(stderr, "loader: %s: %s\n", tb_strerror(status), tb_error_detail());
        return 1;
    }
    for (int i = 0; i < 16; i++)
        printf("%02x", segment.id[i]);
    printf(" %u %zu\n", segment.publisher_pid, tb_objs_count_with_type(topology, TB_PU));
    fflush(stdout);
    if (argc > 1)
        getchar();
    for (int i = 0; forks && i < CHILDREN; i++) {
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
    return 0;
}
