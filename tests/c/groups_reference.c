/* Which instance of each type of object has all PUs of each rank, as hwloc sees it:
 * groups_reference XML [PUS], or a synthetic description behind "synthetic:"; with PUS, as a
 * list of OS indexes, of the topology restricted to them. Reads jobs from standard input, one in
 * a line: the lists of OS indexes of the ranks between semicolons, a hyphen for a rank that is
 * not bound. Writes, for each job, a line for each type: its URI, and the instances of the
 * ranks, -1 for none, or "absent". */
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS 4096

static hwloc_topology_t topology;
static hwloc_bitmap_t ranks[RANKS];
static int count;

static int wanted(hwloc_obj_t object, const char *subtype) {
    if (!subtype)
        return 1;
    const char *own = object->subtype;
    if (!strcmp(subtype, "DRAM"))
        return !own || !strcmp(own, "DRAM");
    if (!strcmp(subtype, "HBM"))
        return own && (!strcmp(own, "HBM") || !strcmp(own, "MCDRAM"));
    return own && !strcmp(own, subtype);
}

static void colours(const char *uri, int depth, const char *subtype) {
    int present = 0, all = depth == HWLOC_TYPE_DEPTH_UNKNOWN ? 0 : hwloc_get_nbobjs_by_depth(topology, depth);
    for (int i = 0; i < all; i++)
        present |= !hwloc_bitmap_iszero(hwloc_get_obj_by_depth(topology, depth, i)->cpuset);
    printf("%s\t", uri);
    if (!present) {
        puts("absent");
        return;
    }
    for (int rank = 0; rank < count; rank++) {
        int found = -1;
        if (!ranks[rank])
            found = depth == 0 ? 0 : -1;
        else
            for (int i = 0; i < all && found < 0; i++) {
                hwloc_obj_t object = hwloc_get_obj_by_depth(topology, depth, i);
                if (wanted(object, subtype) && hwloc_bitmap_isincluded(ranks[rank], object->cpuset))
                    found = i;
            }
        printf("%s%d", rank ? "," : "", found);
    }
    puts("");
}

int main(int argc, char **argv) {
    static const struct { const char *uri; hwloc_obj_type_t type; const char *subtype; } TYPES[] = {
        {"hwloc://Machine", HWLOC_OBJ_MACHINE, NULL}, {"hwloc://Package", HWLOC_OBJ_PACKAGE, NULL},
        {"hwloc://Die", HWLOC_OBJ_DIE, NULL}, {"hwloc://NUMANode", HWLOC_OBJ_NUMANODE, NULL},
        {"hwloc://NUMANode?subtype=DRAM", HWLOC_OBJ_NUMANODE, "DRAM"},
        {"hwloc://NUMANode?subtype=HBM", HWLOC_OBJ_NUMANODE, "HBM"},
        {"hwloc://MemCache", HWLOC_OBJ_MEMCACHE, NULL},
        {"hwloc://L1Cache", HWLOC_OBJ_L1CACHE, NULL}, {"hwloc://L2Cache", HWLOC_OBJ_L2CACHE, NULL},
        {"hwloc://L3Cache", HWLOC_OBJ_L3CACHE, NULL}, {"hwloc://L4Cache", HWLOC_OBJ_L4CACHE, NULL},
        {"hwloc://L5Cache", HWLOC_OBJ_L5CACHE, NULL}, {"hwloc://L1iCache", HWLOC_OBJ_L1ICACHE, NULL},
        {"hwloc://L2iCache", HWLOC_OBJ_L2ICACHE, NULL}, {"hwloc://L3iCache", HWLOC_OBJ_L3ICACHE, NULL},
        {"hwloc://Core", HWLOC_OBJ_CORE, NULL}, {"hwloc://PU", HWLOC_OBJ_PU, NULL},
    };
    if (argc < 2 || hwloc_topology_init(&topology)
        || hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL)
        || (strncmp(argv[1], "synthetic:", 10) ? hwloc_topology_set_xml(topology, argv[1])
                                               : hwloc_topology_set_synthetic(topology, argv[1] + 10))
        || hwloc_topology_load(topology))
        return 1;
    if (argc > 2) {
        hwloc_bitmap_t part = hwloc_bitmap_alloc();
        if (hwloc_bitmap_list_sscanf(part, argv[2])
            || hwloc_topology_restrict(topology, part, 0))
            return 1;
        hwloc_bitmap_free(part);
    }
    static char line[1 << 20];
    while (fgets(line, sizeof line, stdin)) {
        char *rest = line, *list;
        line[strcspn(line, "\n")] = 0;
        for (count = 0; (list = strsep(&rest, ";")) && count < RANKS; count++) {
            ranks[count] = NULL;
            if (strcmp(list, "-")) {
                ranks[count] = hwloc_bitmap_alloc();
                if (hwloc_bitmap_list_sscanf(ranks[count], list))
                    return 2;
            }
        }
        for (unsigned type = 0; type < sizeof TYPES / sizeof *TYPES; type++)
            colours(TYPES[type].uri, hwloc_get_type_depth(topology, TYPES[type].type), TYPES[type].subtype);
        for (int depth = 0; depth < hwloc_topology_get_depth(topology); depth++) {
            hwloc_obj_t first = hwloc_get_obj_by_depth(topology, depth, 0);
            if (first->type == HWLOC_OBJ_GROUP) {
                char uri[40];
                snprintf(uri, sizeof uri, "hwloc://Group%u", first->attr->group.depth);
                colours(uri, depth, NULL);
            }
        }
        puts(".");
        for (int rank = 0; rank < count; rank++)
            hwloc_bitmap_free(ranks[rank]);
    }
    hwloc_topology_destroy(topology);
    return 0;
}
