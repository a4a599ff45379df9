// A module of its own: <sys/epoll.h> defines fd_set a second time for modules that import both the C library and CLinux.
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/epoll.h>

/// Returns a new epoll(7) instance; -1 = errno.
static inline int poller_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

/// Sets what the poller waits for on the descriptor; neither = the descriptor is removed.
static inline int poller_watch(int poller, int descriptor, bool readable, bool writable) {
    struct epoll_event event = {
        .events = (readable ? EPOLLIN : 0) | (writable ? EPOLLOUT : 0), .data = {.fd = descriptor}};
    if (!readable && !writable)
        return epoll_ctl(poller, EPOLL_CTL_DEL, descriptor, &event);
    // The kernel removes a descriptor that was closed.
    if (epoll_ctl(poller, EPOLL_CTL_MOD, descriptor, &event) == 0)
        return 0;
    return errno == ENOENT ? epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event) : -1;
}

/// A descriptor with an event.
struct poller_event {
    int descriptor;
    bool readable;
    bool writable;
    bool failed;
};

/// The largest number of events that poller_wait returns.
enum { poller_most_events = 64 };

/// Waits for events, at most `milliseconds`; -1 = without limit. Returns their number.
static inline int poller_wait(int poller, struct poller_event *ready, int milliseconds) {
    struct epoll_event events[poller_most_events];
    int count = epoll_wait(poller, events, poller_most_events, milliseconds);
    for (int index = 0; index < count; index++) {
        ready[index].descriptor = events[index].data.fd;
        ready[index].readable = (events[index].events & (EPOLLIN | EPOLLHUP)) != 0;
        ready[index].writable = (events[index].events & EPOLLOUT) != 0;
        ready[index].failed = (events[index].events & EPOLLERR) != 0;
    }
    return count < 0 ? 0 : count;
}
