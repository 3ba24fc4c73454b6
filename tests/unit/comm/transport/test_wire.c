/* Tests the bytes of the protocol: encoded messages are read back, and everything else is rejected.
 * Also tests the cursor of a stream that several connections share. */
#include "base/mem.h"
#include "comm/ps/wire.h"
#include "comm/transport/secret.h"
#include "comm/transport/shape_text.h"
#include "comm/transport/transfer.h"
#include "comm/transport/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct wire_hello example(void)
{
    struct wire_hello hello = {.version = WIRE_VERSION,
                               .channel = 2,
                               .channels = 3,
                               .listen_port = 4711,
                               .rank = 5,
                               .target = 6,
                               .size = 7,
                               .shape = 0x1122334455667788};
    memset(hello.job, 0xab, sizeof(hello.job));
    memset(hello.nonce, 0xcd, sizeof(hello.nonce));
    return hello;
}

static void a_hello_round_trip(void **state)
{
    struct wire_hello hello = example(), back;
    uint8_t bytes[WIRE_HELLO_SIZE], again[WIRE_HELLO_SIZE];
    struct err err = ERR_INIT;
    wire_hello_encode(&hello, bytes);
    assert_int_equal(wire_hello_decode(bytes, sizeof(bytes), &back, &err), 0);
    assert_int_equal(back.listen_port, 4711);
    assert_int_equal(back.shape, 0x1122334455667788);
    wire_hello_encode(&back, again);
    assert_memory_equal(again, bytes, sizeof(bytes));
}

static void a_wrong_hello_is_rejected(void **state)
{
    struct wire_hello hello = example(), back;
    uint8_t bytes[WIRE_HELLO_SIZE];
    struct err err = ERR_INIT;
    wire_hello_encode(&hello, bytes);
    for (size_t size = 0; size < sizeof(bytes); size++)
        assert_int_equal(wire_hello_decode(bytes, size, &back, &err), -ERR_BAD_REQUEST);
    hello.rank = 7;
    wire_hello_encode(&hello, bytes);
    assert_int_equal(wire_hello_decode(bytes, sizeof(bytes), &back, &err), -ERR_BAD_REQUEST);
    hello.rank = hello.target;
    wire_hello_encode(&hello, bytes);
    assert_int_equal(wire_hello_decode(bytes, sizeof(bytes), &back, &err), -ERR_BAD_REQUEST);
    bytes[0] = 'x';
    assert_int_equal(wire_hello_decode(bytes, sizeof(bytes), &back, &err), -ERR_BAD_REQUEST);
    assert_string_equal(err.message, "it does not speak trainyard's protocol");
}

static void another_version_is_detected_whatever_follows(void **state)
{
    uint8_t bytes[WIRE_HELLO_SIZE] = {0};
    struct wire_hello hello = example(), back;
    struct err err = ERR_INIT;
    wire_hello_encode(&hello, bytes);
    bytes[4] = 200;
    assert_int_equal(wire_hello_decode(bytes, sizeof(bytes), &back, &err), 0);
    assert_int_equal(back.version, 200);
}

static void a_verdict_carries_addresses(void **state)
{
    struct wire_address addresses[3] = {
        {.ip = {1}, .port = 1}, {.ip = {2}, .port = 2}, {.port = 3}};
    struct wire_address back[3];
    uint8_t bytes[WIRE_VERDICT_SIZE + 3 * WIRE_ADDRESS_SIZE];
    enum wire_verdict verdict;
    size_t count;
    struct err err = ERR_INIT;
    wire_verdict_encode(WIRE_ACCEPTED, addresses, 3, bytes);
    assert_int_equal(wire_verdict_decode(bytes, sizeof(bytes), 3, &verdict, back, &count, &err), 0);
    assert_int_equal(count, 3);
    assert_memory_equal(back, addresses, sizeof(back));
    assert_int_equal(wire_verdict_decode(bytes, sizeof(bytes), 2, &verdict, back, &count, &err),
                     -ERR_BAD_REQUEST);
    assert_int_equal(wire_verdict_decode(bytes, sizeof(bytes) - 1, 3, &verdict, back, &count, &err),
                     -ERR_BAD_REQUEST);
}

static void a_proof_depends_on_everything(void **state)
{
    uint8_t a[SECRET_MAC_SIZE], b[SECRET_MAC_SIZE];
    secret_mac("key", 3, "label", "one", 3, "two", 3, a);
    secret_mac("key", 3, "label", "one", 3, "two", 3, b);
    assert_true(secret_mac_equal(a, b));
    secret_mac("kez", 3, "label", "one", 3, "two", 3, b);
    assert_false(secret_mac_equal(a, b));
    secret_mac("key", 3, "labem", "one", 3, "two", 3, b);
    assert_false(secret_mac_equal(a, b));
    secret_mac("key", 3, "label", "onet", 4, "wo", 2, b);
    assert_false(secret_mac_equal(a, b));
}

/* Every byte of the stream belongs to exactly one lane, in order, in runs within one piece. */
static void lanes_cover_a_stream_once(void **state)
{
    static char memory[1 << 20];
    const struct transfer_piece pieces[] = {
        {.at = memory, .size = 100000},          {.at = memory, .size = 0},
        {.at = memory, .size = TRANSFER_STRIPE}, {.at = memory, .size = 4},
        {.at = memory, .size = 3 * 131072},      {.at = memory, .size = 0},
    };
    for (int round = 0; round < 16; round++) {
        bool narrow = round % 2;
        int channels = round / 2 + 1;
        size_t total = (100000 + TRANSFER_STRIPE + 4 + 3 * 131072) >> narrow;
        unsigned char *owners = mem_zalloc(total);
        for (int channel = 0; channel < channels; channel++) {
            struct transfer_cursor cursor;
            transfer_cursor_init(&cursor, pieces, ARRAY_SIZE(pieces), narrow, channel, channels);
            for (size_t run, part = 1; (run = transfer_cursor_run(&cursor));
                 part = part * 7 % 1000) {
                size_t size = run < part ? run : part, in = cursor.position - cursor.start;
                assert_ptr_equal(transfer_cursor_at(&cursor), memory + (narrow ? 2 * in : in));
                for (size_t i = 0; i < size; i++)
                    owners[cursor.position + i]++;
                transfer_cursor_advance(&cursor, size);
            }
            assert_int_equal(cursor.position, total);
        }
        for (size_t i = 0; i < total; i++)
            assert_int_equal(owners[i], 1);
        free(owners);
    }
}

static void the_differing_options_are_named(void **state)
{
    static const struct {
        const char *ours, *peer_shape_text, *text; /* NULL: nothing */
    } ROWS[] = {
        {"--a 1\n--b 2\n", "--a 1\n--b 2\n", NULL},
        {"", "", NULL},
        {"--a 1\n--b 2\n", "--b 3\n--a 1\n", "--b 3 there and 2 here"},
        {"--a 1\n--b 2\n", "--a 1\n", "--b 2 only here"},
        {"--a 1\n", "--a 1\n--b 2", "--b 2 there only"},
        {"--a 1\n", "\n\n \n", "--a 1 only here,   there only,   there only"},
        {"--a 1\n--b 1\n--c 1\n--d 1\n", "--a 2\n--b 2\n--c 2\n--d 2\n",
         "--a 2 there and 1 here, --b 2 there and 1 here, --c 2 there and 1 here"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        char text[256];
        bool differs =
            shape_text_difference(ROWS[i].ours, ROWS[i].peer_shape_text, text, sizeof(text));
        assert_string_equal(text, ROWS[i].text ? ROWS[i].text : "");
        assert_int_equal(differs, ROWS[i].text != NULL);
    }
    uint8_t bytes[WIRE_HEAD_SIZE + WIRE_SHAPE_TEXT_MAX];
    char *back = NULL;
    size_t size = wire_shape_text_encode("--a 1\n\x1b[2J", bytes);
    assert_int_equal(wire_shape_text_decode(bytes, size, &back, NULL), 0);
    assert_string_equal(back, "--a 1\n?[2J");
    free(back);
    assert_int_equal(wire_shape_text_decode(bytes, size - 1, &back, NULL), -ERR_BAD_REQUEST);
}

/* The size in a head decides how much memory the reader reserves. */
static void limits_hold_at_the_last_byte(void **state)
{
    struct err err = ERR_INIT;
    struct wire_frame frame = {.type = WIRE_FRAME_DATA, .size = WIRE_FRAME_MAX}, back;
    uint8_t bytes[WIRE_FRAME_HEAD_SIZE], head[WIRE_VERDICT_SIZE];
    wire_frame_encode(&frame, bytes);
    assert_int_equal(wire_frame_decode(bytes, &back, &err), 0);
    assert_int_equal(back.size, WIRE_FRAME_MAX);
    frame.size++;
    wire_frame_encode(&frame, bytes);
    assert_int_equal(wire_frame_decode(bytes, &back, &err), -ERR_INTERNAL);
    assert_string_equal(err.message, "it sent an invalid frame: type 1, 16385 bytes");

    uint16_t version;
    size_t size;
    wire_verdict_encode(WIRE_ACCEPTED, NULL, 0, head);
    for (size_t over = 0; over < 2; over++) {
        uint32_t word = (uint32_t)(WIRE_MESSAGE_MAX + over) << 8 | WIRE_VERSION;
        memcpy(head + WIRE_HEAD_SIZE - sizeof(word), &word, sizeof(word));
        int result = wire_head_decode(head, &version, &size, &err);
        assert_int_equal(result, over ? -ERR_BAD_REQUEST : 0);
    }
    assert_int_equal(size, WIRE_MESSAGE_MAX);
    assert_string_equal(err.message,
                        "it announces a message of 294977 bytes, which is not a valid size");
}

static void the_shape_text_has_a_limit(void **state)
{
    struct err err = ERR_INIT;
    _cleanup_free_ char *shape_text = mem_zalloc(WIRE_SHAPE_TEXT_MAX + 2), *back = NULL;
    _cleanup_free_ uint8_t *bytes = mem_zalloc(WIRE_HEAD_SIZE + WIRE_SHAPE_TEXT_MAX + 1);
    memset(shape_text, 'x', WIRE_SHAPE_TEXT_MAX);
    size_t whole = wire_shape_text_encode(shape_text, bytes);
    assert_int_equal(whole, WIRE_HEAD_SIZE + WIRE_SHAPE_TEXT_MAX);
    shape_text[WIRE_SHAPE_TEXT_MAX] = 'y'; /* beyond the limit: not sent */
    assert_int_equal(wire_shape_text_encode(shape_text, bytes), whole);
    assert_int_equal(wire_shape_text_decode(bytes, whole, &back, &err), 0);
    assert_int_equal(strlen(back), WIRE_SHAPE_TEXT_MAX);
    assert_null(strchr(back, 'y'));
    char *none = NULL;
    assert_int_equal(wire_shape_text_decode(bytes, whole + 1, &none, &err), -ERR_BAD_REQUEST);
    assert_null(none);
}

static void frames_of_parameter_servers_have_limits(void **state)
{
    static const struct {
        struct ps_frame frame;
        bool fits;
    } rows[] = {
        {{.type = PS_FRAME_DONE, .size = PS_FRAME_MAX}, true},
        {{.type = PS_FRAME_DONE, .size = PS_FRAME_MAX + 1}, false},
        {{.type = PS_FRAME_DENSE_PUSH, .size = PS_FRAME_MAX, .count = PS_FRAME_VALUES_MAX}, true},
        {{.type = PS_FRAME_DENSE_PUSH, .size = PS_FRAME_MAX + 4, .count = PS_FRAME_VALUES_MAX + 1},
         false},
        {{.type = PS_FRAME_DENSE_PULL, .count = PS_FRAME_VALUES_MAX}, true},
        {{.type = PS_FRAME_DENSE_PULL, .count = PS_FRAME_VALUES_MAX + 1}, false},
        {{.type = PS_FRAME_ROWS_PULL, .size = PS_FRAME_MAX, .count = PS_FRAME_MAX / 8}, true},
        {{.type = PS_FRAME_ROWS_PULL, .size = PS_FRAME_MAX + 8, .count = PS_FRAME_MAX / 8 + 1},
         false},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        uint8_t bytes[PS_FRAME_HEAD_SIZE];
        struct err err = ERR_INIT;
        struct ps_frame back;
        ps_frame_encode(&rows[i].frame, bytes);
        int result = ps_frame_decode(bytes, &back, &err);
        if (result != (rows[i].fits ? 0 : -ERR_BAD_REQUEST))
            fail_msg("row %zu: %d %s", i, result, err.message);
    }
}

/* The limits of the variables that a frame or a snapshot may open. */
static void variables_of_parameter_servers_have_limits(void **state)
{
    struct err err = ERR_INIT;
    bool seeded;
    _cleanup_(cleanup_ps_store) struct ps_store *store = ps_store_new(0);
    struct ps_dense_shape shape = {.total = (uint64_t)PS_DENSE_MAX + 1, .count = 1};
    assert_int_equal(ps_store_dense_open(store, &shape, &seeded, &err), -ERR_INVALID);
    shape.total = PS_DENSE_MAX;
    assert_int_equal(ps_store_dense_open(store, &shape, &seeded, &err), 0);
    struct ps_table table = {.dimensions = PS_DIMENSIONS_MAX + 1};
    assert_int_equal(ps_store_table_open(store, 0, &table, &err), -ERR_INVALID);
    table.dimensions = PS_DIMENSIONS_MAX;
    for (size_t i = 0; i < PS_TABLES_MAX; i++)
        assert_int_equal(ps_store_table_open(store, i, &table, &err), 0);
    assert_int_equal(ps_store_table_open(store, PS_TABLES_MAX, &table, &err), -ERR_TOO_MANY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hello_round_trip),
        cmocka_unit_test(a_wrong_hello_is_rejected),
        cmocka_unit_test(another_version_is_detected_whatever_follows),
        cmocka_unit_test(a_verdict_carries_addresses),
        cmocka_unit_test(a_proof_depends_on_everything),
        cmocka_unit_test(lanes_cover_a_stream_once),
        cmocka_unit_test(the_differing_options_are_named),
        cmocka_unit_test(limits_hold_at_the_last_byte),
        cmocka_unit_test(the_shape_text_has_a_limit),
        cmocka_unit_test(frames_of_parameter_servers_have_limits),
        cmocka_unit_test(variables_of_parameter_servers_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
