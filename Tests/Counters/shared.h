// The memory that the counters share with the measuring process: the file in COUNTERS_FILE, at its existing length.

#pragma once

#include <stdatomic.h>
#include <stddef.h>

struct counters {
    /// The number of calls of malloc, calloc, realloc, aligned_alloc and posix_memalign.
    atomic_ulong allocations;
    /// The bytes that `texts` needs; texts that did not fit are missing.
    atomic_ulong texts_length;
    /// The bytes that memcpy and memmove copied, see copies.c.
    atomic_ulong copied;
    /// The SQL of each execution of a prepared statement, terminated by NUL.
    char texts[];
};

extern struct counters *counters;
/// The size of `counters->texts` in bytes.
extern size_t texts_capacity;
