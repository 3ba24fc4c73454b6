/* Tests bulk data through an upgraded TLS connection in each direction, with SPDY and with SPDY
 * inside WebSocket. Every byte arrives, and while one side is slow the other waits instead of using
 * more memory. 5 MB per direction, times TRAINYARD_TEST_SCALE. The client is a thread that
 * blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "net/http/server.h"
#include "net/http/websocket_handshake.h"
#include "net/stream/spdy.h"
#include "net/stream/spdy_session.h"
#include "net/stream/websocket.h"
#include "net/stream/websocket_stream.h"
#include "test_scale.h"
#include "tls/tls.h"

#include <arpa/inet.h>
#include <malloc.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    PIECE = 32 * 1024,
    HIGH = 256 * 1024,     /* unread bytes at the client, above which the server waits */
    GULP = 1024 * 1024,    /* bytes that the server reads before it pauses the client */
    MEMORY_MAX = 16 << 20, /* limit of the kept memory */
    REST_MS = 20,
};

static const char PROTOCOL[] = "bulk.test";

struct world {
    struct loop *loop;
    struct http_server *server;
    struct tls_server *tls;
    int port;
    bool within_websocket;
    uint64_t size;
    struct spdy_session *session;
    struct spdy_stream *stream;
    /* Data from the client. */
    uint64_t taken, hash;
    uint64_t gulp;          /* bytes since the last pause */
    struct loop_timer rest; /* ends the pause of a slow reader */
    size_t pauses;
    size_t unwanted, unwanted_max; /* bytes that arrived during a pause */
    /* Data to the client. */
    uint64_t given;
    bool giving;
    size_t waits, pending_max, memory_max;
    struct loop_task client_done;
};

/* Fills in the bytes that either side sends, from position `at` on. */
static void fill(char *data, size_t size, uint64_t at)
{
    for (size_t i = 0; i < size; i++)
        data[i] = (char)hash_mix((at + i) / 7);
}

static uint64_t hash_of(uint64_t size)
{
    static char data[PIECE];
    uint64_t hash = HASH_FNV_START;
    for (uint64_t at = 0; at < size; at += PIECE) {
        size_t piece = size - at < PIECE ? (size_t)(size - at) : PIECE;
        fill(data, piece, at);
        hash = hash_fnv1a(hash, data, piece);
    }
    return hash;
}

/* ---- the server ------------------------------------------------------------------------------ */

static void check_memory(struct world *world)
{
    struct mallinfo2 info = mallinfo2();
    size_t now = info.uordblks + info.hblkhd;
    if (now > world->memory_max)
        world->memory_max = now;
}

static void deliver(struct world *world)
{
    char data[PIECE];
    while (world->giving && world->given < world->size) {
        if (spdy_session_pending(world->session) > HIGH) {
            world->waits++;
            return;
        }
        size_t left = (size_t)(world->size - world->given);
        size_t piece = left < PIECE ? left : PIECE;
        fill(data, piece, world->given);
        spdy_stream_write(world->stream, data, piece);
        world->given += piece;
        size_t pending = spdy_session_pending(world->session);
        if (pending > world->pending_max)
            world->pending_max = pending;
        check_memory(world);
    }
    if (world->giving && world->given == world->size) {
        world->giving = false;
        spdy_stream_end(world->stream);
    }
}

static void on_pause_end(struct loop_timer *timer)
{
    struct world *world = CONTAINER_OF(timer, struct world, rest);
    if (world->stream)
        spdy_stream_pause(world->stream, false);
}

static void on_stream_data(void *context, const char *data, size_t size)
{
    struct world *world = context;
    world->hash = hash_fnv1a(world->hash, data, size);
    world->taken += size;
    world->gulp += size;
    check_memory(world);
    if (world->rest.running)
        world->unwanted += size;
    if (world->unwanted > world->unwanted_max)
        world->unwanted_max = world->unwanted;
    if (world->gulp < GULP || world->rest.running)
        return;
    world->unwanted = 0;
    world->gulp = 0;
    world->pauses++;
    spdy_stream_pause(world->stream, true);
    loop_timer_start(&world->rest, REST_MS);
}

/* The client has sent everything. Now the server sends. */
static void on_stream_end(void *context)
{
    struct world *world = context;
    world->giving = true;
    deliver(world);
}

static void on_stream_reset(void *context)
{
    struct world *world = context;
    loop_timer_stop(&world->rest);
    world->stream = spdy_stream_free(world->stream);
}

static void on_stream(void *context, struct spdy_stream *stream, const struct http_header *headers)
{
    static const struct spdy_stream_handler HANDLER = {on_stream_data, on_stream_end,
                                                       on_stream_reset};
    struct world *world = context;
    world->stream = stream;
    spdy_stream_accept(stream, &HANDLER, world);
}

static void on_drain(void *context)
{
    deliver(context);
}

static void on_session_end(void *context, const struct err *err)
{
}

static void on_session_closed(void *context)
{
    ((struct world *)context)->session = NULL;
}

static void handler(struct http_exchange *exchange, void *context)
{
    static const struct spdy_session_handler HANDLER = {on_stream, on_drain, on_session_end,
                                                        on_session_closed};
    struct world *world = context;
    struct stream *line;
    if (world->within_websocket) {
        assert_int_equal(websocket_upgrade(exchange, PROTOCOL, &line, NULL), 0);
        line = websocket_stream_new(world->loop, line);
    } else {
        assert_int_equal(http_upgrade(exchange, "SPDY/3.1", NULL, &line, NULL), 0);
    }
    world->session = spdy_session_new(line, &HANDLER, world);
}

/* ---- the client ------------------------------------------------------------------------------ */

struct client {
    int fd;
    SSL *ssl;
    bool within_websocket;
    struct websocket_reader websocket;
    struct spdy_reader spdy;
    uint64_t taken, hash;
    bool ended;
};

static void write_all(struct client *client, const void *data, size_t size)
{
    while (size) {
        int sent = SSL_write(client->ssl, data, (int)size);
        assert_true(sent > 0);
        data = (const char *)data + sent;
        size -= (size_t)sent;
    }
}

static void send_bytes(struct client *client, const char *data, size_t size)
{
    static const unsigned char MASK[] = {0xa5, 0x3c, 0x77, 0x01};
    static char masked[2 * PIECE];
    char head[WEBSOCKET_HEAD_MAX];
    if (!client->within_websocket) {
        write_all(client, data, size);
        return;
    }
    write_all(client, head, websocket_write_head(head, WEBSOCKET_BINARY, true, size, MASK));
    websocket_mask(MASK, 0, data, size, masked);
    write_all(client, masked, size);
}

static void take_spdy(struct client *client, const char *data, size_t size)
{
    while (size) {
        struct spdy_frame frame;
        size_t used;
        enum spdy_result result = spdy_read(&client->spdy, data, size, &used, &frame, NULL);
        assert_int_not_equal(result, SPDY_BROKEN);
        if (result == SPDY_MORE)
            return;
        if (frame.type == SPDY_DATA) {
            client->hash = hash_fnv1a(client->hash, frame.data, frame.size);
            client->taken += frame.size;
            client->ended = frame.fin;
        }
        data += used;
        size -= used;
    }
}

static void take_bytes(struct client *client, const char *data, size_t size)
{
    struct websocket_piece piece;
    size_t used;
    if (!client->within_websocket)
        take_spdy(client, data, size);
    for (; client->within_websocket && size; data += used, size -= used)
        if (websocket_read(&client->websocket, data, size, &used, &piece, NULL) == WEBSOCKET_PIECE)
            take_spdy(client, piece.data, piece.size);
}

static void ask(struct client *client)
{
    static const char SPDY[] = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n"
                               "Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n";
    static const char WEBSOCKET[] = "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n"
                                    "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                                    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                                    "Sec-WebSocket-Protocol: bulk.test\r\n\r\n";
    const char *request = client->within_websocket ? WEBSOCKET : SPDY;
    char head[1000] = "";
    write_all(client, request, strlen(request));
    for (size_t size = 0; !strstr(head, "\r\n\r\n"); size++)
        assert_int_equal(SSL_read(client->ssl, head + size, 1), 1);
    assert_memory_equal(head, "HTTP/1.1 101", 12);
}

static void send_all(struct client *client, uint64_t size)
{
    static char data[SPDY_HEAD_SIZE + PIECE];
    struct spdy_writer writer;
    _cleanup_buf_ struct buf frame;
    spdy_writer_init(&writer);
    buf_init(&frame, 4096);
    spdy_write_syn_stream(&writer, &frame, 1, false, NULL);
    send_bytes(client, frame.data, frame.size);
    spdy_writer_release(&writer);
    for (uint64_t at = 0; at < size; at += PIECE) {
        size_t piece = size - at < PIECE ? (size_t)(size - at) : PIECE;
        spdy_write_data_head(data, 1, at + piece == size, piece);
        fill(data + SPDY_HEAD_SIZE, piece, at);
        send_bytes(client, data, SPDY_HEAD_SIZE + piece);
    }
}

static void *client_main(void *argument)
{
    struct world *world = argument;
    struct client *client = mem_zalloc(sizeof(*client));
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)world->port)};
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    client->within_websocket = world->within_websocket;
    client->hash = HASH_FNV_START;
    client->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(client->fd, (struct sockaddr *)&address, sizeof(address)), 0);
    client->ssl = SSL_new(context);
    SSL_set_fd(client->ssl, client->fd);
    assert_int_equal(SSL_connect(client->ssl), 1);
    websocket_reader_init(&client->websocket, WEBSOCKET_SERVER, UINT64_MAX);
    spdy_reader_init(&client->spdy);
    ask(client);
    send_all(client, world->size);
    while (!client->ended) {
        /* A slow reader: it reads little at a time, and does more work than the server. */
        char data[4096];
        int size = SSL_read(client->ssl, data, sizeof(data));
        assert_true(size > 0);
        take_bytes(client, data, (size_t)size);
    }
    assert_int_equal(client->taken, world->size);
    assert_int_equal(client->hash, hash_of(world->size));
    spdy_reader_release(&client->spdy);
    SSL_free(client->ssl);
    close(client->fd);
    SSL_CTX_free(context);
    free(client);
    loop_post(world->loop, &world->client_done);
    return NULL;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void on_closed(void *context)
{
    loop_stop(((struct world *)context)->loop);
}

static void on_client_done(struct loop_task *task)
{
    struct world *world = CONTAINER_OF(task, struct world, client_done);
    http_server_close(world->server, on_closed, world);
}

static void transfer_both_ways(bool within_websocket)
{
    static const char *const hosts[] = {"127.0.0.1", NULL};
    struct world world = {
        .within_websocket = within_websocket,
        .size = (uint64_t)test_scale() * 5 * 1000 * 1000 + 1,
        .hash = HASH_FNV_START,
        .client_done.callback = on_client_done,
    };
    struct http_server_options options = {0};
    struct tls_pair ca = {0}, pair = {0};
    pthread_t thread;
    assert_int_equal(loop_new(&world.loop, NULL), 0);
    loop_timer_init(world.loop, &world.rest, on_pause_end);
    tls_make_ca("ca", 1, &ca, NULL);
    tls_make_cert(&ca, "server", hosts, 1, &pair, NULL);
    assert_int_equal(tls_server_new(pair.cert_pem, pair.key_pem, &world.tls, NULL), 0);
    options.tls = world.tls;
    assert_int_equal(http_listen("127.0.0.1", 0, &options.listen_fd, &world.port, NULL), 0);
    assert_int_equal(http_server_new(world.loop, &options, handler, &world, &world.server, NULL),
                     0);
    struct mallinfo2 before = mallinfo2();
    pthread_create(&thread, NULL, client_main, &world);
    loop_run(world.loop);
    pthread_join(thread, NULL);
    assert_int_equal(world.taken, world.size);
    assert_int_equal(world.hash, hash_of(world.size));
    assert_true(world.pauses >= world.size / GULP / 2);
    assert_in_range(world.unwanted_max, 0, 2 * PIECE); /* at most the bytes of one read */
    assert_true(world.waits > 0);
    assert_in_range(world.pending_max, 1, HIGH + 2 * PIECE);
    assert_true(world.memory_max < before.uordblks + before.hblkhd + MEMORY_MAX);
    assert_null(world.session);
    loop_free(world.loop);
    tls_server_free(world.tls);
    tls_pair_release(&ca);
    tls_pair_release(&pair);
}

static void bulk_data_with_spdy(void **state)
{
    transfer_both_ways(false);
}

static void bulk_data_with_spdy_within_websocket(void **state)
{
    transfer_both_ways(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bulk_data_with_spdy),
        cmocka_unit_test(bulk_data_with_spdy_within_websocket),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
