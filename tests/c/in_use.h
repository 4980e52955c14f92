/* Shared by the programs that limit their own address space. */

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

/* Bytes of address space in use. */
static rlim_t in_use(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%lu", &pages) != 1)
        exit(2);
    fclose(file);
    return (rlim_t)pages * 4096;
}
