// The least CPU time of a server that passes on bytes from one TCP connection to another, as a limit for downloads from a bucket.
//
// usage: relay MODE MIB SERVER_CORE CLIENT_CORE, with MODE one of
//   sendfile  sends a file from the page cache
//   pass      receives and sends, 128 KiB at a time
//   check     the same with one copy and CRC-64/XZ, as the gateway does
// The sender and the receiver are processes on the client's core. Prints the CPU seconds of the server.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <folding.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { piece = 128 << 10 };

static char received[piece], copied[piece];
static size_t total;

static void check(bool succeeded, const char *what) {
    if (succeeded)
        return;
    perror(what);
    exit(1);
}

static void use_core(int core) {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(core, &cores);
    check(sched_setaffinity(0, sizeof cores, &cores) == 0, "sched_setaffinity");
}

/// Makes a connection over loopback: `ends` are its client's and its server's end.
static void connect_pair(int ends[2]) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    check(bind(listener, (struct sockaddr *) &address, length) == 0, "bind");
    check(listen(listener, 1) == 0, "listen");
    check(getsockname(listener, (struct sockaddr *) &address, &length) == 0, "getsockname");
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    check(connect(ends[0], (struct sockaddr *) &address, length) == 0, "connect");
    ends[1] = accept(listener, NULL, NULL);
    check(ends[1] >= 0, "accept");
    close(listener);
}

static void send_all(int socket, const char *bytes, size_t count) {
    for (size_t sent = 0; sent < count;) {
        ssize_t more = send(socket, bytes + sent, count - sent, 0);
        check(more > 0, "send");
        sent += (size_t) more;
    }
}

static double cpu_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + (double) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void send_file(int file, int target) {
    for (off_t offset = 0; (size_t) offset < total;)
        check(sendfile(target, file, &offset, total - (size_t) offset) > 0, "sendfile");
}

static void pass(int source, int target, bool checks) {
    uint8_t shortened[16];
    for (size_t passed = 0; passed < total;) {
        ssize_t count = recv(source, received, piece, 0);
        check(count > 0, "recv");
        if (checks) {
            memcpy(copied, received, (size_t) count);
            folding_crc64((const uint8_t *) copied, (size_t) count, 0, folding_width(), shortened);
        }
        send_all(target, checks ? copied : received, (size_t) count);
        passed += (size_t) count;
    }
}

int main(int count, char **arguments) {
    check(count == 5, "usage: relay MODE MIB SERVER_CORE CLIENT_CORE");
    const char *mode = arguments[1];
    total = (size_t) atol(arguments[2]) << 20;
    int source[2], target[2];
    connect_pair(source);
    connect_pair(target);
    bool sends_file = strcmp(mode, "sendfile") == 0;
    int file = memfd_create("relay", 0);
    check(file >= 0, "memfd_create");
    for (size_t written = 0; sends_file && written < total; written += piece)
        check(write(file, received, piece) == piece, "write");
    use_core(atoi(arguments[4]));
    if (fork() == 0) {
        for (size_t sent = 0; !sends_file && sent < total; sent += piece)
            send_all(source[0], received, piece);
        _exit(0);
    }
    if (fork() == 0) {
        for (size_t taken = 0; taken < total;) {
            ssize_t more = recv(target[1], received, piece, 0);
            check(more > 0, "recv");
            taken += (size_t) more;
        }
        _exit(0);
    }
    use_core(atoi(arguments[3]));
    double before = cpu_seconds();
    if (sends_file)
        send_file(file, target[0]);
    else
        pass(source[1], target[0], strcmp(mode, "check") == 0);
    printf("%.4f\n", cpu_seconds() - before);
    while (wait(NULL) > 0) {
    }
}
