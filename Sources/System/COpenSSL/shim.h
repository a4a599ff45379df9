#pragma once

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
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

/// Writes half a signature, 32 bytes, as an INTEGER in DER: without leading zeros, and with one if the first bit is set.
///
/// @return the number of bytes written, at most 35.
static inline size_t ossl_der_integer(const unsigned char *number, unsigned char *out) {
    size_t start = 0;
    while (start < 31 && number[start] == 0) start += 1;
    size_t padding = number[start] >> 7, count = 32 - start;
    out[0] = 2;
    out[1] = (unsigned char)(count + padding);
    out[2] = 0;
    memcpy(out + 2 + padding, number + start, count);
    return 2 + padding + count;
}

enum { ossl_es256_der_size = 72 };

/// Converts a signature of 64 bytes to DER.
///
/// @return the number of bytes written, at most ossl_es256_der_size.
static inline size_t ossl_es256_der(const unsigned char *signature, unsigned char *out) {
    size_t count = ossl_der_integer(signature, out + 2);
    count += ossl_der_integer(signature + 32, out + 2 + count);
    out[0] = 0x30;
    out[1] = (unsigned char)count;
    return 2 + count;
}

static inline int ossl_es256_verify(
    EVP_PKEY *key, const unsigned char *message, size_t length, const unsigned char *signature) {
    unsigned char der[ossl_es256_der_size];
    size_t der_length = ossl_es256_der(signature, der);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int ok = context != NULL && EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, key) == 1 &&
             EVP_DigestVerify(context, der, der_length, message, length) == 1;
    EVP_MD_CTX_free(context);
    ERR_clear_error();
    return ok;
}

// Public keys of others, from their numbers.

static inline EVP_PKEY *ossl_public_key(const char *type, OSSL_PARAM *parameters) {
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    int ok = context != NULL && EVP_PKEY_fromdata_init(context) == 1 &&
             EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) == 1;
    EVP_PKEY_CTX_free(context);
    ERR_clear_error();
    return ok ? key : NULL;
}

/// Returns the public key of a modulus and an exponent, both big-endian; NULL if OpenSSL refuses them.
static inline EVP_PKEY *ossl_rsa_public(
    const unsigned char *modulus, size_t modulus_length, const unsigned char *exponent, size_t exponent_length) {
    BIGNUM *n = BN_bin2bn(modulus, (int)modulus_length, NULL), *e = BN_bin2bn(exponent, (int)exponent_length, NULL);
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    OSSL_PARAM *parameters = NULL;
    if (n != NULL && e != NULL && builder != NULL && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n) == 1 &&
        OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e) == 1)
        parameters = OSSL_PARAM_BLD_to_param(builder);
    EVP_PKEY *key = parameters == NULL ? NULL : ossl_public_key("RSA", parameters);
    OSSL_PARAM_free(parameters);
    OSSL_PARAM_BLD_free(builder);
    BN_free(n);
    BN_free(e);
    return key;
}

/// Returns the public key of an uncompressed point of 65 bytes; NULL if it is not on the curve P-256.
static inline EVP_PKEY *ossl_p256_public(unsigned char *point) {
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *)"P-256", 0),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point, 65),
        OSSL_PARAM_construct_end(),
    };
    return ossl_public_key("EC", parameters);
}

/// Returns a context that verifies signatures of a key with SHA-256, to be copied for each use; NULL if there is no memory.
static inline EVP_MD_CTX *ossl_verifier(EVP_PKEY *key) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (context != NULL && EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, key) == 1) return context;
    EVP_MD_CTX_free(context);
    ERR_clear_error();
    return NULL;
}

static inline int ossl_verify(
    const EVP_MD_CTX *verifier, const unsigned char *message, size_t length, const unsigned char *signature,
    size_t signature_length) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int ok = context != NULL && EVP_MD_CTX_copy_ex(context, verifier) == 1 &&
             EVP_DigestVerify(context, signature, signature_length, message, length) == 1;
    EVP_MD_CTX_free(context);
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

/// Returns the subject of the peer's verified certificate in the form of RFC 2253, which the caller frees; NULL without a certificate.
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

// The names in a certificate.

/// Returns the DNS names and addresses of a certificate (RFC 6125: subjectAltName), separated by line feeds, which the caller frees;
/// NULL without memory.
static inline char *tls_certificate_names(X509 *certificate) {
    BIO *output = BIO_new(BIO_s_mem());
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    for (int at = 0; output != NULL && at < sk_GENERAL_NAME_num(names); at += 1) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, at);
        if (name->type == GEN_DNS) {
            const ASN1_STRING *text = name->d.dNSName;
            BIO_printf(output, "%.*s\n", ASN1_STRING_length(text), (const char *)ASN1_STRING_get0_data(text));
        } else if (name->type == GEN_IPADD) {
            const unsigned char *bytes = ASN1_STRING_get0_data(name->d.iPAddress);
            int length = ASN1_STRING_length(name->d.iPAddress);
            if (length == 4) BIO_printf(output, "%d.%d.%d.%d\n", bytes[0], bytes[1], bytes[2], bytes[3]);
            for (int pair = 0; length == 16 && pair < 16; pair += 2) {
                BIO_printf(output, "%x%s", bytes[pair] << 8 | bytes[pair + 1], pair < 14 ? ":" : "\n");
            }
        }
    }
    GENERAL_NAMES_free(names);
    char *bytes = NULL, *text = NULL;
    if (output != NULL) {
        long count = BIO_get_mem_data(output, &bytes);
        text = OPENSSL_strndup(count > 0 ? bytes : "", count > 0 ? (size_t)count : 0);
    }
    BIO_free(output);
    return text;
}

/// Returns the certificate that the peer of a failed handshake presented; NULL without one.
static inline X509 *tls_presented_certificate(const SSL *connection) {
    STACK_OF(X509) *chain = SSL_get_peer_cert_chain(connection);
    return sk_X509_num(chain) > 0 ? sk_X509_value(chain, 0) : NULL;
}

/// Returns whether the first error of this thread's queue is that the peer does not speak TLS.
static inline int tls_met_other_protocol(void) {
    unsigned long code = ERR_peek_error();
    int reason = ERR_GET_REASON(code);
    return ERR_GET_LIB(code) == ERR_LIB_SSL && (reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST);
}

/// Returns whether a certificate is for a host: a DNS name or an address.
static inline int tls_certificate_has(X509 *certificate, const char *host) {
    return X509_check_ip_asc(certificate, host, 0) == 1 || X509_check_host(certificate, host, 0, 0, NULL) == 1;
}

/// Returns whether the system's authorities verify the chain of `context`, the server's own certificate first, for servers.
static inline int tls_system_trusts(SSL_CTX *context) {
    STACK_OF(X509) *rest = NULL;
    SSL_CTX_get0_chain_certs(context, &rest);
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *check = X509_STORE_CTX_new();
    int trusted = store != NULL && check != NULL && X509_STORE_set_default_paths(store) == 1 &&
                  X509_STORE_CTX_init(check, store, SSL_CTX_get0_certificate(context), rest) == 1 &&
                  X509_STORE_CTX_set_purpose(check, X509_PURPOSE_SSL_SERVER) == 1 && X509_verify_cert(check) == 1;
    X509_STORE_CTX_free(check);
    X509_STORE_free(store);
    ERR_clear_error();
    return trusted;
}
