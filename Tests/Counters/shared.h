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
    /// Records of the executions of prepared statements in their order, each a letter and a text that is terminated by NUL: S for the
    /// SQL. If COUNTERS_VALUES is set, also A for the SQL with its arguments, and R for a row's values, which 0x1F separates.
    char texts[];
};

extern struct counters *counters;
/// The size of `counters->texts` in bytes.
extern size_t texts_capacity;
/// Whether the thread works for the counters themselves, whose allocations are not counted.
extern _Thread_local int is_measuring;
