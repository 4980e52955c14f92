/* Adopts an hwloc segment, visits all of its objects, and prints a checksum of them.
 *
 *     hwloc_adopt FILE ADDRESS LENGTH */

#include <errno.h>
#include <fcntl.h>
#include <hwloc.h>
#include <hwloc/shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned long sum = 5381;

static void add(unsigned long value)
{
    sum = sum * 33 + value;
}

static void walk(hwloc_obj_t object)
{
    add(object->type);
    add(object->logical_index);
    add(object->os_index);
    add(object->arity);
    if (object->cpuset != NULL)
        for (int i = hwloc_bitmap_first(object->cpuset); i >= 0; i = hwloc_bitmap_next(object->cpuset, i))
            add(i);
    for (unsigned i = 0; i < object->infos_count; i++)
        add(strlen(object->infos[i].name) + strlen(object->infos[i].value));
    for (hwloc_obj_t child = object->first_child; child != NULL; child = child->next_sibling)
        walk(child);
    for (hwloc_obj_t child = object->memory_first_child; child != NULL; child = child->next_sibling)
        walk(child);
}

int main(int argc, char **argv)
{
    hwloc_topology_t topology;
    int file = argc > 3 ? open(argv[1], O_RDONLY) : -1;

    /* In a damaged segment the walk may never end. */
    alarm(20);
    errno = 0;
    if (file < 0 || hwloc_shmem_topology_adopt(&topology, file, 0, (void *)strtoul(argv[2], NULL, 0),
                                               strtoul(argv[3], NULL, 0), 0) != 0) {
        printf("error %d\n", errno);
        return 0;
    }
    walk(hwloc_get_root_obj(topology));
    printf("ok %lx\n", sum);
    return 0;
}
