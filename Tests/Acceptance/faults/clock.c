// A wrong clock: preloaded into a process (LD_PRELOAD). CLOCK_AHEAD: the number of seconds by which the wall clock is ahead.
// CLOCK_CONTROL: a file of two 64-bit numbers that may change at any time: the seconds that are added to the wall clock, and to the
// time since boot.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static int (*real)(clockid_t, struct timespec *);
static long ahead;
static volatile int64_t *control;

static void prepare(void) {
    real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    const char *seconds = getenv("CLOCK_AHEAD"), *path = getenv("CLOCK_CONTROL");
    if (seconds) ahead = atol(seconds);
    if (!path) return;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) abort();
    void *page = mmap(NULL, 2 * sizeof *control, PROT_READ, MAP_SHARED, file, 0);
    if (page == MAP_FAILED) abort();
    close(file);
    control = page;
}

int clock_gettime(clockid_t id, struct timespec *time) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
    int result = real(id, time);
    if (result != 0) return result;
    if (id == CLOCK_REALTIME) time->tv_sec += ahead + (control ? control[0] : 0);
    if (id == CLOCK_BOOTTIME && control) time->tv_sec += control[1];
    return result;
}
