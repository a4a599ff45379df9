// Threads that end late: preloaded (LD_PRELOAD), the last thing that OpenSSL does in each thread, when it ends, waits until the
// process has run the functions of atexit(3), among them OpenSSL's cleanup. A busy machine can delay threads like that.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static sem_t cleaned;
static void (*end_of_thread)(void *);

static void end_of_process(void) {
    sem_post(&cleaned);
    // Until the other threads have ended the process, or have survived.
    sleep(1);
}

// Functions of atexit(3) run in reverse order: OpenSSL registers its own later.
__attribute__((constructor)) static void begin(void) {
    sem_init(&cleaned, 0, 0);
    atexit(end_of_process);
}

static void end_late(void *value) {
    // The process may wait for the end of this thread before it ends.
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 1;
    if (sem_timedwait(&cleaned, &limit) == 0) sem_post(&cleaned);
    end_of_thread(value);
}

int pthread_key_create(pthread_key_t *key, void (*end)(void *)) {
    static int (*real)(pthread_key_t *, void (*)(void *));
    if (!real) real = (int (*)(pthread_key_t *, void (*)(void *)))dlsym(RTLD_NEXT, "pthread_key_create");
    Dl_info library;
    if (end && !end_of_thread && dladdr((void *)end, &library) && strstr(library.dli_fname, "libcrypto")) {
        end_of_thread = end;
        end = end_late;
    }
    return real(key, end);
}
