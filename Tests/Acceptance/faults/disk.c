// A model of the disk's contents after a power cut: a folder FAULTS_JOURNAL on the file system of FAULTS_ROOT. It outlives the
// process, like a page cache, so that several processes can run one after the other before the power cut; `Faults.cut_power` of
// support/faults.py then makes the files equal to it.
//
//   disk/INODE           the bytes and the length that the disk has, from the first change of the file on
//   dirty/INODE          one byte for each page of the file: CLEAN, DIRTY, LOST
//   modes/INODE          a link to the mode (octal) that the disk has
//   names/FOLDER/NAME    a link to the inode that the disk has under that name, 0 = none; until the folder is synced
//   moves/INODE          a link to the path that the disk has for a folder that was renamed, behind the inodes of both folders that
//                        have it: `SOURCE:TARGET:PATH`; until one of the two is synced, which commits the rename as a whole
//   inodes/INODE         the file itself: removed names can come back, and no other file gets its inode's number
//
// A failing sync leaves the page cache unchanged and marks its pages clean, like Linux: a later sync, by any process, succeeds
// without them, and they are LOST until they are written again.

#include "faults.h"

#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CLEAN, DIRTY, LOST };
enum { PAGE = 4096, BATCH = 64 };

static char journal[PATH_MAX / 2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void disk_lock(void) { pthread_mutex_lock(&lock); }

void disk_unlock(void) { pthread_mutex_unlock(&lock); }

// An error in the model must not look like a correct gateway.
static void require(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "faults: %s: %s\n", what, strerror(errno));
    abort();
}

static void entry(char path[PATH_MAX], const char *kind, ino_t inode) {
    snprintf(path, PATH_MAX, "%s/%s/%llu", journal, kind, (unsigned long long)inode);
}

int disk_begin(const char *folder) {
    snprintf(journal, sizeof journal, "%s", folder);
    return access(journal, F_OK);
}

static void hold(const char *file, ino_t inode) {
    char held[PATH_MAX];
    entry(held, "inodes", inode);
    require(linkat(AT_FDCWD, file, AT_FDCWD, held, AT_SYMLINK_FOLLOW) == 0 || errno == EEXIST, "hold an inode");
}

int disk_holds(ino_t inode) {
    char held[PATH_MAX];
    entry(held, "inodes", inode);
    return REAL(access)(held, F_OK) == 0;
}

static int for_reading(int descriptor, char buffer[PAGE]) {
    if (REAL(pread)(descriptor, buffer, PAGE, 0) >= 0) return dup(descriptor);
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    int own = REAL(open)(link, O_RDONLY | O_CLOEXEC);
    require(own >= 0, "read a changed file");
    return own;
}

// Aligned, for files that are read without the page cache.
static char buffer[BATCH * PAGE] __attribute__((aligned(PAGE)));

static void copy(int source, int target, off_t offset, size_t length) {
    while (length > 0) {
        size_t step = length < sizeof buffer ? length : sizeof buffer;
        ssize_t got = REAL(pread)(source, buffer, step, offset);
        require(got >= 0, "read a changed file");
        if (got == 0) return;
        require(REAL(pwrite)(target, buffer, (size_t)got, offset) == got, "write what the disk has");
        offset += (off_t)step;
        length -= step;
    }
}

// Called before the first change of an existing file: the disk has its contents.
static void keep_bytes(int descriptor, const struct stat *status) {
    char path[PATH_MAX], fresh[PATH_MAX + 8], link[64];
    entry(path, "disk", status->st_ino);
    if (REAL(access)(path, F_OK) == 0) return;
    snprintf(fresh, sizeof fresh, "%s.new", path);
    int target = REAL(open)(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    require(target >= 0, "make a file of the disk's bytes");
    if (status->st_size > 0) {
        int source = for_reading(descriptor, buffer);
        copy(source, target, 0, ((size_t)status->st_size + PAGE - 1) / PAGE * PAGE);
        close(source);
    }
    close(target);
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    hold(link, status->st_ino);
    require(REAL(rename)(fresh, path) == 0, "name a file of the disk's bytes");
}

// The pages from `start` up to `end`.
static void mark_dirty(ino_t inode, off_t start, off_t end) {
    char path[PATH_MAX];
    entry(path, "dirty", inode);
    int marks = REAL(open)(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    require(marks >= 0, "mark pages");
    char dirty[BATCH];
    memset(dirty, DIRTY, sizeof dirty);
    while (start < end) {
        size_t step = (size_t)(end - start) < sizeof dirty ? (size_t)(end - start) : sizeof dirty;
        require(REAL(pwrite)(marks, dirty, step, start) == (ssize_t)step, "mark pages");
        start += (off_t)step;
    }
    close(marks);
}

static void change(int descriptor, const struct stat *status, off_t start, off_t end) {
    keep_bytes(descriptor, status);
    mark_dirty(status->st_ino, start / PAGE, (end + PAGE - 1) / PAGE);
}

void disk_before_change(int descriptor, off_t offset, size_t length) {
    struct stat status;
    if (length == 0 || REAL(fstat)(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return;
    // The space between the end and a later write consists of zeros, and is new as well.
    change(descriptor, &status, offset < status.st_size ? offset : status.st_size, offset + (off_t)length);
}

void disk_before_truncation(int descriptor, off_t size) {
    struct stat status;
    if (REAL(fstat)(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || size == status.st_size) return;
    off_t low = size < status.st_size ? size : status.st_size, high = size < status.st_size ? status.st_size : size;
    change(descriptor, &status, low, high);
}

void disk_before_mode(int descriptor) {
    struct stat status;
    if (REAL(fstat)(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return;
    char path[PATH_MAX], mode[16], link[64];
    entry(path, "modes", status.st_ino);
    snprintf(mode, sizeof mode, "%o", status.st_mode & 07777);
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    hold(link, status.st_ino);
    require(symlink(mode, path) == 0 || errno == EEXIST, "keep a mode");
}

// The folder of a name's entry below `names`; -1 if there is no such folder.
static int names_of(const char *path, char names[PATH_MAX], int is_made) {
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    struct stat status;
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    if (REAL(stat)(folder, &status) != 0) return -1;
    entry(names, "names", status.st_ino);
    if (is_made) require(REAL(mkdir)(names, 0700) == 0 || errno == EEXIST, "keep a name");
    return 0;
}

void disk_before_name(const char *path) {
    char names[PATH_MAX], kept[PATH_MAX + NAME_MAX + 2], inode[32] = "0";
    struct stat status;
    if (names_of(path, names, 1) != 0) return;
    if (REAL(lstat)(path, &status) == 0) {
        // Folders are created here; `disk_before_rename` has those that are renamed, and none is removed.
        if (!S_ISREG(status.st_mode)) return;
        snprintf(inode, sizeof inode, "%llu", (unsigned long long)status.st_ino);
        hold(path, status.st_ino);
    }
    snprintf(kept, sizeof kept, "%s/%s", names, strrchr(path, '/') + 1);
    require(symlink(inode, kept) == 0 || errno == EEXIST, "keep a name");
}

// The inode of the folder that has a name; 0 if there is no such folder.
static unsigned long long folder_of(const char *path) {
    char folder[PATH_MAX];
    struct stat status;
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    return REAL(stat)(folder, &status) == 0 ? (unsigned long long)status.st_ino : 0;
}

void disk_before_rename(const char *source, const char *target) {
    char move[PATH_MAX], place[PATH_MAX + 64];
    struct stat status;
    if (REAL(lstat)(source, &status) != 0 || !S_ISDIR(status.st_mode)) {
        disk_before_name(source);
        disk_before_name(target);
        return;
    }
    entry(move, "moves", status.st_ino);
    snprintf(place, sizeof place, "%llu:%llu:%s", folder_of(source), folder_of(target), source);
    require(symlink(place, move) == 0 || errno == EEXIST, "keep a folder's place");
}

void disk_after_creation(int descriptor) {
    struct stat status;
    require(REAL(fstat)(descriptor, &status) == 0, "see a new file");
    keep_bytes(descriptor, &status);
}

static void moves_are_durable(unsigned long long folder) {
    char path[PATH_MAX], move[PATH_MAX + NAME_MAX + 2], place[PATH_MAX];
    snprintf(path, sizeof path, "%s/moves", journal);
    DIR *listing = REAL(opendir)(path);
    require(listing != NULL, "list moves");
    struct dirent *found;
    while ((found = REAL(readdir)(listing))) {
        unsigned long long source, target;
        snprintf(move, sizeof move, "%s/%s", path, found->d_name);
        ssize_t length = readlink(move, place, sizeof place - 1);
        if (length <= 0) continue;
        place[length] = 0;
        require(sscanf(place, "%llu:%llu:", &source, &target) == 2, "read a move");
        if (folder == source || folder == target) REAL(unlink)(move);
    }
    closedir(listing);
}

static void names_are_durable(ino_t folder) {
    moves_are_durable(folder);
    char path[PATH_MAX], name[PATH_MAX + NAME_MAX + 2];
    entry(path, "names", folder);
    DIR *listing = REAL(opendir)(path);
    if (!listing) return;
    struct dirent *found;
    while ((found = REAL(readdir)(listing))) {
        snprintf(name, sizeof name, "%s/%s", path, found->d_name);
        if (found->d_name[0] != '.' || strlen(found->d_name) > 2) REAL(unlink)(name);
    }
    closedir(listing);
}

static void own_name_is_durable(int descriptor) {
    char link[64], path[PATH_MAX], names[PATH_MAX], kept[PATH_MAX + NAME_MAX + 2];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    require(length > 0, "see a file's name");
    path[length] = 0;
    if (names_of(path, names, 0) != 0) return;
    snprintf(kept, sizeof kept, "%s/%s", names, strrchr(path, '/') + 1);
    REAL(unlink)(kept);
}

// Writes dirty pages to the disk's file, or marks them as lost.
static void bytes_are_synced(int descriptor, const struct stat *status, int has_failed) {
    char path[PATH_MAX];
    struct stat marked;
    entry(path, "dirty", status->st_ino);
    int marks = REAL(open)(path, O_RDWR | O_CLOEXEC);
    if (marks < 0) return;
    require(REAL(fstat)(marks, &marked) == 0, "see which pages are dirty");
    char *pages = malloc((size_t)marked.st_size + 1);
    require(pages && REAL(pread)(marks, pages, (size_t)marked.st_size, 0) == marked.st_size, "see dirty pages");
    int source = -1, target = -1, is_dirty = 0, are_lost = 0;
    for (off_t page = 0; page < marked.st_size; page++) is_dirty |= pages[page] == DIRTY;
    if (!has_failed && is_dirty) {
        char disk[PATH_MAX];
        entry(disk, "disk", status->st_ino);
        source = for_reading(descriptor, buffer);
        target = REAL(open)(disk, O_WRONLY | O_CLOEXEC);
        require(target >= 0 && REAL(ftruncate)(target, status->st_size) == 0, "open what the disk has");
    }
    for (off_t page = 0; page < marked.st_size;) {
        off_t end = page;
        while (end < marked.st_size && pages[end] == DIRTY) end++;
        if (end > page && !has_failed) copy(source, target, page * PAGE, (size_t)(end - page) * PAGE);
        memset(pages + page, has_failed ? LOST : CLEAN, (size_t)(end - page));
        if (end == page) are_lost |= pages[end++] == LOST;
        page = end;
    }
    if (source >= 0) close(source);
    if (target >= 0) close(target);
    if (are_lost || has_failed) {
        require(REAL(pwrite)(marks, pages, (size_t)marked.st_size, 0) == marked.st_size, "mark pages");
    } else {
        REAL(unlink)(path);
    }
    close(marks);
    free(pages);
}

void disk_after_sync(int descriptor, int has_failed, int with_mode) {
    struct stat status;
    char mode[PATH_MAX];
    if (REAL(fstat)(descriptor, &status) != 0) return;
    if (S_ISDIR(status.st_mode)) {
        // If it failed, the next one syncs the names, too: they belong to the file system, and are not cached pages.
        if (!has_failed) names_are_durable(status.st_ino);
        return;
    }
    if (!S_ISREG(status.st_mode)) return;
    bytes_are_synced(descriptor, &status, has_failed);
    if (has_failed) return;
    if (control->ordered) own_name_is_durable(descriptor);
    entry(mode, "modes", status.st_ino);
    if (with_mode) REAL(unlink)(mode);
}

// Calls `body` with the name of each entry of one kind.
static void for_each(const char *kind, void (*body)(const char *name)) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", journal, kind);
    DIR *listing = REAL(opendir)(path);
    require(listing != NULL, "list what waits for a sync");
    struct dirent *found;
    while ((found = REAL(readdir)(listing)))
        if (found->d_name[0] != '.') body(found->d_name);
    closedir(listing);
}

static void names_of_folder_are_durable(const char *inode) { names_are_durable(strtoull(inode, NULL, 10)); }

static void move_is_durable(const char *inode) {
    char move[PATH_MAX];
    entry(move, "moves", strtoull(inode, NULL, 10));
    REAL(unlink)(move);
}

static void mode_is_durable(const char *inode) {
    char mode[PATH_MAX];
    entry(mode, "modes", strtoull(inode, NULL, 10));
    REAL(unlink)(mode);
}

static void bytes_of_file_are_durable(const char *inode) {
    char held[PATH_MAX];
    struct stat status;
    entry(held, "inodes", strtoull(inode, NULL, 10));
    int descriptor = REAL(open)(held, O_RDONLY | O_CLOEXEC);
    require(descriptor >= 0 && REAL(fstat)(descriptor, &status) == 0, "open a changed file");
    bytes_are_synced(descriptor, &status, 0);
    close(descriptor);
}

void disk_after_sync_of_all(void) {
    for_each("moves", move_is_durable);
    for_each("names", names_of_folder_are_durable);
    for_each("dirty", bytes_of_file_are_durable);
    for_each("modes", mode_is_durable);
}
