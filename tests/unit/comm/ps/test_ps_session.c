/* Tests the connection of one worker at the server, over a socket pair. A worker that floods it is
 * not read from and costs no more memory than one message. Messages may arrive in pieces, and an
 * invalid message ends the connection. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "comm/ps/session.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { DIMENSIONS = 64, IDS = 1000 };

struct pair {
    struct ps_store *store;
    struct ps_session *session;
    int worker; /* the worker's end */
};

static void pair_init(struct pair *pair)
{
    static const struct handshake_identity NOBODY = {.size = 2};
    struct err err = ERR_INIT;
    int ends[2];
    const struct ps_table table = {.dimensions = DIMENSIONS, .update = {.rule = PS_SGD}};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    pair->store = ps_store_new(0);
    pair->worker = ends[1];
    pair->session = ps_session_new(ends[0], &NOBODY, 0);
    ps_session_begin(pair->session, pair->store, 0);
    assert_int_equal(ps_store_table_open(pair->store, 0, &table, &err), 0);
}

static void pair_release(struct pair *pair)
{
    ps_session_free(pair->session);
    ps_store_free(pair->store);
    close(pair->worker);
}

static size_t make(struct ps_frame frame, const void *body, uint8_t *ret)
{
    ps_frame_encode(&frame, ret);
    if (body)
        memcpy(ret + PS_FRAME_HEAD_SIZE, body, frame.size);
    return PS_FRAME_HEAD_SIZE + ps_frame_padded(frame.size);
}

static size_t make_pull(uint32_t sequence, uint8_t *ret)
{
    int64_t ids[IDS];
    for (int i = 0; i < IDS; i++)
        ids[i] = i;
    return make(
        (struct ps_frame){
            .type = PS_FRAME_ROWS_PULL, .sequence = sequence, .count = IDS, .size = sizeof(ids)},
        ids, ret);
}

static size_t make_attach(uint8_t *ret)
{
    return make((struct ps_frame){.type = PS_FRAME_ATTACH, .count = PS_WIRE_VERSION}, NULL, ret);
}

static size_t read_all(int fd, uint8_t *ret, size_t size)
{
    size_t at = 0;
    ssize_t got;
    while (at < size && (got = read(fd, ret + at, size - at)) > 0)
        at += (size_t)got;
    return at;
}

static void a_flood_is_not_read(void **state)
{
    struct pair pair;
    struct err err = ERR_INIT;
    static uint8_t bytes[PS_FRAME_HEAD_SIZE + IDS * 8];
    pair_init(&pair);
    size_t size = make_attach(bytes);
    assert_int_equal(write(pair.worker, bytes, size), size);
    assert_int_equal(ps_session_progress(pair.session, &err), 0);
    assert_int_equal(read_all(pair.worker, bytes, PS_FRAME_HEAD_SIZE), PS_FRAME_HEAD_SIZE);
    /* Sends requests without reading answers, until nothing more can be sent. */
    uint32_t asked = 0;
    size_t sent = 0;
    for (;;) {
        if (sent == 0)
            size = make_pull(asked + 1, bytes);
        ssize_t written = write(pair.worker, bytes + sent, size - sent);
        if (written < 0) {
            assert_int_equal(errno, EAGAIN);
            assert_int_equal(ps_session_progress(pair.session, &err), 0);
            if (write(pair.worker, bytes + sent, 1) < 0)
                break;
            written = 1;
        }
        sent += (size_t)written;
        if (sent == size) {
            sent = 0;
            asked++;
        }
        assert_true(asked < 100000);
    }
    assert_int_equal(ps_session_events(pair.session), EPOLLOUT);
    size_t answer = PS_FRAME_HEAD_SIZE + (size_t)IDS * DIMENSIONS * sizeof(float);
    assert_true(pair.session->out.size <= answer + (64 << 10));
    assert_true(pair.session->in.size <= 2 * (64 << 10));
    /* When the worker reads, it gets all answers in order. */
    uint8_t *rows = mem_alloc(answer);
    size_t have = 0;
    for (uint32_t next = 1; next <= asked;) {
        have += read_all(pair.worker, rows + have, answer - have);
        if (have < answer) {
            assert_int_equal(ps_session_progress(pair.session, &err), 0);
            continue;
        }
        struct ps_frame frame;
        assert_int_equal(ps_frame_decode(rows, &frame, &err), 0);
        assert_int_equal(frame.type, PS_FRAME_DONE);
        assert_int_equal(frame.sequence, next++);
        have = 0;
    }
    free(rows);
    pair_release(&pair);
}

static void a_message_may_come_in_pieces(void **state)
{
    struct pair pair;
    struct err err = ERR_INIT;
    static uint8_t bytes[4 * (PS_FRAME_HEAD_SIZE + IDS * 8)];
    static uint8_t answers[2 * PS_FRAME_HEAD_SIZE + IDS * DIMENSIONS * 4];
    pair_init(&pair);
    size_t size = make_attach(bytes);
    size += make_pull(7, bytes + size);
    for (size_t at = 0; at < size; at++) {
        assert_int_equal(write(pair.worker, bytes + at, 1), 1);
        assert_int_equal(ps_session_progress(pair.session, &err), 0);
    }
    size_t have = 0;
    while (have < sizeof(answers)) {
        have += read_all(pair.worker, answers + have, sizeof(answers) - have);
        assert_int_equal(ps_session_progress(pair.session, &err), 0);
    }
    struct ps_frame frame;
    assert_int_equal(ps_frame_decode(answers + PS_FRAME_HEAD_SIZE, &frame, &err), 0);
    assert_int_equal(frame.sequence, 7);
    pair_release(&pair);
}

/* An answer longer than a part and than the socket buffer, after another answer that is not sent
 * yet. */
static void an_answer_in_parts_is_complete(void **state)
{
    struct pair pair;
    struct err err = ERR_INIT;
    static uint8_t bytes[2 * PS_FRAME_HEAD_SIZE + IDS * 8];
    static uint8_t answers[2 * PS_FRAME_HEAD_SIZE + IDS * DIMENSIONS * 4];
    static float gradients[IDS][DIMENSIONS];
    int64_t ids[IDS];
    pair_init(&pair);
    for (int i = 0; i < IDS; i++) {
        ids[i] = i;
        for (int j = 0; j < DIMENSIONS; j++)
            gradients[i][j] = (float)(i * DIMENSIONS + j);
    }
    assert_int_equal(ps_store_rows_push(pair.store, 0, ids, IDS, gradients[0], -1, &err), 0);
    size_t size = make_attach(bytes);
    size += make_pull(2, bytes + size);
    assert_int_equal(write(pair.worker, bytes, size), size);
    size_t have = 0;
    while (have < sizeof(answers)) {
        assert_int_equal(ps_session_progress(pair.session, &err), 0);
        have += read_all(pair.worker, answers + have, sizeof(answers) - have);
    }
    struct ps_frame frame;
    assert_int_equal(ps_frame_decode(answers + PS_FRAME_HEAD_SIZE, &frame, &err), 0);
    assert_int_equal(frame.count, IDS);
    assert_memory_equal(answers + 2 * (size_t)PS_FRAME_HEAD_SIZE, gradients, sizeof(gradients));
    pair_release(&pair);
}

static void a_request_that_must_wait_is_answered_later(void **state)
{
    struct pair pair;
    struct err err = ERR_INIT;
    uint8_t bytes[4 * PS_FRAME_HEAD_SIZE];
    pair_init(&pair);
    size_t size = make_attach(bytes);
    size += make((struct ps_frame){.type = PS_FRAME_SAVE, .sequence = 2}, NULL, bytes + size);
    size += make((struct ps_frame){.type = PS_FRAME_COUNT, .sequence = 3, .first = 9}, NULL,
                 bytes + size);
    assert_int_equal(write(pair.worker, bytes, size), size);
    assert_int_equal(ps_session_progress(pair.session, &err), 0);
    assert_int_equal(pair.session->state, PS_SESSION_WAITING);
    assert_int_equal(ps_session_events(pair.session), 0);
    assert_int_equal(read_all(pair.worker, bytes, sizeof(bytes)), PS_FRAME_HEAD_SIZE);
    ps_session_resume(pair.session, NULL);
    assert_int_equal(ps_session_progress(pair.session, &err), 0);
    assert_int_equal(read_all(pair.worker, bytes, sizeof(bytes)), 2 * PS_FRAME_HEAD_SIZE);
    struct ps_frame frame;
    assert_int_equal(ps_frame_decode(bytes, &frame, &err), 0);
    assert_int_equal(frame.sequence, 2);
    assert_int_equal(ps_frame_decode(bytes + PS_FRAME_HEAD_SIZE, &frame, &err), 0);
    assert_int_equal(frame.sequence, 3);
    assert_int_equal(frame.first, 9);
    pair_release(&pair);
}

static void an_invalid_message_ends_the_connection(void **state)
{
    struct pair pair;
    struct err err = ERR_INIT;
    uint8_t bytes[PS_FRAME_HEAD_SIZE];
    pair_init(&pair);
    memset(bytes, 0xee, sizeof(bytes));
    assert_int_equal(write(pair.worker, bytes, sizeof(bytes)), sizeof(bytes));
    assert_int_equal(ps_session_progress(pair.session, &err), -ERR_BAD_REQUEST);
    assert_non_null(strstr(err.message, "invalid message: type 4008636142"));
    pair_release(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flood_is_not_read),
        cmocka_unit_test(a_message_may_come_in_pieces),
        cmocka_unit_test(an_answer_in_parts_is_complete),
        cmocka_unit_test(a_request_that_must_wait_is_answered_later),
        cmocka_unit_test(an_invalid_message_ends_the_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
