// Records the SQL of a gateway, into which it is preloaded (LD_PRELOAD).
//
// SQL_TEXTS names a folder that gets a file for each text that is prepared; its name is a hash of the text, so processes share it.
// SQL_HISTORY names a folder that gets a file for each process, with every statement, its arguments and its rows. A record is a
// letter and fields; a number has 8 bytes, a text is its length and its bytes:
//   S  a statement begins: connection, statement, the database's path, its inode, the text, the text with its arguments
//   R  a row: statement, the number of values, and for each its type and the value (nothing for NULL)
//   D  a statement ends: statement, SQLite's result code
//
// Only statements that the program prepares itself are recorded, not those of sqlite3_exec, which are the engine's own and those of
// migrations. It allocates nothing, so that it can be used together with the libraries that count and inject faults.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ok = 0, row = 100, done = 101, capacity = 1 << 14 };
enum { integer = 1, floating = 2, text = 3, blob = 4 };

static int (*real_prepare)(void *, const char *, int, unsigned, void **, const char **);
static int (*real_step)(void *);
static int (*real_exec)(void *, const char *, void *, void *, void *);
static int (*is_busy)(void *);
static const char *(*sql)(void *);
static char *(*expanded_sql)(void *);
static void (*release)(void *);
static void *(*connection_of)(void *);
static const char *(*file_of)(void *, const char *);
static int (*column_count)(void *);
static int (*column_type)(void *, int);
static int64_t (*column_integer)(void *, int);
static double (*column_double)(void *, int);
static const void *(*column_text)(void *, int);
static const void *(*column_blob)(void *, int);
static int (*column_bytes)(void *, int);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const char *texts;
static uint64_t seen[capacity];
static int history = -1;
/// The depth of calls of sqlite3_exec on this thread.
static _Thread_local int scripts;

static void *find(const char *name) { return dlsym(RTLD_NEXT, name); }

__attribute__((constructor)) static void start(void) {
    real_prepare = find("sqlite3_prepare_v3");
    real_step = find("sqlite3_step");
    real_exec = find("sqlite3_exec");
    is_busy = find("sqlite3_stmt_busy");
    sql = find("sqlite3_sql");
    expanded_sql = find("sqlite3_expanded_sql");
    release = find("sqlite3_free");
    connection_of = find("sqlite3_db_handle");
    file_of = find("sqlite3_db_filename");
    column_count = find("sqlite3_column_count");
    column_type = find("sqlite3_column_type");
    column_integer = find("sqlite3_column_int64");
    column_double = find("sqlite3_column_double");
    column_text = find("sqlite3_column_text");
    column_blob = find("sqlite3_column_blob");
    column_bytes = find("sqlite3_column_bytes");
    texts = getenv("SQL_TEXTS");
    const char *folder = getenv("SQL_HISTORY");
    // A program without SQLite records nothing.
    if (!real_step || !folder) return;
    char path[PATH_MAX];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(path, sizeof path, "%s/%lld.%09ld.%d", folder, (long long)now.tv_sec, now.tv_nsec, getpid());
    history = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

static uint64_t hash_of(const char *bytes, size_t length) {
    uint64_t hash = 14695981039346656037u;
    for (size_t index = 0; index < length; index++) hash = (hash ^ (unsigned char)bytes[index]) * 1099511628211u;
    return hash ? hash : 1;
}

/// Returns whether the process has not seen the hash before.
static int is_new(uint64_t hash) {
    pthread_mutex_lock(&mutex);
    size_t place = hash % capacity, tries = 0;
    while (seen[place] && seen[place] != hash && tries++ < capacity) place = (place + 1) % capacity;
    int found = seen[place] == hash;
    seen[place] = hash;
    pthread_mutex_unlock(&mutex);
    return !found;
}

static void record_text(const char *bytes, size_t length) {
    uint64_t hash = hash_of(bytes, length);
    if (!is_new(hash)) return;
    char path[PATH_MAX], temporary[PATH_MAX];
    snprintf(path, sizeof path, "%s/%016llx.sql", texts, (unsigned long long)hash);
    if (access(path, F_OK) == 0) return;
    snprintf(temporary, sizeof temporary, "%s/%016llx.%d", texts, (unsigned long long)hash, getpid());
    int file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) return;
    // A process that is killed leaves no part of a text behind.
    int is_written = write(file, bytes, length) == (ssize_t)length;
    close(file);
    if (!is_written || rename(temporary, path) != 0) unlink(temporary);
}

int sqlite3_prepare_v3(
    void *connection, const char *bytes, int length, unsigned flags, void **statement, const char **tail) {
    int code = real_prepare(connection, bytes, length, flags, statement, tail);
    if (code == ok && texts && bytes && !scripts) {
        record_text(bytes, length < 0 ? strlen(bytes) : strnlen(bytes, (size_t)length));
    }
    return code;
}

int sqlite3_exec(void *connection, const char *script, void *callback, void *argument, void *message) {
    scripts++;
    int code = real_exec(connection, script, callback, argument, message);
    scripts--;
    return code;
}

static void put(const void *bytes, size_t length) {
    while (length > 0) {
        ssize_t written = write(history, bytes, length);
        if (written <= 0) abort();
        bytes = (const char *)bytes + written;
        length -= (size_t)written;
    }
}

static void put_number(uint64_t number) { put(&number, sizeof number); }

static void put_text(const void *bytes, size_t length) {
    put_number(length);
    put(bytes, length);
}

static void put_start(void *statement) {
    char *expanded = expanded_sql(statement);
    void *connection = connection_of(statement);
    const char *file = file_of(connection, "main"), *plain = sql(statement);
    put("S", 1);
    put_number((uintptr_t)connection);
    put_number((uintptr_t)statement);
    put_text(file ? file : "", file ? strlen(file) : 0);
    struct stat status;
    put_number(file && stat(file, &status) == 0 ? status.st_ino : 0);
    put_text(plain, strlen(plain));
    put_text(expanded ? expanded : "", expanded ? strlen(expanded) : 0);
    release(expanded);
}

static void put_value(void *statement, int column) {
    int type = column_type(statement, column);
    put(&(char){(char)('0' + type)}, 1);
    if (type == integer) put_number((uint64_t)column_integer(statement, column));
    if (type == floating) {
        char digits[64];
        put_text(digits, (size_t)snprintf(digits, sizeof digits, "%.17g", column_double(statement, column)));
    }
    if (type == text) put_text(column_text(statement, column), (size_t)column_bytes(statement, column));
    if (type == blob) {
        const void *bytes = column_blob(statement, column);
        put_text(bytes ? bytes : "", (size_t)column_bytes(statement, column));
    }
}

int sqlite3_step(void *statement) {
    if (history < 0 || scripts || !sql(statement)) return real_step(statement);
    if (!is_busy(statement)) {
        pthread_mutex_lock(&mutex);
        put_start(statement);
        pthread_mutex_unlock(&mutex);
    }
    int code = real_step(statement);
    pthread_mutex_lock(&mutex);
    put(code == row ? "R" : "D", 1);
    put_number((uintptr_t)statement);
    if (code == row) {
        int count = column_count(statement);
        put_number((uint64_t)count);
        for (int column = 0; column < count; column++) put_value(statement, column);
    } else {
        put_number((uint64_t)code);
    }
    pthread_mutex_unlock(&mutex);
    return code;
}
