// Forwards connections between two Unix sockets, and delays what the target sends: network LISTEN TARGET MICROSECONDS. Each round trip
// of a client takes that much longer, however many clients there are. Ends with its standard input.

#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { CONNECTIONS = 256, PIECE = 65536 };

struct piece {
    struct piece *next;
    long long due;
    size_t count;
    char bytes[];
};

static struct connection {
    int client, target;
    struct piece *first, *last;
} connections[CONNECTIONS];
static int count;

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int unix_socket(const char *path, struct sockaddr_un *address) {
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    strncpy(address->sun_path, path, sizeof address->sun_path - 1);
    return socket(AF_UNIX, SOCK_STREAM, 0);
}

static int send_whole(int descriptor, const char *bytes, size_t size) {
    while (size > 0) {
        ssize_t sent = send(descriptor, bytes, size, MSG_NOSIGNAL);
        if (sent <= 0) return -1;
        bytes += sent;
        size -= (size_t)sent;
    }
    return 0;
}

static void close_connection(int index) {
    struct connection *connection = &connections[index];
    close(connection->client);
    close(connection->target);
    while (connection->first) {
        struct piece *piece = connection->first;
        connection->first = piece->next;
        free(piece);
    }
    connections[index] = connections[--count];
}

static void accept_connection(int listener, const char *target) {
    struct sockaddr_un address;
    int client = accept(listener, NULL, NULL);
    int server = unix_socket(target, &address);
    if (count == CONNECTIONS || client < 0 || connect(server, (struct sockaddr *)&address, sizeof address) < 0) {
        close(client);
        close(server);
        return;
    }
    connections[count++] = (struct connection){.client = client, .target = server};
}

// Sends what is due; returns the time of the next piece, 0 = there is no piece, -1 = the connection has ended.
static long long deliver(struct connection *connection) {
    while (connection->first && connection->first->due <= now()) {
        struct piece *piece = connection->first;
        if (piece->count == 0 || send_whole(connection->client, piece->bytes, piece->count) < 0) return -1;
        connection->first = piece->next;
        free(piece);
    }
    if (!connection->first) connection->last = NULL;
    return connection->first ? connection->first->due : 0;
}

static int forward(struct connection *connection) {
    char bytes[PIECE];
    ssize_t received = recv(connection->client, bytes, sizeof bytes, 0);
    return received > 0 ? send_whole(connection->target, bytes, (size_t)received) : -1;
}

static void keep(struct connection *connection, long long delay) {
    struct piece *piece = malloc(sizeof *piece + PIECE);
    ssize_t received = recv(connection->target, piece->bytes, PIECE, 0);
    *piece = (struct piece){.due = now() + delay, .count = received > 0 ? (size_t)received : 0};
    if (connection->last) connection->last->next = piece; else connection->first = piece;
    connection->last = piece;
}

int main(int argc, char **argv) {
    if (argc != 4) return fprintf(stderr, "usage: network LISTEN TARGET MICROSECONDS\n"), 2;
    long long delay = atoll(argv[3]) * 1000;
    struct sockaddr_un address;
    int listener = unix_socket(argv[1], &address);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 64) < 0) return perror("network"), 1;
    for (;;) {
        struct pollfd polled[2 + 2 * CONNECTIONS] = {
            {.fd = STDIN_FILENO, .events = POLLIN}, {.fd = listener, .events = POLLIN}};
        long long next = 0;
        for (int index = 0; index < count;) {
            long long due = deliver(&connections[index]);
            if (due < 0) {
                close_connection(index);
                continue;
            }
            if (due && (!next || due < next)) next = due;
            polled[2 + 2 * index] = (struct pollfd){.fd = connections[index].client, .events = POLLIN};
            polled[3 + 2 * index] = (struct pollfd){.fd = connections[index].target, .events = POLLIN};
            index++;
        }
        int watched = count;
        long long wait = next ? next - now() : 1000000000LL;
        struct timespec timeout = {.tv_sec = 0, .tv_nsec = wait < 0 ? 0 : wait > 999999999LL ? 999999999LL : wait};
        if (ppoll(polled, (nfds_t)(2 + 2 * watched), &timeout, NULL) < 0 && errno != EINTR) return perror("network"), 1;
        if (polled[0].revents) return 0;
        for (int index = watched - 1; index >= 0; index--) {
            struct connection *connection = &connections[index];
            int ended = 0;
            if (polled[3 + 2 * index].revents && !(connection->last && connection->last->count == 0)) keep(connection, delay);
            if (polled[2 + 2 * index].revents) ended = forward(connection) < 0;
            if (ended) close_connection(index);
        }
        if (polled[1].revents) accept_connection(listener, argv[2]);
    }
}
