/* A tool of OpenMP (OMPT) that gives the runtime the places of this process: one place for each core of its
 * part of the node. LLVM's and Intel's runtimes load tools before they read OMP_PLACES, so nothing in them
 * or in the program has to change:
 *
 *     OMP_TOOL_LIBRARIES=PATH/libomp_places.so OMP_PROC_BIND=close ./app
 *
 * What the user has said in OMP_PLACES stays. If nothing is published, the runtime decides. */

#include <stdio.h>
#include <stdlib.h>
#include <topobroker.h>

/* Writes the places of a topology, such as {0,64},{1,65}. */
static tb_status write_places(const tb_topology *topology, FILE *out)
{
    tb_set *cpus = tb_set_new();
    tb_obj core;
    tb_status status = TB_OK;
    size_t count = tb_objs_count_with_type(topology, TB_CORE);

    for (size_t i = 0; i < count && status == TB_OK; i++) {
        status = tb_obj_with_type(topology, TB_CORE, i, &core);
        if (status == TB_OK)
            status = tb_obj_set(topology, core, TB_CPUSET, cpus);
        const char *before = i == 0 ? "{" : ",{";
        for (int64_t cpu = tb_set_first(cpus); status == TB_OK && cpu >= 0; cpu = tb_set_next(cpus, cpu), before = ",")
            fprintf(out, "%s%lld", before, (long long)cpu);
        fputs("}", out);
    }
    tb_set_free(cpus);
    return count == 0 ? TB_ERR_NOT_FOUND : status;
}

/* The runtime calls it first of all. NULL says that the tool wants no events. */
__attribute__((visibility("default"))) void *ompt_start_tool(unsigned omp_version, const char *runtime)
{
    tb_topology *mine;
    char *places = NULL;
    size_t size;
    FILE *out;

    (void)omp_version, (void)runtime;
    if (getenv("OMP_PLACES") != NULL || tb_view_effective(&mine) != TB_OK)
        return NULL;
    out = open_memstream(&places, &size);
    if (out != NULL) {
        tb_status status = write_places(mine, out);
        if (fclose(out) == 0 && status == TB_OK)
            setenv("OMP_PLACES", places, 0);
        free(places);
    }
    tb_topology_free(mine);
    return NULL;
}
