#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>

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

/// Whether anybody has the file open for writing: 1 = yes, 0 = no, -1 = the system does not say (errno). A lease is taken for a
/// moment, which only the owner of the file may.
static inline int linux_has_writers(int descriptor) {
    if (fcntl(descriptor, F_SETLEASE, F_RDLCK) == 0) {
        fcntl(descriptor, F_SETLEASE, F_UNLCK);
        return 0;
    }
    return errno == EAGAIN ? 1 : -1;
}

/// A counter that a thread can wait for together with a socket; to be closed by its owner.
static inline int linux_make_event(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

static inline void linux_signal_event(int event) { eventfd_write(event, 1); }

/// Waits until the event was signalled, which forgets it, or until the peer of the socket has gone or sends no more.
/// Returns false in the latter case alone.
static inline bool linux_wait_event(int event, int socket) {
    struct pollfd both[2] = {{.fd = event, .events = POLLIN}, {.fd = socket, .events = POLLRDHUP}};
    while (poll(both, 2, -1) < 0 && errno == EINTR)
        continue;
    eventfd_t count;
    return eventfd_read(event, &count) == 0;
}
