// A bad sector: preloaded (LD_PRELOAD), every read of the file with the inode SECTOR_INODE that includes the byte SECTOR_OFFSET
// fails with the errno SECTOR_ERROR.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static long long setting(const char *name) {
    const char *value = getenv(name);
    return value ? atoll(value) : 0;
}

static int is_bad(int file, size_t count, off64_t offset) {
    struct stat64 status;
    long long bad = setting("SECTOR_OFFSET");
    return fstat64(file, &status) == 0 && (long long)status.st_ino == setting("SECTOR_INODE") && offset <= bad
        && bad < offset + (long long)count;
}

ssize_t pread64(int file, void *buffer, size_t count, off64_t offset) {
    static ssize_t (*real)(int, void *, size_t, off64_t);
    if (!real) real = (ssize_t (*)(int, void *, size_t, off64_t))dlsym(RTLD_NEXT, "pread64");
    if (is_bad(file, count, offset)) {
        errno = (int)setting("SECTOR_ERROR");
        return -1;
    }
    return real(file, buffer, count, offset);
}

ssize_t pread(int file, void *buffer, size_t count, off_t offset) { return pread64(file, buffer, count, offset); }
