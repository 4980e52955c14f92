/* Slurm plugin: publishes the node's topology once per step, and hands each task its keys and
 * the CPUs of the step. It is configured by this line in plugstack.conf:
 *
 *     optional /usr/local/lib/topobroker/topobroker_spank.so [legacy] [guard] [threads] [folder=FOLDER]
 *
 * `legacy` also publishes for unmodified hwloc and PMIx. `guard` has tasks preload the hwloc guard,
 * and publishes what it serves. `folder` keeps the files in a folder
 * instead of shared memory. `threads` says that CPUs= of slurm.conf counts hardware threads and
 * not cores. If `topobroker serve` runs on the node, tasks use its topology, and with `legacy` they get its
 * variables for hwloc. The plugin publishes only if there is no daemon, or none that was started with --legacy
 * where `legacy` is asked for. A step never fails because of this plugin: errors are only logged. */

#define _GNU_SOURCE
#include <slurm/slurm.h>
#include <slurm/spank.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <topobroker.h>

SPANK_PLUGIN(topobroker, 1)

/* The segment of the step, removed when the step ends. */
static tb_publication *published = NULL;

static bool threads = false;
static bool guard = false;

static int failed(const char *what, tb_status status)
{
    slurm_error("topobroker: %s: %s: %s", what, tb_strerror(status), tb_error_detail());
    return ESPANK_SUCCESS;
}

static tb_status read_arguments(int argc, char **argv, tb_publish_options *options)
{
    tb_status status = tb_publish_options_init(options, sizeof *options);
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "legacy") == 0) {
            options->legacy = true;
        } else if (strcmp(argv[i], "guard") == 0) {
            options->guard = guard = true;
        } else if (strcmp(argv[i], "threads") == 0) {
            threads = true;
        } else if (strncmp(argv[i], "folder=", 7) == 0) {
            options->store = TB_STORE_FOLDER;
            options->folder = argv[i] + 7;
        } else {
            slurm_error("topobroker: argument %s: expected legacy, guard, threads or folder=FOLDER", argv[i]);
        }
    }
    return status;
}

static tb_status publish(const tb_publish_options *options)
{
    tb_description *machine = NULL;
    tb_status status = tb_description_from_machine(&machine);
    if (status == TB_OK)
        status = tb_publish(machine, options, sizeof *options, &published);
    tb_description_free(machine);
    return status;
}

/* Hands tasks the variables for hwloc that a daemon has written next to its keys. Returns whether
 * there are any. */
static bool set_daemons_variables(spank_t step, const tb_keys *keys)
{
    char file[TB_FILE_MAX + 8], line[TB_FILE_MAX + 64];
    const char *end = strrchr(keys->file, '/');
    bool has_xml = false;
    FILE *lines;

    if (end == NULL)
        return false;
    snprintf(file, sizeof file, "%.*s/keys", (int)(end - keys->file), keys->file);
    lines = fopen(file, "re");
    while (lines != NULL && fgets(line, sizeof line, lines) != NULL) {
        char *value = strchr(line, '=');
        line[strcspn(line, "\n")] = '\0';
        /* Tasks find the keys themselves. Paths with special characters are quoted, and are
         * skipped. */
        if (value == NULL || value[1] == '\'' || strncmp(line, "TOPOBROKER_", 11) == 0)
            continue;
        *value++ = '\0';
        spank_setenv(step, line, value, 1);
        has_xml = has_xml || strcmp(line, "HWLOC_XMLFILE") == 0;
    }
    if (lines != NULL)
        fclose(lines);
    return has_xml;
}

/* Removes inherited variables. Those of the job are keys of the node from which it was
 * submitted, and slurmd's own are from the environment in which slurmd was started. */
static void unset_inherited(spank_t step)
{
    static const char *const names[] = { "TOPOBROKER_FILE", "TOPOBROKER_ADDR", "TOPOBROKER_SIZE",
                                         "TOPOBROKER_JOB", "TOPOBROKER_CPU_LIST" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        spank_unsetenv(step, names[i]);
        unsetenv(names[i]);
    }
}

/* Passes tasks the PUs of the step's cores. Slurm numbers cores by logical index. If it takes
 * hardware threads for cores, or if the topology has no cores, its numbers are those of PUs. */
static tb_status set_cpu_list(spank_t step, const tb_keys *keys)
{
    char *list = NULL, text[8192];
    const tb_topology *topology = NULL;
    tb_set *cores = tb_set_new(), *pus = tb_set_new(), *core = tb_set_new();
    tb_obj obj;
    tb_status status = tb_adopt_keys(keys, sizeof *keys, &topology);

    if (status == TB_OK && spank_get_item(step, S_STEP_ALLOC_CORES, &list) == ESPANK_SUCCESS &&
        list != NULL && list[0] != '\0') {
        int type = threads || tb_objs_count_with_type(topology, TB_CORE) == 0 ? TB_PU : TB_CORE;
        status = tb_set_parse(cores, list);
        for (int64_t i = tb_set_first(cores); status == TB_OK && i >= 0; i = tb_set_next(cores, i)) {
            status = tb_obj_with_type(topology, type, (size_t)i, &obj);
            if (status == TB_OK)
                status = tb_obj_set(topology, obj, TB_CPUSET, core);
            if (status == TB_OK)
                status = tb_set_combine(pus, TB_SET_OR, core);
        }
        if (status == TB_OK)
            status = tb_set_text(pus, TB_SET_LIST, text, sizeof text, NULL);
        if (status == TB_OK)
            spank_setenv(step, "TOPOBROKER_CPU_LIST", text, 1);
    }
    tb_set_free(cores);
    tb_set_free(pus);
    tb_set_free(core);
    return status;
}

/* Has tasks preload the hwloc guard, in front of what they preload already. */
static void preload_guard(spank_t step)
{
    char others[4096] = "", all[8192];

    (void)spank_getenv(step, "LD_PRELOAD", others, sizeof others);
    snprintf(all, sizeof all, "%s%s%s", TOPOBROKER_GUARD_LIBRARY, others[0] == '\0' ? "" : ":", others);
    spank_setenv(step, "LD_PRELOAD", all, 1);
}

int slurm_spank_init(spank_t step, int argc, char **argv)
{
    tb_publish_options options;
    tb_keys keys;
    tb_status status;
    uint32_t id = 0;
    const char *name, *value;
    bool is_published;

    if (spank_context() != S_CTX_REMOTE)
        return ESPANK_SUCCESS;
    /* The extern step, which only holds processes of the job, has no tasks. */
    if (spank_get_item(step, S_JOB_STEPID, &id) == ESPANK_SUCCESS && id == (uint32_t)SLURM_EXTERN_CONT)
        return ESPANK_SUCCESS;
    unset_inherited(step);
    status = read_arguments(argc, argv, &options);
    /* If a daemon publishes, tasks find its topology themselves, also after it has changed. */
    is_published = tb_keys_find(&keys, sizeof keys) == TB_OK;
    if (is_published && options.legacy && !set_daemons_variables(step, &keys)) {
        slurm_info("topobroker: %s: published without --legacy: the step has a topology of its own", keys.file);
        is_published = false;
    }
    if (status == TB_OK && !is_published) {
        status = publish(&options);
        if (status == TB_OK)
            status = tb_publication_keys(published, &keys, sizeof keys);
        for (size_t i = 0; status == TB_OK && tb_publication_env(published, i, &name, &value) == TB_OK; i++)
            spank_setenv(step, name, value, 1);
    }
    if (status != TB_OK)
        return failed("the topology is not published", status);
    if (guard)
        preload_guard(step);
    status = set_cpu_list(step, &keys);
    return status == TB_OK ? ESPANK_SUCCESS : failed("the CPUs of the step are not known", status);
}

int slurm_spank_exit(spank_t step, int argc, char **argv)
{
    (void)step;
    (void)argc;
    (void)argv;
    tb_publication_free(published);
    published = NULL;
    return ESPANK_SUCCESS;
}
