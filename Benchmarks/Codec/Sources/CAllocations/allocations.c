#include "allocations.h"

#include <malloc.h>
#include <stddef.h>

// The program's own malloc and realloc replace glibc's and count. The benchmark has one thread.
extern void *__libc_malloc(size_t size);
extern void *__libc_realloc(void *old, size_t size);

static unsigned long count;

unsigned long allocations(void) { return count; }

void keep_freed_memory(void) {
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    mallopt(M_MMAP_THRESHOLD, 64 << 20);
}

void *malloc(size_t size) {
    count++;
    return __libc_malloc(size);
}

void *realloc(void *old, size_t size) {
    count++;
    return __libc_realloc(old, size);
}
