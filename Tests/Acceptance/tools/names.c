// Preloaded into a client that puts the bucket in front of its endpoint's host name: names below store.test are this machine.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <string.h>

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
    static const char domain[] = ".store.test";
    int (*resolve)(const char *, const char *, const struct addrinfo *, struct addrinfo **) = dlsym(RTLD_NEXT, "getaddrinfo");
    size_t length = node ? strlen(node) : 0, end = sizeof domain - 1;
    int is_here = length > end && strcmp(node + length - end, domain) == 0;
    return resolve(is_here ? "127.0.0.1" : node, service, hints, found);
}
