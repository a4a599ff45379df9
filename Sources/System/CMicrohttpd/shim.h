#pragma once

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/// The options of a daemon. `MHD_start_daemon` is variadic, which Swift cannot call.
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
    /// Decides whether a connection from an address is accepted.
    MHD_AcceptPolicyCallback admit;
    /// Notified of the start and the end of a connection; if `secure`, it has to set the identity of one that starts, see
    /// `microhttpd_identify`.
    MHD_NotifyConnectionCallback connection;
    bool secure;
};

/// The certificate chain of a daemon, its own certificate first, and its private key.
struct microhttpd_identity {
    gnutls_pcert_st *chain;
    unsigned int count;
    gnutls_privkey_t key;
};

/// Sets the identity for the handshake of `connection`; `identity` has to live as long as the connection.
static inline void microhttpd_identify(struct MHD_Connection *connection, struct microhttpd_identity *identity) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    if (info != NULL && info->tls_session != NULL)
        gnutls_session_set_ptr((gnutls_session_t) info->tls_session, identity);
}

/// GnuTLS's `gnutls_certificate_retrieve_function2`: the returned objects stay owned by the identity.
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

/// The TLS parameters of the gRPC listeners: TLS 1.2 and 1.3, only ephemeral keys and AEAD.
#define MICROHTTPD_PRIORITIES                                                                                          \
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:"                                      \
    "-CIPHER-ALL:+AES-128-GCM:+AES-256-GCM:+CHACHA20-POLY1305:%SERVER_PRECEDENCE"

/// Disables the library's unescaping, which would return a decoded path that ends at `%00`.
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

/// Returns the socket's peer, or NULL if it is unknown; `MHD_get_connection_info` is variadic.
static inline const struct sockaddr *microhttpd_peer(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info == NULL ? NULL : info->client_addr;
}

/// Returns the descriptor of the connection's socket, or -1 if it is unknown.
static inline int microhttpd_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == NULL ? -1 : info->connect_fd;
}

/// Returns the size in bytes of the header section of the connection's current request, including the request line and the last
/// line end.
static inline size_t microhttpd_header_size(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info == NULL ? 0 : info->header_size;
}

/// Returns the pointer that was stored for the connection when it started.
static inline void *microhttpd_held(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

/// Reads the number of bytes that a TCP socket has received, and of those it sent that its peer has acknowledged. glibc's tcp_info
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

/// Returns the number of bytes, including those not sent yet, that the peer of a TCP socket has not acknowledged; -1 if it is unknown.
static inline int microhttpd_unacknowledged(int descriptor) {
    int count = 0;
    return ioctl(descriptor, TIOCOUTQ, &count) < 0 ? -1 : count;
}
