/* A program that knows only hwloc, run with and without the hwloc guard.
 *
 *     guarded write FILE ADDRESS     writes a segment of a synthetic machine, then maps elsewhere
 *     guarded share FILE             adopts it twice, and again after all were destroyed
 *     guarded modify FILE            modifies handles, and compares with genuine copies
 *     guarded replace FILE ADDRESS   adopts it, and then writes another one for its address
 *     guarded threads FILE           adopts, copies, modifies and destroys in 8 threads
 *     guarded forks FILE             adopts in a process, its child, and the child of that
 *     guarded load FLAGS IO COUNT    loads this machine COUNT times, and prints what it finds
 *     guarded apart                  loads twice, and writes into the objects of one
 *     guarded by-hand                frees, reallocates and replaces texts of objects, as PRRTE does
 *     guarded kinds                  registers kinds of CPUs on what it has loaded
 *     guarded again                  loads what the guard has left to hwloc a second time
 *     guarded from WAY               loads what is not this machine as it is
 *     guarded info FILE              adds an info to an object of an adopted topology
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <hwloc.h>
#include <hwloc/diff.h>
#include <hwloc/shmem.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(what) check(what, #what, __LINE__)

static void check(bool holds, const char *what, int line)
{
    if (!holds) {
        printf("line %d: %s: errno %d\n", line, what, errno);
        fflush(stdout);
        _exit(1);
    }
}

static const char *synthetic = "Package:4 NUMANode:1 L3Cache:2 Core:4 PU:2";

/* A matrix of latencies. hwloc before 2.5 gives it no name. */
static int add_matrix(hwloc_topology_t topology, const char *name, unsigned count, hwloc_obj_t *objs, hwloc_uint64_t *values)
{
    unsigned long kind = HWLOC_DISTANCES_KIND_FROM_USER | HWLOC_DISTANCES_KIND_MEANS_LATENCY;
#if HWLOC_API_VERSION >= 0x00020500
    hwloc_distances_add_handle_t handle = hwloc_distances_add_create(topology, name, kind, 0);
    if (handle == NULL || hwloc_distances_add_values(topology, handle, count, objs, values, 0) != 0)
        return -1;
    return hwloc_distances_add_commit(topology, handle, 0);
#else
    (void)name;
    return hwloc_distances_add(topology, count, objs, values, kind, 0);
#endif
}

static void add_distances(hwloc_topology_t topology)
{
    hwloc_obj_t nodes[4];
    hwloc_uint64_t values[16];

    for (int i = 0; i < 4; i++)
        nodes[i] = hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, i);
    for (int i = 0; i < 16; i++)
        values[i] = i % 5 == 0 ? 10 : 20;
    CHECK(add_matrix(topology, "given", 4, nodes, values) == 0);
}

static void write_segment(const char *file, const char *address)
{
    hwloc_topology_t topology;
    size_t length;
    void *at = (void *)strtoul(address, NULL, 0);
    int fd = open(file, O_RDWR | O_CREAT | O_TRUNC, 0600);

    CHECK(fd >= 0);
    CHECK(hwloc_topology_init(&topology) == 0);
    CHECK(hwloc_topology_set_synthetic(topology, synthetic) == 0);
    /* So that allowing PUs and inserting Misc objects succeed. */
    CHECK(hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) == 0);
    CHECK(hwloc_topology_set_type_filter(topology, HWLOC_OBJ_MISC, HWLOC_TYPE_FILTER_KEEP_ALL) == 0);
    CHECK(hwloc_topology_load(topology) == 0);
    add_distances(topology);
    CHECK(hwloc_shmem_topology_get_length(topology, &length, 0) == 0);
    CHECK(hwloc_shmem_topology_write(topology, fd, 0, at, length, 0) == 0);
    /* What the guard keeps free, the kernel does not give to a mapping that only hints at it. */
    void *other = mmap(at, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    printf("the addresses are %s\n", other == at ? "given away" : "kept free");
    munmap(other, 4096);
    hwloc_topology_destroy(topology);
    close(fd);
}

static int try_adopt(hwloc_topology_t *topology, const char *file)
{
    struct { uint32_t version, length; uint64_t address, size; } header;
    int fd = open(file, O_RDONLY);

    CHECK(fd >= 0 && read(fd, &header, sizeof header) == sizeof header);
    int result = hwloc_shmem_topology_adopt(topology, fd, 0, (void *)header.address, header.size, 0);
    close(fd);
    return result;
}

static hwloc_topology_t adopt(const char *file)
{
    hwloc_topology_t topology;
    CHECK(try_adopt(&topology, file) == 0);
    return topology;
}

static hwloc_topology_t copy(hwloc_topology_t topology)
{
    hwloc_topology_t new;
    CHECK(hwloc_topology_dup(&new, topology) == 0);
    return new;
}

static char *xml(hwloc_topology_t topology)
{
    char *buffer, *text;
    int length;
    CHECK(hwloc_topology_export_xmlbuffer(topology, &buffer, &length, 0) == 0);
    text = strdup(buffer);
    hwloc_free_xmlbuffer(topology, buffer);
    return text;
}

static bool same(hwloc_topology_t one, hwloc_topology_t other)
{
    char *first = xml(one), *second = xml(other);
    bool is_same = strcmp(first, second) == 0;
    free(first);
    free(second);
    return is_same;
}

static void share(const char *file)
{
    hwloc_topology_t first = adopt(file), second = adopt(file), third;
    hwloc_bitmap_t bound = hwloc_bitmap_alloc();

    CHECK(first != second && hwloc_get_root_obj(first) == hwloc_get_root_obj(second));
    CHECK(same(first, second));
    hwloc_topology_set_userdata(first, file);
    CHECK(hwloc_topology_get_userdata(second) == NULL);
    third = copy(second);
    CHECK(hwloc_get_root_obj(third) != hwloc_get_root_obj(second) && same(second, third));
    hwloc_topology_destroy(first);
    CHECK(same(second, third));
    CHECK(hwloc_get_cpubind(second, bound, 0) == 0 || errno == ENOSYS);
    hwloc_topology_destroy(second);
    hwloc_topology_destroy(third);
    first = adopt(file);
    CHECK(hwloc_get_nbobjs_by_type(first, HWLOC_OBJ_PU) == 64);
    hwloc_topology_destroy(first);
    hwloc_bitmap_free(bound);
}

/* One function of hwloc that modifies a topology. Objects are found before. */
static int modify(hwloc_topology_t topology, int way)
{
    hwloc_obj_t cores[2] = { hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, 3),
                             hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, 4) };
    hwloc_obj_t node = hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, 1);
    hwloc_bitmap_t some = hwloc_bitmap_alloc();
    hwloc_uint64_t values[4] = { 10, 20, 20, 10 }, value = 0;
    struct hwloc_location location = { .type = HWLOC_LOCATION_TYPE_CPUSET };
    struct hwloc_distances_s *distances;
    hwloc_topology_diff_t diff;
    hwloc_topology_t other;
    hwloc_memattr_id_t id;
    hwloc_obj_t group;
    unsigned one = 1;
    int result = -1;

    hwloc_bitmap_set_range(some, 0, 9);
    location.location.cpuset = cores[0]->cpuset;
    switch (way) {
    case 0:
        result = hwloc_topology_restrict(topology, some, HWLOC_RESTRICT_FLAG_REMOVE_CPULESS);
        break;
    case 1:
        result = hwloc_topology_allow(topology, NULL, NULL, HWLOC_ALLOW_FLAG_ALL);
        break;
    case 2:
        result = hwloc_topology_refresh(topology);
        break;
    case 3:
        result = hwloc_topology_insert_misc_object(topology, cores[0], "mine") != NULL ? 0 : -1;
        break;
    case 4:
        group = hwloc_topology_alloc_group_object(topology);
        if (group != NULL) {
            group->cpuset = hwloc_bitmap_alloc();
            hwloc_bitmap_or(group->cpuset, cores[0]->cpuset, cores[0]->prev_cousin->cpuset);
            result = hwloc_topology_insert_group_object(topology, group) != NULL ? 0 : -1;
        }
        break;
    case 5:
        result = add_matrix(topology, "mine", 2, cores, values);
        break;
    case 6:
        result = hwloc_distances_remove(topology);
        break;
    case 7:
        result = hwloc_distances_remove_by_depth(topology, HWLOC_TYPE_DEPTH_NUMANODE);
        break;
    case 8:
        result = hwloc_distances_get(topology, &one, &distances, 0, 0);
        if (result == 0 && one > 0)
            result = hwloc_distances_release_remove(topology, distances);
        break;
    case 9:
        result = hwloc_memattr_register(topology, "mine", HWLOC_MEMATTR_FLAG_HIGHER_FIRST | HWLOC_MEMATTR_FLAG_NEED_INITIATOR, &id);
        if (result == 0)
            result = hwloc_memattr_set_value(topology, id, node, &location, 0, 17);
        if (result == 0)
            result = hwloc_memattr_get_value(topology, id, node, &location, 0, &value);
        if (value != 17)
            result = -1;
        break;
    case 10:
        result = hwloc_cpukinds_register(topology, some, 3, 0, NULL, 0);
        hwloc_bitmap_set_range(some, 10, 19);
        if (result == 0)
            result = hwloc_cpukinds_register(topology, some, 4, 0, NULL, 0);
        break;
    case 11:
        other = copy(topology);
        hwloc_get_obj_by_type(other, HWLOC_OBJ_NUMANODE, 1)->attr->numanode.local_memory += 4096;
        result = hwloc_topology_diff_build(topology, other, 0, &diff);
        if (result == 0) {
            result = hwloc_topology_diff_apply(topology, diff, 0);
            hwloc_topology_diff_destroy(diff);
        }
        hwloc_topology_destroy(other);
        break;
    }
    hwloc_bitmap_free(some);
    return result;
}

static void modify_all(const char *file)
{
    hwloc_topology_t kept = adopt(file), untouched = copy(kept);

    for (int way = 0; way <= 11; way++) {
        hwloc_topology_t handle = adopt(file), genuine = copy(kept);
        hwloc_topology_set_userdata(handle, file);
        CHECK(hwloc_get_root_obj(handle) == hwloc_get_root_obj(kept));
        int expected = modify(genuine, way), found = modify(handle, way);
        if (found != expected || !same(handle, genuine))
            printf("way %d: %d, expected %d\n", way, found, expected);
        CHECK(found == expected && found >= 0 && same(handle, genuine));
        CHECK(hwloc_get_root_obj(handle) != hwloc_get_root_obj(kept));
        CHECK(hwloc_topology_get_userdata(handle) == file);
        CHECK(same(kept, untouched));
        hwloc_topology_check(handle);
        hwloc_topology_destroy(handle);
        hwloc_topology_destroy(genuine);
    }
    hwloc_topology_destroy(untouched);
    hwloc_topology_destroy(kept);
}

/* Programs for hwloc 2.0 to 2.4 call it. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* An object that was found before a handle is modified stays the same object, wherever it is then.
 */
static void modify_twice(const char *file)
{
    hwloc_topology_t kept = adopt(file), handle = adopt(file), genuine = copy(kept);
    hwloc_topology_t both[2] = { genuine, handle };
    hwloc_bitmap_t some = hwloc_bitmap_alloc();

    hwloc_bitmap_set_range(some, 16, 47);
    for (int i = 0; i < 2; i++) {
        hwloc_obj_t core = hwloc_get_obj_by_type(both[i], HWLOC_OBJ_CORE, 12);
        hwloc_obj_t nodes[2] = { hwloc_get_obj_by_type(both[i], HWLOC_OBJ_NUMANODE, 1),
                                 hwloc_get_obj_by_type(both[i], HWLOC_OBJ_NUMANODE, 2) };
        hwloc_uint64_t values[4] = { 1, 2, 3, 4 };
        CHECK(hwloc_topology_restrict(both[i], some, HWLOC_RESTRICT_FLAG_REMOVE_CPULESS) == 0);
        CHECK(hwloc_topology_insert_misc_object(both[i], core, "mine") != NULL);
        CHECK(hwloc_distances_add(both[i], 2, nodes, values, HWLOC_DISTANCES_KIND_FROM_USER | HWLOC_DISTANCES_KIND_MEANS_BANDWIDTH, 0) == 0);
    }
    CHECK(same(handle, genuine));
    hwloc_topology_destroy(handle);
    hwloc_topology_destroy(genuine);
    handle = adopt(file);
    hwloc_obj_t node = hwloc_get_obj_by_type(handle, HWLOC_OBJ_NUMANODE, 0);
    hwloc_uint64_t value[1] = { 7 };
    /* The first function that modifies it. */
    CHECK(hwloc_distances_add(handle, 1, &node, value, HWLOC_DISTANCES_KIND_FROM_USER | HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) == 0 || errno == EINVAL);
    hwloc_topology_destroy(handle);
    hwloc_topology_destroy(kept);
    hwloc_bitmap_free(some);
}

/* What is not in use gives its addresses to another segment. */
static void again_at(const char *file, const char *address)
{
    hwloc_topology_t topology = adopt(file);

    hwloc_topology_destroy(topology);
    write_segment(file, address);
    topology = adopt(file);
    CHECK(hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU) == 64);
    hwloc_topology_destroy(topology);
}

static void *adopt_often(void *file)
{
    hwloc_bitmap_t some = hwloc_bitmap_alloc();

    hwloc_bitmap_set_range(some, 0, 7);
    for (int round = 0; round < 100; round++) {
        hwloc_topology_t one = adopt(file), other = adopt(file), third = copy(one);
        if (round % 3 == 0) {
            CHECK(hwloc_topology_restrict(other, some, 0) == 0);
            CHECK(hwloc_get_nbobjs_by_type(other, HWLOC_OBJ_PU) == 8);
        }
        CHECK(hwloc_get_nbobjs_by_type(one, HWLOC_OBJ_PU) == 64);
        hwloc_topology_destroy(round % 2 == 0 ? one : other);
        hwloc_topology_destroy(third);
        hwloc_topology_destroy(round % 2 == 0 ? other : one);
    }
    hwloc_bitmap_free(some);
    return NULL;
}

static void in_threads(char *file)
{
    pthread_t threads[8];

    for (int i = 0; i < 8; i++)
        CHECK(pthread_create(&threads[i], NULL, adopt_often, file) == 0);
    /* Children that are forked while other threads use the guard. */
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        int status;
        if (child == 0) {
            hwloc_topology_destroy(adopt(file));
            _exit(0);
        }
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    for (int i = 0; i < 8; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

static void in_children(const char *file, int depth)
{
    hwloc_topology_t topology = adopt(file);
    int status = 0;

    if (depth > 0) {
        pid_t child = fork();
        if (child == 0) {
            CHECK(hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU) == 64);
            in_children(file, depth - 1);
            hwloc_topology_destroy(topology);
            _exit(0);
        }
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    CHECK(hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU) == 64);
    hwloc_topology_destroy(topology);
}

static hwloc_topology_t load(unsigned long flags, enum hwloc_type_filter_e io)
{
    hwloc_topology_t topology;

    CHECK(hwloc_topology_init(&topology) == 0);
    CHECK(hwloc_topology_set_flags(topology, flags) == 0);
    CHECK(hwloc_topology_set_io_types_filter(topology, io) == 0);
    hwloc_topology_set_userdata(topology, "mine");
    CHECK(hwloc_topology_load(topology) == 0);
    CHECK(strcmp(hwloc_topology_get_userdata(topology), "mine") == 0);
    CHECK(hwloc_topology_load(topology) == -1 && errno == EBUSY);
    return topology;
}

/* Bytes of heap in use. glibc has mallinfo2 since 2.33. */
static size_t heap(void)
{
#if __GLIBC_PREREQ(2, 33)
    struct mallinfo2 now = mallinfo2();
#else
    struct mallinfo now = mallinfo();
#endif
    return (size_t)now.uordblks + (size_t)now.hblkhd;
}

static void load_often(unsigned long flags, enum hwloc_type_filter_e io, int count)
{
    hwloc_topology_t topologies[16] = { NULL }, first;

    /* What hwloc keeps once, however many topologies there are. */
    CHECK(hwloc_topology_init(&first) == 0);
    size_t before = heap();
    CHECK(count > 0 && count <= 16);
    for (int i = 0; i < count; i++)
        topologies[i] = load(flags, io);
    size_t after = heap();
    hwloc_bitmap_t bound = hwloc_bitmap_alloc();
    for (int i = 0; i < count; i++) {
        CHECK(hwloc_topology_is_thissystem(topologies[i]));
        CHECK(hwloc_get_cpubind(topologies[i], bound, 0) == 0);
        CHECK(hwloc_set_cpubind(topologies[i], bound, 0) == 0);
    }
    fprintf(stderr, "%zu bytes of heap each\n", (after - before) / count);
    puts(xml(topologies[0]));
    for (int i = 0; i < count; i++)
        hwloc_topology_destroy(topologies[i]);
    hwloc_topology_destroy(first);
    hwloc_bitmap_free(bound);
}

static void apart(void)
{
    hwloc_topology_t one = load(0, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    hwloc_topology_t other = load(0, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);

    hwloc_get_root_obj(one)->userdata = one;
    CHECK(hwloc_obj_add_info(hwloc_get_root_obj(one), "Mine", "yes") == 0);
    CHECK(hwloc_obj_add_info(hwloc_get_obj_by_type(one, HWLOC_OBJ_PU, 0), "Mine", "yes") == 0);
    CHECK(hwloc_get_root_obj(other)->userdata == NULL);
    CHECK(hwloc_obj_get_info_by_name(hwloc_get_root_obj(one), "Mine") != NULL);
    CHECK(hwloc_obj_get_info_by_name(hwloc_get_root_obj(other), "Mine") == NULL);
    CHECK(!same(one, other));
    hwloc_topology_destroy(one);
    /* In the slot of the first. */
    one = load(0, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    CHECK(hwloc_get_root_obj(one)->userdata == NULL);
    CHECK(hwloc_obj_get_info_by_name(hwloc_get_root_obj(one), "Mine") == NULL);
    CHECK(same(one, other));
    hwloc_topology_destroy(other);
    hwloc_topology_destroy(one);
}

/* What PRRTE does: it takes infos out of the root by hand. Then what hwloc's own topology allows
 * too: texts of any object are freed, reallocated and replaced. */
static void take_info_out(hwloc_obj_t object, unsigned at)
{
    free(object->infos[at].name);
    free(object->infos[at].value);
    memmove(object->infos + at, object->infos + at + 1, (object->infos_count - at - 1) * sizeof *object->infos);
    object->infos_count--;
}

static void by_hand(void)
{
    for (int round = 0; round < 2; round++) {
        hwloc_topology_t topology = load(0, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
        hwloc_topology_t other = load(0, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
        hwloc_obj_t root = hwloc_get_root_obj(topology), device = NULL;

        CHECK(same(topology, other) && root->infos_count > 0);
        while (root->infos_count > 0)
            take_info_out(root, root->infos_count / 2);
        root->infos = realloc(root->infos, 64 * sizeof *root->infos);
        CHECK(root->infos != NULL);
        CHECK(hwloc_obj_add_info(root, "Mine", "yes") == 0);
        root->userdata = strdup("mine");
        for (int depth = HWLOC_TYPE_DEPTH_MEMCACHE; depth < hwloc_topology_get_depth(topology); depth++)
            for (unsigned i = 0; i < hwloc_get_nbobjs_by_depth(topology, depth); i++) {
                hwloc_obj_t object = hwloc_get_obj_by_depth(topology, depth, i);
                if (object->name != NULL) {
                    device = object;
                    object->name = realloc(object->name, 4096);
                    strcat(object->name, "+");
                }
                if (object->subtype != NULL) {
                    free(object->subtype);
                    object->subtype = strdup("replaced");
                }
            }
        CHECK(!same(topology, other));
        if (device != NULL)
            printf("%s\n", device->name);
        hwloc_topology_t copied = copy(topology);
        CHECK(same(topology, copied));
        hwloc_topology_destroy(copied);
        free(root->userdata);
        hwloc_topology_destroy(topology);
        hwloc_topology_destroy(other);
    }
}

static void again(void)
{
    hwloc_topology_t topology;

    CHECK(hwloc_topology_init(&topology) == 0);
    CHECK(setenv("TOPOBROKER_GUARD", "0", 1) == 0);
    CHECK(hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) == 0);
    CHECK(hwloc_topology_load(topology) == 0);
    CHECK(unsetenv("TOPOBROKER_GUARD") == 0);
    hwloc_obj_t root = hwloc_get_root_obj(topology);
    CHECK(hwloc_topology_load(topology) == -1 && errno == EBUSY);
    CHECK(hwloc_get_root_obj(topology) == root);
    hwloc_topology_destroy(topology);
}

/* Kinds of CPUs on a load that was served, with hwloc's own kinds, and on one that was modified
 * before. */
static void kinds(void)
{
    hwloc_topology_t topology = load(0, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    hwloc_obj_t pu = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU, 0);
    hwloc_bitmap_t first = hwloc_bitmap_dup(pu->cpuset);

    pu->userdata = &first;
    printf("%d kinds\n", hwloc_cpukinds_get_nr(topology, 0));
    CHECK(hwloc_cpukinds_register(topology, first, 7, 0, NULL, 0) == 0);
    printf("%d kinds\n", hwloc_cpukinds_get_nr(topology, 0));
    pu = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU, 0);
    CHECK(pu->userdata == &first);
    puts(xml(topology));
    CHECK(hwloc_cpukinds_register(topology, first, 8, 0, NULL, 0) == 0);
    hwloc_topology_destroy(topology);
    topology = load(0, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    hwloc_topology_refresh(topology);
    hwloc_cpukinds_register(topology, first, 7, 0, NULL, 0);
    hwloc_topology_destroy(topology);
    hwloc_bitmap_free(first);
}

static void from(const char *way)
{
    hwloc_topology_t topology;
    const char *text = "<topology/>";
    int error = 0;

    CHECK(hwloc_topology_init(&topology) == 0);
    if (strcmp(way, "synthetic") == 0)
        error = hwloc_topology_set_synthetic(topology, synthetic);
    else if (strcmp(way, "pid") == 0)
        error = hwloc_topology_set_pid(topology, getpid());
    else if (strcmp(way, "components") == 0)
        error = hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "pci");
    else if (strcmp(way, "gl") == 0)
        error = hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "gl");
    else if (strcmp(way, "xml") == 0)
        error = hwloc_topology_set_xmlbuffer(topology, text, strlen(text) + 1) == 0 ? 0 : 0;
    CHECK(error == 0);
    printf("load %d\n", hwloc_topology_load(topology));
    hwloc_topology_destroy(topology);
}

static void info(const char *file)
{
    hwloc_topology_t topology = adopt(file);
    hwloc_obj_t core = hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, 0);

    for (int i = 0; i < 20; i++)
        CHECK(hwloc_obj_add_info(core, "Mine", "yes") == 0);
    CHECK(core->infos_count >= 20 && strcmp(core->infos[core->infos_count - 1].value, "yes") == 0);
    hwloc_topology_destroy(topology);
    topology = adopt(file);
    core = hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, 0);
    CHECK(hwloc_obj_get_info_by_name(core, "Mine") == NULL);
    hwloc_topology_destroy(topology);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    if (strcmp(way, "write") == 0 && argc > 3)
        write_segment(argv[2], argv[3]);
    else if (strcmp(way, "share") == 0 && argc > 2)
        share(argv[2]);
    else if (strcmp(way, "modify") == 0 && argc > 2)
        modify_all(argv[2]), modify_twice(argv[2]);
    else if (strcmp(way, "replace") == 0 && argc > 3)
        again_at(argv[2], argv[3]);
    else if (strcmp(way, "threads") == 0 && argc > 2)
        in_threads(argv[2]);
    else if (strcmp(way, "forks") == 0 && argc > 2)
        in_children(argv[2], 2);
    else if (strcmp(way, "load") == 0 && argc > 4)
        load_often(strtoul(argv[2], NULL, 0), atoi(argv[3]), atoi(argv[4]));
    else if (strcmp(way, "apart") == 0)
        apart();
    else if (strcmp(way, "by-hand") == 0)
        by_hand();
    else if (strcmp(way, "kinds") == 0)
        kinds();
    else if (strcmp(way, "again") == 0)
        again();
    else if (strcmp(way, "from") == 0 && argc > 2)
        from(argv[2]);
    else if (strcmp(way, "info") == 0 && argc > 2)
        info(argv[2]);
    else
        return 2;
    return 0;
}
