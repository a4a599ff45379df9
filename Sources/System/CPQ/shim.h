#pragma once

#include <libpq-fe.h>
#include <string.h>

/* The names of the fields are character constants, which Swift does not import. */
static inline const char *cpq_state(const PGresult *result) { return PQresultErrorField(result, PG_DIAG_SQLSTATE); }

static inline const char *cpq_message(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
}

/* The function of the server that reports the error, whose name is not translated. */
static inline const char *cpq_function(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_SOURCE_FUNCTION);
}

static inline int cpq_is_warning(const PGresult *notice) {
    const char *severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
    return severity && !strcmp(severity, "WARNING");
}
