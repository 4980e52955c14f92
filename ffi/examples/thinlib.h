/* A library that wants the topology and nothing else of anybody. */
#ifndef THINLIB_H
#define THINLIB_H

#include <stddef.h>

/* Number of cores that this process may run on; 0 if nothing is published to it. */
size_t thinlib_cores(void);

/* Where the topology is mapped in this process; NULL if it is not. */
const void *thinlib_segment(void);

#endif
