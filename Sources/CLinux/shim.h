#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <stdbool.h>

/// Whether the descriptor's reads and writes go past the page cache (O_DIRECT). Nothing may be in flight on it.
static inline int linux_set_direct(int descriptor, bool direct) {
    int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0)
        return flags;
    return fcntl(descriptor, F_SETFL, direct ? flags | O_DIRECT : flags & ~O_DIRECT);
}

/// Begins to write a range's dirty pages to the disk and does not wait for it: an error in that is for fdatasync to say.
static inline int linux_begin_write_back(int descriptor, long offset, long length) {
    return sync_file_range(descriptor, offset, length, SYNC_FILE_RANGE_WRITE);
}
