// Preloaded into a program, counts the bytes that memcpy and memmove copy, in copies of a page and more. Smaller ones are part of
// most calls, and depend on the lengths of names and ids.

#include <stddef.h>

#include "shared.h"

#define SMALLEST 4096

extern void *__memcpy_chk(void *to, const void *from, size_t count, size_t space);
extern void *__memmove_chk(void *to, const void *from, size_t count, size_t space);

/// The C library's functions under their second names. Volatile, because the compiler would replace them by the functions here.
static void *(*volatile copy)(void *, const void *, size_t, size_t) = __memcpy_chk;
static void *(*volatile move)(void *, const void *, size_t, size_t) = __memmove_chk;

static void note(size_t count) {
    if (count >= SMALLEST) atomic_fetch_add_explicit(&counters->copied, count, memory_order_relaxed);
}

void *memcpy(void *to, const void *from, size_t count) {
    note(count);
    return copy(to, from, count, count);
}

void *memmove(void *to, const void *from, size_t count) {
    note(count);
    return move(to, from, count, count);
}
