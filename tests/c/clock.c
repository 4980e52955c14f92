/* Library to preload: it shifts the time of day by CLOCK_SHIFT seconds. */

#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time)
{
    const char *shift = getenv("CLOCK_SHIFT");
    int status = (int)syscall(SYS_clock_gettime, clock, time);

    if (status == 0 && clock == CLOCK_REALTIME && shift != NULL)
        time->tv_sec += atol(shift);
    return status;
}
