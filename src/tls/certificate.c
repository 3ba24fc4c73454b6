/* Creates, signs and checks certificates in memory; see tls.h. cli/ uses it to create the
 * certificates of a cluster and to find certificates that lack a name. net/ uses it to check a
 * certificate before it is loaded. Writes no files, and keeps no key after a call. */
#include "tls/tls.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "tls/openssl_err.h"

#include <arpa/inet.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

enum {
    COMMON_NAME_MAX = 64,   /* RFC 5280, ub-common-name */
    SERIAL_BITS = 159,      /* so that the serial number is positive and has at most 20 octets */
    BACKDATE_SECONDS = 300, /* how long before now a certificate becomes valid */
    DAYS_MAX = 36500,
    DNS_NAME_MAX = 253,
};

static void release_key(EVP_PKEY **key)
{
    EVP_PKEY_free(*key);
}

static void release_x509(X509 **cert)
{
    X509_free(*cert);
}

static void release_names(GENERAL_NAMES **names)
{
    GENERAL_NAMES_free(*names);
}

static void release_bio(BIO **bio)
{
    BIO_free_all(*bio);
}

void tls_pair_release(struct tls_pair *pair)
{
    free(pair->cert_pem);
    if (pair->key_pem)
        OPENSSL_cleanse(pair->key_pem, strlen(pair->key_pem));
    free(pair->key_pem);
    *pair = (struct tls_pair){0};
}

/* ---- PEM ------------------------------------------------------------------------------------- */

static char *certificate_take_text(BIO *bio)
{
    char *data = NULL;
    long size = BIO_get_mem_data(bio, &data);
    return mem_strndup(data, (size_t)size);
}

static int write_pair(X509 *cert, EVP_PKEY *key, struct tls_pair *ret, struct err *err)
{
    _cleanup_(release_bio) BIO *cert_bio = BIO_new(BIO_s_mem());
    _cleanup_(release_bio) BIO *key_bio = BIO_new(BIO_s_secmem());
    if (!PEM_write_bio_X509(cert_bio, cert) ||
        !PEM_write_bio_PKCS8PrivateKey(key_bio, key, NULL, NULL, 0, NULL, NULL))
        return openssl_err_set(err, ERR_INTERNAL, "cannot write a certificate");
    ret->cert_pem = certificate_take_text(cert_bio);
    ret->key_pem = certificate_take_text(key_bio);
    return 0;
}

static int read_authority(const struct tls_pair *pair, X509 **ret_cert, EVP_PKEY **ret_key,
                          struct err *err)
{
    _cleanup_(release_bio) BIO *cert_bio = BIO_new_mem_buf(pair->cert_pem, -1);
    _cleanup_(release_bio) BIO *key_bio = BIO_new_mem_buf(pair->key_pem, -1);
    _cleanup_(release_x509) X509 *cert = PEM_read_bio_X509(cert_bio, NULL, NULL, NULL);
    if (!cert)
        return openssl_err_set(err, ERR_BAD_REQUEST,
                               "cannot read the authority's certificate as PEM");
    _cleanup_(release_key) EVP_PKEY *key = PEM_read_bio_PrivateKey(key_bio, NULL, NULL, NULL);
    if (!key)
        return openssl_err_set(err, ERR_BAD_REQUEST, "cannot read the authority's key as PEM");
    if (!X509_check_private_key(cert, key))
        return openssl_err_set(err, ERR_INVALID,
                               "the authority's key does not belong to its certificate");
    *ret_cert = TAKE(cert);
    *ret_key = TAKE(key);
    return 0;
}

/* ---- parts of a certificate ------------------------------------------------------------------ */

static bool set_random_serial(X509 *cert)
{
    BIGNUM *number = BN_new();
    bool ok = BN_rand(number, SERIAL_BITS, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) &&
              BN_to_ASN1_INTEGER(number, X509_get_serialNumber(cert));
    BN_free(number);
    return ok;
}

static bool add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, cert, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    bool ok = extension && X509_add_ext(cert, extension, -1);
    X509_EXTENSION_free(extension);
    return ok;
}

static int add_host(GENERAL_NAMES *names, const char *host, struct err *err)
{
    unsigned char address[sizeof(struct in6_addr)];
    int address_size = inet_pton(AF_INET, host, address) == 1    ? 4
                       : inet_pton(AF_INET6, host, address) == 1 ? 16
                                                                 : 0;
    /* The name is put into the certificate unchanged, so characters that another program could
     * misread are rejected. */
    size_t size = strlen(host);
    size_t fit = strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.*_");
    if (!address_size && (size == 0 || size > DNS_NAME_MAX || fit != size))
        return err_set(err, ERR_INVALID, "'%s' is neither a DNS name nor an IP address", host);

    ASN1_STRING *value = address_size ? ASN1_OCTET_STRING_new() : ASN1_IA5STRING_new();
    GENERAL_NAME *name = GENERAL_NAME_new();
    if (!ASN1_STRING_set(value, address_size ? (const void *)address : host,
                         address_size ? address_size : (int)size) ||
        !sk_GENERAL_NAME_push(names, name)) {
        ASN1_STRING_free(value);
        GENERAL_NAME_free(name);
        return openssl_err_set(err, ERR_INTERNAL, "cannot add '%s' to a certificate", host);
    }
    GENERAL_NAME_set0_value(name, address_size ? GEN_IPADD : GEN_DNS, value);
    return 0;
}

static int add_hosts(X509 *cert, const char *const *hosts, struct err *err)
{
    _cleanup_(release_names) GENERAL_NAMES *names = GENERAL_NAMES_new();
    for (; *hosts; hosts++) {
        int result = add_host(names, *hosts, err);
        if (result < 0)
            return result;
    }
    if (!X509_add1_ext_i2d(cert, NID_subject_alt_name, names, 0, X509V3_ADD_DEFAULT))
        return openssl_err_set(err, ERR_INTERNAL, "cannot add names to a certificate");
    return 0;
}

/* Creates a key and a certificate for it, without extensions and signature. */
static int make_unsigned_certificate(const char *common_name, int days, X509 **ret_cert,
                                     EVP_PKEY **ret_key, struct err *err)
{
    if (strlen(common_name) == 0 || strlen(common_name) > COMMON_NAME_MAX)
        return err_set(err, ERR_INVALID, "common name '%s' must have 1 to %d bytes", common_name,
                       COMMON_NAME_MAX);
    if (days < 1 || days > DAYS_MAX)
        return err_set(
            err, ERR_INVALID,
            "the certificate would be valid for %d days, but it must be valid for 1 to %d days",
            days, DAYS_MAX);
    _cleanup_(release_key) EVP_PKEY *key = EVP_EC_gen("P-256");
    _cleanup_(release_x509) X509 *cert = X509_new();
    /* The certificate becomes valid in the past, because the clocks of machines differ. */
    if (!key || !cert || !X509_set_version(cert, X509_VERSION_3) || !set_random_serial(cert) ||
        !X509_gmtime_adj(X509_getm_notBefore(cert), -BACKDATE_SECONDS) ||
        !X509_time_adj_ex(X509_getm_notAfter(cert), days, 0, NULL) || !X509_set_pubkey(cert, key) ||
        !X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_UTF8,
                                    (const unsigned char *)common_name, -1, -1, 0))
        return openssl_err_set(err, ERR_INTERNAL, "cannot make a certificate for '%s'",
                               common_name);
    *ret_cert = TAKE(cert);
    *ret_key = TAKE(key);
    return 0;
}

/* ---- certificate authorities and certificates ------------------------------------------------ */

int tls_make_ca(const char *common_name, int days, struct tls_pair *ret, struct err *err)
{
    _cleanup_(release_key) EVP_PKEY *key = NULL;
    _cleanup_(release_x509) X509 *cert = NULL;
    int result = make_unsigned_certificate(common_name, days, &cert, &key, err);
    if (result < 0)
        return result;
    if (!X509_set_issuer_name(cert, X509_get_subject_name(cert)) ||
        !add_extension(cert, cert, NID_basic_constraints, "critical,CA:TRUE") ||
        !add_extension(cert, cert, NID_key_usage,
                       "critical,digitalSignature,keyCertSign,cRLSign") ||
        !add_extension(cert, cert, NID_subject_key_identifier, "hash") ||
        !X509_sign(cert, key, EVP_sha256()))
        return openssl_err_set(err, ERR_INTERNAL, "cannot sign the authority '%s'", common_name);
    return write_pair(cert, key, ret, err);
}

int tls_make_cert(const struct tls_pair *ca, const char *common_name, const char *const *hosts,
                  int days, struct tls_pair *ret, struct err *err)
{
    _cleanup_(release_key) EVP_PKEY *ca_key = NULL;
    _cleanup_(release_x509) X509 *ca_cert = NULL;
    int result = read_authority(ca, &ca_cert, &ca_key, err);
    if (result < 0)
        return result;
    _cleanup_(release_key) EVP_PKEY *key = NULL;
    _cleanup_(release_x509) X509 *cert = NULL;
    result = make_unsigned_certificate(common_name, days, &cert, &key, err);
    if (result < 0)
        return result;
    bool for_server = hosts && *hosts;
    if (!X509_set_issuer_name(cert, X509_get_subject_name(ca_cert)) ||
        !add_extension(cert, ca_cert, NID_basic_constraints, "critical,CA:FALSE") ||
        !add_extension(cert, ca_cert, NID_key_usage, "critical,digitalSignature") ||
        !add_extension(cert, ca_cert, NID_ext_key_usage,
                       for_server ? "serverAuth" : "clientAuth") ||
        !add_extension(cert, ca_cert, NID_subject_key_identifier, "hash") ||
        !add_extension(cert, ca_cert, NID_authority_key_identifier, "keyid:always"))
        return openssl_err_set(err, ERR_INTERNAL, "cannot make a certificate for '%s'",
                               common_name);
    if (for_server) {
        result = add_hosts(cert, hosts, err);
        if (result < 0)
            return result;
    }
    if (!X509_sign(cert, ca_key, EVP_sha256()))
        return openssl_err_set(err, ERR_INTERNAL, "cannot sign the certificate of '%s'",
                               common_name);
    return write_pair(cert, key, ret, err);
}

int tls_cert_names_all(const char *cert_pem, const char *const *hosts, bool *ret, struct err *err)
{
    _cleanup_(release_bio) BIO *bio = BIO_new_mem_buf(cert_pem, -1);
    _cleanup_(release_x509) X509 *cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    if (!cert)
        return openssl_err_set(err, ERR_BAD_REQUEST, "cannot read a certificate as PEM");
    *ret = true;
    for (; *hosts; hosts++) {
        unsigned char address[sizeof(struct in6_addr)];
        bool is_address =
            inet_pton(AF_INET, *hosts, address) == 1 || inet_pton(AF_INET6, *hosts, address) == 1;
        if ((is_address ? X509_check_ip_asc(cert, *hosts, 0)
                        : X509_check_host(cert, *hosts, 0, 0, NULL)) != 1)
            *ret = false;
    }
    return 0;
}

/* A password callback that gives no password. Without it, OpenSSL would ask for the password on the
 * terminal. */
static int refuse_password(char *password, int size, int writing, void *context)
{
    return 0;
}

int tls_pair_check(const struct tls_pair *pair, struct err *err)
{
    _cleanup_(release_bio) BIO *cert_bio = BIO_new_mem_buf(pair->cert_pem, -1);
    _cleanup_(release_bio) BIO *key_bio = BIO_new_mem_buf(pair->key_pem, -1);
    _cleanup_(release_x509) X509 *cert = PEM_read_bio_X509(cert_bio, NULL, refuse_password, NULL);
    _cleanup_(release_key) EVP_PKEY *key =
        PEM_read_bio_PrivateKey(key_bio, NULL, refuse_password, NULL);
    if (!cert || !key)
        return openssl_err_set(err, ERR_BAD_REQUEST, "cannot read a %s as PEM",
                               cert ? "private key" : "certificate");
    if (X509_check_private_key(cert, key) != 1)
        return openssl_err_set(err, ERR_INVALID,
                               "the private key does not belong to the certificate");
    return 0;
}
