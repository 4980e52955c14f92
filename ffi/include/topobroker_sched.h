/* topobroker_sched: sets of PUs as the cpu_set_t of glibc, and binding with it.
 *
 * There is no library: all code is in this header. It works with both libraries: the thin one binds
 * nothing itself. Counterpart: hwloc/glibc-sched.h. */

#ifndef TOPOBROKER_SCHED_H
#define TOPOBROKER_SCHED_H

#ifndef _GNU_SOURCE
#error "cpu_set_t takes _GNU_SOURCE, defined before the first header"
#endif
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <topobroker.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes `mask`, which has `size` bytes (sizeof(cpu_set_t), or CPU_ALLOC_SIZE), the PUs of `set`.
 * TB_ERR_TRUNCATED if the set has more, or has no end. */
static inline tb_status tb_set_to_cpu_set(const tb_set *set, cpu_set_t *mask, size_t size)
{
    int64_t pu, last = tb_set_last(set);

    CPU_ZERO_S(size, mask);
    if (tb_set_weight(set) < 0 || last >= (int64_t)(size * 8))
        return TB_ERR_TRUNCATED;
    for (pu = tb_set_first(set); pu >= 0; pu = tb_set_next(set, pu))
        CPU_SET_S((size_t)pu, size, mask);
    return TB_OK;
}

/* Makes `set` the PUs of `mask`, which has `size` bytes. */
static inline tb_status tb_set_from_cpu_set(tb_set *set, const cpu_set_t *mask, size_t size)
{
    tb_status status = tb_set_clear(set);
    size_t pu;

    for (pu = 0; status == TB_OK && pu < size * 8; pu++)
        if (CPU_ISSET_S(pu, size, mask))
            status = tb_set_add(set, (uint32_t)pu);
    return status;
}

/* Binds the calling thread to the PUs of `set`, whatever the number of PUs of the machine is.
 * Returns 0, or -1 and sets errno, as sched_setaffinity does. A child between fork and exec may
 * call it. */
static inline int tb_bind_this_thread(const tb_set *set)
{
    /* Eight times as many bits as Linux can have CPUs. */
    union {
        cpu_set_t mask;
        unsigned char bytes[65536 / 8];
    } room;

    if (tb_set_to_cpu_set(set, &room.mask, sizeof room) != TB_OK) {
        errno = EINVAL;
        return -1;
    }
    return sched_setaffinity(0, sizeof room, &room.mask);
}

#ifdef __cplusplus
}
#endif

#endif
