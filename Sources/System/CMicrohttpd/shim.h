#pragma once

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

/// What a daemon is started with. `MHD_start_daemon` is variadic, which Swift cannot call.
struct microhttpd_options {
    int listening_socket;
    bool ipv6;
    size_t connection_memory;
    size_t memory_increment;
    size_t stack_size;
    unsigned int connections;
    unsigned int idle_seconds;
    void *context;
    void *(*request_line)(void *context, const char *target, struct MHD_Connection *connection);
    MHD_AccessHandlerCallback request;
    MHD_RequestCompletedCallback completed;
    /// Whether a connection from there may begin.
    MHD_AcceptPolicyCallback admit;
    /// Where `secure`, a connection that starts is to be given an identity; see `microhttpd_identify`.
    MHD_NotifyConnectionCallback connection;
    bool secure;
};

/// The certificate that a daemon shows, its own first, and its private key.
struct microhttpd_identity {
    gnutls_pcert_st *chain;
    unsigned int count;
    gnutls_privkey_t key;
};

/// What `connection` shows in its handshake; `identity` is to live as long as the connection.
static inline void microhttpd_identify(struct MHD_Connection *connection, struct microhttpd_identity *identity) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    if (info != NULL && info->tls_session != NULL)
        gnutls_session_set_ptr((gnutls_session_t) info->tls_session, identity);
}

/// GnuTLS's `gnutls_certificate_retrieve_function2`: what it is handed stays ours.
static inline int microhttpd_identity_of(
    gnutls_session_t session, const gnutls_datum_t *authorities, int authority_count, const gnutls_pk_algorithm_t *keys,
    int key_count, gnutls_pcert_st **chain, unsigned int *count, gnutls_privkey_t *key) {
    const struct microhttpd_identity *identity = gnutls_session_get_ptr(session);
    (void) authorities, (void) authority_count, (void) keys, (void) key_count;
    if (identity == NULL)
        return -1;
    *chain = identity->chain;
    *count = identity->count;
    *key = identity->key;
    return 0;
}

/// What the gRPC listeners speak: TLS 1.2 and 1.3, ephemeral keys and AEAD only.
#define MICROHTTPD_PRIORITIES                                                                                          \
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:"                                      \
    "-CIPHER-ALL:+AES-128-GCM:+AES-256-GCM:+CHACHA20-POLY1305:%SERVER_PRECEDENCE"

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
    struct MHD_OptionItem secure[] = {
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *) MICROHTTPD_PRIORITIES},
        {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *) microhttpd_identity_of},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem cleartext[] = {{MHD_OPTION_END, 0, NULL}};
    if (options->secure)
        flags |= MHD_USE_TLS;
    return MHD_start_daemon(
        flags, 0, options->admit, options->context, options->request, options->context,
        MHD_OPTION_LISTEN_SOCKET, (MHD_socket) options->listening_socket,
        MHD_OPTION_URI_LOG_CALLBACK, options->request_line, options->context,
        MHD_OPTION_UNESCAPE_CALLBACK, microhttpd_keep_escaped, NULL,
        MHD_OPTION_NOTIFY_COMPLETED, options->completed, options->context,
        MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, options->connection_memory,
        MHD_OPTION_CONNECTION_MEMORY_INCREMENT, options->memory_increment,
        MHD_OPTION_THREAD_STACK_SIZE, options->stack_size,
        MHD_OPTION_CONNECTION_LIMIT, options->connections,
        MHD_OPTION_NOTIFY_CONNECTION, options->connection, options->context,
        MHD_OPTION_CONNECTION_TIMEOUT, options->idle_seconds,
        MHD_OPTION_ARRAY, options->secure ? secure : cleartext,
        MHD_OPTION_END);
}

/// The socket's peer; `MHD_get_connection_info` is variadic. NULL when the library does not know it.
static inline const struct sockaddr *microhttpd_peer(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info == NULL ? NULL : info->client_addr;
}

/// The descriptor of the connection's socket; -1 when the library does not know it.
static inline int microhttpd_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == NULL ? -1 : info->connect_fd;
}

/// Bytes of the header section of the request that the connection is at, its request line and its end included.
static inline size_t microhttpd_header_size(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info == NULL ? 0 : info->header_size;
}

/// What the connection was given when it started.
static inline void *microhttpd_held(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

/// How many bytes a TCP socket has received, and how many of those it sent its peer has acknowledged. glibc's tcp_info
/// ends before these two fields; they are the kernel's interface since 4.1 (linux/tcp.h).
static inline int microhttpd_progress(int descriptor, uint64_t *received, uint64_t *acknowledged) {
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
