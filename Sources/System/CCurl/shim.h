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

// curl_multi_setopt and curl_share_setopt are variadic, too.

static inline CURLMcode curl_multi_set_number(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

/// Sets the function that is told what to wait for on a socket.
static inline CURLMcode curl_multi_set_socket(
    CURLM *multi, int (*changed)(CURL *, curl_socket_t, int, void *, void *), void *context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, changed);
    return code == CURLM_OK ? curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context) : code;
}

/// Sets the function that is told the milliseconds until libcurl's next timeout.
static inline CURLMcode curl_multi_set_timer(CURLM *multi, int (*changed)(CURLM *, long, void *), void *context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, changed);
    return code == CURLM_OK ? curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context) : code;
}

/// Returns the next handle whose transfer has ended; NULL = none.
static inline CURL *curl_multi_next_completed(CURLM *multi, CURLcode *code) {
    int left = 0;
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left)) != NULL;) {
        if (message->msg != CURLMSG_DONE) continue;
        *code = message->data.result;
        return message->easy_handle;
    }
    return NULL;
}

/// Returns a cache of connections and TLS sessions, for handles of one thread; NULL without memory.
static inline CURLSH *curl_make_cache(void) {
    CURLSH *cache = curl_share_init();
    if (cache == NULL) return NULL;
    curl_share_setopt(cache, CURLSHOPT_SHARE, CURL_LOCK_DATA_CONNECT);
    curl_share_setopt(cache, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
    return cache;
}

/// Returns the number of bytes of the request's body that the handle has sent.
static inline curl_off_t curl_sent_size(CURL *handle) {
    curl_off_t count = 0;
    curl_easy_getinfo(handle, CURLINFO_SIZE_UPLOAD_T, &count);
    return count;
}

/// Returns the number of bytes of the response's body that the handle has received.
static inline curl_off_t curl_received_size(CURL *handle) {
    curl_off_t count = 0;
    curl_easy_getinfo(handle, CURLINFO_SIZE_DOWNLOAD_T, &count);
    return count;
}
