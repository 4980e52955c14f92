/* A library that needs the topology, and nothing else from the program that uses it. */
#ifndef THINLIB_H
#define THINLIB_H

#include <stddef.h>

/* Number of cores that this process may run on, or 0 if it finds no published topology. */
size_t thinlib_cores(void);

/* Address of the topology's mapping in this process, or NULL if it is not mapped. */
const void *thinlib_segment(void);

#endif
