/* Port forwarding from the request to the pod's bytes: the test is kubectl on one side and the pod
 * on the other, both on streams in memory and in virtual time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api_line.h"

#include "base/mem.h"
#include "engine/engine.h"
#include "kube/object.h"
#include "loop/sim/sim_loop.h"
#include "net/http_connection.h"
#include "net/spdy.h"
#include "net/websocket.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONNECTS_MAX = 8 };

struct connect {
    int port;
    engine_connect_done *done;
    void *context;
    bool canceled;
};

struct world {
    struct loop *loop;
    struct store *store;
    struct engine *engine;
    struct http_service service;
    struct memory_stream *peer; /* kubectl's line */
    bool peer_closed;
    bool tunnels; /* it is WebSocket's, with SPDY within */
    struct websocket_reader tunnel;
    struct spdy_writer writer;
    struct spdy_reader reader;
    struct connect connects[CONNECTS_MAX];
    int connect_count;
    struct memory_stream *pod; /* the pod's line, once there */
    bool pod_closed;
};

/* ---- the pod --------------------------------------------------------------------------------- */

static void *on_connect(void *context, const struct json *pod, int port, engine_connect_done *done,
                        void *done_context)
{
    struct world *world = context;
    struct connect *connect = &world->connects[world->connect_count++];
    assert_string_equal(kube_meta_name(pod), "x");
    *connect = (struct connect){port, done, done_context, false};
    return connect;
}

static void on_connect_cancel(void *connect)
{
    ((struct connect *)connect)->canceled = true;
}

static void run(struct world *world)
{
    sim_loop_run_for(world->loop, API_LINE_RUN_MS);
}

static void connected(struct world *world, int number)
{
    struct connect *connect = &world->connects[number];
    world->pod = memory_stream_new(world->loop, &world->pod_closed);
    connect->done(connect->context, &world->pod->stream, NULL);
    run(world);
}

/* ---- kubectl --------------------------------------------------------------------------------- */

static void on_connection_closed(struct http_service *service)
{
}

static void new_line(struct world *world)
{
    world->peer = memory_stream_new(world->loop, &world->peer_closed);
    http_connection_new(&world->service, &world->peer->stream, "test:1");
}

static int ask(struct world *world, const char *method, const char *path, const char *headers)
{
    return api_line_ask(world->loop, world->peer, method, path, headers);
}

static void put(struct world *world, const char *method, const char *path, const char *body)
{
    api_line_put(world->loop, world->peer, method, path, body);
}

#define PATH  "/api/v1/namespaces/default/pods/x/portforward"
#define OFFER "Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n"
#define WEBSOCKET                                                                                  \
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"                   \
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define V1 "X-Stream-Protocol-Version: portforward.k8s.io\r\n"

static void upgrade(struct world *world)
{
    assert_int_equal(ask(world, "POST", PATH, OFFER V1), 101);
    assert_non_null(
        strstr(world->peer->out.data, "X-Stream-Protocol-Version: portforward.k8s.io\r\n"));
    buf_clear(&world->peer->out);
    world->peer->taken = 0;
}

static const unsigned char MASK[] = {9, 8, 7, 6};

/* In a tunnel: in messages of a few bytes, cut where nothing begins. */
static void send_bytes(struct world *world, const char *data, size_t size)
{
    enum { CUT = 5 };
    if (!world->tunnels) {
        memory_stream_send(world->peer, data, size);
        return;
    }
    for (size_t at = 0; at < size; at += CUT) {
        char head[WEBSOCKET_HEAD_MAX], body[CUT];
        size_t piece = size - at < CUT ? size - at : CUT;
        websocket_mask(MASK, 0, data + at, piece, body);
        memory_stream_send(world->peer, head,
                           websocket_write_head(head, WEBSOCKET_BINARY, true, piece, MASK));
        memory_stream_send(world->peer, body, piece);
    }
}

/* What came, in a tunnel or not. */
static void receive_bytes(struct world *world, struct buf *ret)
{
    const struct buf *out = &world->peer->out;
    struct websocket_piece piece;
    if (!world->tunnels)
        buf_append(ret, out->data, out->size);
    for (size_t at = 0, used; world->tunnels && at < out->size; at += used) {
        assert_int_equal(
            websocket_read(&world->tunnel, out->data + at, out->size - at, &used, &piece, NULL),
            WEBSOCKET_PIECE);
        assert_int_equal(piece.opcode, WEBSOCKET_BINARY);
        buf_append(ret, piece.data, piece.size);
    }
    buf_clear(&world->peer->out);
    world->peer->taken = 0;
}

static void open_stream(struct world *world, uint32_t id, const char *type, const char *port,
                        const char *request_id)
{
    struct http_header number = {"requestid", request_id, NULL};
    struct http_header where = {"port", port, request_id ? &number : NULL};
    const struct http_header what = {"streamtype", type, &where};
    _cleanup_buf_ struct buf frame;
    buf_init(&frame, 4096);
    spdy_write_syn_stream(&world->writer, &frame, id, false, &what);
    send_bytes(world, frame.data, frame.size);
}

static void send_data(struct world *world, uint32_t id, const char *text, bool fin)
{
    char head[SPDY_HEAD_SIZE];
    spdy_write_data_head(head, id, fin, strlen(text));
    send_bytes(world, head, sizeof(head));
    send_bytes(world, text, strlen(text));
    run(world);
}

/* As kubectl opens a connection: the error stream, ended at once, then the data stream. */
static void open_pair(struct world *world, uint32_t id, const char *port, const char *request_id)
{
    open_stream(world, id, "error", port, request_id);
    send_data(world, id, "", true);
    open_stream(world, id + 2, "data", port, request_id);
    run(world);
}

static const char *heard(struct world *world)
{
    static char text[4096];
    char *end = text;
    _cleanup_buf_ struct buf out;
    buf_init(&out, 1 << 26);
    receive_bytes(world, &out);
    const char *at = out.data;
    size_t left = out.size, used;
    struct spdy_frame frame;
    *end = '\0';
    while (left && spdy_read(&world->reader, at, left, &used, &frame, NULL) == SPDY_FRAME) {
        size_t room = sizeof(text) - (size_t)(end - text);
        if (frame.type == SPDY_DATA)
            end += snprintf(end, room, "%u:%.*s%s ", (unsigned)frame.stream, (int)frame.size,
                            frame.data, frame.fin ? "." : "");
        else if (frame.type != SPDY_SYN_REPLY)
            end += snprintf(end, room, "%s %u ",
                            frame.type == SPDY_RST_STREAM ? "reset"
                            : frame.type == SPDY_GOAWAY   ? "goaway"
                                                          : "?",
                            (unsigned)frame.stream);
        at += used;
        left -= used;
    }
    return text;
}

/* ---- fixture --------------------------------------------------------------------------------- */

static int setup(void **state)
{
    struct world *world = mem_zalloc(sizeof(*world));
    const struct engine_options options = {.token = "secret", .version = "0"};
    const struct store_options store = {0};
    struct engine_pod_backend backend = {
        .connect = on_connect, .connect_cancel = on_connect_cancel, .context = world};
    world->loop = sim_loop_new(3, 1700000000000);
    assert_int_equal(store_open(world->loop, &store, &world->store, NULL), 0);
    assert_int_equal(engine_new(world->loop, world->store, &options, &world->engine, NULL), 0);
    engine_set_pod_backend(world->engine, &backend);
    world->service = (struct http_service){
        .loop = world->loop,
        .handler = engine_handle,
        .context = world->engine,
        .header_max = 10000,
        .body_max = 10000,
        .handshake_timeout_ms = 1000,
        .header_timeout_ms = 1000,
        .body_timeout_ms = 1000,
        .idle_timeout_ms = 100000,
        .on_closed = on_connection_closed,
        .date_second = -1,
    };
    spdy_writer_init(&world->writer);
    spdy_reader_init(&world->reader);
    new_line(world);
    run(world);
    put(world, "POST", "/api/v1/namespaces/default/pods",
        "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"nodeName\":\"n\",\"containers\":[{\"name\":"
        "\"main\",\"image\":\"i\"}]}}");
    *state = world;
    return 0;
}

static void set_phase(struct world *world, const char *phase)
{
    char body[128];
    snprintf(body, sizeof(body), "{\"status\":{\"phase\":\"%s\"}}", phase);
    put(world, "PATCH", "/api/v1/namespaces/default/pods/x/status", body);
}

static int setup_running(void **state)
{
    setup(state);
    set_phase(*state, "Running");
    return 0;
}

static void closed(void *context)
{
    *(bool *)context = true;
}

static int teardown(void **state)
{
    struct world *world = *state;
    bool done = false;
    while (world->service.connections) {
        http_connection_close(world->service.connections);
        run(world);
    }
    if (world->pod)
        assert_true(world->pod_closed);
    engine_free(world->engine);
    store_close(world->store, closed, &done);
    run(world);
    assert_true(done);
    spdy_writer_release(&world->writer);
    spdy_reader_release(&world->reader);
    loop_free(world->loop);
    free(world);
    return 0;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void what_is_no_upgrade_is_refused(void **state)
{
    struct world *world = *state;
    assert_int_equal(ask(world, "POST", PATH, ""), 400);
    assert_int_equal(ask(world, "GET", PATH, ""), 400);
    assert_non_null(strstr(world->peer->out.data, "'Upgrade: SPDY/3.1' or 'Upgrade: websocket'"));
    /* So kubectl comes again with SPDY. */
    assert_int_equal(ask(world, "GET", PATH, WEBSOCKET "Sec-WebSocket-Protocol: v4.test\r\n"), 400);
    assert_non_null(
        strstr(world->peer->out.data, "server accepts [SPDY/3.1+portforward.k8s.io v5"));
    assert_int_equal(
        ask(world, "POST", PATH, OFFER "X-Stream-Protocol-Version: v4.channel.k8s.io\r\n"), 403);
    assert_int_equal(ask(world, "POST", "/api/v1/namespaces/default/pods/y/portforward", OFFER V1),
                     404);
    set_phase(world, "Succeeded");
    assert_int_equal(ask(world, "POST", PATH, OFFER V1), 400);
    assert_non_null(strstr(world->peer->out.data, "Current status=Succeeded"));
}

static void bytes_go_both_ways_and_each_side_ends(void **state)
{
    struct world *world = *state;
    upgrade(world);
    open_pair(world, 1, "8987", "0");
    assert_int_equal(world->connect_count, 1);
    assert_int_equal(world->connects[0].port, 8987);
    send_data(world, 3, "early ", false); /* before there is a connection */
    connected(world, 0);
    send_data(world, 3, "question", true);
    assert_string_equal(world->pod->out.data, "early question");
    assert_true(world->pod->shut);
    memory_stream_send(world->pod, "answer", 6);
    run(world);
    assert_string_equal(heard(world), "3:answer ");
    memory_stream_send_end(world->pod);
    run(world);
    assert_string_equal(heard(world), "1:. 3:. ");
    assert_true(world->pod_closed);
    assert_false(world->peer_closed); /* for the next connection */
}

/* As kubectl asks since 1.31: the same frames of SPDY, in messages cut where they will. */
static void spdy_is_spoken_within_websocket(void **state)
{
    struct world *world = *state;
    assert_int_equal(ask(world, "GET", PATH,
                         WEBSOCKET "Sec-WebSocket-Protocol: SPDY/3.1+portforward.k8s.io\r\n"),
                     101);
    assert_non_null(strstr(world->peer->out.data, "Upgrade: websocket\r\n"));
    assert_non_null(strstr(world->peer->out.data,
                           "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
                           "Sec-WebSocket-Protocol: SPDY/3.1+portforward.k8s.io\r\n"));
    struct memory_stream *line = world->peer;
    world->tunnels = true;
    websocket_reader_init(&world->tunnel, WEBSOCKET_SERVER, 1 << 20);
    buf_clear(&line->out);
    line->taken = 0;
    open_pair(world, 1, "8987", "0");
    assert_int_equal(world->connect_count, 1);
    connected(world, 0);
    send_data(world, 3, "question", false);
    assert_string_equal(world->pod->out.data, "question");
    memory_stream_send(world->pod, "answer", 6);
    run(world);
    assert_string_equal(heard(world), "3:answer ");
    memory_stream_hold(line, true);
    char head[WEBSOCKET_HEAD_MAX];
    memory_stream_send(line, head, websocket_write_head(head, WEBSOCKET_CLOSE, true, 0, MASK));
    run(world);
    assert_true(world->pod_closed);
    assert_memory_equal(line->out.data, "\x88", 2); /* a goodbye without a code */
    memory_stream_hold(line, false);
    run(world);
    assert_true(world->peer_closed);
}

/* ---- channels in WebSocket ------------------------------------------------------------------- */

static int ask_channels(struct world *world, const char *ports, const char *protocol)
{
    char path[256], headers[512];
    snprintf(path, sizeof(path), PATH "%s", ports);
    snprintf(headers, sizeof(headers), WEBSOCKET "Sec-WebSocket-Protocol: %s\r\n", protocol);
    return ask(world, "GET", path, headers);
}

static void send_message(struct world *world, const char *data, size_t size)
{
    char head[WEBSOCKET_HEAD_MAX];
    _cleanup_free_ char *body = mem_alloc(size + 1);
    websocket_mask(MASK, 0, data, size, body);
    memory_stream_send(world->peer, head,
                       websocket_write_head(head, WEBSOCKET_BINARY, true, size, MASK));
    memory_stream_send(world->peer, body, size);
    run(world);
}
#define SEND(world, literal) send_message(world, literal, sizeof(literal) - 1)

/* "0:bytes 1:error close " of what came. */
static const char *heard_channels(struct world *world)
{
    static char text[4096];
    char *end = text;
    const struct buf *out = &world->peer->out;
    struct websocket_piece piece;
    text[0] = '\0';
    for (size_t at = 0, used; at < out->size; at += used) {
        size_t room = sizeof(text) - (size_t)(end - text);
        assert_int_equal(
            websocket_read(&world->tunnel, out->data + at, out->size - at, &used, &piece, NULL),
            WEBSOCKET_PIECE);
        if (piece.opcode == WEBSOCKET_CLOSE)
            end += snprintf(end, room, "close %d ", piece.code);
        else
            end +=
                snprintf(end, room, "%d:%.*s ", piece.data[0], (int)piece.size - 1, piece.data + 1);
    }
    buf_clear(&world->peer->out);
    world->peer->taken = 0;
    return text;
}

/* Asks for two ports, 0x4241 ("AB" on the wire) and 0x4443. */
static void open_channels(struct world *world, const char *protocol)
{
    assert_int_equal(ask_channels(world, "?ports=16961,17475", protocol), 101);
    struct buf *out = &world->peer->out;
    const char *frames = memmem(out->data, out->size, "\r\n\r\n", 4);
    assert_non_null(frames);
    buf_consume(out, (size_t)(frames + 4 - out->data));
    websocket_reader_init(&world->tunnel, WEBSOCKET_SERVER, 1 << 20);
    assert_string_equal(heard_channels(world), "0:AB 1:AB 2:CD 3:CD ");
    assert_int_equal(world->connect_count, 2);
    assert_int_equal(world->connects[0].port, 0x4241);
    assert_int_equal(world->connects[1].port, 0x4443);
}

static void channels_are_pairs_for_ports_that_were_asked_for(void **state)
{
    struct world *world = *state;
    struct memory_stream *line = world->peer;
    struct err err;
    open_channels(world, "v4.channel.k8s.io");
    SEND(world, "\0early ");
    connected(world, 0);
    SEND(world, "\0question");
    SEND(world, "\1nothing is expected here");
    SEND(world, "\7nor here");
    SEND(world, "\xff\0"); /* v4 has no such message */
    send_message(world, "", 0);
    assert_string_equal(world->pod->out.data, "early question");
    assert_false(world->pod->shut);
    memory_stream_send(world->pod, "answer", 6);
    run(world);
    assert_string_equal(heard_channels(world), "0:answer ");
    err_set(&err, ERR_UNAVAILABLE, "refused");
    world->connects[1].done(world->connects[1].context, NULL, &err);
    run(world);
    const char *text = heard_channels(world);
    assert_non_null(strstr(text, "3:error forwarding port 17475 to pod x, uid "));
    SEND(world, "\2to nobody");
    assert_false(world->peer_closed);
    /* With the last connection the session ends. */
    memory_stream_hold(line, true);
    memory_stream_send_end(world->pod);
    run(world);
    assert_true(world->pod_closed);
    assert_string_equal(heard_channels(world), "close 1000 ");
    memory_stream_hold(line, false);
    run(world);
    assert_true(world->peer_closed);
}

static void a_channel_of_v5_can_be_ended(void **state)
{
    struct world *world = *state;
    open_channels(world, "v5.channel.k8s.io, v4.channel.k8s.io");
    connected(world, 0);
    SEND(world, "\0question");
    SEND(world, "\xff\0");
    assert_true(world->pod->shut);
    assert_false(world->pod_closed);
    memory_stream_send(world->pod, "answer", 6);
    run(world);
    assert_string_equal(heard_channels(world), "0:answer ");
    memory_stream_send_end(world->pod);
    run(world);
    assert_true(world->pod_closed);
}

static void a_client_of_channels_may_leave(void **state)
{
    struct world *world = *state;
    open_channels(world, "v4.channel.k8s.io");
    connected(world, 0);
    memory_stream_send_end(world->peer);
    run(world);
    assert_true(world->pod_closed);
    assert_true(world->connects[1].canceled);
    assert_true(world->peer_closed);
}

static void a_pod_that_does_not_read_holds_the_channels(void **state)
{
    enum { SIZE = 60000, COUNT = 50 };
    struct world *world = *state;
    _cleanup_free_ char *piece = mem_zalloc(SIZE + 1);
    open_channels(world, "v4.channel.k8s.io");
    connected(world, 0);
    memory_stream_hold(world->pod, true);
    for (int i = 0; i < COUNT; i++)
        send_message(world, piece, SIZE + 1);
    assert_true(world->pod->out.size < 2 * 1024 * 1024);
    memory_stream_hold(world->pod, false);
    run(world);
    assert_int_equal(world->pod->out.size, COUNT * SIZE);
}

static void channels_need_ports(void **state)
{
    struct world *world = *state;
    static const struct {
        const char *query, *words;
    } rows[] = {
        {"", "query parameter \\\"ports\\\" is required"},
        {"?ports=", "unable to parse \\\"\\\" as a port"},
        {"?ports=80,x", "unable to parse \\\"x\\\" as a port"},
        {"?ports=80&ports=0", "unable to parse \\\"0\\\" as a port"},
        {"?ports=65536", "unable to parse"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        assert_int_equal(ask_channels(world, rows[i].query, "v4.channel.k8s.io"), 400);
        if (!strstr(world->peer->out.data, rows[i].words))
            fail_msg("no '%s' in: %s", rows[i].words, world->peer->out.data);
    }
    _cleanup_buf_ struct buf many;
    buf_init(&many, 4096);
    buf_append_str(&many, "?ports=1");
    for (int i = 0; i < 127; i++)
        buf_append_str(&many, ",1");
    char *path = mem_printf(PATH "%s", many.data);
    assert_int_equal(
        ask(world, "GET", path, WEBSOCKET "Sec-WebSocket-Protocol: v4.channel.k8s.io\r\n"), 400);
    assert_non_null(strstr(world->peer->out.data, "at most 127 ports"));
    free(path);
}

/* ---- SPDY again ------------------------------------------------------------------------------ */

static void the_pod_may_end_first(void **state)
{
    struct world *world = *state;
    upgrade(world);
    open_pair(world, 1, "80", "7");
    connected(world, 0);
    memory_stream_send_end(world->pod);
    run(world);
    assert_string_equal(heard(world), "1:. 3:. ");
    assert_false(world->pod_closed);
    send_data(world, 3, "it still listens", false);
    assert_string_equal(world->pod->out.data, "it still listens");
    send_data(world, 3, "", true);
    assert_true(world->pod_closed);
    assert_string_equal(heard(world), "");
}

static void a_failure_is_told_on_the_error_stream(void **state)
{
    struct world *world = *state;
    upgrade(world);
    open_pair(world, 1, "9999", "0");
    struct err err;
    err_set(&err, ERR_UNAVAILABLE, "cannot connect to localhost:9999 in the pod: refused");
    world->connects[0].done(world->connects[0].context, NULL, &err);
    run(world);
    const char *text = heard(world);
    assert_non_null(strstr(text, "1:error forwarding port 9999 to pod x, uid "));
    assert_non_null(strstr(text, ": cannot connect to localhost:9999 in the pod: refused "));
    assert_non_null(strstr(text, " 1:. 3:. "));
    send_data(world, 3, "to nobody", true);
    assert_string_equal(heard(world), "");
}

static void kubectl_resets(void **state)
{
    struct world *world = *state;
    _cleanup_buf_ struct buf frame;
    buf_init(&frame, 4096);
    upgrade(world);
    open_pair(world, 1, "80", "0");
    open_pair(world, 5, "80", "1");
    connected(world, 0);
    spdy_write_rst_stream(&frame, 3, SPDY_CANCEL);
    spdy_write_rst_stream(&frame, 7, SPDY_CANCEL);
    memory_stream_send(world->peer, frame.data, frame.size);
    run(world);
    assert_true(world->pod_closed);
    assert_true(world->connects[1].canceled);
    assert_string_equal(heard(world), "1:. 5:. ");
}

static void streams_that_are_none_are_refused(void **state)
{
    struct world *world = *state;
    upgrade(world);
    open_stream(world, 1, "resize", "80", "0");
    open_stream(world, 3, "data", "0", "0");
    open_stream(world, 5, "data", "65536", "0");
    run(world);
    assert_string_equal(heard(world), "reset 1 reset 3 reset 5 ");
    /* Half a pair does not wait for ever. */
    open_stream(world, 7, "data", "80", "0");
    sim_loop_run_for(world->loop, 40 * 1000);
    assert_string_equal(heard(world), "reset 7 ");
    assert_int_equal(world->connect_count, 0);
    /* Clients older than the header. */
    open_stream(world, 9, "error", "80", NULL);
    open_stream(world, 11, "data", "80", NULL);
    run(world);
    assert_int_equal(world->connect_count, 1);
}

static void a_pod_that_does_not_read_holds_the_session(void **state)
{
    struct world *world = *state;
    char piece[60001];
    memset(piece, 'x', sizeof(piece) - 1);
    piece[sizeof(piece) - 1] = '\0';
    upgrade(world);
    open_pair(world, 1, "80", "0");
    connected(world, 0);
    memory_stream_hold(world->pod, true);
    for (int i = 0; i < 50; i++)
        send_data(world, 3, piece, false);
    assert_true(world->pod->out.size < 2 * 1024 * 1024);
    memory_stream_hold(world->pod, false);
    run(world);
    assert_int_equal(world->pod->out.size, 50 * (sizeof(piece) - 1));
}

static void a_peer_that_does_not_read_holds_the_pod(void **state)
{
    struct world *world = *state;
    char piece[60000] = "";
    upgrade(world);
    open_pair(world, 1, "80", "0");
    connected(world, 0);
    memory_stream_hold(world->peer, true);
    world->pod->piece = sizeof(piece);
    for (int i = 0; i < 50; i++)
        memory_stream_send(world->pod, piece, sizeof(piece));
    run(world);
    assert_true(world->peer->out.size < 2 * 1024 * 1024);
    memory_stream_hold(world->peer, false);
    run(world);
    assert_true(world->peer->out.size >= 50 * sizeof(piece));
}

static void the_session_ends_with_the_pod(void **state)
{
    struct world *world = *state;
    struct memory_stream *line = world->peer;
    bool *line_closed = &world->peer_closed;
    upgrade(world);
    open_pair(world, 1, "80", "0");
    connected(world, 0);
    heard(world);
    static bool other_closed; /* the connection is closed after the test */
    world->peer = memory_stream_new(world->loop, &other_closed);
    http_connection_new(&world->service, &world->peer->stream, "test:1");
    set_phase(world, "Failed");
    world->peer = line;
    memory_stream_send(world->pod, "last words", 10); /* were on their way */
    run(world);
    assert_string_equal(heard(world), "3:last words ");
    assert_false(*line_closed);
    memory_stream_hold(line, true);
    sim_loop_run_for(world->loop, 10 * 1000);
    assert_string_equal(heard(world), "goaway 3 ");
    memory_stream_hold(line, false);
    run(world);
    assert_true(*line_closed);
    assert_true(world->pod_closed);
}

static void everything_ends_with_the_server(void **state)
{
    struct world *world = *state;
    upgrade(world);
    open_pair(world, 1, "80", "0");
    open_pair(world, 5, "80", "1");
    connected(world, 0);
    http_connection_close(world->service.connections);
    assert_true(world->connects[1].canceled);
    run(world);
    assert_true(world->pod_closed);
    assert_true(world->peer_closed);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup_running, teardown)
    const struct CMUnitTest tests[] = {
        TEST(what_is_no_upgrade_is_refused),
        TEST(bytes_go_both_ways_and_each_side_ends),
        TEST(spdy_is_spoken_within_websocket),
        TEST(channels_are_pairs_for_ports_that_were_asked_for),
        TEST(a_channel_of_v5_can_be_ended),
        TEST(a_client_of_channels_may_leave),
        TEST(a_pod_that_does_not_read_holds_the_channels),
        TEST(channels_need_ports),
        TEST(the_pod_may_end_first),
        TEST(a_failure_is_told_on_the_error_stream),
        TEST(kubectl_resets),
        TEST(streams_that_are_none_are_refused),
        TEST(a_pod_that_does_not_read_holds_the_session),
        TEST(a_peer_that_does_not_read_holds_the_pod),
        TEST(the_session_ends_with_the_pod),
        TEST(everything_ends_with_the_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
