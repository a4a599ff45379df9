#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

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

/// How many bytes a TCP socket has received, and how many of those it sent its peer has acknowledged. glibc's tcp_info
/// ends before these two fields; they are the kernel's interface since 4.1 (linux/tcp.h).
static inline int linux_tcp_progress(int descriptor, uint64_t *received, uint64_t *acknowledged) {
    enum { tcp_protocol = 6, tcp_information = 11, bytes_acked = 120 / 8, bytes_received = 128 / 8 };
    uint64_t info[32];
    socklen_t length = sizeof info;
    if (getsockopt(descriptor, tcp_protocol, tcp_information, info, &length) < 0)
        return -1;
    if (length < (bytes_received + 1) * sizeof *info)
        return -1;
    *acknowledged = info[bytes_acked];
    *received = info[bytes_received];
    return 0;
}
