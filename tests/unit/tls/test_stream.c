/* Tests encrypted streams between two descriptors of this process. The test's send and receive
 * functions inspect the bytes, change them, or pass only a few. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tls/tls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PLENTY = 3 << 20 };

static struct {
    size_t passed;    /* number of sent bytes */
    size_t spoil;     /* position of the byte to change; 0: none */
    size_t most;      /* the most bytes per call; 0: no limit */
    const char *word; /* plain text that must not be seen; NULL: no check */
    bool seen;
} wire;

static ssize_t wire_recv(int fd, void *data, size_t size)
{
    ssize_t got = recv(fd, data, size, MSG_DONTWAIT);
    return got > 0 ? got : got == 0 ? -ENOTCONN : -errno;
}

static ssize_t wire_send(int fd, const void *data, size_t size)
{
    size = wire.most && size > wire.most ? wire.most : size;
    char *copy = mem_alloc(size);
    memcpy(copy, data, size);
    if (wire.spoil > wire.passed && wire.spoil <= wire.passed + size)
        copy[wire.spoil - wire.passed - 1] ^= 1;
    if (wire.word && memmem(copy, size, wire.word, strlen(wire.word)))
        wire.seen = true;
    ssize_t sent = send(fd, copy, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    free(copy);
    wire.passed += sent > 0 ? (size_t)sent : 0;
    return sent < 0 ? -errno : sent;
}

struct ends {
    struct tls_stream_context *keyed;
    int fds[2];
    struct tls_stream *streams[2]; /* the first is the client */
};

static int setup(void **state)
{
    static const struct tls_stream_io WIRE = {.recv = wire_recv, .send = wire_send};
    struct ends *ends = mem_zalloc(sizeof(*ends));
    struct err err = ERR_INIT;
    memset(&wire, 0, sizeof(wire));
    assert_int_equal(tls_stream_context_new(&WIRE, &ends->keyed, &err), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends->fds), 0);
    *state = ends;
    return 0;
}

static int teardown(void **state)
{
    struct ends *ends = *state;
    for (int i = 0; i < 2; i++) {
        tls_stream_free(ends->streams[i]);
        if (ends->fds[i] >= 0)
            close(ends->fds[i]);
    }
    tls_stream_context_free(ends->keyed);
    free(ends);
    return 0;
}

static void open_with(struct ends *ends, const char *client_key, const char *server_key)
{
    ends->streams[0] =
        tls_stream_new(ends->keyed, ends->fds[0], true, (const unsigned char *)client_key);
    ends->streams[1] =
        tls_stream_new(ends->keyed, ends->fds[1], false, (const unsigned char *)server_key);
}

static const char KEY[] = "a key of thirty-two bytes, or so",
                  OTHER[] = "a key of thirty-two bytes, of no";

/* Runs both handshakes alternately until both have a result. */
static void shake(struct ends *ends, int ret[2])
{
    ret[0] = ret[1] = -EAGAIN;
    for (int i = 0; ret[0] == -EAGAIN || ret[1] == -EAGAIN; i = !i)
        if (ret[i] == -EAGAIN)
            ret[i] = tls_stream_handshake(ends->streams[i]);
}

static void connect_both(struct ends *ends)
{
    int results[2];
    open_with(ends, KEY, KEY);
    shake(ends, results);
    assert_int_equal(results[0], 0);
    assert_int_equal(results[1], 0);
}

/* Sends all of `data` from one end to the other. Returns 0, or the first error of either end. */
static int carry(struct ends *ends, int from, const char *data, char *ret, size_t size)
{
    for (size_t sent = 0, got = 0; got < size;) {
        ssize_t moved = 0;
        if (sent < size) {
            moved = tls_stream_send(ends->streams[from], data + sent, size - sent);
            if (moved < 0 && moved != -EAGAIN)
                return (int)moved;
            sent += moved > 0 ? (size_t)moved : 0;
        }
        moved = tls_stream_recv(ends->streams[!from], ret + got, size - got);
        if (moved < 0 && moved != -EAGAIN)
            return (int)moved;
        got += moved > 0 ? (size_t)moved : 0;
    }
    return 0;
}

static char *some_bytes(size_t size)
{
    char *bytes = mem_alloc(size);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)(i * 2654435761u >> 13);
    return bytes;
}

static void carry_much(struct ends *ends)
{
    char *data = some_bytes(PLENTY), *copy = mem_zalloc(PLENTY);
    for (int from = 0; from < 2; from++) {
        memset(copy, 0, PLENTY);
        assert_int_equal(carry(ends, from, data, copy, PLENTY), 0);
        assert_memory_equal(copy, data, PLENTY);
    }
    free(data);
    free(copy);
}

static void sent_bytes_arrive_unchanged(void **state)
{
    struct ends *ends = *state;
    connect_both(ends);
    carry_much(ends);
    char byte;
    assert_int_equal(tls_stream_recv(ends->streams[0], &byte, 1), -EAGAIN);
    assert_int_equal(tls_stream_recv(ends->streams[1], &byte, 1), -EAGAIN);
    assert_non_null(strstr(tls_stream_cipher(ends->streams[0]), "TLS_"));
}

static void short_reads_and_writes_work(void **state)
{
    struct ends *ends = *state;
    int small = 4096;
    wire.most = 1000;
    setsockopt(ends->fds[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
    setsockopt(ends->fds[1], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
    connect_both(ends);
    carry_much(ends);
}

static void keys_are_renewed_during_a_transfer(void **state)
{
    struct ends *ends = *state;
    tls_stream_context_set_rekey_limit(ends->keyed, 3);
    connect_both(ends);
    carry_much(ends);
}

static void plain_text_is_not_visible_on_the_wire(void **state)
{
    struct ends *ends = *state;
    char ret[64];
    wire.word = "nobody must know";
    connect_both(ends);
    assert_int_equal(carry(ends, 0, wire.word, ret, strlen(wire.word)), 0);
    assert_memory_equal(ret, wire.word, strlen(wire.word));
    assert_false(wire.seen);
    assert_int_equal(wire_send(ends->fds[0], wire.word, strlen(wire.word)), strlen(wire.word));
    assert_true(wire.seen); /* the check works */
}

static void a_different_key_is_rejected(void **state)
{
    struct ends *ends = *state;
    int results[2];
    open_with(ends, KEY, OTHER);
    shake(ends, results);
    assert_int_equal(results[0], -EBADMSG);
    assert_int_equal(results[1], -EBADMSG);
    char byte = 0;
    assert_int_equal(tls_stream_send(ends->streams[0], &byte, 1), -EBADMSG);
}

static void a_changed_bit_is_detected(void **state)
{
    struct ends *ends = *state;
    connect_both(ends);
    char *data = some_bytes(PLENTY), *copy = mem_zalloc(PLENTY);
    wire.spoil = wire.passed + PLENTY / 2;
    assert_int_equal(carry(ends, 0, data, copy, PLENTY), -EBADMSG);
    /* The other side gets an error, too. */
    char byte;
    assert_int_equal(tls_stream_recv(ends->streams[0], &byte, 1), -EBADMSG);
    free(data);
    free(copy);
}

static void the_end_of_the_stream_is_reported(void **state)
{
    struct ends *ends = *state;
    char byte = 1;
    connect_both(ends);
    assert_int_equal(tls_stream_send(ends->streams[0], &byte, 1), 1);
    close(ends->fds[0]);
    ends->fds[0] = -1;
    byte = 0;
    assert_int_equal(tls_stream_recv(ends->streams[1], &byte, 1), 1);
    assert_int_equal(byte, 1);
    assert_int_equal(tls_stream_recv(ends->streams[1], &byte, 1), -ENOTCONN);
}

static void bytes_without_tls_are_rejected(void **state)
{
    struct ends *ends = *state;
    open_with(ends, KEY, KEY);
    assert_int_equal(wire_send(ends->fds[0], "GET / HTTP/1.1\r\n\r\n", 18), 18);
    assert_int_equal(tls_stream_handshake(ends->streams[1]), -EBADMSG);
}

/* The first 32 bytes of test case 1 in RFC 5869. */
static void hkdf_matches_rfc_5869(void **state)
{
    static const unsigned char OKM[TLS_KEY_SIZE] = {0x3c, 0xb2, 0x5f, 0x25, 0xfa, 0xac, 0xd5, 0x7a,
                                                    0x90, 0x43, 0x4f, 0x64, 0xd0, 0x36, 0x2f, 0x2a,
                                                    0x2d, 0x2d, 0x0a, 0x90, 0xcf, 0x1a, 0x5a, 0x4c,
                                                    0x5d, 0xb0, 0x2d, 0x56, 0xec, 0xc4, 0xc5, 0xbf};
    unsigned char secret[22], salt[13], info[10], ret[TLS_KEY_SIZE];
    struct err err = ERR_INIT;
    memset(secret, 0x0b, sizeof(secret));
    for (size_t i = 0; i < sizeof(salt); i++)
        salt[i] = (unsigned char)i;
    for (size_t i = 0; i < sizeof(info); i++)
        info[i] = (unsigned char)(0xf0 + i);
    assert_int_equal(
        tls_hkdf(secret, sizeof(secret), salt, sizeof(salt), info, sizeof(info), ret, &err), 0);
    assert_memory_equal(ret, OKM, sizeof(OKM));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sent_bytes_arrive_unchanged, setup, teardown),
        cmocka_unit_test_setup_teardown(short_reads_and_writes_work, setup, teardown),
        cmocka_unit_test_setup_teardown(keys_are_renewed_during_a_transfer, setup, teardown),
        cmocka_unit_test_setup_teardown(plain_text_is_not_visible_on_the_wire, setup, teardown),
        cmocka_unit_test_setup_teardown(a_different_key_is_rejected, setup, teardown),
        cmocka_unit_test_setup_teardown(a_changed_bit_is_detected, setup, teardown),
        cmocka_unit_test_setup_teardown(the_end_of_the_stream_is_reported, setup, teardown),
        cmocka_unit_test_setup_teardown(bytes_without_tls_are_rejected, setup, teardown),
        cmocka_unit_test(hkdf_matches_rfc_5869),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
