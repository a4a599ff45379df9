// A failing disk: preloaded into a gateway (LD_PRELOAD), controlled by a page of memory that is shared with the test. Only calls
// below FAULTS_ROOT count. disk.c models the contents of the disk.

#include "faults.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct control *control;
static char root[PATH_MAX];
static size_t root_length;

__attribute__((constructor)) static void start(void) {
    const char *path = getenv("FAULTS_CONTROL"), *folder = getenv("FAULTS_ROOT"), *journal = getenv("FAULTS_JOURNAL");
    if (!path || !folder || !journal || disk_begin(journal) != 0) return;
    int descriptor = REAL(open)(path, O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return;
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    close(descriptor);
    if (page == MAP_FAILED) return;
    root_length = strlen(folder);
    memcpy(root, folder, root_length + 1);
    control = page;
}

static int is_below(const char *path) {
    return control && strncmp(path, root, root_length) == 0 && (path[root_length] == '/' || path[root_length] == 0);
}

// A descriptor's path; empty if it has none.
static void path_of(int descriptor, char path[PATH_MAX]) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    path[length < 0 ? 0 : length] = 0;
}

static int is_watched(int descriptor, char path[PATH_MAX]) {
    if (!control) return 0;
    path_of(descriptor, path);
    return is_below(path);
}

// The path of a name in an open folder, or below /proc/self/fd, or an absolute one.
static void resolve(int at, const char *path, char full[PATH_MAX]) {
    static const char held[] = "/proc/self/fd/";
    char folder[PATH_MAX];
    if (strncmp(path, held, sizeof held - 1) == 0 && strchr(path + sizeof held - 1, '/')) {
        path_of(atoi(path + sizeof held - 1), folder);
        snprintf(full, PATH_MAX, "%.2047s%.2047s", folder, strchr(path + sizeof held - 1, '/'));
    } else if (path[0] == '/' || at == AT_FDCWD) {
        snprintf(full, PATH_MAX, "%s", path);
    } else {
        path_of(at, folder);
        snprintf(full, PATH_MAX, "%.2047s/%.2047s", folder, path);
    }
}

// Whether calls of that kind are counted at all; avoids looking up their path.
static int is_armed(int kind) { return control && __atomic_load_n(&control->kinds, __ATOMIC_SEQ_CST) & kind; }

// Whether this call has to fail.
static int fails(int kind, const char *path) {
    if (!is_armed(kind) || (control->path[0] && !strstr(path, control->path))) return 0;
    int64_t count = __atomic_add_fetch(&control->counted, 1, __ATOMIC_SEQ_CST);
    int64_t number = __atomic_load_n(&control->number, __ATOMIC_SEQ_CST);
    if (number <= 0 || count < number || (count > number && !control->lasting)) return 0;
    __atomic_add_fetch(&control->failed, 1, __ATOMIC_SEQ_CST);
    if (control->action == KILL) kill(getpid(), SIGKILL);
    errno = (int)control->error;
    return 1;
}

static int fails_on(int kind, int descriptor) {
    char path[PATH_MAX];
    return is_armed(kind) && is_watched(descriptor, path) && fails(kind, path);
}

static int fails_at(int kind, int at, const char *path) {
    char full[PATH_MAX];
    if (!is_armed(kind)) return 0;
    resolve(at, path, full);
    return is_below(full) && fails(kind, full);
}

// Evaluates `call` between the model's steps before and after it.
#define MODELLED(before, call, after)                                                                                  \
    ({                                                                                                                 \
        int is_kept = control->journal != 0;                                                                           \
        if (is_kept) disk_lock();                                                                                      \
        if (is_kept) { before; }                                                                                       \
        __typeof__(call) result = call;                                                                                \
        int problem = errno;                                                                                           \
        if (is_kept) { after; }                                                                                        \
        if (is_kept) disk_unlock();                                                                                    \
        errno = problem;                                                                                               \
        result;                                                                                                        \
    })

// Opening.

static int opened(int at, const char *path, int flags, mode_t mode) {
    int (*real)(int, const char *, int, ...) = REAL(openat);
    char full[PATH_MAX];
    if (!control) return real(at, path, flags, mode);
    resolve(at, path, full);
    if (!is_below(full)) return real(at, path, flags, mode);
    if (fails(OPEN, full)) return -1;
    if (!(flags & (O_CREAT | O_TRUNC))) return real(at, path, flags, mode);
    // Truncated only after the model has recorded the earlier contents.
    int is_new = 0, is_cut = flags & O_TRUNC && !(flags & O_EXCL);
    if (control->journal && is_cut) flags &= ~O_TRUNC;
    int descriptor = MODELLED(
        is_new = flags & O_CREAT && REAL(access)(full, F_OK) != 0;
        if (is_new) disk_before_name(full), real(at, path, flags, mode), if (is_new && result >= 0)
            disk_after_creation(result));
    if (descriptor >= 0 && control->journal && is_cut && ftruncate(descriptor, 0) != 0) {
        int problem = errno;
        close(descriptor);
        errno = problem;
        return -1;
    }
    return descriptor;
}

#define MODE(flags)                                                                                                    \
    mode_t mode = 0;                                                                                                   \
    if ((flags) & (O_CREAT | O_TMPFILE)) {                                                                             \
        va_list list;                                                                                                  \
        va_start(list, flags);                                                                                         \
        mode = va_arg(list, mode_t);                                                                                   \
        va_end(list);                                                                                                  \
    }

int open(const char *path, int flags, ...) {
    MODE(flags)
    return opened(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    MODE(flags)
    return opened(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

int openat(int at, const char *path, int flags, ...) {
    MODE(flags)
    return opened(at, path, flags, mode);
}

int openat64(int at, const char *path, int flags, ...) {
    MODE(flags)
    return opened(at, path, flags | O_LARGEFILE, mode);
}

// Writing.

static size_t total(const struct iovec *pieces, int count) {
    size_t length = 0;
    for (int index = 0; index < count; index++) length += pieces[index].iov_len;
    return length;
}

// The position at which `write` writes.
static off_t position(int descriptor) {
    struct stat status;
    if (fcntl(descriptor, F_GETFL) & O_APPEND && REAL(fstat)(descriptor, &status) == 0) return status.st_size;
    return lseek(descriptor, 0, SEEK_CUR);
}

#define CHANGE(before, call)                                                                                           \
    char path[PATH_MAX];                                                                                               \
    if (!is_watched(descriptor, path)) return call;                                                                    \
    if (fails(WRITE, path)) return -1;                                                                                 \
    return MODELLED(before, call, );

ssize_t write(int descriptor, const void *bytes, size_t length) {
    CHANGE(disk_before_change(descriptor, position(descriptor), length), REAL(write)(descriptor, bytes, length))
}

ssize_t writev(int descriptor, const struct iovec *pieces, int count) {
    CHANGE(disk_before_change(descriptor, position(descriptor), total(pieces, count)),
           REAL(writev)(descriptor, pieces, count))
}

ssize_t pwrite(int descriptor, const void *bytes, size_t length, off_t offset) {
    CHANGE(disk_before_change(descriptor, offset, length), REAL(pwrite)(descriptor, bytes, length, offset))
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t length, off64_t offset) {
    return pwrite(descriptor, bytes, length, offset);
}

ssize_t pwritev(int descriptor, const struct iovec *pieces, int count, off_t offset) {
    CHANGE(disk_before_change(descriptor, offset, total(pieces, count)),
           REAL(pwritev)(descriptor, pieces, count, offset))
}

int ftruncate(int descriptor, off_t size) {
    CHANGE(disk_before_truncation(descriptor, size), REAL(ftruncate)(descriptor, size))
}

int ftruncate64(int descriptor, off64_t size) { return ftruncate(descriptor, size); }

int fchmod(int descriptor, mode_t mode) {
    char path[PATH_MAX];
    if (!is_watched(descriptor, path)) return REAL(fchmod)(descriptor, mode);
    return MODELLED(disk_before_mode(descriptor), REAL(fchmod)(descriptor, mode), );
}

int chmod(const char *path, mode_t mode) {
    if (!is_below(path)) return REAL(chmod)(path, mode);
    int descriptor = REAL(open)(path, O_PATH | O_CLOEXEC);
    int changed = MODELLED(if (descriptor >= 0) disk_before_mode(descriptor), REAL(chmod)(path, mode), );
    if (descriptor >= 0) close(descriptor);
    return changed;
}

// Syncing. With the model of the disk, the kernel's own sync would only cost time.

static int synced(int descriptor, int (*real)(int), int with_mode) {
    char path[PATH_MAX];
    if (!is_watched(descriptor, path)) return real(descriptor);
    int has_failed = fails(SYNC, path), problem = errno, is_kept = control->journal != 0;
    if (has_failed && !is_kept) return -1;
    int result =
        MODELLED(, is_kept ? -has_failed : real(descriptor), disk_after_sync(descriptor, has_failed, with_mode));
    int64_t delay = __atomic_load_n(&control->delay, __ATOMIC_SEQ_CST);
    if (delay > 0) nanosleep(&(struct timespec){.tv_sec = delay / 1000000, .tv_nsec = delay % 1000000 * 1000}, NULL);
    if (has_failed) errno = problem;
    return result;
}

int fsync(int descriptor) { return synced(descriptor, REAL(fsync), 1); }

int fdatasync(int descriptor) { return synced(descriptor, REAL(fdatasync), 0); }

// One that fails changes nothing.
int syncfs(int descriptor) {
    char path[PATH_MAX];
    if (!is_watched(descriptor, path)) return REAL(syncfs)(descriptor);
    if (fails(SYNC, path)) return -1;
    return MODELLED(, control->journal ? 0 : REAL(syncfs)(descriptor), disk_after_sync_of_all());
}

// Names.

int unlinkat(int at, const char *path, int flags) {
    char full[PATH_MAX];
    resolve(at, path, full);
    if (!is_below(full)) return REAL(unlinkat)(at, path, flags);
    if (fails(UNLINK, full)) return -1;
    return MODELLED(disk_before_name(full), REAL(unlinkat)(at, path, flags), );
}

int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }

int renameat(int from, const char *old, int to, const char *new) {
    char source[PATH_MAX], target[PATH_MAX];
    resolve(from, old, source);
    resolve(to, new, target);
    if (!is_below(source) || !is_below(target)) return REAL(renameat)(from, old, to, new);
    if (fails(RENAME, target)) return -1;
    return MODELLED(disk_before_rename(source, target), REAL(renameat)(from, old, to, new), );
}

int rename(const char *old, const char *new) { return renameat(AT_FDCWD, old, AT_FDCWD, new); }

int linkat(int from, const char *old, int to, const char *new, int flags) {
    char source[PATH_MAX], target[PATH_MAX];
    resolve(from, old, source);
    resolve(to, new, target);
    if (!is_below(source) || !is_below(target)) return REAL(linkat)(from, old, to, new, flags);
    if (fails(LINK, target)) return -1;
    return MODELLED(disk_before_name(target), REAL(linkat)(from, old, to, new, flags), );
}

int link(const char *old, const char *new) { return linkat(AT_FDCWD, old, AT_FDCWD, new, 0); }

int mkdirat(int at, const char *path, mode_t mode) {
    char full[PATH_MAX];
    resolve(at, path, full);
    // The name of the root itself is not modeled.
    if (!is_below(full) || !full[root_length]) return REAL(mkdirat)(at, path, mode);
    if (fails(MKDIR, full)) return -1;
    return MODELLED(disk_before_name(full), REAL(mkdirat)(at, path, mode), );
}

int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

// Reading.

ssize_t read(int descriptor, void *bytes, size_t length) {
    return fails_on(READ, descriptor) ? -1 : REAL(read)(descriptor, bytes, length);
}

ssize_t pread(int descriptor, void *bytes, size_t length, off_t offset) {
    return fails_on(READ, descriptor) ? -1 : REAL(pread)(descriptor, bytes, length, offset);
}

ssize_t pread64(int descriptor, void *bytes, size_t length, off64_t offset) {
    return pread(descriptor, bytes, length, offset);
}

ssize_t readv(int descriptor, const struct iovec *pieces, int count) {
    return fails_on(READ, descriptor) ? -1 : REAL(readv)(descriptor, pieces, count);
}

DIR *opendir(const char *path) { return fails_at(LIST, AT_FDCWD, path) ? NULL : REAL(opendir)(path); }

struct dirent *readdir(DIR *folder) { return fails_on(LIST, dirfd(folder)) ? NULL : REAL(readdir)(folder); }

struct dirent64 *readdir64(DIR *folder) { return fails_on(LIST, dirfd(folder)) ? NULL : REAL(readdir64)(folder); }

// Looking at names and files.

// The number of a file's names is without the model's own.
#define NAMES(status, call)                                                                                            \
    ({                                                                                                                 \
        int result = call;                                                                                             \
        if (result == 0 && control && control->journal && S_ISREG(status->st_mode) && disk_holds(status->st_ino))      \
            status->st_nlink--;                                                                                        \
        result;                                                                                                        \
    })

#define LOOK(name, type)                                                                                               \
    int name(const char *path, struct type *status) {                                                                  \
        return fails_at(STAT, AT_FDCWD, path) ? -1 : NAMES(status, REAL(name)(path, status));                          \
    }
#define LOOK_ON(name, type)                                                                                            \
    int name(int descriptor, struct type *status) {                                                                    \
        return fails_on(STAT, descriptor) ? -1 : REAL(name)(descriptor, status);                                       \
    }
#define LOOK_AT(name, type)                                                                                            \
    int name(int at, const char *path, struct type *status, int flags) {                                               \
        return fails_at(STAT, at, path) ? -1 : REAL(name)(at, path, status, flags);                                    \
    }

LOOK(stat, stat)
LOOK(stat64, stat64)
LOOK(lstat, stat)
LOOK(lstat64, stat64)
LOOK_ON(fstat, stat)
LOOK_ON(fstat64, stat64)
LOOK_AT(fstatat, stat)
LOOK_AT(fstatat64, stat64)

int statx(int at, const char *path, int flags, unsigned int mask, struct statx *status) {
    return fails_at(STAT, at, path) ? -1 : REAL(statx)(at, path, flags, mask, status);
}

int access(const char *path, int mode) {
    return fails_at(STAT, AT_FDCWD, path) ? -1 : REAL(access)(path, mode);
}
