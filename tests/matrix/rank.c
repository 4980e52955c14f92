/* A rank that knows only MPI: prints its rank, what it is bound to, and on standard error how many
 * kB of private memory it grows by over MPI_Init. */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>

static long private_dirty(void)
{
    char line[256];
    long found = 0;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");

    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "Private_Dirty: %ld", &found) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return found;
}

int main(int argc, char **argv)
{
    cpu_set_t set;
    int rank, size;
    long before = private_dirty();

    MPI_Init(&argc, &argv);
    long after = private_dirty();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    sched_getaffinity(0, sizeof set, &set);
    /* With one write, because launchers mix the output of ranks. */
    char line[8192];
    int length = sprintf(line, "rank %d of %d:", rank, size);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set))
            length += sprintf(line + length, " %d", cpu);
    line[length++] = '\n';
    fwrite(line, 1, length, stdout);
    fflush(stdout);
    fprintf(stderr, "grows by %ld kB\n", after - before);
    MPI_Finalize();
    return 0;
}
