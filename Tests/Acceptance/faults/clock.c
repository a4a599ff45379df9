// A clock that is wrong: preloaded into a client (LD_PRELOAD). CLOCK_AHEAD: by so many seconds.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t id, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(id, time);
    const char *ahead = getenv("CLOCK_AHEAD");
    if (result == 0 && id == CLOCK_REALTIME && ahead) time->tv_sec += atol(ahead);
    return result;
}
