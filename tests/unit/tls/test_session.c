/* Tests a server's session against OpenSSL as the client, in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rand.h"
#include "tls/tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

struct link {
    struct tls_pair ca, pair;
    struct tls_server *server;
    struct tls_session *session;
    SSL_CTX *client_context;
    SSL *client;
    BIO *client_in, *client_out;
};

static int setup(void **state)
{
    static const char *const hosts[] = {"localhost", NULL};
    struct link *link = mem_zalloc(sizeof(*link));
    struct err err = ERR_INIT;
    assert_int_equal(tls_make_ca("ca", 1, &link->ca, &err), 0);
    assert_int_equal(tls_make_cert(&link->ca, "localhost", hosts, 1, &link->pair, &err), 0);
    assert_int_equal(tls_server_new(link->pair.cert_pem, link->pair.key_pem, &link->server, &err),
                     0);
    link->session = tls_session_new(link->server);

    link->client_context = SSL_CTX_new(TLS_client_method());
    BIO *bio = BIO_new_mem_buf(link->ca.cert_pem, -1);
    X509 *ca = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(link->client_context), ca);
    X509_free(ca);
    BIO_free(bio);
    SSL_CTX_set_verify(link->client_context, SSL_VERIFY_PEER, NULL);
    link->client = SSL_new(link->client_context);
    link->client_in = BIO_new(BIO_s_mem());
    link->client_out = BIO_new(BIO_s_mem());
    SSL_set_bio(link->client, link->client_in, link->client_out);
    SSL_set_connect_state(link->client);
    SSL_set1_host(link->client, "localhost");
    *state = link;
    return 0;
}

static int teardown(void **state)
{
    struct link *link = *state;
    SSL_free(link->client);
    SSL_CTX_free(link->client_context);
    tls_session_free(link->session);
    tls_server_free(link->server);
    tls_pair_release(&link->ca);
    tls_pair_release(&link->pair);
    free(link);
    return 0;
}

/* Passes on the bytes of each side in pieces of `piece` bytes. Returns true if there were any. */
static bool carry(struct link *link, size_t piece)
{
    struct err err = ERR_INIT;
    char data[4096];
    bool moved = false;
    long size;
    while ((size = BIO_read(link->client_out, data, (int)piece)) > 0) {
        assert_int_equal(tls_feed(link->session, data, (size_t)size, &err), 0);
        moved = true;
    }
    while ((size = tls_drain(link->session, data, piece)) > 0) {
        BIO_write(link->client_in, data, (int)size);
        moved = true;
    }
    return moved;
}

/* Runs the handshake. Returns the result of the server's last read: 0, or the error. */
static long shake_hands(struct link *link, size_t piece, struct err *err)
{
    long result = 0;
    do {
        ERR_clear_error();
        SSL_do_handshake(link->client);
        carry(link, piece);
        char byte;
        if (result == 0)
            result = tls_read(link->session, &byte, 1, err);
    } while (carry(link, piece));
    return result;
}

static void handshake_and_echo_work_in_pieces_of_any_size(void **state)
{
    struct link *link = *state;
    struct err err = ERR_INIT;
    assert_false(tls_handshake_done(link->session));
    assert_int_equal(tls_write(link->session, "early", 5, &err), 0);
    assert_int_equal(shake_hands(link, 1, &err), 0);
    assert_true(tls_handshake_done(link->session));
    assert_true(SSL_is_init_finished(link->client));
    assert_int_equal(SSL_get_verify_result(link->client), X509_V_OK);

    assert_int_equal(SSL_write(link->client, "hello", 5), 5);
    char data[16] = "";
    carry(link, 1);
    assert_int_equal(tls_read(link->session, data, sizeof(data), &err), 5);
    assert_string_equal(data, "hello");
    assert_int_equal(tls_read(link->session, data, sizeof(data), &err), 0);
    assert_int_equal(tls_write(link->session, "world", 5, &err), 5);
    carry(link, 3);
    assert_int_equal(SSL_read(link->client, data, sizeof(data)), 5);
    assert_memory_equal(data, "world", 5);
}

static void a_megabyte_arrives_unchanged(void **state)
{
    enum { SIZE = 1 << 20 };
    struct link *link = *state;
    struct err err = ERR_INIT;
    shake_hands(link, 4096, &err);
    char *sent = mem_alloc(SIZE), *got = mem_alloc(SIZE);
    struct rand rand;
    rand_init(&rand, 1);
    for (size_t i = 0; i < SIZE; i++)
        sent[i] = (char)rand_next(&rand);
    size_t written = 0, read = 0;
    while (read < SIZE) {
        long size = tls_write(link->session, sent + written, SIZE - written, &err);
        assert_true(size >= 0);
        written += (size_t)size;
        carry(link, 4096);
        int n;
        while ((n = SSL_read(link->client, got + read, 5000)) > 0)
            read += (size_t)n;
    }
    assert_memory_equal(sent, got, SIZE);
    free(sent);
    free(got);
}

static void only_http_1_1_is_negotiated(void **state)
{
    struct link *link = *state;
    struct err err = ERR_INIT;
    SSL_set_alpn_protos(link->client, (const unsigned char *)"\x02h2\x08http/1.1", 12);
    assert_int_equal(shake_hands(link, 4096, &err), 0);
    const unsigned char *chosen;
    unsigned size;
    SSL_get0_alpn_selected(link->client, &chosen, &size);
    assert_int_equal(size, 8);
    assert_memory_equal(chosen, "http/1.1", 8);
}

static void a_client_with_other_protocols_only_is_rejected(void **state)
{
    struct link *link = *state;
    struct err err = ERR_INIT;
    SSL_set_alpn_protos(link->client, (const unsigned char *)"\x02h2", 3);
    assert_int_equal(shake_hands(link, 4096, &err), -ERR_INTERNAL);
}

static void tls_1_1_is_rejected(void **state)
{
    struct link *link = *state;
    struct err err = ERR_INIT;
    SSL_set_security_level(link->client, 0);
    SSL_set_min_proto_version(link->client, TLS1_VERSION);
    SSL_set_max_proto_version(link->client, TLS1_1_VERSION);
    assert_int_equal(shake_hands(link, 4096, &err), -ERR_INTERNAL);
    assert_string_equal(err.message, "tls: handshake failed: unsupported protocol");
    assert_false(tls_handshake_done(link->session));
}

static void both_sides_detect_a_close(void **state)
{
    struct link *link = *state;
    struct err err = ERR_INIT;
    shake_hands(link, 4096, &err);
    char byte;
    SSL_write(link->client, "x", 1);
    SSL_shutdown(link->client);
    carry(link, 4096);
    assert_int_equal(tls_read(link->session, &byte, 1, &err), 1);
    assert_false(tls_peer_closed(link->session));
    assert_int_equal(tls_read(link->session, &byte, 1, &err), 0);
    assert_true(tls_peer_closed(link->session));
    tls_shutdown(link->session);
    carry(link, 4096);
    assert_int_equal(SSL_shutdown(link->client), 1);
}

static void garbage_is_a_permanent_error(void **state)
{
    struct link *link = *state;
    struct err err = ERR_INIT;
    char byte;
    static const char request[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    assert_int_equal(tls_feed(link->session, request, sizeof(request), &err), 0);
    assert_int_equal(tls_read(link->session, &byte, 1, &err), -ERR_INTERNAL);
    assert_string_equal(err.message, "tls: handshake failed: http request");
    assert_int_equal(tls_read(link->session, &byte, 1, &err), -ERR_INTERNAL);
    assert_int_equal(tls_write(link->session, "x", 1, &err), -ERR_INTERNAL);
    tls_shutdown(link->session);
}

static void feeding_without_reading_has_a_limit(void **state)
{
    struct link *link = *state;
    struct err err = ERR_INIT;
    char data[4096] = {0};
    int result = 0;
    size_t fed = 0;
    while (result == 0 && fed < (1 << 24)) {
        result = tls_feed(link->session, data, sizeof(data), &err);
        fed += sizeof(data);
    }
    assert_int_equal(result, -ERR_TOO_LARGE);
}

static void a_key_of_another_certificate_is_rejected(void **state)
{
    struct link *link = *state;
    struct err err = ERR_INIT;
    struct tls_server *server = NULL;
    assert_int_equal(tls_server_new(link->pair.cert_pem, link->ca.key_pem, &server, &err),
                     -ERR_BAD_REQUEST);
    assert_int_equal(tls_server_new("nonsense", link->ca.key_pem, &server, &err), -ERR_BAD_REQUEST);
    assert_string_equal(err.message, "cannot use the server's certificate: no start line");
    assert_null(server);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(handshake_and_echo_work_in_pieces_of_any_size),
        TEST(a_megabyte_arrives_unchanged),
        TEST(only_http_1_1_is_negotiated),
        TEST(a_client_with_other_protocols_only_is_rejected),
        TEST(tls_1_1_is_rejected),
        TEST(both_sides_detect_a_close),
        TEST(garbage_is_a_permanent_error),
        TEST(feeding_without_reading_has_a_limit),
        TEST(a_key_of_another_certificate_is_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
