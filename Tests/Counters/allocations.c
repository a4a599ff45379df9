// Preloaded into a program (LD_PRELOAD), intercepts glibc's allocator and counts the requests of all threads.

#include <errno.h>
#include <stdlib.h>

#include "shared.h"

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

_Thread_local int is_measuring = 0;

static void one(void) {
    if (!is_measuring) atomic_fetch_add_explicit(&counters->allocations, 1, memory_order_relaxed);
}

void *malloc(size_t size) {
    one();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    one();
    return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
    one();
    return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    one();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
    one();
    *result = __libc_memalign(alignment, size);
    return *result ? 0 : ENOMEM;
}
