/* A PMIx server that knows the topology of an XML file, and answers questions about it. */
#ifndef PMIX_TOPOLOGY_H
#define PMIX_TOPOLOGY_H

#include <hwloc.h>
#include <pmix.h>
#include <pmix_server.h>
#include <string.h>

/* Loads the topology as PMIx does, and hands it over. Returns false if that fails. */
static inline int serve_topology(const char *xml, pmix_topology_t *given)
{
    static pmix_server_module_t module;
    hwloc_topology_t topology;
    pmix_info_t info;

    if (hwloc_topology_init(&topology) != 0 || hwloc_topology_set_xml(topology, xml) != 0)
        return 0;
    hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    if (hwloc_topology_load(topology) != 0)
        return 0;
    given->source = (char *)"hwloc";
    given->topology = topology;
    memset(&info, 0, sizeof info);
    PMIX_LOAD_KEY(info.key, PMIX_TOPOLOGY2);
    info.value.type = PMIX_TOPO;
    info.value.data.topo = given;
    return PMIx_server_init(&module, &info, 1) == PMIX_SUCCESS;
}

#endif
