// What the counters share with the process that measures: the file that COUNTERS_FILE names, as long as it was made.

#pragma once

#include <stdatomic.h>
#include <stddef.h>

struct counters {
    /// Calls of malloc, calloc, realloc, aligned_alloc and posix_memalign.
    atomic_ulong allocations;
    /// Bytes that `texts` needs; a text that did not fit was left out.
    atomic_ulong texts_length;
    /// The SQL of each run of a prepared statement, ended by NUL.
    char texts[];
};

extern struct counters *counters;
/// The size of `counters->texts` in bytes.
extern size_t texts_capacity;
