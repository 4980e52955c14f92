/* Calls every function of topobroker.h with valid arguments and with arguments that it must
 * refuse, and compares the answers with hwloc's if hwloc has such a function. Also run under
 * valgrind and AddressSanitizer. */

#define _GNU_SOURCE
#include <hwloc.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <topobroker.h>
#include <topobroker_sched.h>
#include <unistd.h>

#define SYNTHETIC "Package:2 NUMANode:1(memory=1GB) L3:1 L2:4 Core:1 PU:2"
#define NOTHING 100000

static int failures;

#define EXPECT(condition)                                                                  \
    do {                                                                                   \
        if (!(condition)) {                                                                \
            printf("%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, tb_error_detail()); \
            failures++;                                                                    \
        }                                                                                  \
    } while (0)
#define OK(call) EXPECT((call) == TB_OK)
#define REFUSED(call) EXPECT((call) == TB_ERR_ARGUMENT)

static const char *text_of(const tb_set *set)
{
    static char text[1024];
    if (tb_set_text(set, TB_SET_LIST, text, sizeof text, NULL) != TB_OK)
        return "?";
    return text;
}

static int is_list(const tb_set *set, const char *list)
{
    if (strcmp(text_of(set), list) == 0)
        return 1;
    printf("%s, expected %s\n", text_of(set), list);
    return 0;
}

static void statuses(void)
{
    EXPECT(tb_version() >= 0x000100);
    for (int status = 0; status >= -23; status--)
        EXPECT(strcmp(tb_strerror(status), "unknown status") != 0);
    EXPECT(strcmp(tb_strerror(-24), "unknown status") == 0 && strcmp(tb_strerror(1), "unknown status") == 0);
    EXPECT(strcmp(tb_error_detail(), "") == 0);
    REFUSED(tb_set_copy(NULL, NULL));
    EXPECT(strstr(tb_error_detail(), "NULL") != NULL);
}

static void sets(void)
{
    tb_set *a = tb_set_new(), *b = tb_set_new();
    char text[32];
    uint64_t words[2] = { 0x5, 0x1 }, back[3];
    size_t count;

    OK(tb_set_parse(a, "0-3,8"));
    EXPECT(tb_set_weight(a) == 5 && tb_set_first(a) == 0 && tb_set_last(a) == 8);
    EXPECT(tb_set_next(a, -1) == 0 && tb_set_next(a, 3) == 8 && tb_set_next(a, 8) == -1);
    EXPECT(tb_set_has(a, 8) && !tb_set_has(a, 7) && !tb_set_is_empty(a));
    OK(tb_set_text(a, TB_SET_MASK, text, sizeof text, &count));
    EXPECT(strcmp(text, "0x0000010f") == 0 && count == 10);
    OK(tb_set_text(a, TB_SET_TASKSET, text, sizeof text, NULL));
    EXPECT(strcmp(text, "0x10f") == 0);
    EXPECT(tb_set_text(a, TB_SET_LIST, text, 5, &count) == TB_ERR_TRUNCATED && count == 5);
    EXPECT(tb_set_text(a, TB_SET_LIST, NULL, 0, &count) == TB_ERR_TRUNCATED && count == 5);
    REFUSED(tb_set_text(a, TB_SET_LIST, NULL, 100, &count));
    REFUSED(tb_set_text(a, 7, text, sizeof text, NULL));
    EXPECT(tb_set_parse(a, "0-x") == TB_ERR_TEXT && strstr(tb_error_detail(), "position 2") != NULL);
    EXPECT(is_list(a, "0-3,8"));
    OK(tb_set_copy(b, a));
    EXPECT(tb_set_is_equal(a, b) && tb_set_is_included(a, b) && tb_set_intersects(a, b));
    OK(tb_set_remove(b, 8));
    OK(tb_set_add(b, 9));
    OK(tb_set_combine(a, TB_SET_OR, b));
    EXPECT(is_list(a, "0-3,8-9"));
    OK(tb_set_combine(a, TB_SET_ANDNOT, b));
    EXPECT(is_list(a, "8"));
    OK(tb_set_combine(a, TB_SET_XOR, b));
    EXPECT(is_list(a, "0-3,8-9"));
    OK(tb_set_combine(a, TB_SET_AND, b));
    OK(tb_set_singlify(a));
    EXPECT(is_list(a, "0"));
    OK(tb_set_combine(b, TB_SET_OR, b));
    OK(tb_set_copy(b, b));
    OK(tb_set_copy(a, b));
    OK(tb_set_combine(a, TB_SET_XOR, a));
    EXPECT(tb_set_is_empty(a));
    REFUSED(tb_set_combine(a, 9, b));
    REFUSED(tb_set_add(a, UINT32_MAX));
    REFUSED(tb_set_remove(a, UINT32_MAX));
    OK(tb_set_from_words(a, words, 2));
    EXPECT(is_list(a, "0,2,64"));
    OK(tb_set_words(a, back, 3, &count));
    EXPECT(back[0] == 5 && back[1] == 1 && back[2] == 0 && count == 2);
    OK(tb_set_words(a, back, 1, NULL));
    REFUSED(tb_set_from_words(a, NULL, 2));
    REFUSED(tb_set_words(a, NULL, 1, NULL));
    OK(tb_set_parse(a, "4-"));
    EXPECT(tb_set_weight(a) == -1 && tb_set_last(a) == -1 && tb_set_first(a) == 4);
    REFUSED(tb_set_singlify(NULL));
    EXPECT(tb_set_is_empty(NULL) && !tb_set_has(NULL, 0) && tb_set_weight(NULL) == -1);
    EXPECT(!tb_set_is_equal(a, NULL) && !tb_set_is_included(NULL, a) && !tb_set_intersects(NULL, NULL));
    EXPECT(tb_set_first(NULL) == -1 && tb_set_last(NULL) == -1 && tb_set_next(NULL, 0) == -1);
    tb_set_free(a);
    tb_set_free(b);
    tb_set_free(NULL);
}

/* Random changes to a set and to a bitmap of hwloc leave both equal. */
static void sets_like_hwloc(void)
{
    tb_set *a = tb_set_new(), *b = tb_set_new(), *copy;
    hwloc_bitmap_t theirs = hwloc_bitmap_alloc(), other = hwloc_bitmap_alloc();
    char text[4096];
    srand(1);
    for (int round = 0; round < 2000; round++) {
        unsigned first = rand() % 200, last = first + rand() % 100;
        int end = rand() % 8 == 0 ? -1 : (int)last;
        switch (rand() % 8) {
        case 0:
        case 1:
            OK(tb_set_add_range(a, first, end));
            hwloc_bitmap_set_range(theirs, first, end);
            break;
        case 2:
            OK(tb_set_remove_range(a, first, end));
            hwloc_bitmap_clr_range(theirs, first, end);
            break;
        case 3:
            OK(tb_set_only(a, first));
            hwloc_bitmap_only(theirs, first);
            break;
        case 4:
            OK(tb_set_fill(b));
            hwloc_bitmap_fill(other);
            OK(tb_set_remove(b, first));
            hwloc_bitmap_clr(other, first);
            break;
        case 5:
            OK(tb_set_not(b, a));
            hwloc_bitmap_not(other, theirs);
            break;
        case 6:
            copy = tb_set_dup(a);
            OK(tb_set_not(copy, copy));
            OK(tb_set_not(a, copy));
            tb_set_free(copy);
            break;
        default:
            OK(tb_set_clear(b));
            hwloc_bitmap_zero(other);
        }
        EXPECT(tb_set_compare(a, b) == hwloc_bitmap_compare(theirs, other));
        EXPECT(tb_set_compare(b, a) == hwloc_bitmap_compare(other, theirs));
        for (int index = -1; index < 320; index += 1 + rand() % 40)
            EXPECT(tb_set_next_unset(a, index) == hwloc_bitmap_next_unset(theirs, index));
        hwloc_bitmap_list_snprintf(text, sizeof text, theirs);
        EXPECT(is_list(a, text));
    }
    REFUSED(tb_set_add_range(a, 0, 1 << 24));
    REFUSED(tb_set_remove_range(a, 0, -2));
    REFUSED(tb_set_only(a, 1 << 24));
    REFUSED(tb_set_fill(NULL));
    REFUSED(tb_set_clear(NULL));
    REFUSED(tb_set_not(a, NULL));
    EXPECT(tb_set_dup(NULL) == NULL && tb_set_next_unset(NULL, -1) == -1);
    EXPECT(tb_set_compare(NULL, NULL) == 0 && tb_set_compare(NULL, a) != 1);
    hwloc_bitmap_free(theirs);
    hwloc_bitmap_free(other);
    tb_set_free(a);
    tb_set_free(b);
}

/* A thread is bound by us as hwloc says that it is bound. */
static void binding(void)
{
    hwloc_topology_t here;
    hwloc_bitmap_t theirs = hwloc_bitmap_alloc();
    tb_set *all = tb_set_new(), *set = tb_set_new();
    hwloc_membind_policy_t their_policy;
    char text[4096];
    int32_t policy;

    hwloc_topology_init(&here);
    hwloc_topology_load(here);
    OK(tb_cpubind_get(TB_BIND_PROCESS, all));
    for (int target = TB_BIND_PROCESS; target <= TB_BIND_THREAD; target++) {
        int flag = target == TB_BIND_THREAD ? HWLOC_CPUBIND_THREAD : HWLOC_CPUBIND_PROCESS;
        OK(tb_set_copy(set, all));
        OK(tb_set_singlify(set));
        OK(tb_cpubind_set(target, set));
        EXPECT(hwloc_get_cpubind(here, theirs, flag) == 0);
        hwloc_bitmap_list_snprintf(text, sizeof text, theirs);
        EXPECT(is_list(set, text));
        OK(tb_cpubind_last(target, set));
        EXPECT(is_list(set, text));
        OK(tb_cpubind_set(target, all));
        EXPECT(hwloc_get_cpubind(here, theirs, flag) == 0);
        hwloc_bitmap_list_snprintf(text, sizeof text, theirs);
        OK(tb_cpubind_get(target, set));
        EXPECT(is_list(set, text) && tb_set_is_equal(set, all));
    }
    OK(tb_set_only(set, 0));
    if (hwloc_set_membind(here, hwloc_topology_get_topology_nodeset(here), HWLOC_MEMBIND_BIND,
                          HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_BYNODESET) == 0) {
        OK(tb_membind_get(set, &policy));
        EXPECT(policy == TB_MEMORY_BIND);
        OK(tb_membind_set(TB_MEMORY_INTERLEAVE, set, false));
        EXPECT(hwloc_get_membind(here, theirs, &their_policy, HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_BYNODESET) == 0);
        hwloc_bitmap_list_snprintf(text, sizeof text, theirs);
        EXPECT(their_policy == HWLOC_MEMBIND_INTERLEAVE && is_list(set, text));
        OK(tb_membind_set(TB_MEMORY_DEFAULT, set, false));
        OK(tb_membind_get(set, NULL));
        OK(tb_set_only(set, 900));
        EXPECT(tb_membind_set(TB_MEMORY_BIND, set, true) == TB_ERR_BIND);
    }
    OK(tb_set_only(set, 60000));
    EXPECT(tb_cpubind_set(TB_BIND_THREAD, set) == TB_ERR_BIND);
    REFUSED(tb_cpubind_set(2, all));
    REFUSED(tb_cpubind_set(0, NULL));
    REFUSED(tb_cpubind_get(2, set));
    REFUSED(tb_cpubind_last(0, NULL));
    REFUSED(tb_membind_set(4, set, false));
    REFUSED(tb_membind_set(0, NULL, false));
    REFUSED(tb_membind_get(NULL, &policy));
    hwloc_topology_destroy(here);
    hwloc_bitmap_free(theirs);
    tb_set_free(all);
    tb_set_free(set);
}

/* Sets are glibc's too, and the thread is bound as hwloc says that it is. */
static void cpu_sets(void)
{
    hwloc_topology_t here;
    hwloc_bitmap_t theirs = hwloc_bitmap_alloc();
    tb_set *all = tb_set_new(), *set = tb_set_new();
    cpu_set_t mask, own;
    char text[4096];

    OK(tb_set_parse(set, "0,3,64-66,1023"));
    OK(tb_set_to_cpu_set(set, &mask, sizeof mask));
    EXPECT(CPU_COUNT(&mask) == 6 && CPU_ISSET(65, &mask) && CPU_ISSET(1023, &mask) && !CPU_ISSET(1, &mask));
    OK(tb_set_from_cpu_set(all, &mask, sizeof mask));
    EXPECT(tb_set_is_equal(all, set));
    OK(tb_set_add(set, 1024));
    EXPECT(tb_set_to_cpu_set(set, &mask, sizeof mask) == TB_ERR_TRUNCATED);
    OK(tb_set_parse(set, "4-"));
    EXPECT(tb_set_to_cpu_set(set, &mask, sizeof mask) == TB_ERR_TRUNCATED && tb_bind_this_thread(set) == -1);
    EXPECT(sched_getaffinity(0, sizeof own, &own) == 0);
    OK(tb_set_from_cpu_set(all, &own, sizeof own));
    OK(tb_set_copy(set, all));
    OK(tb_set_singlify(set));
    EXPECT(tb_bind_this_thread(set) == 0);
    hwloc_topology_init(&here);
    hwloc_topology_load(here);
    EXPECT(hwloc_get_cpubind(here, theirs, HWLOC_CPUBIND_THREAD) == 0);
    hwloc_bitmap_list_snprintf(text, sizeof text, theirs);
    EXPECT(is_list(set, text) && tb_bind_this_thread(all) == 0);
    hwloc_topology_destroy(here);
    hwloc_bitmap_free(theirs);
    tb_set_free(all);
    tb_set_free(set);
}

/* What is written as a text is what hwloc writes. */
static void texts(const tb_topology *topology, hwloc_topology_t reference)
{
    char ours[1024], theirs[1024], *xml;
    size_t length, indexes[4];
    hwloc_topology_t again;

    for (int type = 0; type < HWLOC_OBJ_TYPE_MAX; type++) {
        OK(tb_type_name(type, ours, sizeof ours, NULL));
        EXPECT(strcmp(ours, hwloc_obj_type_string(type)) == 0);
    }
    REFUSED(tb_type_name(20, ours, sizeof ours, NULL));
    for (int depth = HWLOC_TYPE_DEPTH_NUMANODE; depth < hwloc_topology_get_depth(reference); depth++) {
        for (unsigned i = 0; i < hwloc_get_nbobjs_by_depth(reference, depth); i++) {
            for (int verbose = 0; verbose < 2; verbose++) {
                tb_obj obj;
                hwloc_obj_attr_snprintf(theirs, sizeof theirs, hwloc_get_obj_by_depth(reference, depth, i), ";", verbose);
                OK(tb_obj_at_depth(topology, depth, i, &obj));
                OK(tb_obj_attributes_text(topology, obj, ";", verbose, ours, sizeof ours, NULL));
                /* The segment knows the infos of its publisher too. */
                EXPECT(depth == 0 || strcmp(ours, theirs) == 0);
            }
        }
    }
    REFUSED(tb_obj_attributes_text(topology, NOTHING, ";", 0, ours, sizeof ours, NULL));
    REFUSED(tb_obj_attributes_text(topology, 0, NULL, 0, ours, sizeof ours, NULL));
    OK(tb_topology_synthetic(topology, ours, sizeof ours, NULL));
    EXPECT(hwloc_topology_export_synthetic(reference, theirs, sizeof theirs, 0) > 0 && strcmp(ours, theirs) == 0);
    REFUSED(tb_topology_synthetic(NULL, ours, sizeof ours, NULL));
    EXPECT(tb_topology_xml(topology, NULL, 0, &length) == TB_ERR_TRUNCATED);
    xml = malloc(length + 1);
    OK(tb_topology_xml(topology, xml, length + 1, NULL));
    hwloc_topology_init(&again);
    EXPECT(hwloc_topology_set_xmlbuffer(again, xml, length + 1) == 0 && hwloc_topology_load(again) == 0);
    EXPECT(hwloc_get_nbobjs_by_type(again, HWLOC_OBJ_PU) == 16);
    hwloc_topology_destroy(again);
    free(xml);
    REFUSED(tb_topology_xml(NULL, ours, sizeof ours, NULL));
    OK(tb_distances_find(topology, NULL, -1, indexes, 4, &length));
    EXPECT(length == tb_distances_count(topology));
    REFUSED(tb_distances_find(topology, NULL, 20, indexes, 4, &length));
    REFUSED(tb_distances_find(NULL, NULL, -1, indexes, 4, &length));
}

/* Sizes that no struct has are refused, and structs of other versions are served. */
static void sizes(const tb_topology *topology)
{
    struct {
        tb_segment segment;
        uint64_t newer;
    } next;
    struct {
        tb_publish_options options;
        uint64_t newer;
    } options;
    tb_segment whole, part;

    OK(tb_topology_segment(topology, &whole, sizeof whole));
    memset(&part, 0xee, sizeof part);
    OK(tb_topology_segment(topology, &part, offsetof(tb_segment, address)));
    EXPECT(memcmp(&part, &whole, offsetof(tb_segment, address)) == 0 && part.address == 0xeeeeeeeeeeeeeeeeu);
    memset(&next, 0xee, sizeof next);
    OK(tb_topology_segment(topology, &next.segment, sizeof next));
    EXPECT(next.segment.publisher_pid == whole.publisher_pid && next.newer == 0);
    REFUSED(tb_topology_segment(topology, &whole, 0));
    REFUSED(tb_topology_segment(topology, &whole, 1 << 20));
    memset(&options, 0xee, sizeof options);
    OK(tb_publish_options_init(&options.options, sizeof options));
    EXPECT(options.newer == 0 && options.options.scope == TB_SCOPE_MACHINE);
    {
        tb_description *description;
        tb_publication *published;
        OK(tb_description_from_synthetic("PU:2", &description));
        OK(tb_publish(description, &options.options, sizeof options, &published));
        tb_publication_free(published);
        OK(tb_publish(description, &options.options, offsetof(tb_publish_options, address), &published));
        tb_publication_free(published);
        options.newer = 1;
        REFUSED(tb_publish(description, &options.options, sizeof options, &published));
        EXPECT(strstr(tb_error_detail(), "tb_publish_options") != NULL);
        tb_description_free(description);
    }
}

static void keys_of(const tb_publication *published, tb_keys *keys)
{
    tb_keys other;
    char text[2 * TB_FILE_MAX], file[TB_FILE_MAX], address[64], size[64];

    OK(tb_publication_keys(published, keys, sizeof *keys));
    OK(tb_keys_text(keys, sizeof *keys, TB_KEYS_FILE, file, sizeof file, NULL));
    OK(tb_keys_text(keys, sizeof *keys, TB_KEYS_ADDR, address, sizeof address, NULL));
    OK(tb_keys_text(keys, sizeof *keys, TB_KEYS_SIZE, size, sizeof size, NULL));
    OK(tb_keys_parse(file, address, size, &other, sizeof other));
    EXPECT(strcmp(other.file, keys->file) == 0 && other.address == keys->address && other.size == keys->size);
    OK(tb_keys_text(keys, sizeof *keys, TB_KEYS_LINES, text, sizeof text, NULL));
    EXPECT(strncmp(text, "TOPOBROKER_FILE=", 16) == 0);
    OK(tb_keys_text(keys, sizeof *keys, TB_KEYS_JSON, text, sizeof text, NULL));
    EXPECT(text[0] == '{');
    REFUSED(tb_keys_text(keys, sizeof *keys, 5, text, sizeof text, NULL));
    REFUSED(tb_keys_text(NULL, 0, 0, text, sizeof text, NULL));
    EXPECT(tb_keys_parse("relative", "0", "1", &other, sizeof other) == TB_ERR_KEYS);
    REFUSED(tb_keys_parse(NULL, "0", "1", &other, sizeof other));
    EXPECT(tb_keys_find(&other, sizeof other) == TB_ERR_KEYS);
    setenv("TOPOBROKER_FILE", file, 1);
    setenv("TOPOBROKER_ADDR", address, 1);
    setenv("TOPOBROKER_SIZE", size, 1);
    OK(tb_keys_find(&other, sizeof other));
    REFUSED(tb_keys_find(NULL, 0));
}

static const tb_topology *adopted(const tb_keys *keys)
{
    const tb_topology *topology = NULL, *again = NULL;
    tb_keys none = *keys;
    tb_segment segment;

    EXPECT(tb_adopted(&topology) == TB_ERR_NOT_FOUND);
    strcpy(none.file, "/nonexistent");
    EXPECT(tb_adopt_keys(&none, sizeof none, &topology) == TB_ERR_OPEN);
    strcpy(none.file, "/dev/null");
    EXPECT(tb_adopt_keys(&none, sizeof none, &topology) == TB_ERR_TRUST);
    none = *keys;
    none.size++;
    EXPECT(tb_adopt_keys(&none, sizeof none, &topology) == TB_ERR_SEGMENT);
    REFUSED(tb_adopt_keys(NULL, 0, &topology));
    REFUSED(tb_adopt_keys(keys, sizeof *keys, NULL));
    REFUSED(tb_adopt(NULL));
    REFUSED(tb_adopted(NULL));
    OK(tb_adopt(&topology));
    OK(tb_adopt_keys(keys, sizeof *keys, &again));
    EXPECT(topology == again);
    OK(tb_adopted(&again));
    EXPECT(topology == again);
    OK(tb_load(&again));
    EXPECT(topology == again);
    REFUSED(tb_load(NULL));
    tb_topology_free((tb_topology *)topology);
    OK(tb_topology_segment(topology, &segment, sizeof segment));
    EXPECT(segment.size == keys->size && segment.address == keys->address && segment.source == TB_FROM_SYNTHETIC);
    EXPECT(memcmp(segment.start, "TOPOBRKR", 8) == 0 && segment.publisher_pid == (uint32_t)getpid());
    REFUSED(tb_topology_segment(NULL, &segment, sizeof segment));
    OK(tb_topology_keys(topology, &none, sizeof none));
    EXPECT(none.size == keys->size);
    REFUSED(tb_topology_keys(topology, NULL, 0));
    return topology;
}

/* Compares every level, all of its objects, and their neighbours with hwloc's. */
static void objects(const tb_topology *topology, hwloc_topology_t reference)
{
    tb_set *set = tb_set_new();
    char text[1024];

    EXPECT(tb_topology_depth(topology) == (unsigned)hwloc_topology_get_depth(reference) && tb_topology_depth(NULL) == 0);
    for (int depth = HWLOC_TYPE_DEPTH_MEMCACHE; depth < hwloc_topology_get_depth(reference); depth++) {
        int type = -5;
        size_t count = hwloc_get_nbobjs_by_depth(reference, depth);
        EXPECT(tb_objs_count_at_depth(topology, depth) == count);
        if (count == 0)
            continue;
        OK(tb_depth_type(topology, depth, &type));
        EXPECT(type == (int)hwloc_get_depth_type(reference, depth));
        for (unsigned i = 0; i < count; i++) {
            hwloc_obj_t theirs = hwloc_get_obj_by_depth(reference, depth, i);
            tb_obj ours, other;
            tb_obj_data data;

            OK(tb_obj_at_depth(topology, depth, i, &ours));
            OK(tb_obj_get(topology, ours, &data, sizeof data));
            EXPECT(data.type == (int)theirs->type && data.depth == theirs->depth);
            EXPECT(data.logical_index == theirs->logical_index && data.os_index == theirs->os_index);
            EXPECT(data.gp_index == theirs->gp_index && data.total_memory == theirs->total_memory);
            EXPECT(data.sibling_rank == theirs->sibling_rank && data.arity == theirs->arity);
            EXPECT(data.memory_arity == theirs->memory_arity && data.symmetric_subtree == !!theirs->symmetric_subtree);
            OK(tb_obj_parent(topology, ours, &other));
            EXPECT(other == data.parent && (other == TB_OBJ_NONE) == (theirs->parent == NULL));
            OK(tb_obj_next_cousin(topology, ours, &other));
            EXPECT((other == TB_OBJ_NONE) == (theirs->next_cousin == NULL));
            OK(tb_obj_prev_cousin(topology, ours, &other));
            EXPECT((other == TB_OBJ_NONE) == (theirs->prev_cousin == NULL));
            OK(tb_obj_next_sibling(topology, ours, &other));
            EXPECT((other == TB_OBJ_NONE) == (theirs->next_sibling == NULL));
            OK(tb_obj_prev_sibling(topology, ours, &other));
            EXPECT((other == TB_OBJ_NONE) == (theirs->prev_sibling == NULL));
            hwloc_bitmap_list_snprintf(text, sizeof text, theirs->cpuset);
            OK(tb_obj_set(topology, ours, TB_CPUSET, set));
            EXPECT(is_list(set, text));
            hwloc_bitmap_list_snprintf(text, sizeof text, theirs->nodeset);
            OK(tb_obj_set(topology, ours, TB_NODESET, set));
            EXPECT(is_list(set, text));
            OK(tb_obj_set(topology, ours, TB_COMPLETE_CPUSET, set));
            OK(tb_obj_set(topology, ours, TB_COMPLETE_NODESET, set));
        }
    }
    tb_set_free(set);
}

static void levels(const tb_topology *topology, hwloc_topology_t reference)
{
    int depth = -77;
    tb_obj obj;

    OK(tb_type_depth(topology, TB_CORE, &depth));
    EXPECT(depth == hwloc_get_type_depth(reference, HWLOC_OBJ_CORE));
    OK(tb_type_depth(topology, TB_DIE, &depth));
    EXPECT(depth == TB_DEPTH_UNKNOWN);
    OK(tb_cache_depth(topology, 3, -1, &depth));
    EXPECT(depth == hwloc_get_cache_type_depth(reference, 3, HWLOC_OBJ_CACHE_UNIFIED));
    OK(tb_type_or_below_depth(topology, TB_DIE, &depth));
    EXPECT(depth == hwloc_get_type_or_below_depth(reference, HWLOC_OBJ_DIE));
    OK(tb_type_or_above_depth(topology, TB_DIE, &depth));
    EXPECT(depth == hwloc_get_type_or_above_depth(reference, HWLOC_OBJ_DIE));
    OK(tb_group_depth(topology, 0, &depth));
    EXPECT(depth == TB_DEPTH_UNKNOWN);
    REFUSED(tb_group_depth(NULL, 0, &depth));
    OK(tb_type_parse("L2", &depth));
    EXPECT(depth == TB_L2CACHE && tb_type_parse("nonesuch", &depth) == TB_ERR_TEXT);
    REFUSED(tb_type_parse(NULL, &depth));
    OK(tb_memory_parents_depth(topology, &depth));
    EXPECT(depth == hwloc_get_memory_parents_depth(reference));
    EXPECT(tb_objs_count_with_type(topology, TB_CORE) == 8 && tb_objs_count_with_type(topology, 55) == 0);
    EXPECT(tb_objs_count_with_type(NULL, TB_CORE) == 0 && tb_objs_count_at_depth(NULL, 0) == 0);
    OK(tb_obj_with_type(topology, TB_CORE, 7, &obj));
    EXPECT(tb_obj_with_type(topology, TB_CORE, 8, &obj) == TB_ERR_NOT_FOUND);
    REFUSED(tb_obj_with_type(topology, 20, 0, &obj));
    EXPECT(tb_obj_at_depth(topology, 0, 1, &obj) == TB_ERR_NOT_FOUND);
    EXPECT(tb_obj_at_depth(topology, 99, 0, &obj) == TB_ERR_NOT_FOUND);
    EXPECT(tb_depth_type(topology, 99, &depth) == TB_ERR_NOT_FOUND);
    OK(tb_pu_by_os_index(topology, 3, &obj));
    EXPECT(tb_pu_by_os_index(topology, NOTHING, &obj) == TB_ERR_NOT_FOUND);
    OK(tb_numa_node_by_os_index(topology, 1, &obj));
    EXPECT(tb_numa_node_by_os_index(topology, 2, &obj) == TB_ERR_NOT_FOUND);
    REFUSED(tb_type_depth(NULL, TB_CORE, &depth));
    REFUSED(tb_cache_depth(topology, 3, -1, NULL));
    REFUSED(tb_type_or_below_depth(topology, -1, &depth));
    REFUSED(tb_type_or_above_depth(NULL, 0, &depth));
    REFUSED(tb_memory_parents_depth(NULL, &depth));
    REFUSED(tb_depth_type(topology, 0, NULL));
    REFUSED(tb_obj_at_depth(topology, 0, 0, NULL));
    REFUSED(tb_pu_by_os_index(NULL, 0, &obj));
    REFUSED(tb_numa_node_by_os_index(NULL, 0, &obj));
}

/* Every function that takes an object refuses an id that is not an object's. */
static void ids_of_nothing(const tb_topology *topology)
{
    tb_obj obj, objs[4];
    tb_obj_data data;
    tb_attributes attributes;
    tb_page_type pages[2];
    tb_set *set = tb_set_new();
    const char *name, *value;
    char text[64];
    size_t count;
    uint64_t number;

    for (int i = 0; i < 2; i++) {
        tb_obj none = i == 0 ? NOTHING : TB_OBJ_NONE;
        REFUSED(tb_obj_get(topology, none, &data, sizeof data));
        REFUSED(tb_obj_children(topology, none, TB_CHILDREN_NORMAL, objs, 4, &count));
        REFUSED(tb_obj_parent(topology, none, &obj));
        REFUSED(tb_obj_next_cousin(topology, none, &obj));
        REFUSED(tb_obj_prev_cousin(topology, none, &obj));
        REFUSED(tb_obj_next_sibling(topology, none, &obj));
        REFUSED(tb_obj_prev_sibling(topology, none, &obj));
        REFUSED(tb_obj_set(topology, none, TB_CPUSET, set));
        REFUSED(tb_obj_info(topology, none, 0, &name, &value));
        REFUSED(tb_obj_info_by_name(topology, none, "x", &value));
        REFUSED(tb_obj_type_name(topology, none, false, text, sizeof text, NULL));
        REFUSED(tb_obj_attributes(topology, none, &attributes, sizeof attributes));
        REFUSED(tb_obj_page_types(topology, none, pages, sizeof *pages, 2, &count));
        REFUSED(tb_obj_ancestor_at_depth(topology, none, 0, &obj));
        REFUSED(tb_obj_ancestor_with_type(topology, none, TB_CORE, &obj));
        REFUSED(tb_obj_non_io_ancestor(topology, none, &obj));
        REFUSED(tb_obj_common_ancestor(topology, none, 0, &obj));
        REFUSED(tb_obj_common_ancestor(topology, 0, none, &obj));
        EXPECT(!tb_obj_is_in_subtree(topology, none, 0) && !tb_obj_is_in_subtree(topology, 0, none));
        REFUSED(tb_obj_shared_cache(topology, none, &obj));
        REFUSED(tb_objs_closest(topology, none, objs, 4, &count));
        REFUSED(tb_obj_with_same_locality(topology, none, TB_CORE, NULL, NULL, &obj));
        REFUSED(tb_obj_child_covering(topology, none, set, &obj));
        REFUSED(tb_obj_index_inside(topology, set, none, &count));
        REFUSED(tb_objs_distribute(topology, &none, 1, 100, false, &set, 1));
        REFUSED(tb_memory_value(topology, 0, none, NULL, TB_OBJ_NONE, &number));
        REFUSED(tb_memory_best_initiator(topology, 2, none, set, &obj, &number));
        EXPECT(tb_distances_value(topology, 0, none, 0, &number) != TB_OK);
        REFUSED(tb_place(topology, "cpu-list", NULL, &none, 1, &set, 1));
    }
    tb_set_free(set);
}

static void queries(const tb_topology *topology, hwloc_topology_t reference)
{
    tb_set *set = tb_set_new(), *other = tb_set_new(), *parts[3] = { tb_set_new(), tb_set_new(), tb_set_new() };
    hwloc_bitmap_t theirs = hwloc_bitmap_alloc(), their_parts[3];
    tb_obj obj, pu, last, root = 0, objs[32];
    tb_memory_attribute attribute;
    tb_attributes attributes;
    tb_page_type pages[4];
    tb_distances distances;
    const char *name, *value;
    char text[256], expected[256];
    size_t count, index;
    uint64_t number;
    int depth, efficiency;
    hwloc_obj_t their_root = hwloc_get_root_obj(reference);
    const uint64_t memory = hwloc_get_obj_by_type(reference, HWLOC_OBJ_NUMANODE, 0)->attr->numanode.local_memory;

    OK(tb_set_parse(set, "0-5"));
    hwloc_bitmap_set_range(theirs, 0, 5);
    OK(tb_type_depth(topology, TB_CORE, &depth));
    OK(tb_pu_by_os_index(topology, 0, &pu));
    OK(tb_pu_by_os_index(topology, 15, &last));

    OK(tb_obj_children(topology, 0, TB_CHILDREN_NORMAL, objs, 32, &count));
    EXPECT(count == 2);
    OK(tb_obj_children(topology, 0, TB_CHILDREN_NORMAL, NULL, 0, &count));
    EXPECT(count == 2);
    EXPECT(tb_obj_children(topology, 0, TB_CHILDREN_NORMAL, objs, 1, NULL) == TB_ERR_TRUNCATED);
    REFUSED(tb_obj_children(topology, 0, 4, objs, 32, &count));
    REFUSED(tb_obj_children(topology, 0, TB_CHILDREN_NORMAL, NULL, 1, &count));
    REFUSED(tb_obj_set(topology, 0, 4, set));
    OK(tb_obj_type_name(topology, pu, false, text, sizeof text, NULL));
    EXPECT(strcmp(text, "PU") == 0);
    EXPECT(tb_obj_info(topology, 0, 99, &name, &value) == TB_ERR_NOT_FOUND);
    EXPECT(tb_obj_info_by_name(topology, 0, "nonesuch", &value) == TB_ERR_NOT_FOUND);
    if (tb_obj_info_by_name(topology, 0, "SyntheticDescription", &value) == TB_OK)
        EXPECT(strcmp(value, hwloc_obj_get_info_by_name(their_root, "SyntheticDescription")) == 0);
    else
        EXPECT(hwloc_obj_get_info_by_name(their_root, "SyntheticDescription") == NULL);
    EXPECT(tb_obj_info(topology, 0, 0, &name, &value) == TB_OK && strcmp(name, their_root->infos[0].name) == 0);

    OK(tb_obj_with_type(topology, TB_L3CACHE, 0, &obj));
    OK(tb_obj_attributes(topology, obj, &attributes, sizeof attributes));
    EXPECT(attributes.kind == TB_ATTRIBUTES_CACHE && attributes.cache.depth == 3);
    OK(tb_obj_with_type(topology, TB_NUMANODE, 0, &obj));
    OK(tb_obj_attributes(topology, obj, &attributes, sizeof attributes));
    EXPECT(attributes.kind == TB_ATTRIBUTES_NUMANODE && attributes.local_memory == memory);
    OK(tb_obj_page_types(topology, obj, pages, sizeof *pages, 4, &count));
    EXPECT(count == hwloc_get_obj_by_type(reference, HWLOC_OBJ_NUMANODE, 0)->attr->numanode.page_types_len);

    OK(tb_obj_ancestor_at_depth(topology, pu, 1, &obj));
    REFUSED(tb_obj_ancestor_at_depth(topology, pu, 99, &obj));
    OK(tb_obj_ancestor_with_type(topology, pu, TB_PACKAGE, &obj));
    EXPECT(obj == objs[0]);
    OK(tb_obj_non_io_ancestor(topology, pu, &obj));
    EXPECT(obj == pu);
    OK(tb_obj_common_ancestor(topology, pu, last, &obj));
    EXPECT(obj == 0);
    EXPECT(tb_obj_is_in_subtree(topology, pu, 0) && !tb_obj_is_in_subtree(topology, 0, pu) && !tb_obj_is_in_subtree(NULL, 0, 0));
    OK(tb_obj_shared_cache(topology, pu, &obj));
    OK(tb_objs_closest(topology, pu, objs, 4, &count));
    EXPECT(count == 15);
    OK(tb_obj_with_same_locality(topology, pu, TB_PU, NULL, NULL, &obj));
    EXPECT(obj == pu);
    EXPECT(tb_device_by_bus_id(topology, "0000:00:00.0", &obj) == TB_ERR_NOT_FOUND);
    EXPECT(tb_device_by_name(topology, "nonesuch", &obj) == TB_ERR_NOT_FOUND);
    OK(tb_objs_with_name(topology, "nonesuch", objs, 4, &count));
    EXPECT(count == 0);

    OK(tb_obj_covering(topology, set, &obj));
    OK(tb_obj_cache_covering(topology, set, &obj));
    OK(tb_obj_child_covering(topology, 0, set, &obj));
    OK(tb_objs_covering(topology, set, depth, objs, 32, &count));
    EXPECT(count == 3);
    OK(tb_objs_inside(topology, set, depth, objs, 32, &count));
    EXPECT(count == hwloc_get_nbobjs_inside_cpuset_by_depth(reference, theirs, depth));
    OK(tb_objs_inside_count(topology, set, depth, &count));
    EXPECT(count == 3);
    OK(tb_objs_inside_count_with_type(topology, set, TB_PU, &count));
    EXPECT(count == 6);
    OK(tb_obj_inside(topology, set, depth, 2, &obj));
    EXPECT(obj == objs[2]);
    EXPECT(tb_obj_inside(topology, set, depth, 3, &obj) == TB_ERR_NOT_FOUND);
    OK(tb_obj_index_inside(topology, set, objs[2], &index));
    EXPECT(index == 2);
    OK(tb_objs_largest_inside(topology, set, objs, 32, &count));
    EXPECT((int)count == hwloc_get_largest_objs_inside_cpuset(reference, theirs, (hwloc_obj_t[32]){ 0 }, 32));
    OK(tb_obj_first_largest_inside(topology, set, &obj));
    EXPECT(obj == objs[0]);
    REFUSED(tb_objs_inside(topology, set, 99, objs, 32, &count));
    OK(tb_objs_distribute(topology, &root, 1, INT32_MAX, false, parts, 3));
    hwloc_distrib(reference, &their_root, 1, their_parts, 3, INT32_MAX, 0);
    for (int i = 0; i < 3; i++) {
        hwloc_bitmap_list_snprintf(expected, sizeof expected, their_parts[i]);
        EXPECT(is_list(parts[i], expected));
        hwloc_bitmap_free(their_parts[i]);
    }
    REFUSED(tb_objs_distribute(topology, &root, 1, INT32_MAX, false, NULL, 3));
    REFUSED(tb_objs_distribute(topology, &root, 1, INT32_MAX, false, NULL, (size_t)1 << 40));
    REFUSED(tb_objs_distribute(topology, &root, 1, INT32_MAX, false, NULL, SIZE_MAX));
    OK(tb_set_parse(other, "0-15"));
    OK(tb_set_singlify_per_core(topology, other, 0));
    EXPECT(is_list(other, "0,2,4,6,8,10,12,14"));

    OK(tb_memory_local_nodes(topology, set, 1, objs, 32, &count));
    EXPECT(count == 1);
    OK(tb_memory_local_nodes(topology, set, 8, objs, 32, &count));
    EXPECT(count == 1);
    REFUSED(tb_memory_local_nodes(topology, set, 16, objs, 32, &count));
    OK(tb_cpuset_to_nodeset(topology, set, other));
    EXPECT(is_list(other, "0"));
    OK(tb_cpuset_from_nodeset(topology, other, other == set ? set : parts[0]));
    EXPECT(is_list(parts[0], "0-7"));
    OK(tb_memory_attribute_by_name(topology, "capacity", &attribute, sizeof attribute));
    EXPECT(attribute.id == 0 && strcmp(attribute.name, "Capacity") == 0 && !attribute.needs_initiator);
    EXPECT(tb_memory_attribute_by_name(topology, "nonesuch", &attribute, sizeof attribute) == TB_ERR_NOT_FOUND);
    OK(tb_memory_attribute_get(topology, 2, &attribute, sizeof attribute));
    EXPECT(attribute.needs_initiator && strcmp(attribute.name, "Bandwidth") == 0);
    EXPECT(tb_memory_attribute_get(topology, NOTHING, &attribute, sizeof attribute) == TB_ERR_NOT_FOUND);
    OK(tb_obj_with_type(topology, TB_NUMANODE, 0, &obj));
    OK(tb_memory_value(topology, 0, obj, NULL, TB_OBJ_NONE, &number));
    EXPECT(number == memory);
    EXPECT(tb_memory_value(topology, 2, obj, set, TB_OBJ_NONE, &number) == TB_ERR_NOT_FOUND);
    OK(tb_memory_best_target(topology, 0, NULL, TB_OBJ_NONE, &obj, &number));
    OK(tb_memory_value_at(topology, 0, 1, &obj, other, &pu, &number));
    EXPECT(number == memory && pu == TB_OBJ_NONE && tb_set_is_empty(other));
    EXPECT(tb_memory_value_at(topology, 2, 0, &obj, other, &pu, &number) == TB_ERR_NOT_FOUND);
    REFUSED(tb_memory_value_at(topology, 0, 0, NULL, other, &pu, &number));
    OK(tb_pu_by_os_index(topology, 0, &pu));
    EXPECT(tb_memory_best_initiator(topology, 2, obj, other, &pu, NULL) == TB_ERR_NOT_FOUND);

    EXPECT((int)tb_cpu_kind_count(topology) == hwloc_cpukinds_get_nr(reference, 0));
    EXPECT(tb_cpu_kind(topology, 9, set, &efficiency) == TB_ERR_NOT_FOUND);
    EXPECT(tb_cpu_kind_info(topology, 9, 0, &name, &value) == TB_ERR_NOT_FOUND);
    EXPECT(tb_cpu_kind_of(topology, set, &index) == TB_ERR_NOT_FOUND);
    EXPECT(tb_distances_count(topology) == 0 && tb_distances_count(NULL) == 0);
    EXPECT(tb_distances_get(topology, 0, &distances, sizeof distances) == TB_ERR_NOT_FOUND);
    EXPECT(tb_distances_objs(topology, 0, objs, 4, &count) == TB_ERR_NOT_FOUND);
    EXPECT(tb_distances_value(topology, 0, 0, 0, &number) == TB_ERR_NOT_FOUND);

    OK(tb_topology_allowed(topology, set, other));
    EXPECT(is_list(set, "0-15") && is_list(other, "0-1"));
    OK(tb_topology_type_filter(topology, TB_PU, &depth));
    EXPECT(depth == 0);
    OK(tb_topology_support(topology, "discovery.pu", &number));
    EXPECT(tb_topology_support(topology, "nonesuch", &number) == TB_ERR_NOT_FOUND);
    EXPECT(!tb_topology_is_this_system(topology) && !tb_topology_is_this_system(NULL));
    EXPECT(tb_topology_object_count(NULL) == 0 && tb_cpu_kind_count(NULL) == 0);
    hwloc_bitmap_free(theirs);
    tb_set_free(set);
    tb_set_free(other);
    for (int i = 0; i < 3; i++)
        tb_set_free(parts[i]);
}

/* With NULL topologies and NULL outputs, functions refuse or do nothing, and do not crash. */
static void nulls(const tb_topology *topology)
{
    tb_set *set = tb_set_new();
    tb_obj obj;
    size_t count;

    REFUSED(tb_obj_get(NULL, 0, NULL, 0));
    REFUSED(tb_obj_get(topology, 0, NULL, 0));
    REFUSED(tb_obj_parent(topology, 0, NULL));
    REFUSED(tb_obj_set(topology, 0, TB_CPUSET, NULL));
    REFUSED(tb_obj_info(topology, 0, 0, NULL, NULL));
    REFUSED(tb_obj_info_by_name(topology, 0, NULL, NULL));
    REFUSED(tb_obj_attributes(NULL, 0, NULL, 0));
    REFUSED(tb_obj_page_types(NULL, 0, NULL, 0, 0, NULL));
    REFUSED(tb_obj_ancestor_at_depth(NULL, 0, 0, &obj));
    REFUSED(tb_obj_ancestor_with_type(topology, 0, 99, &obj));
    REFUSED(tb_obj_common_ancestor(topology, 0, 0, NULL));
    REFUSED(tb_device_by_bus_id(topology, NULL, &obj));
    REFUSED(tb_device_by_name(topology, NULL, &obj));
    REFUSED(tb_objs_with_name(topology, NULL, NULL, 0, &count));
    REFUSED(tb_obj_covering(topology, NULL, &obj));
    REFUSED(tb_obj_cache_covering(NULL, set, &obj));
    REFUSED(tb_objs_covering(NULL, set, 0, NULL, 0, &count));
    REFUSED(tb_objs_inside_count(topology, NULL, 0, &count));
    REFUSED(tb_objs_inside_count_with_type(topology, set, 99, &count));
    REFUSED(tb_obj_inside(topology, set, 0, 0, NULL));
    REFUSED(tb_objs_largest_inside(topology, NULL, NULL, 0, &count));
    REFUSED(tb_obj_first_largest_inside(topology, set, NULL));
    REFUSED(tb_set_singlify_per_core(NULL, set, 0));
    REFUSED(tb_cpuset_to_nodeset(topology, set, NULL));
    REFUSED(tb_cpuset_from_nodeset(topology, NULL, set));
    REFUSED(tb_memory_attribute_by_name(topology, NULL, NULL, 0));
    REFUSED(tb_memory_attribute_get(topology, 0, NULL, 0));
    REFUSED(tb_memory_best_target(topology, 0, NULL, TB_OBJ_NONE, NULL, NULL));
    REFUSED(tb_cpu_kind_of(topology, NULL, &count));
    REFUSED(tb_distances_get(NULL, 0, NULL, 0));
    REFUSED(tb_topology_allowed(NULL, set, set));
    REFUSED(tb_topology_type_filter(topology, 0, NULL));
    REFUSED(tb_topology_support(topology, NULL, NULL));
    REFUSED(tb_view_new(topology, NULL, 0, NULL));
    REFUSED(tb_view_intersection(topology, NULL, NULL));
    REFUSED(tb_view_effective(NULL));
    REFUSED(tb_source_affinity(NULL));
    REFUSED(tb_source_cpu_list(topology, NULL, false, NULL, NULL, 0, NULL));
    REFUSED(tb_source_cpuset(topology, 0, NULL, 0, set));
    REFUSED(tb_source_omp_places(topology, NULL, NULL, 0, &count));
    REFUSED(tb_job_adopt(NULL, NULL, NULL));
    REFUSED(tb_job_view(NULL, NULL));
    REFUSED(tb_job_local_rank(NULL, 0, NULL, NULL));
    REFUSED(tb_job_cpuset(NULL, 0, set));
    REFUSED(tb_locality_between(topology, NULL, NULL, 0, NULL));
    REFUSED(tb_locality_string(topology, NULL, NULL, 0, NULL));
    REFUSED(tb_locality_compare(NULL, NULL, 0, NULL));
    REFUSED(tb_job_locality(NULL, 0, 0, 0, NULL));
    REFUSED(tb_device_distances(topology, NULL, 0, NULL, 0, 0, &count));
    REFUSED(tb_device_distances_pmix7(topology, NULL, 0, NULL, 0, 0, &count));
    REFUSED(tb_ports(NULL, 0, NULL, 0, 0, &count));
    REFUSED(tb_obj_fact(topology, 0, NULL, NULL));
    REFUSED(tb_nics(NULL, false, NULL, 0, &count));
    REFUSED(tb_gpus(NULL, NULL, 0, &count));
    REFUSED(tb_nearest(topology, NULL, 0, NULL));
    REFUSED(tb_nearest(topology, set, 2, NULL));
    REFUSED(tb_devices_assign(topology, NULL, 1, NULL, 0, 1, NULL, 0, &count));
    REFUSED(tb_job_nics(NULL, 0, NULL, 0, &count));
    REFUSED(tb_job_gpus(NULL, 0, NULL, 0, &count));
    REFUSED(tb_cluster_adopt("/dev/null", NULL));
    REFUSED(tb_cluster_count(NULL, NULL, 0));
    REFUSED(tb_cluster_find(NULL, "a", NULL));
    REFUSED(tb_cluster_local(NULL, NULL));
    REFUSED(tb_cluster_node_get(NULL, 0, NULL, 0));
    REFUSED(tb_cluster_node_name(NULL, 0, NULL, 0, NULL));
    REFUSED(tb_cluster_open(NULL, 0, NULL));
    REFUSED(tb_cluster_bindable(NULL, 0, 0, set));
    REFUSED(tb_cluster_group_get(NULL, 0, NULL, 0));
    REFUSED(tb_cluster_group_find(NULL, "a", NULL));
    REFUSED(tb_cluster_group_name(NULL, 0, NULL, 0, NULL));
    REFUSED(tb_cluster_group_nodes(NULL, 0, NULL, 0, NULL));
    REFUSED(tb_cluster_common(NULL, 0, 0, NULL));
    REFUSED(tb_cluster_hops(NULL, 0, 0, NULL));
    REFUSED(tb_cluster_distances(NULL, 0, NULL, 0, NULL, 0, 0, NULL));
    REFUSED(tb_cluster_totals(NULL, 0, NULL, 0));
    REFUSED(tb_cluster_own_node(NULL));
    REFUSED(tb_cluster_gather(NULL, NULL, 0, true, "a", NULL, "/nonexistent", 0400, false, NULL));
    REFUSED(tb_gathering_new(0, false, NULL, NULL));
    REFUSED(tb_gathering_mine(NULL, NULL, NULL));
    REFUSED(tb_gathering_answer(NULL, NULL, 0));
    REFUSED(tb_gathering_next(NULL));
    REFUSED(tb_gathering_write(NULL, NULL, "/nonexistent", 0400, false, NULL));
    tb_gathering_free(NULL);
    REFUSED(tb_exchange_answer(NULL, NULL, 0));
    REFUSED(tb_links_new(NULL, false, false, NULL));
    tb_links_free(NULL);
    REFUSED(tb_links_size(NULL, NULL, NULL));
    REFUSED(tb_links_vertex(NULL, 0, NULL, NULL));
    REFUSED(tb_links_name(NULL, 0, NULL, 0, NULL));
    REFUSED(tb_links_find(NULL, "cuda0", NULL));
    REFUSED(tb_links_link(NULL, 0, NULL, 0));
    REFUSED(tb_links_path(NULL, 0, 0, 0, NULL, 0, NULL, 0, NULL));
    REFUSED(tb_links_paths(NULL, 0, 0, NULL, 0, 0, NULL));
    REFUSED(tb_links_rank_paths(NULL, NULL, 0, NULL, 0, false, 0, NULL, 0, 0, NULL));
    REFUSED(tb_hw_groups(NULL, 0, 2, NULL, 0, 0, &count));
    REFUSED(tb_hw_ranks(NULL, "core", NULL, 0, &count));
    REFUSED(tb_hw_guided(NULL, "core", NULL, 0, &count));
    REFUSED(tb_hw_unguided(NULL, NULL, 0, NULL, 0, &count));
    REFUSED(tb_hw_unguided_uri(NULL, NULL, 0, 0, NULL, 0, NULL));
    REFUSED(tb_hw_resource_info(NULL, 0, NULL, 0, 0, &count));
    REFUSED(tb_hw_objects(topology, NULL, NULL, 0, &count));
    REFUSED(tb_hw_uri(NULL, NULL, 0, NULL));
    REFUSED(tb_device_path_class(topology, 0, 0, NULL));
    REFUSED(tb_device_id(topology, 0, NULL, NULL, 0, NULL));
    REFUSED(tb_device_path_get(topology, NULL, 0, NULL, 0));
    REFUSED(tb_job_localities(NULL, 0, 0, NULL, 0, NULL));
    EXPECT(tb_job_name(NULL) == NULL && tb_job_rank_count(NULL) == 0 && tb_view_bytes(NULL) == 0);
    EXPECT(!tb_view_is_equal(topology, NULL));
    REFUSED(tb_scope(NULL, NULL, set, NULL, 0));
    REFUSED(tb_scope_decide(NULL, 0, NULL, set, NULL, 0));
    REFUSED(tb_place(topology, NULL, NULL, NULL, 0, NULL, 0));
    REFUSED(tb_place_count(topology, NULL, NULL, NULL, 0, &count));
    REFUSED(tb_binding_report(topology, 0, NULL, false, NULL, 0, NULL));
    REFUSED(tb_location(topology, NULL, false, NULL, 0, &count));
    REFUSED(tb_description_from_hwloc(NULL, NULL));
    REFUSED(tb_description_from_machine(NULL));
    REFUSED(tb_description_from_xml(NULL, NULL));
    REFUSED(tb_description_from_xml_text(NULL, NULL));
    REFUSED(tb_description_from_synthetic(NULL, NULL));
    REFUSED(tb_publish_options_init(NULL, 0));
    REFUSED(tb_publish(NULL, NULL, 0, NULL));
    REFUSED(tb_publication_keys(NULL, NULL, 0));
    REFUSED(tb_publication_hwloc_keys(NULL, NULL, 0));
    REFUSED(tb_publication_env(NULL, 0, NULL, NULL));
    REFUSED(tb_publication_pmix_info(NULL, NULL, NULL));
    REFUSED(tb_unpublish(NULL));
    REFUSED(tb_job_add(topology, NULL, NULL, NULL, 0, 0, false, NULL, 0, NULL));
    REFUSED(tb_job_publication_file(NULL, NULL, 0, NULL));
    REFUSED(tb_job_publication_env(NULL, 0, NULL, NULL));
    REFUSED(tb_job_pmix_info(NULL, NULL, NULL));
    REFUSED(tb_job_pmix_rank_info(NULL, NULL, 0, NULL, NULL, NULL));
    REFUSED(tb_job_remove(topology, NULL));
    REFUSED(tb_job_sweep(NULL, NULL));
    REFUSED(tb_job_list(NULL, 0, NULL, 0, NULL));
    REFUSED(tb_hwloc_topology(NULL));
    REFUSED(tb_topology_export_xml(topology, NULL));
    tb_topology_free(NULL);
    tb_job_free(NULL);
    tb_description_free(NULL);
    tb_publication_free(NULL);
    tb_job_publication_free(NULL);
    tb_set_free(set);
}

static void views(const tb_topology *topology, hwloc_topology_t reference)
{
    tb_set *set = tb_set_new(), *other = tb_set_new(), *places[2] = { tb_set_new(), tb_set_new() };
    tb_topology *view, *both, *same;
    hwloc_topology_t restricted;
    hwloc_bitmap_t half = hwloc_bitmap_alloc();
    tb_situation situation = { 0 };
    tb_obj objs[8];
    size_t count;
    bool all;
    char reason[256];

    OK(tb_set_parse(set, "4-11"));
    OK(tb_view_new(topology, set, TB_RESTRICT_REMOVE_CPULESS, &view));
    hwloc_bitmap_set_range(half, 4, 11);
    hwloc_topology_dup(&restricted, reference);
    hwloc_topology_restrict(restricted, half, HWLOC_RESTRICT_FLAG_REMOVE_CPULESS);
    objects(view, restricted);
    hwloc_topology_destroy(restricted);
    hwloc_bitmap_free(half);
    EXPECT(tb_view_bytes(view) > 0 && tb_view_bytes(view) < 1024 && tb_view_bytes(topology) == 0);
    OK(tb_set_parse(other, "0-5"));
    OK(tb_view_new(topology, other, 0, &both));
    OK(tb_view_intersection(view, both, &same));
    OK(tb_obj_set(same, 0, TB_CPUSET, set));
    EXPECT(is_list(set, "4-5") && !tb_view_is_equal(view, both) && tb_view_is_equal(same, same));
    tb_topology_free(same);
    tb_topology_free(both);
    OK(tb_set_parse(other, "99"));
    EXPECT(tb_view_new(topology, other, 0, &both) == TB_ERR_RESTRICT);
    EXPECT(tb_view_new(topology, set, 1 << 9, &both) == TB_ERR_RESTRICT);
    REFUSED(tb_obj_get(view, NOTHING, NULL, 0));
    tb_topology_free(view);

    OK(tb_source_affinity(set));
    EXPECT(!tb_set_is_empty(set));
    EXPECT(tb_source_cgroup("/nonexistent", set, other) == TB_ERR_SOURCE);
    (void)tb_source_cgroup(NULL, set, NULL);
    OK(tb_source_cpu_list(topology, "14,15,0,1", false, set, objs, 8, &count));
    EXPECT(count == 4 && is_list(set, "0-1,14-15"));
    EXPECT(tb_source_cpu_list(topology, "99", true, set, objs, 8, &count) == TB_ERR_SOURCE);
    OK(tb_source_cpuset(topology, TB_SOURCE_PMIX_CPUSET, "hwloc:0-1", 0, set));
    EXPECT(is_list(set, "0-1"));
    OK(tb_source_cpuset(topology, TB_SOURCE_PMIX_CPU_LIST, "2,3", 0, set));
    OK(tb_source_cpuset(topology, TB_SOURCE_SLURM_CPU_BIND, "quiet,mask_cpu:0x1,0x2", 1, set));
    EXPECT(is_list(set, "1"));
    EXPECT(tb_source_cpuset(topology, TB_SOURCE_SLURM_CPU_BIND, "none", 0, set) == TB_ERR_NOT_FOUND);
    REFUSED(tb_source_cpuset(topology, 3, "x", 0, set));
    OK(tb_source_omp_places(topology, "{0:2}:4:2", places, 2, &count));
    EXPECT(count == 4 && is_list(places[1], "2-3"));

    OK(tb_view_effective(&view));
    tb_topology_free(view);
    EXPECT(tb_scope_launcher() == TB_LAUNCHER_NONE);
    OK(tb_scope(topology, &all, set, reason, sizeof reason));
    EXPECT(all && strlen(reason) > 0);
    all = false;
    EXPECT(tb_scope(topology, &all, set, reason, 2) == TB_ERR_TRUNCATED && !all);
    OK(tb_set_parse(set, "0-15"));
    OK(tb_set_parse(other, "0-3"));
    situation.launch = TB_LAUNCHER_DIRECT;
    situation.published = TB_SCOPE_MACHINE;
    situation.is_this_system = true;
    situation.pus = set;
    situation.affinity = other;
    OK(tb_scope_decide(&situation, sizeof situation, &all, places[0], reason, sizeof reason));
    EXPECT(!all && is_list(places[0], "0-3"));
    situation.affinity = NULL;
    REFUSED(tb_scope_decide(&situation, sizeof situation, &all, places[0], NULL, 0));
    situation.launch = 9;
    REFUSED(tb_scope_decide(&situation, sizeof situation, &all, places[0], NULL, 0));
    tb_set_free(set);
    tb_set_free(other);
    tb_set_free(places[0]);
    tb_set_free(places[1]);
}

/* The exchange of a single process. */
static int alone(void *context, const void *mine, size_t length, tb_exchange_answers *answers)
{
    ++*(int *)context;
    return tb_exchange_answer(answers, mine, length);
}

static int fails(void *context, const void *mine, size_t length, tb_exchange_answers *answers)
{
    (void)context, (void)mine, (void)length, (void)answers;
    return 7;
}

static void clusters(const tb_topology *topology)
{
    char file[] = "/tmp/topobroker-cluster-XXXXXX", name[64];
    const tb_cluster *cluster, *again;
    const tb_topology *opened, *same;
    tb_cluster_counts counts;
    tb_cluster_node data;
    tb_cluster_group group;
    tb_cluster_sum sum;
    tb_segment segment;
    tb_obj_data own, other;
    tb_job *job;
    tb_set *set = tb_set_new();
    uint32_t node, number, nodes[2];
    size_t count, length, objects;
    int rounds = 0;
    size_t missing = 9;

    EXPECT(mkdtemp(file) != NULL);
    char path[sizeof file + 8];
    snprintf(path, sizeof path, "%s/cluster", file);
    EXPECT(tb_cluster_gather(fails, NULL, 0, true, "alpha", NULL, path, 0400, false, NULL) ==
           TB_ERR_PUBLISH);
    EXPECT(access(path, F_OK) != 0);
    OK(tb_cluster_gather(alone, &rounds, 0, true, "alpha", "alpha,beta", path, 0400, false, &missing));
    EXPECT(missing == 1);
    EXPECT(rounds == 3);
    EXPECT(tb_cluster_gather(alone, &rounds, 0, true, "alpha", NULL, path, 0400, false, NULL) ==
           TB_ERR_PUBLISH);
    OK(tb_cluster_gather(alone, &rounds, 0, true, "alpha", NULL, path, 0400, true, NULL));
    /* The same, with an exchange of one's own. */
    tb_gathering *gathering;
    const void *mine;
    OK(tb_gathering_new(0, true, "alpha", &gathering));
    EXPECT(tb_gathering_write(gathering, NULL, path, 0400, true, NULL) == TB_ERR_ARGUMENT);
    for (rounds = 0; tb_gathering_mine(gathering, &mine, &length) == TB_OK; rounds++) {
        OK(tb_gathering_answer(gathering, mine, length));
        OK(tb_gathering_next(gathering));
    }
    EXPECT(rounds == 3);
    OK(tb_gathering_write(gathering, "alpha", path, 0400, true, &missing));
    EXPECT(missing == 0);
    EXPECT(tb_gathering_write(gathering, NULL, path, 0400, true, NULL) == TB_ERR_ARGUMENT);
    tb_gathering_free(gathering);
    EXPECT(tb_cluster_own_node(&opened) == TB_ERR_KEYS);
    EXPECT(tb_cluster_adopt(NULL, &cluster) == TB_ERR_KEYS);
    setenv("TOPOBROKER_CLUSTER", path, 1);
    setenv("TOPOBROKER_HOST", "beta", 1);
    EXPECT(tb_cluster_own_node(&opened) == TB_ERR_NOT_FOUND);
    OK(tb_cluster_adopt(NULL, &cluster));
    OK(tb_cluster_adopt(path, &again));
    EXPECT(cluster == again);
    OK(tb_cluster_count(cluster, &counts, sizeof counts));
    EXPECT(counts.nodes == 1 && counts.classes == 1 && counts.groups == 1 && counts.links == 0);
    OK(tb_cluster_find(cluster, "alpha", &node));
    EXPECT(node == 0 && tb_cluster_find(cluster, "gamma", &node) == TB_ERR_NOT_FOUND);
    EXPECT(tb_cluster_local(cluster, &node) == TB_ERR_NOT_FOUND);
    OK(tb_cluster_node_get(cluster, 0, &data, sizeof data));
    EXPECT(!data.is_local && data.group == 0 && data.class_number == 0);
    OK(tb_cluster_open(cluster, 0, &opened));
    OK(tb_cluster_open(cluster, 0, &same));
    EXPECT(opened == same && opened != topology);
    tb_topology_free((tb_topology *)opened);
    OK(tb_obj_get(topology, 0, &own, sizeof own));
    OK(tb_obj_get(opened, 0, &other, sizeof other));
    EXPECT(own.total_memory == other.total_memory && own.infos == other.infos);
    objects = tb_topology_object_count(opened);
    EXPECT(objects == tb_topology_object_count(topology));
    EXPECT(tb_topology_segment(opened, &segment, sizeof segment) == TB_ERR_ARGUMENT);
    EXPECT(tb_job_adopt(opened, NULL, &job) == TB_ERR_ARGUMENT);
    OK(tb_set_add(set, 5));
    EXPECT(tb_cluster_bindable(cluster, 0, 0, set) == TB_ERR_REMOTE);
    EXPECT(tb_set_weight(set) == 1);
    setenv("TOPOBROKER_HOST", "alpha.example.org", 1);
    OK(tb_cluster_local(cluster, &node));
    OK(tb_cluster_bindable(cluster, node, 0, set));
    EXPECT(tb_set_weight(set) > 1);
    OK(tb_cluster_own_node(&same));
    EXPECT(tb_topology_object_count(same) == objects);
    OK(tb_cluster_node_name(cluster, 0, name, sizeof name, &length));
    EXPECT(length == 5 && strcmp(name, "alpha") == 0);
    OK(tb_cluster_group_get(cluster, 0, &group, sizeof group));
    EXPECT(group.kind == TB_GROUP_CLUSTER && group.nodes == 1 && group.depth == 0);
    OK(tb_cluster_group_name(cluster, 0, name, sizeof name, NULL));
    EXPECT(name[0] == 0);
    OK(tb_cluster_group_find(cluster, "", &number));
    EXPECT(number == 0 && tb_cluster_group_find(cluster, "leaf", &number) == TB_ERR_NOT_FOUND);
    OK(tb_cluster_group_nodes(cluster, 0, nodes, 2, &count));
    EXPECT(count == 1 && nodes[0] == 0);
    OK(tb_cluster_common(cluster, 0, 0, &number));
    EXPECT(tb_cluster_hops(cluster, 0, 0, &number) == TB_ERR_NOT_FOUND);
    tb_link_path ways[1];
    OK(tb_cluster_distances(cluster, 0, (uint32_t[]){ 0 }, 1, ways, sizeof *ways, 1, &count));
    EXPECT(count == 1 && !ways[0].is_there && ways[0].bandwidth == -1);
    REFUSED(tb_cluster_distances(cluster, 0, (uint32_t[]){ 1 }, 1, ways, sizeof *ways, 1, &count));
    OK(tb_cluster_totals(cluster, 0, &sum, sizeof sum));
    EXPECT(sum.nodes == 1 && sum.memory == own.total_memory);
    REFUSED(tb_cluster_open(cluster, 1, &opened));
    REFUSED(tb_cluster_group_get(cluster, 1, &group, sizeof group));
    EXPECT(tb_cluster_adopt("/etc/passwd", &again) == TB_ERR_SEGMENT);
    unsetenv("TOPOBROKER_HOST");
    unlink(path);
    rmdir(file);
    tb_set_free(set);
}

static void jobs(const tb_topology *topology)
{
    tb_set *set = tb_set_new(), *sets[2] = { tb_set_new(), tb_set_new() };
    const tb_set *placed[3] = { sets[0], sets[1], NULL };
    tb_topology *view, *own;
    tb_job_publication *published, *again;
    tb_job *job;
    uint32_t ranks[3] = { 10, 11, 12 }, rank;
    uint16_t shared, all[4];
    tb_device_path path;
    tb_device_policy policy = { .nics_per_rank = 2, .gpus_per_rank = 1, .unknown_nics = true, .nics_near_gpu = true };
    tb_obj given = 0, dealt[2];
    tb_hw_group groups[8];
    tb_hw_resource types[32];
    char lines[64];
    uint32_t on[4], rank_of_none = 99;
    tb_links *links;
    tb_link link;
    tb_link_path way, ways[4];
    uint16_t vertex, ends[2];
    size_t vertices;
    int32_t class, kind, colours[4];
    const char *name, *value;
    char file[TB_FILE_MAX], line[256];
    tb_obj objs[8];
    size_t count;

    OK(tb_set_parse(set, "0-7"));
    OK(tb_view_new(topology, set, TB_RESTRICT_REMOVE_CPULESS, &view));
    OK(tb_place_count(view, "core", NULL, NULL, 0, &count));
    EXPECT(count == 4);
    OK(tb_place(view, "core", "none", NULL, 0, sets, 2));
    EXPECT(tb_set_is_empty(sets[0]));
    OK(tb_binding_report(topology, 0, sets[0], false, line, sizeof line, NULL));
    EXPECT(strstr(line, "is not bound") != NULL);
    OK(tb_job_add(view, "unbound", ranks, placed, 2, TB_JOB_WITH_THIS_PROCESS, false, NULL, 0, &published));
    tb_job_publication_free(published);
    OK(tb_place(view, "core", "core", NULL, 0, sets, 2));
    EXPECT(is_list(sets[1], "2-3"));
    EXPECT(tb_place(view, "nonesuch", NULL, NULL, 0, sets, 2) == TB_ERR_TEXT);
    EXPECT(tb_place(view, "ppr:1:core", NULL, NULL, 0, sets, 0) == TB_OK);
    EXPECT(tb_place(view, "ppr:1:package", NULL, NULL, 0, sets, 2) == TB_ERR_PLACEMENT);
    OK(tb_binding_report(topology, 0, sets[1], false, line, sizeof line, NULL));
    EXPECT(strstr(line, "[../BB/../..]") != NULL);
    OK(tb_binding_report(topology, 0, sets[1], true, line, sizeof line, NULL));
    EXPECT(strcmp(line, "Rank 0 bound to package[0][core:L1]") == 0);
    OK(tb_location(topology, "package:1.core:0-1", false, objs, 8, &count));
    EXPECT(count == 2);
    EXPECT(tb_location(topology, "core:", false, objs, 8, &count) == TB_ERR_TEXT);
    EXPECT(tb_location(topology, "core:99", false, objs, 8, &count) == TB_ERR_NOT_FOUND);

    EXPECT(tb_job_list(topology, 0, line, sizeof line, NULL) == TB_ERR_NOT_FOUND);
    EXPECT(tb_job_add(view, "no/name", ranks, placed, 2, 0, false, NULL, 0, &published) == TB_ERR_JOB);
    REFUSED(tb_job_add(view, "negative", ranks, placed, 2, -2, false, NULL, 0, &published));
    OK(tb_job_add(view, "hello", ranks, placed, 3, TB_JOB_WITH_THIS_PROCESS, true, NULL, 0, &published));
    EXPECT(tb_job_add(view, "hello", ranks, placed, 3, TB_JOB_KEPT, false, NULL, 0, &again) == TB_ERR_JOB);
    OK(tb_job_list(topology, 0, line, sizeof line, NULL));
    EXPECT(strcmp(line, "hello") == 0);
    OK(tb_job_publication_file(published, file, sizeof file, NULL));
    for (count = 0; tb_job_publication_env(published, count, &name, &value) == TB_OK; count++)
        EXPECT(strncmp(name, "TOPOBROKER_", 11) == 0 || strncmp(name, "PMIX_HWLOC_", 11) == 0 || strncmp(name, "HWLOC_", 6) == 0);
    EXPECT(count == 3 + 1 + 4);
    EXPECT(tb_job_adopt(topology, NULL, &job) == TB_ERR_NOT_FOUND);
    EXPECT(tb_job_adopt(topology, "/nonexistent", &job) == TB_ERR_OPEN);
    OK(tb_job_adopt(topology, file, &job));
    EXPECT(strcmp(tb_job_name(job), "hello") == 0 && tb_job_rank_count(job) == 3);
    OK(tb_job_local_rank(job, 1, &rank, set));
    EXPECT(rank == 11 && is_list(set, "2-3"));
    OK(tb_job_local_rank(job, 2, &rank, set));
    EXPECT(rank == 12 && tb_set_is_empty(set));
    EXPECT(tb_job_local_rank(job, 3, &rank, set) == TB_ERR_NOT_FOUND);
    REFUSED(tb_locality_between(topology, sets[0], sets[1], 2, &shared));
    OK(tb_locality_between(topology, sets[0], sets[1], TB_LOCALITY_PMIX, &shared));
    OK(tb_job_localities(job, 10, TB_LOCALITY_PMIX, all, 4, &count));
    EXPECT(count == 3 && all[1] == shared && all[2] == 0x4000 && (all[0] & 1) == 1);
    OK(tb_job_locality(job, 11, 10, TB_LOCALITY_PMIX, &all[0]));
    EXPECT(all[0] == shared);
    OK(tb_job_locality(job, 10, 12, TB_LOCALITY_OPAL, &shared));
    EXPECT(shared == 0xf);
    OK(tb_job_locality(job, 10, 99, TB_LOCALITY_OPAL, &shared));
    EXPECT(shared == 0x8000);
    EXPECT(tb_job_locality(job, 99, 10, TB_LOCALITY_PMIX, &shared) == TB_ERR_NOT_FOUND);
    EXPECT(tb_job_localities(job, 99, TB_LOCALITY_PMIX, all, 4, &count) == TB_ERR_NOT_FOUND);
    OK(tb_locality_string(topology, sets[0], line, sizeof line, NULL));
    OK(tb_locality_string(topology, sets[1], file, sizeof file, NULL));
    OK(tb_locality_compare(line, file, TB_LOCALITY_PMIX, &shared));
    EXPECT(shared == all[0] && tb_locality_compare(line, "XX0", 0, &shared) == TB_ERR_TEXT);
    EXPECT(tb_locality_string(topology, set, line, sizeof line, NULL) == TB_ERR_NOT_FOUND);
    OK(tb_device_distances(topology, sets[0], 0, NULL, 0, 0, &count));
    EXPECT(count == 0);
    REFUSED(tb_device_distances(topology, sets[0], 64, NULL, 0, 0, &count));
    OK(tb_device_distances_pmix7(topology, sets[0], TB_DEVICE_BLOCK, NULL, 0, 0, &count));
    EXPECT(count == 0);
    OK(tb_ports(topology, 0, NULL, 0, 0, &count));
    EXPECT(count == 0 && tb_obj_fact(topology, 0, "Speed", &name) == TB_ERR_NOT_FOUND);
    OK(tb_nics(topology, true, NULL, 0, &count));
    EXPECT(count == 0);
    OK(tb_gpus(topology, NULL, 0, &count));
    EXPECT(count == 0);
    OK(tb_devices_assign(topology, &given, 1, placed, 2, 1, dealt, 2, &count));
    EXPECT(count == 2 && dealt[0] == given && dealt[1] == given);
    EXPECT(tb_nearest(topology, placed[0], TB_RANK_NIC, dealt) == TB_ERR_NOT_FOUND);
    EXPECT(tb_nearest(topology, placed[0], TB_RANK_GPU, dealt) == TB_ERR_NOT_FOUND);
    OK(tb_job_nics(job, 10, NULL, 0, &count));
    EXPECT(count == 0);
    OK(tb_job_gpus(job, 10, NULL, 0, &count));
    EXPECT(count == 0);
    OK(tb_hw_groups(job, 10, 2, groups, sizeof *groups, 8, &count));
    EXPECT(count >= 2 && strcmp(groups[0].uri, "hwloc://Machine/0") == 0 && groups[0].size == 3);
    EXPECT(strcmp(groups[1].uri, "topobroker://Job/0") == 0 && groups[1].group == groups[0].group);
    EXPECT(tb_hw_groups(job, 99, 2, groups, sizeof *groups, 8, &count) == TB_ERR_NOT_FOUND);
    OK(tb_hw_ranks(job, "hwloc://Core/0", on, 4, &count));
    EXPECT(count == 1 && on[0] == 10);
    EXPECT(tb_hw_ranks(job, "hwloc://Cores", on, 4, &count) == TB_ERR_TEXT);
    OK(tb_hw_guided(job, "core", colours, 4, &count));
    EXPECT(count == 3 && colours[0] == 0 && colours[1] == 1 && colours[2] == -1);
    EXPECT(tb_hw_guided(job, "core", colours, 2, NULL) == TB_ERR_TRUNCATED);
    OK(tb_hw_unguided(job, ranks, 2, colours, 4, &count));
    EXPECT(count == 2 && colours[0] >= 0 && colours[1] >= 0 && colours[0] != colours[1]);
    EXPECT(tb_hw_unguided(job, &rank_of_none, 1, colours, 4, &count) == TB_ERR_NOT_FOUND);
    OK(tb_hw_unguided_uri(job, ranks, 2, 11, line, sizeof line, NULL));
    EXPECT(strncmp(line, "hwloc://", 8) == 0 && line[strlen(line) - 1] == '1');
    EXPECT(tb_hw_unguided_uri(job, ranks, 2, 12, line, sizeof line, NULL) == TB_ERR_NOT_FOUND);
    OK(tb_hw_resource_info(job, 12, types, sizeof *types, 32, &count));
    EXPECT(count > 4 && strcmp(types[0].uri, "hwloc://Machine") == 0 && types[0].is_restricted);
    EXPECT(!types[1].is_restricted);
    OK(tb_hw_objects(topology, "hwloc://Core/1", objs, 8, &count));
    EXPECT(count == 1);
    EXPECT(tb_hw_objects(topology, "node", objs, 8, &count) == TB_ERR_TEXT);
    OK(tb_hw_uri("HWLOC://l3", line, sizeof line, &count));
    EXPECT(strcmp(line, "hwloc://L3Cache") == 0 && count == strlen(line));
    EXPECT(tb_hw_uri("l3caches", line, sizeof line, NULL) == TB_ERR_TEXT);
    OK(tb_links_new(topology, true, true, &links));
    OK(tb_links_size(links, &vertices, &count));
    EXPECT(vertices >= 2 && count >= 1);
    OK(tb_links_vertex(links, 0, &kind, &objs[0]));
    EXPECT(kind == TB_VERTEX_CPU || kind == TB_VERTEX_MESH);
    EXPECT(tb_links_vertex(links, 60000, NULL, NULL) == TB_ERR_NOT_FOUND);
    OK(tb_links_name(links, 0, line, sizeof line, NULL));
    OK(tb_links_find(links, line, &vertex));
    EXPECT(vertex == 0 && tb_links_find(links, "cuda77", &vertex) == TB_ERR_NOT_FOUND);
    EXPECT(tb_links_name(links, 60000, line, sizeof line, NULL) == TB_ERR_NOT_FOUND);
    OK(tb_links_link(links, 0, &link, sizeof link));
    EXPECT(link.one != link.other && link.latency == -1);
    EXPECT(tb_links_link(links, count, &link, sizeof link) == TB_ERR_NOT_FOUND);
    OK(tb_links_path(links, link.one, link.other, TB_MEASURE_HOPS, &way, sizeof way, ends, 2, &count));
    EXPECT(way.is_there && way.hops == 1 && count == 2 && ends[0] == link.one && ends[1] == link.other);
    REFUSED(tb_links_path(links, 0, 60000, TB_MEASURE_HOPS, &way, sizeof way, NULL, 0, NULL));
    REFUSED(tb_links_path(links, 0, 1, 3, &way, sizeof way, NULL, 0, NULL));
    OK(tb_links_paths(links, 0, TB_MEASURE_BANDWIDTH, NULL, 0, 0, &count));
    EXPECT(count == vertices);
    EXPECT(tb_job_nvlink_domain(job, 10, lines, sizeof lines, NULL) == TB_ERR_NOT_FOUND);
    REFUSED(tb_job_nvlink_domain(NULL, 10, lines, sizeof lines, NULL));
    OK(tb_job_gpu_env(job, 10, TB_GPU_CUDA, lines, sizeof lines, NULL));
    EXPECT(strcmp(lines, "") == 0);
    REFUSED(tb_job_gpu_env(job, 10, 4, lines, sizeof lines, NULL));
    REFUSED(tb_job_gpu_env(NULL, 10, 0, lines, sizeof lines, NULL));
    OK(tb_links_rank_paths(links, job, 10, ranks, 3, false, TB_MEASURE_HOPS, ways, sizeof *ways, 4, &count));
    EXPECT(count == 3 && !ways[0].is_there && ways[1].is_there && !ways[2].is_there);
    OK(tb_links_rank_paths(links, job, 11, ranks, 1, true, TB_MEASURE_HOPS, &way, sizeof way, 1, NULL));
    EXPECT(way.is_there && way.hops == ways[1].hops);
    EXPECT(tb_links_rank_paths(links, job, 99, ranks, 3, false, TB_MEASURE_HOPS, ways, sizeof *ways, 4, &count) == TB_ERR_NOT_FOUND);
    tb_links_free(links);
    OK(tb_device_path_class(topology, 0, 0, &class));
    EXPECT(class == TB_PATH_SAME);
    EXPECT(tb_device_id(topology, 0, "host", line, sizeof line, NULL) == TB_ERR_NOT_FOUND);
    OK(tb_networks(topology, true, NULL, 0, 0, &count));
    EXPECT(count == 0);
    REFUSED(tb_networks(NULL, true, NULL, 0, 0, &count));
    EXPECT(tb_network_nics(topology, true, 0, NULL, 0, &count) == TB_ERR_NOT_FOUND);
    OK(tb_device_path_get(topology, sets[0], 0, &path, sizeof path));
    EXPECT(path.pci_hops == 0 && path.latency == 0);
    OK(tb_job_publication_file(published, file, sizeof file, NULL));
    OK(tb_job_cpuset(job, 10, set));
    EXPECT(is_list(set, "0-1") && tb_job_cpuset(job, 0, set) == TB_ERR_NOT_FOUND);
    OK(tb_job_view(job, &own));
    EXPECT(tb_view_is_equal(own, view));
    tb_topology_free(own);
    tb_job_free(job);
    OK(tb_job_sweep(topology, &count));
    EXPECT(count == 0);
    tb_job_publication_free(published);
    EXPECT(access(file, F_OK) != 0);
    OK(tb_job_add(view, "kept", ranks, placed, 2, TB_JOB_KEPT, false, &policy, sizeof policy, &published));
    tb_job_publication_free(published);
    OK(tb_job_remove(topology, "kept"));
    EXPECT(tb_job_remove(topology, "kept") == TB_ERR_NOT_FOUND);
    tb_topology_free(view);
    tb_set_free(set);
    tb_set_free(sets[0]);
    tb_set_free(sets[1]);
}

/* Legacy files: hwloc's own segment, which a process adopts once. */
static void legacy(const tb_publication *published, const tb_topology *topology)
{
    tb_keys keys;
    const char *name, *value;
    void *theirs, *again;
    size_t count;
    char file[] = "/tmp/topobroker-api-XXXXXX";
    tb_description *description;

    OK(tb_publication_hwloc_keys(published, &keys, sizeof keys));
    for (count = 0; tb_publication_env(published, count, &name, &value) == TB_OK; count++)
        setenv(name, value, 1);
    EXPECT(count == 3 + 4);
    OK(tb_hwloc_topology(&theirs));
    OK(tb_hwloc_topology(&again));
    EXPECT(theirs == again && hwloc_get_nbobjs_by_type(theirs, HWLOC_OBJ_PU) == 16);
    OK(tb_description_from_hwloc(theirs, &description));
    tb_description_free(description);
    EXPECT(mkstemp(file) >= 0);
    OK(tb_topology_export_xml(topology, file));
    OK(tb_description_from_xml(file, &description));
    tb_description_free(description);
    unlink(file);
    EXPECT(tb_description_from_xml(file, &description) == TB_ERR_LOAD);
    EXPECT(tb_description_from_xml_text("<no", &description) == TB_ERR_LOAD);
    EXPECT(tb_description_from_synthetic("Nonesuch:3", &description) == TB_ERR_LOAD);
}

int main(void)
{
    tb_publish_options options;
    tb_description *description;
    tb_publication *published, *other;
    const tb_topology *topology;
    hwloc_topology_t reference;
    tb_keys keys;

    unsetenv("TOPOBROKER_FILE");
    statuses();
    sets();
    sets_like_hwloc();
    cpu_sets();
    binding();
    hwloc_topology_init(&reference);
    hwloc_topology_set_all_types_filter(reference, HWLOC_TYPE_FILTER_KEEP_ALL);
    hwloc_topology_set_synthetic(reference, SYNTHETIC);
    hwloc_topology_load(reference);

    OK(tb_description_from_synthetic(SYNTHETIC, &description));
    OK(tb_publish_options_init(&options, sizeof options));
    options.legacy = true;
    options.store = 9;
    REFUSED(tb_publish(description, &options, sizeof options, &published));
    options.store = TB_STORE_FOLDER;
    REFUSED(tb_publish(description, &options, sizeof options, &published));
    options.folder = "/nonexistent";
    EXPECT(tb_publish(description, &options, sizeof options, &published) == TB_ERR_PUBLISH);
    options.store = TB_STORE_SHM;
    options.address = 7;
    REFUSED(tb_publish(description, &options, sizeof options, &published));
    options.address = TB_ADDRESS_USUAL;
    OK(tb_publish(description, &options, sizeof options, &published));
    keys_of(published, &keys);
    topology = adopted(&keys);

    OK(tb_publish(description, NULL, 0, &other));
    OK(tb_publication_keys(other, &keys, sizeof keys));
    EXPECT(tb_publication_hwloc_keys(other, &keys, sizeof keys) == TB_ERR_NOT_FOUND);
    {
        const tb_topology *another;
        EXPECT(tb_adopt_keys(&keys, sizeof keys, &another) == TB_ERR_DIFFERENT);
    }
    tb_publication_free(other);
    EXPECT(access(keys.file, F_OK) != 0);
    tb_description_free(description);

    objects(topology, reference);
    levels(topology, reference);
    ids_of_nothing(topology);
    queries(topology, reference);
    texts(topology, reference);
    sizes(topology);
    nulls(topology);
    views(topology, reference);
    clusters(topology);
    jobs(topology);
    legacy(published, topology);

    /* A forked child that frees the publication does not remove its files. */
    OK(tb_publication_keys(published, &keys, sizeof keys));
    if (fork() == 0) {
        tb_publication_free(published);
        _exit(0);
    }
    wait(NULL);
    EXPECT(access(keys.file, F_OK) == 0);
    OK(tb_unpublish(published));
    EXPECT(access(keys.file, F_OK) != 0);
    hwloc_topology_destroy(reference);
    printf("%d failures\n", failures);
    return failures != 0;
}
