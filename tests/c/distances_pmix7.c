/* A model of how PMIx 7 measures the distances of devices, with the functions of hwloc that it calls.
 *
 *     distances_pmix7 XML LIST...
 *
 * Prints for each list of OS indexes a line for each of KINDS: the status, and for each device its name,
 * kind, least and greatest distance. */

#include <hwloc.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MOST 1024

enum { BLOCK = 1, GPU = 2, NETWORK = 4, OPEN_FABRICS = 8, DMA = 16, CO_PROCESSOR = 32 };

static const unsigned KINDS[] = { GPU | NETWORK | OPEN_FABRICS | CO_PROCESSOR, GPU, NETWORK, OPEN_FABRICS, BLOCK,
                                  NETWORK | OPEN_FABRICS };

struct candidate {
    hwloc_obj_t device, pci;
    unsigned kind;
};

static unsigned kind_of(hwloc_obj_t device)
{
    switch (device->attr->osdev.type) {
    case HWLOC_OBJ_OSDEV_BLOCK: return BLOCK;
    case HWLOC_OBJ_OSDEV_GPU: return GPU;
    case HWLOC_OBJ_OSDEV_NETWORK: return NETWORK;
    case HWLOC_OBJ_OSDEV_OPENFABRICS: return OPEN_FABRICS;
    case HWLOC_OBJ_OSDEV_DMA: return DMA;
    default: return CO_PROCESSOR;
    }
}

static bool is_backend(hwloc_obj_t device)
{
    static const char *const known[] = { "CUDA", "NVML", "RSMI", "LevelZero", "OpenCL" };
    const char *backend = hwloc_obj_get_info_by_name(device, "Backend");

    if (device->attr->osdev.type == HWLOC_OBJ_OSDEV_COPROC)
        return true;
    for (int i = 0; backend != NULL && i < 5; i++)
        if (strcasecmp(backend, known[i]) == 0)
            return true;
    return false;
}

static bool is_render(hwloc_obj_t device)
{
    return device->name != NULL && strncasecmp(device->name, "renderD", 7) == 0;
}

static bool is_compute(hwloc_obj_t device, hwloc_obj_t pci)
{
    bool has_render = false;

    if (pci == NULL)
        return is_backend(device);
    for (hwloc_obj_t child = pci->io_first_child; child != NULL; child = child->next_sibling) {
        if (child->type != HWLOC_OBJ_OS_DEVICE)
            continue;
        if (is_backend(child))
            return true;
        has_render = has_render || is_render(child);
    }
    return has_render && pci->attr->pcidev.class_id >> 8 == 3;
}

static bool is_preferred(hwloc_obj_t candidate, hwloc_obj_t incumbent)
{
    if (is_backend(candidate) || is_backend(incumbent))
        return is_backend(candidate) && !is_backend(incumbent);
    if (kind_of(candidate) == OPEN_FABRICS)
        return kind_of(incumbent) == NETWORK;
    return is_render(candidate) && !is_render(incumbent);
}

static bool has_id(hwloc_obj_t device)
{
    const char *address = hwloc_obj_get_info_by_name(device, "Address");
    int colons = 0;

    switch (kind_of(device)) {
    case NETWORK:
        for (const char *c = address; c != NULL && *c != 0; c++)
            colons += *c == ':';
        return colons == 5 || colons == 19;
    case OPEN_FABRICS:
        /* Without GUIDs, it is the name of the host and of the device (seen with 7.0.0rc1). */
        return true;
    case DMA:
        return false;
    default:
        return true;
    }
}

static int by_bus_id(const void *one, const void *other)
{
    const struct candidate *a = one, *b = other;
    char ids[2][32];

    if (a->pci == NULL || b->pci == NULL)
        return a->pci != b->pci ? (a->pci == NULL) - (b->pci == NULL) : strcmp(a->device->name, b->device->name);
    for (int i = 0; i < 2; i++) {
        struct hwloc_pcidev_attr_s *pci = &(i == 0 ? a : b)->pci->attr->pcidev;

        snprintf(ids[i], sizeof *ids, "%04x:%02x:%02x.%01x", pci->domain, pci->bus, pci->dev, pci->func);
    }
    return strcmp(ids[0], ids[1]);
}

static int enumerate(hwloc_topology_t topology, unsigned kinds, struct candidate *found)
{
    int count = 0, named = 0;

    for (hwloc_obj_t device = NULL; (device = hwloc_get_next_osdev(topology, device)) != NULL;) {
        unsigned kind = kind_of(device), matches = kind & (GPU | CO_PROCESSOR) ? GPU | CO_PROCESSOR : kind;
        hwloc_obj_t pci = device->parent;
        int same = 0;

        while (pci != NULL && pci->type != HWLOC_OBJ_PCI_DEVICE)
            pci = pci->type == HWLOC_OBJ_BRIDGE || pci->type == HWLOC_OBJ_OS_DEVICE ? pci->parent : NULL;
        if (!(kinds & matches) || (kind & (GPU | CO_PROCESSOR) && !is_compute(device, pci)))
            continue;
        while (same < count && (pci == NULL || found[same].pci != pci))
            same++;
        if (same == count)
            found[count++] = (struct candidate){ device, pci, kind };
        else if (is_preferred(device, found[same].device))
            found[same] = (struct candidate){ device, pci, kind };
    }
    for (int i = 0; i < count; i++)
        if (has_id(found[i].device))
            found[named++] = found[i];
    qsort(found, named, sizeof *found, by_bus_id);
    return named;
}

static bool has_cover(hwloc_topology_t topology, hwloc_const_bitmap_t set)
{
    for (hwloc_obj_t object = NULL; (object = hwloc_get_next_obj_by_depth(topology, 1, object)) != NULL;)
        if (hwloc_bitmap_isincluded(set, object->cpuset))
            return true;
    return false;
}

static void measure(hwloc_topology_t topology, hwloc_const_bitmap_t set, hwloc_obj_t device, unsigned *least,
                    unsigned *most)
{
    int depth = hwloc_topology_get_depth(topology);
    hwloc_obj_t place = hwloc_get_non_io_ancestor_obj(topology, device);

    *least = UINT_MAX;
    *most = 0;
    for (hwloc_obj_t pu = NULL; (pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu)) != NULL;) {
        hwloc_obj_t common;
        unsigned distance;

        if (!hwloc_bitmap_intersects(pu->cpuset, set))
            continue;
        common = hwloc_get_common_ancestor_obj(topology, pu, place);
        distance = common->depth == 0 ? pu->depth + depth : depth - common->depth;
        *least = distance < *least ? distance : *least;
        *most = distance > *most ? distance : *most;
    }
    if (*least == UINT_MAX)
        *least = *most = 65535;
}

int main(int argc, char **argv)
{
    hwloc_topology_t topology;

    if (argc < 2 || hwloc_topology_init(&topology) != 0 || hwloc_topology_set_xml(topology, argv[1]) != 0)
        return 2;
    hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    if (hwloc_topology_load(topology) != 0)
        return 2;
    for (int i = 2; i < argc; i++) {
        hwloc_bitmap_t set = hwloc_bitmap_alloc();

        hwloc_bitmap_list_sscanf(set, argv[i]);
        for (size_t kind = 0; kind < sizeof KINDS / sizeof *KINDS; kind++) {
            static struct candidate found[MOST];
            int count = enumerate(topology, KINDS[kind], found);

            printf("%s", !has_cover(topology, set) ? "NOT_AVAILABLE" : count == 0 ? "NOT-FOUND" : "SUCCESS");
            for (int device = 0; device < count && has_cover(topology, set); device++) {
                unsigned least, most;

                measure(topology, set, found[device].device, &least, &most);
                printf("\t%s %u %u %u", found[device].device->name, found[device].kind, least, most);
            }
            printf("\n");
        }
        hwloc_bitmap_free(set);
    }
    hwloc_topology_destroy(topology);
    return 0;
}
