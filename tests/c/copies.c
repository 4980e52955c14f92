/* Opens and closes libraries that each have their own copy of the reader, three times, and
 * checks that all use one mapping. Prints the number of mappings of the topology.
 *
 *     copies LIBRARY... */

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int mappings(void)
{
    char line[4096];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        count += strstr(line, "/topobroker-") != NULL;
    if (maps != NULL)
        fclose(maps);
    return count;
}

int main(int argc, char **argv)
{
    const void *first = NULL;

    for (int round = 0; round < 3; round++) {
        void *libraries[8];
        for (int i = 1; i < argc; i++) {
            const void *(*segment)(void);
            libraries[i] = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
            if (libraries[i] == NULL) {
                fprintf(stderr, "%s\n", dlerror());
                return 1;
            }
            *(void **)&segment = dlsym(libraries[i], "thinlib_segment");
            const void *start = segment();
            if (first == NULL)
                first = start;
            if (start == NULL || start != first) {
                fprintf(stderr, "%s: mapped at %p, the first at %p\n", argv[i], start, first);
                return 1;
            }
        }
        for (int i = 1; i < argc; i++)
            dlclose(libraries[i]);
    }
    printf("%d mapping\n", mappings());
    return 0;
}
