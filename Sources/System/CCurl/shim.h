#pragma once

#include <curl/curl.h>

// curl_easy_setopt and curl_easy_getinfo are variadic: here is a function for each type of argument in use.

static inline CURLcode curl_set_number(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode curl_set_size(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode curl_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode curl_set_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode curl_set_connect_to(CURL *handle, struct curl_slist *target) {
    return curl_easy_setopt(handle, CURLOPT_CONNECT_TO, target);
}

static inline CURLcode curl_set_fields(CURL *handle, struct curl_slist *fields) {
    return curl_easy_setopt(handle, CURLOPT_HTTPHEADER, fields);
}

static inline CURLcode curl_set_read(CURL *handle, size_t (*read)(char *, size_t, size_t, void *)) {
    return curl_easy_setopt(handle, CURLOPT_READFUNCTION, read);
}

/// Returns the fields of the certificate that the server presented, as `NAME:VALUE`, after an exchange with CURLOPT_CERTINFO; NULL
/// without one. They belong to the handle.
static inline const struct curl_slist *curl_server_certificate(CURL *handle) {
    struct curl_certinfo *chain = NULL;
    if (curl_easy_getinfo(handle, CURLINFO_CERTINFO, &chain) != CURLE_OK || chain == NULL) return NULL;
    return chain->num_of_certs > 0 ? chain->certinfo[0] : NULL;
}

/// The type of functions for CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION.
static inline CURLcode curl_set_receive(
    CURL *handle, CURLoption option, size_t (*receive)(char *, size_t, size_t, void *)) {
    return curl_easy_setopt(handle, option, receive);
}

static inline CURLcode curl_set_progress(
    CURL *handle, int (*progress)(void *, curl_off_t, curl_off_t, curl_off_t, curl_off_t)) {
    return curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, progress);
}
