// Preloaded into a program that uses SQLite as a shared library, records the SQL of each execution of a prepared statement. In a
// program without SQLite it does nothing.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#include "shared.h"

struct sqlite3_stmt;

static int (*step)(struct sqlite3_stmt *);
static int (*is_busy)(struct sqlite3_stmt *);
static const char *(*sql)(struct sqlite3_stmt *);

__attribute__((constructor)) static void find(void) {
    step = dlsym(RTLD_NEXT, "sqlite3_step");
    is_busy = dlsym(RTLD_NEXT, "sqlite3_stmt_busy");
    sql = dlsym(RTLD_NEXT, "sqlite3_sql");
}

static void note(const char *text) {
    // SQLite's internal statements have no text, and belong to the statement that caused them.
    if (!text) return;
    size_t length = strlen(text) + 1;
    unsigned long start = atomic_fetch_add(&counters->texts_length, length);
    if (start + length <= texts_capacity) memcpy(counters->texts + start, text, length);
}

int sqlite3_step(struct sqlite3_stmt *statement) {
    // The first step of an execution; further steps return its next rows.
    if (!is_busy(statement)) note(sql(statement));
    return step(statement);
}
