/* Which NIC Open MPI 5, MPICH and NCCL choose for each rank, to compare with: their rules, with the
 * functions of hwloc and PMIx that they call.
 *
 *     nics_reference XML
 *
 * Reads from standard input: the number of NICs and their names; the number of GPUs and their names;
 * the number of ranks, and for each rank its number, its PUs as a list ("-" if it is not bound) and the
 * number of its GPU (-1 for none). Prints for each rank the names of three NICs ("-" for none). */

#include "pmix_topology.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 512
#define TEXT 65536

pmix_status_t pmix_hwloc_compute_distances(pmix_topology_t *topology, pmix_cpuset_t *set, pmix_info_t infos[],
                                           size_t count, pmix_device_distance_t **distances, size_t *found);

static pmix_topology_t given;
static hwloc_topology_t topology;
static char *nic_names[MOST], *gpu_names[MOST];
static hwloc_obj_t nics[MOST], gpus[MOST];
static int nic_count, gpu_count, rank_count;
static int numbers[MOST], gpu_of[MOST];
static hwloc_bitmap_t sets[MOST];
static char *localities[MOST];

static hwloc_obj_t named(const char *name)
{
    hwloc_obj_t device = NULL;

    while ((device = hwloc_get_next_osdev(topology, device)) != NULL)
        if (strcmp(device->name, name) == 0)
            return device;
    fprintf(stderr, "no device %s\n", name);
    exit(2);
}

static hwloc_obj_t pci_of(hwloc_obj_t device)
{
    while (device != NULL && device->type != HWLOC_OBJ_PCI_DEVICE)
        device = device->parent;
    return device;
}

/* Open MPI 5.0.11, opal/mca/common/ofi. */

static uint16_t distance_of(hwloc_obj_t nic, pmix_device_distance_t *distances, size_t count)
{
    hwloc_obj_t pci = pci_of(nic);

    for (hwloc_obj_t device = pci == NULL ? NULL : pci->io_first_child; device != NULL; device = device->next_sibling)
        for (size_t i = 0; i < count; i++) {
            const char *address = hwloc_obj_get_info_by_name(device, "Address");
            const char *guid = hwloc_obj_get_info_by_name(device, "NodeGUID");
            const char *id = strstr(distances[i].uuid, "://") + 3;

            if (device->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS && guid != NULL &&
                distances[i].type == PMIX_DEVTYPE_OPENFABRICS && strcmp(distances[i].osname, device->name) == 0 &&
                strncasecmp(id, guid, strlen(guid)) == 0)
                return distances[i].mindist;
            if (device->attr->osdev.type == HWLOC_OBJ_OSDEV_NETWORK && address != NULL &&
                distances[i].type == PMIX_DEVTYPE_NETWORK && strcmp(id, address) == 0)
                return distances[i].mindist;
        }
    return UINT16_MAX;
}

static char *locality(hwloc_bitmap_t bitmap)
{
    pmix_cpuset_t set = { .source = (char *)"hwloc", .bitmap = bitmap };
    char *text = NULL, *prefixed;

    if (bitmap == NULL || PMIx_server_generate_locality_string(&set, &text) != PMIX_SUCCESS || text == NULL)
        return NULL;
    prefixed = malloc(strlen(text) + 7);
    sprintf(prefixed, "hwloc:%s", text);
    free(text);
    return prefixed;
}

static int package_rank(int rank)
{
    int before = 0;

    for (int other = 0; other <= rank; other++)
        if (localities[other] == NULL)
            return numbers[rank];
    /* PMIx ends on a missing string; Open MPI, which asks a function of its own, has returned
     * above. */
    for (int other = 0; other < rank; other++) {
        pmix_locality_t shared = 0;

        PMIx_Get_relative_locality(localities[rank], localities[other], &shared);
        before += (shared & PMIX_LOCALITY_SHARE_PACKAGE) != 0;
    }
    return before;
}

static const char *open_mpi(int rank)
{
    pmix_device_distance_t *distances = NULL;
    pmix_device_type_t kinds = PMIX_DEVTYPE_OPENFABRICS | PMIX_DEVTYPE_NETWORK;
    pmix_cpuset_t set = { .source = (char *)"hwloc", .bitmap = sets[rank] };
    uint16_t least = UINT16_MAX, found[MOST];
    size_t count = 0;
    int nearest = 0, turn;
    pmix_info_t wanted;

    if (nic_count == 0)
        return "-";
    if (sets[rank] == NULL || nic_count < 2)
        return nic_names[0];
    turn = package_rank(rank);
    PMIX_INFO_LOAD(&wanted, PMIX_DEVICE_TYPE, &kinds, PMIX_DEVTYPE);
    if (pmix_hwloc_compute_distances(&given, &set, &wanted, 1, &distances, &count) != PMIX_SUCCESS)
        return nic_names[turn % nic_count];
    for (int nic = 0; nic < nic_count; nic++) {
        found[nic] = distance_of(nics[nic], distances, count);
        if (found[nic] < least) {
            least = found[nic];
            nearest = 1;
        } else if (found[nic] == least) {
            nearest++;
        }
    }
    turn %= nearest;
    for (int nic = 0; nic < nic_count; nic++)
        if (found[nic] == least && turn-- == 0)
            return nic_names[nic];
    return "-";
}

/* MPICH, src/mpid/ch4/netmod/ofi/ofi_nic.c. */

static int by_name(const void *one, const void *other)
{
    return strcmp(*(char *const *)one, *(char *const *)other);
}

static const char *mpich(int rank)
{
    hwloc_const_bitmap_t own = sets[rank] != NULL ? sets[rank] : hwloc_topology_get_topology_cpuset(topology);
    char *sorted[MOST], *close[MOST];
    int count = 0;

    memcpy(sorted, nic_names, sizeof sorted);
    qsort(sorted, nic_count, sizeof *sorted, by_name);
    for (int nic = 0; nic < nic_count; nic++) {
        hwloc_obj_t place = hwloc_get_non_io_ancestor_obj(topology, named(sorted[nic]));

        if (hwloc_bitmap_isincluded(own, place->cpuset) || hwloc_bitmap_isincluded(place->cpuset, own))
            close[count++] = sorted[nic];
    }
    if (count == 0)
        memcpy(close, sorted, (count = nic_count) * sizeof *close);
    return count == 0 ? "-" : close[rank % count];
}

/* NCCL, src/graph/topo.cc and paths.cc. */

enum path { PIX, PXB, PHB, SYS };

/* Steps from a PCI device up: its bridges below the host bridge. */
static int bridges(hwloc_obj_t pci, hwloc_obj_t *above)
{
    int count = 0;

    for (hwloc_obj_t up = pci->parent; up != NULL && up->type == HWLOC_OBJ_BRIDGE; up = up->parent)
        if (up->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI)
            above[count++] = up;
    return count;
}

/* GB/s of a link as NCCL has it: by lanes and generation, of which hwloc knows the product. */
static float link_speed(hwloc_obj_t object)
{
    static const float lane[] = { 0.25f, 0.5f, 8 / 8.125f, 16 / 8.125f, 32 / 8.125f, 64 / 8.125f };
    static const float nccl[] = { 15, 30, 60, 120, 240, 480 };
    struct hwloc_pcidev_attr_s *pci =
        object->type == HWLOC_OBJ_BRIDGE ? &object->attr->bridge.upstream.pci : &object->attr->pcidev;
    float best = 16 * 60 / 80.f, error = INFINITY;

    if (pci->linkspeed <= 0)
        return best;
    for (int generation = 0; generation < 6; generation++)
        for (int lanes = 1; lanes <= 16; lanes *= 2) {
            float off = fabsf(logf(lane[generation] * lanes / pci->linkspeed));

            if (off < error) {
                error = off;
                best = nccl[generation] * lanes / 80;
            }
        }
    return best;
}

static enum path path(hwloc_obj_t one, hwloc_obj_t other, float *bandwidth)
{
    hwloc_obj_t pcis[2] = { pci_of(one), pci_of(other) }, above[2][MOST];
    int counts[2] = { bridges(pcis[0], above[0]), bridges(pcis[1], above[1]) };
    int common = 0;
    enum path class;

    /* From the top, as long as they are the same. */
    while (common < counts[0] && common < counts[1] &&
           above[0][counts[0] - 1 - common] == above[1][counts[1] - 1 - common])
        common++;
    if (common > 0) {
        int below[2] = { counts[0] - common, counts[1] - common };

        class = below[0] <= 1 && below[1] <= 1 ? PIX : PXB;
    } else {
        hwloc_obj_t places[2] = { hwloc_get_non_io_ancestor_obj(topology, one),
                                  hwloc_get_non_io_ancestor_obj(topology, other) };
        int several = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE) > 1 ||
                      hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE) > 1;
        hwloc_obj_t roots[2] = { pcis[0], pcis[1] };

        for (int i = 0; i < 2; i++)
            while (roots[i]->parent->type == HWLOC_OBJ_BRIDGE)
                roots[i] = roots[i]->parent;
        class = roots[0] == roots[1] && roots[0]->type == HWLOC_OBJ_BRIDGE ? PHB
                : places[0] != places[1] ? SYS
                : places[0]->parent == NULL && several ? SYS
                                                       : PHB;
    }
    /* The network itself: 10 Gb/s, because the file does not say it. Links between CPUs are faster.
     */
    *bandwidth = 10 / 8.f;
    for (int i = 0; i < 2; i++) {
        *bandwidth = fminf(*bandwidth, link_speed(pcis[i]));
        for (int up = 0; up < counts[i] - common; up++)
            *bandwidth = fminf(*bandwidth, link_speed(above[i][up]));
    }
    return class;
}

static int local(hwloc_obj_t from, hwloc_obj_t *to, int count, int *found)
{
    float best = -1;
    enum path shortest = SYS;
    int locals = 0;

    for (int i = 0; i < count; i++) {
        float bandwidth;
        enum path class = path(from, to[i], &bandwidth);

        if (bandwidth > best || (bandwidth == best && class < shortest)) {
            best = bandwidth;
            shortest = class;
            locals = 0;
        }
        if (bandwidth == best && class == shortest)
            found[locals++] = i;
    }
    return locals;
}

static int mirror(int value, int power)
{
    int mirrored = 0;

    for (int bit = 1, mirrored_bit = power >> 1; bit < power; bit <<= 1, mirrored_bit >>= 1)
        if (value & bit)
            mirrored |= mirrored_bit;
    return mirrored;
}

static const char *nccl(int rank)
{
    int near_nics[MOST], near_gpus[MOST], count, turn, used_count = 0;
    hwloc_obj_t used[MOST];

    if (gpu_of[rank] < 0)
        return "-";
    count = local(gpus[gpu_of[rank]], nics, nic_count, near_nics);
    if (count == 0)
        return "-";
    /* NCCL knows the GPUs of its communicator alone. */
    for (int gpu = 0; gpu < gpu_count; gpu++)
        for (int other = 0; other < rank_count; other++)
            if (gpu_of[other] == gpu) {
                used[used_count++] = gpus[gpu];
                break;
            }
    turn = gpu_of[rank] % local(nics[near_nics[0]], used, used_count, near_gpus);
    if ((count & (count - 1)) == 0)
        turn = mirror(turn, count);
    return nic_names[near_nics[turn % count]];
}

static int read_names(char **names, hwloc_obj_t *objects)
{
    static char name[TEXT];
    int count = 0;

    if (scanf("%d", &count) != 1 || count > MOST)
        exit(2);
    for (int i = 0; i < count; i++) {
        if (scanf("%65535s", name) != 1)
            exit(2);
        names[i] = strdup(name);
        objects[i] = named(name);
    }
    return count;
}

int main(int argc, char **argv)
{
    static char list[TEXT];

    if (argc != 2 || !serve_topology(argv[1], &given))
        return 2;
    topology = given.topology;
    nic_count = read_names(nic_names, nics);
    gpu_count = read_names(gpu_names, gpus);
    if (scanf("%d", &rank_count) != 1 || rank_count > MOST)
        return 2;
    for (int rank = 0; rank < rank_count; rank++) {
        if (scanf("%d %65535s %d", &numbers[rank], list, &gpu_of[rank]) != 3)
            return 2;
        if (strcmp(list, "-") != 0) {
            sets[rank] = hwloc_bitmap_alloc();
            hwloc_bitmap_list_sscanf(sets[rank], list);
            localities[rank] = locality(sets[rank]);
        }
    }
    for (int rank = 0; rank < rank_count; rank++)
        printf("%s %s %s\n", open_mpi(rank), mpich(rank), nccl(rank));
    PMIx_server_finalize();
    return 0;
}
