/* What a program costs: time and private memory. */
#ifndef COST_H
#define COST_H

#include <stdio.h>
#include <time.h>

/* Microseconds of a clock that only goes forward. */
static inline double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

/* kB of private memory that this process has written; -1 if the system does not say. */
static inline long private_kb(void)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    long kb = -1;

    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "Private_Dirty: %ld", &kb) == 1)
            break;
    }
    if (file != NULL)
        fclose(file);
    return kb;
}

#endif
