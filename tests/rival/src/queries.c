/* hwloc's queries for Rust to call. Most of them are inline functions of hwloc's headers. */

#include <hwloc.h>
#include <hwloc/cpukinds.h>
#include <hwloc/distances.h>
#include <hwloc/memattrs.h>
#include <stdint.h>
#include <string.h>

typedef hwloc_topology_t T;
typedef hwloc_const_cpuset_t S;
typedef hwloc_obj_t O;

int rival_depth(O o) { return o->depth; }
unsigned rival_logical_index(O o) { return o->logical_index; }

O rival_covering(T t, S s) { return hwloc_get_obj_covering_cpuset(t, s); }
O rival_child_covering(T t, S s, O o) { return hwloc_get_child_covering_cpuset(t, s, o); }
O rival_next_covering(T t, S s, int d, O o) { return hwloc_get_next_obj_covering_cpuset_by_depth(t, s, d, o); }
O rival_cache_covering(T t, S s) { return hwloc_get_cache_covering_cpuset(t, s); }
O rival_shared_cache(T t, O o) { return hwloc_get_shared_cache_covering_obj(t, o); }
int rival_cache_depth(T t, unsigned level, int kind) { return hwloc_get_cache_type_depth(t, level, (hwloc_obj_cache_type_t)kind); }

O rival_next_inside(T t, S s, int d, O o) { return hwloc_get_next_obj_inside_cpuset_by_depth(t, s, d, o); }
unsigned rival_count_inside(T t, S s, int d) { return hwloc_get_nbobjs_inside_cpuset_by_depth(t, s, d); }
O rival_nth_inside(T t, S s, int d, unsigned i) { return hwloc_get_obj_inside_cpuset_by_depth(t, s, d, i); }
int rival_index_inside(T t, S s, O o) { return hwloc_get_obj_index_inside_cpuset(t, s, o); }
O rival_first_largest(T t, S s) { return hwloc_get_first_largest_obj_inside_cpuset(t, s); }
int rival_largest(T t, S s, O *found, int most) { return hwloc_get_largest_objs_inside_cpuset(t, s, found, most); }
uint64_t rival_sum_inside(T t, S s, int d)
{
  uint64_t sum = 0;
  for (O o = NULL; (o = hwloc_get_next_obj_inside_cpuset_by_depth(t, s, d, o)) != NULL;)
    sum += (uintptr_t)o;
  return sum;
}

O rival_object(T t, int d, unsigned i) { return hwloc_get_obj_by_depth(t, d, i); }
int rival_type_depth(T t, int type) { return hwloc_get_type_depth(t, (hwloc_obj_type_t)type); }
int rival_type_or_below_depth(T t, int type) { return hwloc_get_type_or_below_depth(t, (hwloc_obj_type_t)type); }
int rival_type_or_above_depth(T t, int type) { return hwloc_get_type_or_above_depth(t, (hwloc_obj_type_t)type); }
int rival_memory_parents_depth(T t) { return hwloc_get_memory_parents_depth(t); }
int rival_group_depth(T t, unsigned level)
{
  for (int d = 0; d < hwloc_topology_get_depth(t); d++) {
    O o = hwloc_get_obj_by_depth(t, d, 0);
    if (o->type == HWLOC_OBJ_GROUP && o->attr->group.depth == level)
      return d;
  }
  return HWLOC_TYPE_DEPTH_UNKNOWN;
}

O rival_common_ancestor(T t, O a, O b) { return hwloc_get_common_ancestor_obj(t, a, b); }
O rival_ancestor_at_depth(T t, int d, O o) { return hwloc_get_ancestor_obj_by_depth(t, d, o); }
O rival_ancestor_with_type(T t, int type, O o) { return hwloc_get_ancestor_obj_by_type(t, (hwloc_obj_type_t)type, o); }
int rival_is_in_subtree(T t, O o, O root) { return hwloc_obj_is_in_subtree(t, o, root); }
O rival_non_io_ancestor(T t, O o) { return hwloc_get_non_io_ancestor_obj(t, o); }
O rival_below(T t, int type1, unsigned i1, int type2, unsigned i2)
{
  return hwloc_get_obj_below_by_type(t, (hwloc_obj_type_t)type1, i1, (hwloc_obj_type_t)type2, i2);
}
O rival_pu_by_os_index(T t, unsigned i) { return hwloc_get_pu_obj_by_os_index(t, i); }
O rival_numa_node_by_os_index(T t, unsigned i) { return hwloc_get_numanode_obj_by_os_index(t, i); }
unsigned rival_closest(T t, O o, O *found, unsigned most) { return hwloc_get_closest_objs(t, o, found, most); }
O rival_with_same_locality(T t, O o, int type, const char *subtype, const char *prefix)
{
  return hwloc_get_obj_with_same_locality(t, o, (hwloc_obj_type_t)type, subtype, prefix, 0);
}

static struct hwloc_location location(S s, O o)
{
  struct hwloc_location from;
  from.type = o ? HWLOC_LOCATION_TYPE_OBJECT : HWLOC_LOCATION_TYPE_CPUSET;
  if (o)
    from.location.object = o;
  else
    from.location.cpuset = (hwloc_cpuset_t)s;
  return from;
}

int rival_local_numa_nodes(T t, S s, O o, unsigned long flags, O *found, unsigned most)
{
  struct hwloc_location from = location(s, o);
  unsigned count = most;
  return hwloc_get_local_numanode_objs(t, &from, &count, found, flags) ? -1 : (int)count;
}
int rival_memory_attribute(T t, const char *name)
{
  hwloc_memattr_id_t id;
  return hwloc_memattr_get_by_name(t, name, &id) ? -1 : (int)id;
}
int rival_memory_value(T t, int id, O target, S s, O o, uint64_t *value)
{
  struct hwloc_location from = location(s, o);
  hwloc_uint64_t found;
  int error = hwloc_memattr_get_value(t, id, target, s || o ? &from : NULL, 0, &found);
  *value = found;
  return error;
}
O rival_best_target(T t, int id, S s, O o, uint64_t *value)
{
  struct hwloc_location from = location(s, o);
  hwloc_uint64_t found;
  O target;
  if (hwloc_memattr_get_best_target(t, id, s || o ? &from : NULL, 0, &target, &found))
    return NULL;
  *value = found;
  return target;
}
int rival_best_initiator(T t, int id, O target, uint64_t *value)
{
  struct hwloc_location from;
  hwloc_uint64_t found;
  int error = hwloc_memattr_get_best_initiator(t, id, target, 0, &from, &found);
  *value = found;
  return error;
}
int rival_cpu_kind(T t, S s) { return hwloc_cpukinds_get_by_cpuset(t, s, 0); }
int rival_distance(T t, O from, O to, uint64_t *value)
{
  struct hwloc_distances_s *matrix;
  unsigned count = 1;
  hwloc_uint64_t there = 0, back = 0;
  if (hwloc_distances_get(t, &count, &matrix, 0, 0) || !count)
    return -1;
  int error = hwloc_distances_obj_pair_values(matrix, from, to, &there, &back);
  hwloc_distances_release(t, matrix);
  *value = there;
  return error;
}

/* Sums of addresses: every object that was found is counted, but no object is read. */
static O found[1 << 16];
static uint64_t sum_of(int count)
{
  uint64_t sum = 0;
  for (int i = 0; i < count; i++)
    sum += (uintptr_t)found[i];
  return sum;
}
uint64_t rival_sum_largest(T t, S s) { return sum_of(hwloc_get_largest_objs_inside_cpuset(t, s, found, 1 << 16)); }
uint64_t rival_sum_closest(T t, O o, unsigned most) { return sum_of((int)hwloc_get_closest_objs(t, o, found, most)); }
uint64_t rival_sum_local(T t, S s, O o, unsigned long flags) { return sum_of(rival_local_numa_nodes(t, s, o, flags, found, 1 << 16)); }

int rival_distribute(T t, O *roots, unsigned n_roots, hwloc_cpuset_t *sets, unsigned n, int until, unsigned long flags)
{
  return hwloc_distrib(t, roots, n_roots, sets, n, until, flags);
}
/* Like a program that distributes PUs: hwloc makes the sets, and they are freed again. */
void rival_distribute_and_free(T t, O root, hwloc_cpuset_t *sets, unsigned n)
{
  hwloc_distrib(t, &root, 1, sets, n, INT_MAX, 0);
  for (unsigned i = 0; i < n; i++)
    hwloc_bitmap_free(sets[i]);
}
int rival_cpuset_to_nodeset(T t, S s, hwloc_nodeset_t n) { return hwloc_cpuset_to_nodeset(t, s, n); }
int rival_cpuset_from_nodeset(T t, hwloc_cpuset_t s, hwloc_const_nodeset_t n) { return hwloc_cpuset_from_nodeset(t, s, n); }

O rival_pci_device(T t, unsigned domain, unsigned bus, unsigned dev, unsigned func) { return hwloc_get_pcidev_by_busid(t, domain, bus, dev, func); }
int rival_covers_pci_bus(O o, unsigned domain, unsigned bus) { return hwloc_bridge_covers_pcibus(o, domain, bus); }
O rival_os_device(T t, const char *name)
{
  for (O o = NULL; (o = hwloc_get_next_osdev(t, o)) != NULL;)
    if (o->name && !strcmp(o->name, name))
      return o;
  return NULL;
}

/* Every normal object and NUMA node: the sum of the weights of their cpusets, or of their
 * logical indexes. */
uint64_t rival_traverse(T t, int weights)
{
  uint64_t sum = 0;
  int depth = hwloc_topology_get_depth(t);
  for (int d = 0; d <= depth; d++)
    for (O o = NULL; (o = hwloc_get_next_obj_by_depth(t, d < depth ? d : HWLOC_TYPE_DEPTH_NUMANODE, o)) != NULL;)
      sum += weights ? (uint64_t)hwloc_bitmap_weight(o->cpuset) : o->logical_index;
  return sum;
}
/* The children of every normal object: the sum of their addresses. */
uint64_t rival_sum_children(T t)
{
  uint64_t sum = 0;
  for (int d = 0; d < hwloc_topology_get_depth(t); d++)
    for (O o = NULL; (o = hwloc_get_next_obj_by_depth(t, d, o)) != NULL;)
      for (O child = o->first_child; child; child = child->next_sibling)
        sum += (uintptr_t)child;
  return sum;
}
/* An object and all normal objects below it: the sum of their logical indexes. */
uint64_t rival_descend(O o)
{
  uint64_t sum = o->logical_index;
  for (O child = o->first_child; child; child = child->next_sibling)
    sum += rival_descend(child);
  return sum;
}

hwloc_bitmap_t rival_bitmap(const uint64_t *words, unsigned count, int infinite)
{
  hwloc_bitmap_t bitmap = hwloc_bitmap_alloc();
  for (unsigned i = 0; i < count; i++)
    hwloc_bitmap_set_ith_ulong(bitmap, i, words[i]);
  if (infinite)
    hwloc_bitmap_set_range(bitmap, count * 64, -1);
  return bitmap;
}
void rival_bitmap_free(hwloc_bitmap_t bitmap) { hwloc_bitmap_free(bitmap); }
uint64_t rival_bitmap_word(S s, unsigned i) { return hwloc_bitmap_to_ith_ulong(s, i); }
int rival_bitmap_words(S s) { return hwloc_bitmap_nr_ulongs(s); }
uint64_t rival_bitmap_sum(S s)
{
  uint64_t sum = 0;
  unsigned i;
  hwloc_bitmap_foreach_begin(i, s) sum += i;
  hwloc_bitmap_foreach_end();
  return sum;
}
int rival_bitmap_weight(S s) { return hwloc_bitmap_weight(s); }
int rival_bitmap_is_included(S a, S b) { return hwloc_bitmap_isincluded(a, b); }
int rival_bitmap_and(hwloc_bitmap_t out, S a, S b) { return hwloc_bitmap_and(out, a, b); }
int rival_bitmap_copy(hwloc_bitmap_t out, O o) { return hwloc_bitmap_copy(out, o->cpuset); }
int rival_bitmap_parse(hwloc_bitmap_t out, const char *text) { return hwloc_bitmap_sscanf(out, text); }
int rival_bitmap_print(char *buffer, size_t length, S s) { return hwloc_bitmap_list_snprintf(buffer, length, s); }
