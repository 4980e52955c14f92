/* What hwloc costs an unmodified program, with and without the hwloc guard. Prints one line.
 *
 * Built with MPI: kB of private memory that the rank grows by over MPI_Init, microseconds of it,
 * and the PUs that it is bound to. Without: microseconds and bytes of heap of a load of this
 * machine, of adopting a segment again, and of libpmix's copy of it; -1 if hwloc refuses. */
#define _GNU_SOURCE
#include "cost.h"
#include <sched.h>
#include <string.h>

#ifdef WITH_MPI
#include <mpi.h>

int main(int argc, char **argv)
{
    long before = private_kb();
    double start = now(), time;
    cpu_set_t cpus;

    MPI_Init(&argc, &argv);
    time = now() - start;
    MPI_Barrier(MPI_COMM_WORLD);
    sched_getaffinity(0, sizeof cpus, &cpus);
    printf("%ld %.0f %d\n", private_kb() - before, time, CPU_COUNT(&cpus));
    MPI_Finalize();
    return 0;
}
#else
#include <fcntl.h>
#include <hwloc.h>
#include <hwloc/shmem.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

static long heap(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static int adopt(hwloc_topology_t *topology, const char *file)
{
    struct { uint32_t version, length; uint64_t address, size; } header;
    int fd = open(file, O_RDONLY), result = -1;

    if (fd >= 0 && read(fd, &header, sizeof header) == sizeof header)
        result = hwloc_shmem_topology_adopt(topology, fd, 0, (void *)header.address, header.size, 0);
    close(fd);
    return result;
}

static int copy(hwloc_topology_t *topology, hwloc_topology_t of)
{
    return hwloc_topology_dup(topology, of);
}

#define MEASURE(call) do { \
        long bytes = heap(); \
        double start = now(); \
        int result = call; \
        double time = now() - start; \
        printf("%.1f %ld ", result == 0 ? time : -1.0, heap() - bytes); \
    } while (0)

/* Writes a segment of this machine, or measures. Its name begins with "libpmix", which is the name
 * of the only library whose copies are shared. */
int main(int argc, char **argv)
{
    hwloc_topology_t first, loaded, one, other, copied;

    if (argc < 2 || hwloc_topology_init(&first) != 0)
        return 1;
    hwloc_topology_set_io_types_filter(first, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    if (argc == 3) {
        size_t length;
        int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
        return fd < 0 || hwloc_topology_load(first) != 0 || hwloc_shmem_topology_get_length(first, &length, 0) != 0 ||
               hwloc_shmem_topology_write(first, fd, 0, (void *)strtoul(argv[2], NULL, 0), length, 0) != 0;
    }
    hwloc_topology_init(&loaded);
    hwloc_topology_set_io_types_filter(loaded, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    MEASURE(hwloc_topology_load(loaded));
    if (adopt(&one, argv[1]) != 0)
        return 1;
    MEASURE(adopt(&other, argv[1]));
    MEASURE(copy(&copied, one));
    printf("\n");
    return 0;
}
#endif
