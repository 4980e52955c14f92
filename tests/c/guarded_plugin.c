/* A program that uses hwloc through the library guarded_copier.c, which it loads as a plugin.
 *
 *     plugin copy LIBRARY SEGMENT     says whether the library's copy shares the segment
 *     plugin reload LIBRARY SEGMENT   loads the library twice
 *     plugin both ONE OTHER SEGMENT   loads two libraries, with an hwloc each
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct copier {
    void *library;
    void *(*adopt)(const char *), *(*copy)(void *), *(*load)(void), *(*root)(void *);
    int (*restrict_to_first)(void *), (*pus)(void *);
    void (*destroy)(void *);
};

#define CHECK(what) do { if (!(what)) { printf("line %d: %s\n", __LINE__, #what); exit(1); } } while (0)

static struct copier open_copier(const char *file)
{
    struct copier it = { .library = dlopen(file, RTLD_NOW | RTLD_LOCAL) };
    if (it.library == NULL) {
        puts(dlerror());
        exit(1);
    }
    *(void **)&it.adopt = dlsym(it.library, "adopt_segment");
    *(void **)&it.copy = dlsym(it.library, "copy_topology");
    *(void **)&it.load = dlsym(it.library, "load_machine");
    *(void **)&it.root = dlsym(it.library, "root_of");
    *(void **)&it.restrict_to_first = dlsym(it.library, "restrict_to_first");
    *(void **)&it.pus = dlsym(it.library, "pus_of");
    *(void **)&it.destroy = dlsym(it.library, "destroy_topology");
    return it;
}

static void copy(const char *library, const char *segment)
{
    struct copier it = open_copier(library);
    void *adopted = it.adopt(segment), *copied;

    CHECK(adopted != NULL);
    CHECK((copied = it.copy(adopted)) != NULL);
    printf("%s", it.root(copied) == it.root(adopted) ? "shared" : "its own");
    CHECK(it.restrict_to_first(copied) == 0);
    printf(", then %s\n", it.root(copied) == it.root(adopted) ? "shared" : "its own");
    CHECK(it.pus(copied) == 1 && it.pus(adopted) == 64);
    it.destroy(adopted);
    CHECK(it.pus(copied) == 1);
    it.destroy(copied);
}

static void reload(const char *library, const char *segment)
{
    for (int i = 0; i < 5; i++) {
        struct copier it = open_copier(library);
        void *one = it.adopt(segment), *other = it.adopt(segment);
        CHECK(one != NULL && other != NULL && it.root(one) == it.root(other));
        it.destroy(one);
        it.destroy(other);
        dlclose(it.library);
    }
}

static void both(const char *one, const char *other, const char *segment)
{
    struct copier first = open_copier(one), second = open_copier(other);
    void *loaded[2] = { first.load(), second.load() }, *adopted;

    CHECK(loaded[0] != NULL && loaded[1] != NULL);
    CHECK(first.pus(loaded[0]) == second.pus(loaded[1]));
    CHECK((adopted = first.adopt(segment)) != NULL);
    /* The other library has not mapped it, and the address is taken. */
    CHECK(second.adopt(segment) == NULL);
    void *hwlocs[2];
    Dl_info info;
    for (int i = 0; i < 2; i++) {
        void *library = i == 0 ? first.library : second.library;
        CHECK(dladdr(dlsym(library, "hwloc_topology_init"), &info) != 0);
        hwlocs[i] = info.dli_fbase;
    }
    CHECK(hwlocs[0] != hwlocs[1]);
    first.destroy(adopted);
    second.destroy(loaded[1]);
    first.destroy(loaded[0]);
    puts("each has its own hwloc");
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "copy") == 0)
        copy(argv[2], argv[3]);
    else if (argc == 4 && strcmp(argv[1], "reload") == 0)
        reload(argv[2], argv[3]);
    else if (argc == 5 && strcmp(argv[1], "both") == 0)
        both(argv[2], argv[3], argv[4]);
    else
        return 2;
    return 0;
}
