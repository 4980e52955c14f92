/* The smallest program that gets a topology, to measure what that costs in all. With TOPOBROKER it
 * adopts ours, with HWLOC it adopts hwloc's segment (FILE ADDRESS LENGTH), otherwise it has none.
 * It prints the nanoseconds that this took and the number of PUs, and stays until its input ends.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#if defined(TOPOBROKER)
#include <topobroker.h>
#elif defined(HWLOC)
#include <fcntl.h>
#include <hwloc.h>
#include <hwloc/shmem.h>
#endif

static long long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(int count, char **arguments)
{
    long long start = now();
    long pus = 0;
#if defined(TOPOBROKER)
    const tb_topology *topology;
    if (tb_adopt(&topology) != TB_OK) {
        fprintf(stderr, "%s\n", tb_error_detail());
        return 1;
    }
    pus = (long)tb_objs_count_with_type(topology, TB_PU);
#elif defined(HWLOC)
    hwloc_topology_t topology;
    int file = count == 4 ? open(arguments[1], O_RDONLY) : -1;
    if (file < 0 || hwloc_shmem_topology_adopt(&topology, file, 0, (void *)strtoul(arguments[2], 0, 0),
                                               strtoul(arguments[3], 0, 0), 0) != 0) {
        perror("hwloc_shmem_topology_adopt");
        return 1;
    }
    close(file);
    pus = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
#endif
    (void)count, (void)arguments;
    printf("%lld %ld\n", now() - start, pus);
    fflush(stdout);
    for (char byte; read(0, &byte, 1) > 0;) {
    }
    return 0;
}
