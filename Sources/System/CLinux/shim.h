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
#include <sys/prctl.h>
#include <sys/vfs.h>

/// Sets whether reads and writes of the descriptor bypass the page cache (O_DIRECT). None may be in progress.
static inline int linux_set_direct(int descriptor, bool direct) {
    int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0)
        return flags;
    return fcntl(descriptor, F_SETFL, direct ? flags | O_DIRECT : flags & ~O_DIRECT);
}

/// Starts to write the dirty pages of a range to the disk without waiting for it; fdatasync reports errors.
static inline int linux_begin_write_back(int descriptor, long offset, long length) {
    return sync_file_range(descriptor, offset, length, SYNC_FILE_RANGE_WRITE);
}

/// Declared here because <unistd.h> offers it to programs of GNU only, and the C library's module is built without that.
int syncfs(int descriptor);

/// Makes all changes of a file system durable: bytes, names and modes. The descriptor is of any file or folder in it.
static inline int linux_synchronize_file_system(int descriptor) { return syncfs(descriptor); }

/// Returns whether a file system is on another machine, by the magic number of statfs(2). NFS and SMB refuse leases with EAGAIN
/// unless the server delegated the file, whether anybody writes to it or not.
static inline bool linux_is_network_file_system(long magic) {
    switch ((unsigned int)magic) {
    case 0x00006969: // NFS
    case 0xFF534D42: // CIFS
    case 0xFE534D42: // SMB2
    case 0x0000517B: // SMB
    case 0x00C36400: // Ceph
    case 0x01021997: // 9P
    case 0x5346414F: // AFS
    case 0x6B414653: // the kernel's AFS
    case 0x0BD00BD0: // Lustre
    case 0x73757245: // Coda
        return true;
    default:
        return false;
    }
}

/// Returns whether any process has the file open for writing: 1 = yes, 0 = no, -1 = the system does not say (errno). It takes a lease
/// for a moment, which only the owner of the file may do.
static inline int linux_has_writers(int descriptor) {
    if (fcntl(descriptor, F_SETLEASE, F_RDLCK) == 0) {
        fcntl(descriptor, F_SETLEASE, F_UNLCK);
        return 0;
    }
    if (errno != EAGAIN) return -1;
    struct statfs system;
    return fstatfs(descriptor, &system) == 0 && linux_is_network_file_system(system.f_type) ? -1 : 1;
}

/// Names the calling thread; the kernel keeps 15 bytes.
static inline void linux_set_thread_name(const char *name) { prctl(PR_SET_NAME, name); }

/// Creates a counter that a thread can wait for together with a socket. The caller owns the descriptor.
static inline int linux_make_event(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

static inline void linux_signal_event(int event) { eventfd_write(event, 1); }

/// Resets the event.
static inline void linux_clear_event(int event) {
    eventfd_t count;
    (void)eventfd_read(event, &count);
}

/// Waits until the event is signaled, and resets it; or until the peer of the socket has disconnected or ended its side. Returns
/// false only in the latter case.
static inline bool linux_wait_event(int event, int socket) {
    struct pollfd both[2] = {{.fd = event, .events = POLLIN}, {.fd = socket, .events = POLLRDHUP}};
    while (poll(both, 2, -1) < 0 && errno == EINTR)
        continue;
    eventfd_t count;
    return eventfd_read(event, &count) == 0;
}
