// The shared declarations of the interposed calls (faults.c) and the model of the disk (disk.c).

#pragma once

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <sys/types.h>

// The kinds of calls that can fail. The same values are in support/faults.py.
enum {
    WRITE = 1,
    SYNC = 2,
    OPEN = 4,
    READ = 8,
    LIST = 16, // opendir, readdir
    STAT = 32, // stat, access
    UNLINK = 64,
    RENAME = 128,
    MKDIR = 256,
    LINK = 512
};

// The effect on the chosen call.
enum { FAIL = 0, KILL = 1 };

// The page of memory shared with the test. The same order is in support/faults.py.
struct control {
    int64_t kinds;   // which calls are counted
    int64_t number;  // the call that fails, from 1; 0 = none
    int64_t lasting; // 1 = every later call fails, too
    int64_t action;  // FAIL, or KILL: the process ends right before the call
    int64_t error;   // the errno of a call that fails
    int64_t counted; // calls of those kinds so far
    int64_t failed;  // calls that failed on purpose
    int64_t delay;   // microseconds that every sync takes longer
    int64_t journal; // 1 = keep what a power cut needs
    int64_t ordered; // 1 = the sync of a file makes its own name durable, as ext4 does
    char path[1024]; // only calls on paths that contain this; empty = all
};

extern struct control *control;

// The C library's function behind an interposed one.
#define REAL(name)                                                                                                     \
    ({                                                                                                                 \
        static __typeof__(&name) real;                                                                                 \
        if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                                                  \
        real;                                                                                                          \
    })

// The model of the disk. Each of these functions is called with the lock held during the announced call, too: a sync must not see
// half of a change.
int disk_begin(const char *journal);
void disk_lock(void);
void disk_unlock(void);
void disk_before_change(int descriptor, off_t offset, size_t length);
void disk_before_truncation(int descriptor, off_t size);
void disk_before_mode(int descriptor);
void disk_before_name(const char *path);
void disk_before_rename(const char *source, const char *target);
void disk_after_creation(int descriptor);
// Whether the model itself holds a link to the file.
int disk_holds(ino_t inode);
void disk_after_sync(int descriptor, int has_failed, int with_mode);
void disk_after_sync_of_all(void);
