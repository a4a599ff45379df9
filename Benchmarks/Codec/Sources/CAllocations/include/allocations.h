#pragma once

// How often this program has asked for memory so far.
unsigned long allocations(void);

// Has the heap keep what is freed, as that of a busy server does. By default glibc gives the end of a heap back to the
// kernel at every large free; here, where nothing lies behind the one message, both codecs would be measured by page faults.
void keep_freed_memory(void);
