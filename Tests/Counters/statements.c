// Preloaded into a program that uses SQLite as a shared library, records the SQL of each execution of a prepared statement, and on
// request its arguments and rows. In a program without SQLite it does nothing.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "shared.h"

struct sqlite3_stmt;
struct sqlite3_value;

static int (*step)(struct sqlite3_stmt *);
static int (*is_busy)(struct sqlite3_stmt *);
static const char *(*sql)(struct sqlite3_stmt *);
static char *(*expanded_sql)(struct sqlite3_stmt *);
static void (*release)(void *);
static int (*column_count)(struct sqlite3_stmt *);
static struct sqlite3_value *(*column_value)(struct sqlite3_stmt *, int);
static struct sqlite3_value *(*duplicate)(const struct sqlite3_value *);
static const char *(*value_text)(struct sqlite3_value *);
static void (*value_free)(struct sqlite3_value *);
static int records_values;

__attribute__((constructor)) static void find(void) {
    step = dlsym(RTLD_NEXT, "sqlite3_step");
    is_busy = dlsym(RTLD_NEXT, "sqlite3_stmt_busy");
    sql = dlsym(RTLD_NEXT, "sqlite3_sql");
    expanded_sql = dlsym(RTLD_NEXT, "sqlite3_expanded_sql");
    release = dlsym(RTLD_NEXT, "sqlite3_free");
    column_count = dlsym(RTLD_NEXT, "sqlite3_column_count");
    column_value = dlsym(RTLD_NEXT, "sqlite3_column_value");
    duplicate = dlsym(RTLD_NEXT, "sqlite3_value_dup");
    value_text = dlsym(RTLD_NEXT, "sqlite3_value_text");
    value_free = dlsym(RTLD_NEXT, "sqlite3_value_free");
    records_values = getenv("COUNTERS_VALUES") != NULL;
}

static void note(char kind, const char *text) {
    size_t length = strlen(text) + 2;
    unsigned long start = atomic_fetch_add(&counters->texts_length, length);
    if (start + length > texts_capacity) return;
    counters->texts[start] = kind;
    memcpy(counters->texts + start + 1, text, length - 1);
}

static void note_arguments(struct sqlite3_stmt *statement) {
    char *text = expanded_sql(statement);
    if (text) note('A', text);
    release(text);
}

static void note_row(struct sqlite3_stmt *statement) {
    size_t length = 0;
    char *row = NULL;
    int count = column_count(statement);
    for (int index = 0; index < count; index++) {
        // A copy, because reading a value as text would convert the program's own.
        struct sqlite3_value *value = duplicate(column_value(statement, index));
        const char *text = value ? value_text(value) : NULL;
        size_t size = text ? strlen(text) : 0;
        char *longer = realloc(row, length + size + 2);
        if (longer) {
            row = longer;
            if (size) memcpy(row + length, text, size);
            length += size;
            row[length++] = 0x1F;
            row[length] = 0;
        }
        value_free(value);
    }
    if (row) note('R', row);
    free(row);
}

int sqlite3_step(struct sqlite3_stmt *statement) {
    // SQLite's internal statements have no text, and belong to the statement that caused them.
    const char *text = sql(statement);
    // The first step of an execution; further steps return its next rows.
    int is_first = text && !is_busy(statement);
    if (is_first) note('S', text);
    if (!records_values || !text) return step(statement);
    is_measuring = 1;
    if (is_first) note_arguments(statement);
    is_measuring = 0;
    int code = step(statement);
    is_measuring = 1;
    if (code == 100 /* SQLITE_ROW */) note_row(statement);
    is_measuring = 0;
    return code;
}
