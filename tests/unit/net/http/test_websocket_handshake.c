/* Tests the WebSocket handshake: the example of RFC 6455, and one row per possible mistake of a
 * client. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "net/http/websocket_handshake.h"

#include <string.h>

#define KEY "dGhlIHNhbXBsZSBub25jZQ=="

static void the_accept_key_matches_rfc_6455(void **state)
{
    char accept[WEBSOCKET_ACCEPT_SIZE];
    assert_int_equal(websocket_accept_key(KEY, accept, NULL), 0);
    assert_string_equal(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

struct row {
    const char *method, *connection, *upgrade, *version, *key, *protocol;
    const char *says; /* NULL: accepted */
};

static void wrong_handshake_requests_are_rejected(void **state)
{
    static const struct row ROWS[] = {
        {"GET", "Upgrade", "websocket", "13", KEY, "v5.test", NULL},
        {"GET", "keep-alive, upgrade", "WebSocket", "13", KEY, "v4.test, v5.test", NULL},
        {"POST", "Upgrade", "websocket", "13", KEY, "v5.test", "needs a GET"},
        {"GET", "keep-alive", "websocket", "13", KEY, "v5.test", "'Connection: Upgrade'"},
        {"GET", "Upgrade", "SPDY/3.1", "13", KEY, "v5.test", "'Upgrade: websocket'"},
        {"GET", "Upgrade", "websocket", "8", KEY, "v5.test", "version 8 is not supported"},
        {"GET", "Upgrade", "websocket", NULL, KEY, "v5.test", "version '' is not supported"},
        {"GET", "Upgrade", "websocket", "13", NULL, "v5.test", "Sec-WebSocket-Key"},
        {"GET", "Upgrade", "websocket", "13", "dGhlIHNhbXBsZQ==", "v5.test", "16 bytes"},
        {"GET", "Upgrade", "websocket", "13", "?", "v5.test", "16 bytes"},
        {"GET", "Upgrade", "websocket", "13", KEY, "v4.test",
         "client supports [v4.test], server accepts [v5.test]"},
        {"GET", "Upgrade", "websocket", "13", KEY, "v5.testing", "server accepts [v5.test]"},
        {"GET", "Upgrade", "websocket", "13", KEY, NULL,
         "client supports [], server accepts [v5.test]"},
    };
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        const struct row *row = &ROWS[i];
        struct arena *arena = arena_new();
        struct http_request request = {.method = row->method};
        const char *const values[][2] = {{"Connection", row->connection},
                                         {"Upgrade", row->upgrade},
                                         {"Sec-WebSocket-Version", row->version},
                                         {"Sec-WebSocket-Key", row->key},
                                         {"Sec-WebSocket-Protocol", row->protocol}};
        for (size_t j = 0; j < sizeof(values) / sizeof(values[0]); j++)
            if (values[j][1])
                http_header_add(arena, &request.headers, values[j][0], values[j][1]);
        struct err err = ERR_INIT;
        assert_int_equal(websocket_check(&request, "v5.test", &err) == 0, !row->says);
        if (row->says && !strstr(err.message, row->says))
            fail_msg("row %zu: %s", i, err.message);
        arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_accept_key_matches_rfc_6455),
        cmocka_unit_test(wrong_handshake_requests_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
