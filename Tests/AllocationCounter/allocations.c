// Preloaded into a program (LD_PRELOAD), stands in front of glibc's allocator and counts what is asked of it, on all
// threads, into the first eight bytes of the file that ALLOCATIONS_FILE names.

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_ulong unshared;
static atomic_ulong *count = &unshared;

__attribute__((constructor)) static void share(void) {
    const char *path = getenv("ALLOCATIONS_FILE");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *shared = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (shared != MAP_FAILED) count = shared;
}

static void one(void) { atomic_fetch_add_explicit(count, 1, memory_order_relaxed); }

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
