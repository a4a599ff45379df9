#pragma once

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/// What a daemon is started with. `MHD_start_daemon` is variadic, which Swift cannot call.
struct microhttpd_options {
    int listening_socket;
    bool ipv6;
    size_t connection_memory;
    size_t memory_increment;
    size_t stack_size;
    unsigned int connections;
    unsigned int connections_per_address;
    unsigned int idle_seconds;
    void *context;
    void *(*request_line)(void *context, const char *target, struct MHD_Connection *connection);
    MHD_AccessHandlerCallback request;
    MHD_RequestCompletedCallback completed;
};

/// The library's unescaping is off: it would hand over a decoded path, cut at `%00`.
static inline size_t microhttpd_keep_escaped(void *context, struct MHD_Connection *connection, char *text) {
    (void) context;
    (void) connection;
    return strlen(text);
}

static inline struct MHD_Daemon *microhttpd_start(const struct microhttpd_options *options) {
    unsigned int flags = MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_ITC;
    if (options->ipv6)
        flags |= MHD_USE_IPv6;
    return MHD_start_daemon(
        flags, 0, NULL, NULL, options->request, options->context,
        MHD_OPTION_LISTEN_SOCKET, (MHD_socket) options->listening_socket,
        MHD_OPTION_URI_LOG_CALLBACK, options->request_line, options->context,
        MHD_OPTION_UNESCAPE_CALLBACK, microhttpd_keep_escaped, NULL,
        MHD_OPTION_NOTIFY_COMPLETED, options->completed, options->context,
        MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, options->connection_memory,
        MHD_OPTION_CONNECTION_MEMORY_INCREMENT, options->memory_increment,
        MHD_OPTION_THREAD_STACK_SIZE, options->stack_size,
        MHD_OPTION_CONNECTION_LIMIT, options->connections,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, options->connections_per_address,
        MHD_OPTION_CONNECTION_TIMEOUT, options->idle_seconds,
        MHD_OPTION_END);
}

/// The socket's peer; `MHD_get_connection_info` is variadic. NULL when the library does not know it.
static inline const struct sockaddr *microhttpd_peer(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info == NULL ? NULL : info->client_addr;
}
