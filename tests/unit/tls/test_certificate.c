/* Tests certificates with OpenSSL's own verification. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tls/tls.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <string.h>

static const char *const HOSTS[] = {"localhost", "kubernetes.default.svc", "127.0.0.1", "::1",
                                    NULL};

static X509 *read_cert(const char *pem)
{
    BIO *bio = BIO_new_mem_buf(pem, -1);
    X509 *cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    BIO_free(bio);
    assert_non_null(cert);
    return cert;
}

/* Verifies for a purpose and a name. Returns X509_V_OK or the error. */
static int verify(const char *ca_pem, const char *cert_pem, int purpose, const char *host,
                  const char *ip)
{
    X509 *ca = read_cert(ca_pem), *cert = read_cert(cert_pem);
    X509_STORE *store = X509_STORE_new();
    X509_STORE_add_cert(store, ca);
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    X509_STORE_CTX_init(context, store, cert, NULL);
    X509_VERIFY_PARAM *param = X509_STORE_CTX_get0_param(context);
    X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_X509_STRICT);
    X509_STORE_CTX_set_purpose(context, purpose);
    if (host)
        X509_VERIFY_PARAM_set1_host(param, host, 0);
    if (ip)
        X509_VERIFY_PARAM_set1_ip_asc(param, ip);
    X509_verify_cert(context);
    int result = X509_STORE_CTX_get_error(context);
    X509_STORE_CTX_free(context);
    X509_STORE_free(store);
    X509_free(ca);
    X509_free(cert);
    return result;
}

static void an_authority_signs_servers_and_clients(void **state)
{
    struct err err = ERR_INIT;
    struct tls_pair ca = {0}, other = {0}, server = {0}, client = {0};
    assert_int_equal(tls_make_ca("trainyard", 365, &ca, &err), 0);
    assert_int_equal(tls_make_ca("trainyard", 365, &other, &err), 0);
    assert_int_equal(tls_make_cert(&ca, "server", HOSTS, 30, &server, &err), 0);
    assert_int_equal(tls_make_cert(&ca, "admin", NULL, 30, &client, &err), 0);
    assert_non_null(strstr(server.key_pem, "BEGIN PRIVATE KEY"));

    int for_server = X509_PURPOSE_SSL_SERVER, for_client = X509_PURPOSE_SSL_CLIENT;
    assert_int_equal(verify(ca.cert_pem, server.cert_pem, for_server, "localhost", NULL), 0);
    assert_int_equal(
        verify(ca.cert_pem, server.cert_pem, for_server, "kubernetes.default.svc", NULL), 0);
    assert_int_equal(verify(ca.cert_pem, server.cert_pem, for_server, NULL, "127.0.0.1"), 0);
    assert_int_equal(verify(ca.cert_pem, server.cert_pem, for_server, NULL, "::1"), 0);
    assert_int_equal(verify(ca.cert_pem, server.cert_pem, for_server, "example.org", NULL),
                     X509_V_ERR_HOSTNAME_MISMATCH);
    assert_int_equal(verify(ca.cert_pem, server.cert_pem, for_client, NULL, NULL),
                     X509_V_ERR_INVALID_PURPOSE);
    assert_int_equal(verify(ca.cert_pem, client.cert_pem, for_client, NULL, NULL), 0);
    assert_int_equal(verify(ca.cert_pem, client.cert_pem, for_server, NULL, NULL),
                     X509_V_ERR_INVALID_PURPOSE);
    assert_int_not_equal(verify(other.cert_pem, server.cert_pem, for_server, NULL, NULL), 0);

    static const char *const MORE[] = {"localhost", "10.96.0.1", NULL};
    bool all = false;
    assert_int_equal(tls_cert_names_all(server.cert_pem, HOSTS, &all, &err), 0);
    assert_true(all);
    assert_int_equal(tls_cert_names_all(server.cert_pem, MORE, &all, &err), 0);
    assert_false(all);
    assert_int_equal(tls_cert_names_all("none", MORE, &all, &err), -ERR_BAD_REQUEST);

    tls_pair_release(&ca);
    tls_pair_release(&other);
    tls_pair_release(&server);
    tls_pair_release(&client);
    tls_pair_release(&client);
}

static void invalid_names_hosts_and_keys_are_rejected(void **state)
{
    struct err err = ERR_INIT;
    struct tls_pair ca = {0}, other = {0}, out = {0};
    char long_name[100];
    memset(long_name, 'x', sizeof(long_name));
    long_name[65] = '\0';
    assert_int_equal(tls_make_ca(long_name, 1, &ca, &err), -ERR_INVALID);
    assert_int_equal(tls_make_ca("", 1, &ca, &err), -ERR_INVALID);
    assert_int_equal(tls_make_ca("a", 0, &ca, &err), -ERR_INVALID);
    assert_null(ca.cert_pem);

    assert_int_equal(tls_make_ca("a", 1, &ca, &err), 0);
    assert_int_equal(tls_make_ca("b", 1, &other, &err), 0);
    const char *const bad_hosts[] = {"a.b", "no spaces", NULL};
    assert_int_equal(tls_make_cert(&ca, "x", bad_hosts, 1, &out, &err), -ERR_INVALID);
    assert_string_equal(err.message, "'no spaces' is neither a DNS name nor an IP address");
    struct tls_pair mixed = {ca.cert_pem, other.key_pem};
    assert_int_equal(tls_make_cert(&mixed, "x", HOSTS, 1, &out, &err), -ERR_INVALID);
    char garbage[] = "garbage";
    struct tls_pair broken = {garbage, garbage};
    assert_int_equal(tls_make_cert(&broken, "x", HOSTS, 1, &out, &err), -ERR_BAD_REQUEST);
    assert_null(out.cert_pem);
    tls_pair_release(&ca);
    tls_pair_release(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_authority_signs_servers_and_clients),
        cmocka_unit_test(invalid_names_hosts_and_keys_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
