// A single-threaded server in C for the same PUTs, as a peer of the object store.
//
// usage: sink MODE FOLDER, with MODE one of
//   receive  reads bodies and answers
//   hash     the same with MD5 and CRC-64/XZ
//   durable  the same, written through the page cache into a new file of FOLDER each, and synced before the answer
// Prints its port, then serves one connection at a time until it is killed.

#include <arpa/inet.h>
#include <fcntl.h>
#include <lzma.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { block = 1 << 20, slice = 128 << 10 };

static char buffer[block];

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void write_all(int file, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(file, bytes, count < slice ? count : slice);
        if (written < 0)
            fail("write");
        bytes += written;
        count -= (size_t) written;
    }
}

/// Serves one request. Returns whether the connection continues.
static bool serve(int peer, bool hashes, const char *folder) {
    size_t filled = 0;
    char *end = NULL;
    while (end == NULL) {
        ssize_t count = recv(peer, buffer + filled, sizeof buffer - 1 - filled, 0);
        if (count <= 0)
            return false;
        filled += (size_t) count;
        buffer[filled] = 0;
        end = strstr(buffer, "\r\n\r\n");
    }
    const char *length = strcasestr(buffer, "\r\ncontent-length:");
    size_t left = length != NULL && length < end ? strtoul(length + strlen("\r\ncontent-length:"), NULL, 10) : 0;
    const char *body = end + 4;
    size_t held = filled - (size_t) (body - buffer);
    EVP_MD_CTX *md5 = EVP_MD_CTX_new();
    EVP_DigestInit_ex(md5, EVP_md5(), NULL);
    uint64_t crc64 = 0;
    int file = -1;
    if (folder != NULL) {
        char path[4096];
        snprintf(path, sizeof path, "%s/XXXXXX", folder);
        file = mkstemp(path);
        if (file < 0)
            fail("mkstemp");
        unlink(path);
    }
    while (left > 0) {
        if (held == 0) {
            // Whole blocks, like in the object store.
            ssize_t count = recv(peer, buffer, left < sizeof buffer ? left : sizeof buffer, MSG_WAITALL);
            if (count <= 0)
                return false;
            body = buffer;
            held = (size_t) count;
        }
        if (hashes) {
            EVP_DigestUpdate(md5, body, held);
            crc64 = lzma_crc64((const uint8_t *) body, held, crc64);
        }
        if (file >= 0)
            write_all(file, body, held);
        left -= held;
        held = 0;
    }
    if (file >= 0 && (fdatasync(file) < 0 || close(file) < 0))
        fail("fdatasync");
    unsigned char digest[EVP_MAX_MD_SIZE];
    EVP_DigestFinal_ex(md5, digest, NULL);
    EVP_MD_CTX_free(md5);
    char answer[256];
    int size = snprintf(
        answer, sizeof answer, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nETag: \"%02X%02X\"\r\nx-crc64: %llu\r\n\r\n",
        digest[0], digest[1], (unsigned long long) crc64);
    return send(peer, answer, (size_t) size, MSG_NOSIGNAL) == size;
}

int main(int count, char **words) {
    if (count != 3)
        return 2;
    bool hashes = strcmp(words[1], "receive") != 0;
    const char *folder = strcmp(words[1], "durable") == 0 ? words[2] : NULL;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    if (bind(listener, (struct sockaddr *) &address, size) < 0 || listen(listener, 64) < 0
        || getsockname(listener, (struct sockaddr *) &address, &size) < 0)
        fail("listen");
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    for (;;) {
        int peer = accept(listener, NULL, NULL);
        if (peer < 0)
            fail("accept");
        while (serve(peer, hashes, folder)) {
        }
        close(peer);
    }
}
