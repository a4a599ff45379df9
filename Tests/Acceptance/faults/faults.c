// A disk that fails, and power that goes: preloaded into a gateway (LD_PRELOAD), steered by a page of memory that the
// test shares with it. Only what happens below FAULTS_ROOT counts.
//
// A power cut takes back whatever was not synced: bytes written and lengths changed since the last successful fsync or
// fdatasync of their file, and names whose folder was not synced since. The process ends with it.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { WRITE = 1, SYNC = 2, OPEN = 4 };

// The same order in support/faults.py.
struct control {
    int64_t kinds;     // which calls are counted
    int64_t countdown; // the call that takes it to 0 fails; 0 = none
    int64_t error;     // with this errno
    int64_t counted;   // calls of those kinds so far
    int64_t failed;    // calls that failed on purpose
    int64_t delay;     // microseconds that every sync takes longer
    int64_t cut;       // 1 = cut the power
    int64_t journal;   // 1 = keep what a power cut needs
};

static struct control *control;
static char root[PATH_MAX];
static size_t root_length;

// What takes a file back to what is on the disk, newest first.
struct undo {
    struct undo *next;
    dev_t device;
    ino_t inode;
    int descriptor; // of our own, or -1 for a name
    off_t size;     // to be cut to, or -1
    off_t offset;
    size_t length;
    char *bytes; // what stood there, or the name
    ino_t folder;
};

static struct undo *undos;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int is_below(const char *path) {
    return control && strncmp(path, root, root_length) == 0 && (path[root_length] == '/' || path[root_length] == 0);
}

static int is_watched(int descriptor) {
    char link[64], path[PATH_MAX];
    if (!control) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_below(path);
}

// Whether this call is the one that is to fail.
static int fails(int kind) {
    if (!(__atomic_load_n(&control->kinds, __ATOMIC_SEQ_CST) & kind)) return 0;
    __atomic_add_fetch(&control->counted, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&control->countdown, __ATOMIC_SEQ_CST) <= 0) return 0;
    if (__atomic_sub_fetch(&control->countdown, 1, __ATOMIC_SEQ_CST) != 0) return 0;
    __atomic_add_fetch(&control->failed, 1, __ATOMIC_SEQ_CST);
    errno = (int)control->error;
    return 1;
}

static void remember(struct undo undo) {
    struct undo *entry = malloc(sizeof *entry);
    *entry = undo;
    entry->next = undos;
    undos = entry;
}

// Before `length` bytes at `offset` change; `size` >= 0 where the length does.
static void before_change(int descriptor, off_t offset, size_t length) {
    struct stat status;
    if (!control->journal || fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return;
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    int own = REAL(open)(link, O_RDWR | O_CLOEXEC);
    if (own < 0) return;
    struct undo undo = {.device = status.st_dev, .inode = status.st_ino, .descriptor = own, .size = status.st_size,
                        .offset = offset};
    if (length > 0 && offset < status.st_size) {
        undo.bytes = malloc(length);
        ssize_t got = pread(own, undo.bytes, length, offset);
        undo.length = got > 0 ? (size_t)got : 0;
    }
    remember(undo);
}

static void forget(int (*matches)(const struct undo *, const struct stat *), const struct stat *status) {
    for (struct undo **link = &undos; *link;) {
        struct undo *entry = *link;
        if (matches(entry, status)) {
            *link = entry->next;
            if (entry->descriptor >= 0) close(entry->descriptor);
            free(entry->bytes);
            free(entry);
        } else {
            link = &entry->next;
        }
    }
}

static int is_of(const struct undo *undo, const struct stat *status) {
    if (undo->device != status->st_dev) return 0;
    return undo->descriptor >= 0 ? undo->inode == status->st_ino : undo->folder == status->st_ino;
}

// A child takes the files back, once every thread of the process is gone: a thread that still ran would write on, or find
// that SQLite's shared map ends before its file does. It holds the descriptors and standard output, so that whoever
// reads that to its end finds the files as they are on the disk.
static void cut_power(void) {
    // No change is under way from here on, and none begins.
    pthread_mutex_lock(&lock);
    // In a child of many threads nothing may be looked up.
    __typeof__(&pwrite) write_at = REAL(pwrite);
    __typeof__(&ftruncate) cut_to = REAL(ftruncate);
    pid_t process = getpid(), child = _Fork();
    if (child < 0) abort();
    if (child > 0) _exit(137);
    while (getppid() == process) usleep(500);
    for (struct undo *undo = undos; undo; undo = undo->next) {
        if (undo->descriptor < 0) {
            unlink(undo->bytes);
            continue;
        }
        if (undo->length > 0 && write_at(undo->descriptor, undo->bytes, undo->length, undo->offset) < 0) abort();
        if (cut_to(undo->descriptor, undo->size) != 0) abort();
    }
    _exit(0);
}

static void *watch(void *unused) {
    (void)unused;
    while (!__atomic_load_n(&control->cut, __ATOMIC_SEQ_CST)) usleep(500);
    cut_power();
    return NULL;
}

__attribute__((constructor)) static void start(void) {
    const char *path = getenv("FAULTS_CONTROL"), *folder = getenv("FAULTS_ROOT");
    if (!path || !folder) return;
    int descriptor = REAL(open)(path, O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return;
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    close(descriptor);
    if (page == MAP_FAILED) return;
    root_length = strlen(folder);
    memcpy(root, folder, root_length + 1);
    control = page;
    pthread_t thread;
    pthread_create(&thread, NULL, watch, NULL);
}

// Opening: a file that is made gets a name that lasts only once its folder was synced.

static int opened(int at, const char *path, int flags, mode_t mode) {
    char full[PATH_MAX];
    if (path[0] == '/' || at == AT_FDCWD) {
        snprintf(full, sizeof full, "%s", path);
    } else {
        char link[64], folder[PATH_MAX / 2];
        snprintf(link, sizeof link, "/proc/self/fd/%d", at);
        ssize_t length = readlink(link, folder, sizeof folder - 1);
        folder[length < 0 ? 0 : length] = 0;
        snprintf(full, sizeof full, "%s/%s", folder, path);
    }
    int (*real)(int, const char *, int, ...) = REAL(openat);
    if (!is_below(full)) return real(at, path, flags, mode);
    if (fails(OPEN)) return -1;
    if (!(flags & O_CREAT) || !control->journal) return real(at, path, flags, mode);
    pthread_mutex_lock(&lock);
    int is_new = access(full, F_OK) != 0;
    int descriptor = real(at, path, flags, mode);
    struct stat status;
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", full);
    char *slash = strrchr(folder, '/');
    if (slash) *slash = 0;
    if (is_new && descriptor >= 0 && stat(folder, &status) == 0) {
        remember((struct undo){
            .device = status.st_dev, .folder = status.st_ino, .descriptor = -1, .bytes = strdup(full)});
    }
    pthread_mutex_unlock(&lock);
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

#define CHANGE(descriptor, offset, length, call)                                                                       \
    if (!is_watched(descriptor)) return call;                                                                          \
    if (fails(WRITE)) return -1;                                                                                       \
    pthread_mutex_lock(&lock);                                                                                         \
    before_change(descriptor, offset, length);                                                                         \
    __typeof__(call) result = call;                                                                                    \
    int problem = errno;                                                                                               \
    pthread_mutex_unlock(&lock);                                                                                       \
    errno = problem;                                                                                                   \
    return result;

ssize_t write(int descriptor, const void *bytes, size_t length) {
    CHANGE(descriptor, lseek(descriptor, 0, SEEK_CUR), length, REAL(write)(descriptor, bytes, length))
}

ssize_t writev(int descriptor, const struct iovec *pieces, int count) {
    CHANGE(descriptor, lseek(descriptor, 0, SEEK_CUR), total(pieces, count), REAL(writev)(descriptor, pieces, count))
}

ssize_t pwrite(int descriptor, const void *bytes, size_t length, off_t offset) {
    CHANGE(descriptor, offset, length, REAL(pwrite)(descriptor, bytes, length, offset))
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t length, off64_t offset) {
    CHANGE(descriptor, offset, length, REAL(pwrite64)(descriptor, bytes, length, offset))
}

ssize_t pwritev(int descriptor, const struct iovec *pieces, int count, off_t offset) {
    CHANGE(descriptor, offset, total(pieces, count), REAL(pwritev)(descriptor, pieces, count, offset))
}

int ftruncate(int descriptor, off_t size) {
    struct stat status;
    off_t cut = fstat(descriptor, &status) == 0 && status.st_size > size ? status.st_size - size : 0;
    CHANGE(descriptor, size, (size_t)cut, REAL(ftruncate)(descriptor, size))
}

int ftruncate64(int descriptor, off64_t size) { return ftruncate(descriptor, size); }

// Syncing.

static int synced(int descriptor, int (*real)(int)) {
    if (!is_watched(descriptor)) return real(descriptor);
    if (fails(SYNC)) return -1;
    struct stat status;
    // What is written while this waits is not among what it syncs, so the writers wait, too.
    pthread_mutex_lock(&lock);
    int result = real(descriptor), problem = errno;
    if (result == 0 && fstat(descriptor, &status) == 0) forget(is_of, &status);
    pthread_mutex_unlock(&lock);
    int64_t delay = __atomic_load_n(&control->delay, __ATOMIC_SEQ_CST);
    if (delay > 0) nanosleep(&(struct timespec){.tv_sec = delay / 1000000, .tv_nsec = delay % 1000000 * 1000}, NULL);
    errno = problem;
    return result;
}

int fsync(int descriptor) { return synced(descriptor, REAL(fsync)); }

int fdatasync(int descriptor) { return synced(descriptor, REAL(fdatasync)); }
