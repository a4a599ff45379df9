// Preloaded into a program under valgrind: valgrind 3.19 writes to sigsuspend's argument, and crashes if that is constant, as in
// libdispatch. This function passes a copy.

#define _GNU_SOURCE
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

int sigsuspend(const sigset_t *mask) {
    sigset_t copy = *mask;
    // The kernel's set has 64 signals; glibc's is longer.
    return (int)syscall(SYS_rt_sigsuspend, &copy, 8);
}
