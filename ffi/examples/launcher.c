/* A launcher: publishes the machine's topology, starts 8 children with the keys in their
 * environment, and withdraws the topology when they have ended.
 *
 *     launcher CLIENT [ARGUMENT...] */

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <topobroker.h>
#include <unistd.h>

#define CHILDREN 8

static void check(tb_status status, const char *what)
{
    if (status != TB_OK) {
        fprintf(stderr, "launcher: %s: %s: %s\n", what, tb_strerror(status), tb_error_detail());
        exit(1);
    }
}

int main(int argc, char **argv)
{
    const char *synthetic = getenv("LAUNCHER_SYNTHETIC");
    const char *name, *value;
    tb_description *machine;
    tb_publication *published;
    int failures = 0;

    if (argc < 2) {
        fprintf(stderr, "usage: launcher CLIENT [ARGUMENT...]\n");
        return 2;
    }
    /* A launcher that has already loaded an hwloc topology captures that one:
     * tb_description_from_hwloc(topology, &machine). */
    check(synthetic ? tb_description_from_synthetic(synthetic, &machine) : tb_description_from_machine(&machine), "capture");
    check(tb_publish(machine, NULL, 0, &published), "publish");
    tb_description_free(machine);

    /* Children inherit the environment. To other processes, hand these variables over. */
    for (size_t i = 0; tb_publication_env(published, i, &name, &value) == TB_OK; i++)
        setenv(name, value, 1);
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = fork();
        if (child == 0) {
            execv(argv[1], argv + 1);
            perror(argv[1]);
            _exit(127);
        }
        failures += child < 0;
    }
    for (int i = 0; i < CHILDREN; i++) {
        int status;
        failures += wait(&status) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    }
    check(tb_unpublish(published), "unpublish");
    return failures == 0 ? 0 : 1;
}
