#pragma once

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <string.h>

// Macros and variadic functions, which Swift cannot call, and the conversion of signatures: JWS uses R || S, OpenSSL DER.

static inline EVP_PKEY *ossl_es256_generate(void) { return EVP_EC_gen("P-256"); }

static inline void ossl_free(void *memory) { OPENSSL_free(memory); }

/// Returns an HMAC context for a hash function, without a key, to be copied for each use; NULL if OpenSSL has no such function.
static inline EVP_MAC_CTX *ossl_hmac(const char *hash) {
    EVP_MAC *hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    EVP_MAC_CTX *context = hmac == NULL ? NULL : EVP_MAC_CTX_new(hmac);
    EVP_MAC_free(hmac);
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)hash, 0),
        OSSL_PARAM_construct_end(),
    };
    if (context != NULL && EVP_MAC_CTX_set_params(context, parameters) == 1) return context;
    EVP_MAC_CTX_free(context);
    return NULL;
}

static inline int ossl_is_p256(const EVP_PKEY *key) {
    char group[32];
    size_t length = 0;
    return EVP_PKEY_is_a(key, "EC") &&
           EVP_PKEY_get_utf8_string_param(key, OSSL_PKEY_PARAM_GROUP_NAME, group, sizeof group, &length) &&
           strcmp(group, "prime256v1") == 0;
}

static inline int ossl_pkcs8(const EVP_PKEY *key, unsigned char **out) {
    PKCS8_PRIV_KEY_INFO *info = EVP_PKEY2PKCS8(key);
    if (info == NULL) return -1;
    int length = i2d_PKCS8_PRIV_KEY_INFO(info, out);
    PKCS8_PRIV_KEY_INFO_free(info);
    return length;
}

static inline int ossl_es256_sign(EVP_PKEY *key, const unsigned char *message, size_t length, unsigned char *out) {
    unsigned char der[80];
    size_t der_length = sizeof der;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int ok = context != NULL && EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) == 1 &&
             EVP_DigestSign(context, der, &der_length, message, length) == 1;
    EVP_MD_CTX_free(context);
    if (!ok) return 0;
    const unsigned char *cursor = der;
    ECDSA_SIG *signature = d2i_ECDSA_SIG(NULL, &cursor, (long)der_length);
    if (signature == NULL) return 0;
    ok = BN_bn2binpad(ECDSA_SIG_get0_r(signature), out, 32) == 32 &&
         BN_bn2binpad(ECDSA_SIG_get0_s(signature), out + 32, 32) == 32;
    ECDSA_SIG_free(signature);
    return ok;
}

static inline int ossl_es256_verify(
    EVP_PKEY *key, const unsigned char *message, size_t length, const unsigned char *signature) {
    ECDSA_SIG *parts = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(signature, 32, NULL), *s = BN_bin2bn(signature + 32, 32, NULL);
    if (parts == NULL || r == NULL || s == NULL || ECDSA_SIG_set0(parts, r, s) != 1) {
        ECDSA_SIG_free(parts);
        BN_free(r);
        BN_free(s);
        return 0;
    }
    unsigned char *der = NULL;
    int der_length = i2d_ECDSA_SIG(parts, &der);
    ECDSA_SIG_free(parts);
    if (der_length <= 0) return 0;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int ok = context != NULL && EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, key) == 1 &&
             EVP_DigestVerify(context, der, (size_t)der_length, message, length) == 1;
    EVP_MD_CTX_free(context);
    OPENSSL_free(der);
    ERR_clear_error();
    return ok;
}

// TLS of the gRPC listeners: macros, and the selection of HTTP/2.

static inline void tls_harden(SSL_CTX *context) {
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    // RFC 9113, section 9.2.2: with TLS 1.2 only ephemeral keys and AEAD.
    SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20");
    // Idle connections release their buffers of 34 KiB.
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_AUTO_RETRY);
}

/// Returns the length of the certificate at `index` in the chain of `context`, the server's own first, in DER, which the caller
/// frees; 0 = no more.
static inline int tls_chain_certificate(SSL_CTX *context, int index, unsigned char **out) {
    STACK_OF(X509) *rest = NULL;
    SSL_CTX_get0_chain_certs(context, &rest);
    if (index > 0 && (rest == NULL || index > sk_X509_num(rest))) return 0;
    return i2d_X509(index == 0 ? SSL_CTX_get0_certificate(context) : sk_X509_value(rest, index - 1), out);
}

static inline int tls_select_h2(
    const unsigned char **selected, unsigned char *selected_count, const unsigned char *offered, unsigned int count) {
    for (unsigned int at = 0; at < count && at + 1 + offered[at] <= count; at += 1 + offered[at]) {
        if (offered[at] == 2 && offered[at + 1] == 'h' && offered[at + 2] == '2') {
            *selected = offered + at + 1;
            *selected_count = 2;
            return SSL_TLSEXT_ERR_OK;
        }
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL;
}

static inline int tls_speaks_h2(const SSL *connection) {
    const unsigned char *name = NULL;
    unsigned int count = 0;
    SSL_get0_alpn_selected(connection, &name, &count);
    return count == 2 && name[0] == 'h' && name[1] == '2';
}

/// Returns the subject of the peer's verified certificate in the form of RFC 2253, which the caller frees; NULL if there is none.
static inline char *tls_peer_subject(SSL *connection) {
    X509 *certificate = SSL_get0_peer_certificate(connection);
    if (certificate == NULL || SSL_get_verify_result(connection) != X509_V_OK) return NULL;
    BIO *output = BIO_new(BIO_s_mem());
    char *bytes = NULL, *text = NULL;
    if (output != NULL && X509_NAME_print_ex(output, X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253) >= 0) {
        long count = BIO_get_mem_data(output, &bytes);
        text = OPENSSL_strndup(count > 0 ? bytes : "", count > 0 ? (size_t)count : 0);
    }
    BIO_free(output);
    return text;
}

static inline void tls_expect_host(SSL *connection, const char *host) {
    X509_VERIFY_PARAM *rules = SSL_get0_param(connection);
    if (X509_VERIFY_PARAM_set1_ip_asc(rules, host) == 1) return;
    X509_VERIFY_PARAM_set1_host(rules, host, 0);
    SSL_set_tlsext_host_name(connection, host);
}
