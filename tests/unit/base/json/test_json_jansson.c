/* Compares our JSON with jansson, on generated trees and on broken texts: both accept the same
 * texts, and each parses the output of the other to the same tree. */
#include "base/json/json.h"

#include "base/mem.h"
#include "base/rand.h"
#include "base/utf8.h"
#include "jansson_peer.h"
#include "test_arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *draw_text(struct rand *rand, size_t *ret_size)
{
    size_t count = rand_below(rand, 20), size = 0;
    char *text = arena_alloc(arena, count * 4 + 1);
    for (size_t i = 0; i < count; i++) {
        uint32_t limit = (uint32_t[]){0x20, 0x80, 0x800, 0x10000, 0x110000}[rand_below(rand, 5)];
        uint32_t c = 1 + (uint32_t)rand_below(rand, limit - 1);
        if (c >= 0xd800 && c <= 0xdfff)
            c = 'x';
        size += utf8_encode(c, text + size);
    }
    text[size] = '\0';
    *ret_size = size;
    return text;
}

static struct json *draw_tree(struct rand *rand, int depth)
{
    size_t size;
    const char *text;
    switch (rand_below(rand, depth > 0 ? 8 : 6)) {
    case 0:
        return json_null(arena);
    case 1:
        return json_bool(arena, rand_below(rand, 2));
    case 2:
        return json_int(arena, (int64_t)(rand_next(rand) >> rand_below(rand, 64)) *
                                   (rand_below(rand, 2) ? 1 : -1));
    case 3:
        return json_real(arena,
                         rand_normal(rand) * (double[]){1, 1e-7, 1e12, 1e300}[rand_below(rand, 4)]);
    case 4:
    case 5:
        text = draw_text(rand, &size);
        return json_string_n(arena, text, size);
    default: {
        bool is_object = rand_below(rand, 2);
        struct json *list = is_object ? json_object(arena) : json_array(arena);
        for (uint64_t left = rand_below(rand, 12); left; left--) {
            struct json *child = draw_tree(rand, depth - 1);
            if (is_object)
                json_set(arena, list, draw_text(rand, &size), child);
            else
                json_append(list, child);
        }
        return list;
    }
    }
}

static void test_trees(void **state)
{
    struct rand rand;
    rand_init(&rand, 1);
    for (int i = 0; i < 2000; i++) {
        arena_reset(arena);
        struct json *tree = draw_tree(&rand, 5), *back;
        const char *text = json_to_string(arena, tree);
        void *peer = peer_read(text, strlen(text));
        if (!peer)
            fail_msg("the peer refuses %s", text);
        _cleanup_free_ char *theirs = peer_write(peer);
        struct err err = ERR_INIT;
        if (json_parse(arena, theirs, strlen(theirs), NULL, &back, &err) < 0)
            fail_msg("%s: %s", err.message, theirs);
        if (!json_equal(tree, back))
            fail_msg("%s\nbecame\n%s", text, theirs);
        _cleanup_buf_ struct buf pretty;
        buf_init(&pretty, 1 << 24);
        json_write_pretty(tree, &pretty);
        void *again = peer_read(pretty.data, pretty.size);
        assert_true(again && peer_equal(peer, again));
        peer_free(again);
        peer_free(peer);
    }
}

/* jansson differs on purpose: it rejects integers beyond int64, and allows NUL characters. */
static bool is_known_difference(const struct err *err, bool ours)
{
    return ours || strstr(err->message, "NUL character");
}

static bool has_large_integer(const struct json *json)
{
    if (json->type == JSON_REAL && !strpbrk(json->text, ".eE"))
        return true;
    JSON_EACH (item, json)
        if (has_large_integer(item))
            return true;
    return false;
}

static void test_broken_texts(void **state)
{
    static const char BYTES[] = "{}[]\",:\\u0123.eE-+ \ntrflsan\x80\xe2\xff";
    struct rand rand;
    rand_init(&rand, 2);
    int accepted = 0;
    for (int i = 0; i < 20000; i++) {
        arena_reset(arena);
        const char *text = json_to_string(arena, draw_tree(&rand, 3));
        size_t size = strlen(text);
        char *broken = arena_strndup(arena, text, size);
        for (uint64_t changes = 1 + rand_below(&rand, 3); changes && size; changes--) {
            size_t at = rand_below(&rand, size);
            if (rand_below(&rand, 3) == 0) {
                memmove(broken + at, broken + at + 1, size - at - 1);
                size--;
            } else {
                broken[at] = BYTES[rand_below(&rand, sizeof(BYTES) - 1)];
            }
        }
        struct json *json;
        struct err err = ERR_INIT;
        bool ours = json_parse(arena, broken, size, NULL, &json, &err) == 0;
        void *peer = peer_read(broken, size);
        accepted += ours;
        if (ours != (peer != NULL) && !(ours && has_large_integer(json)) &&
            !is_known_difference(&err, ours))
            fail_msg("%.*s: we %s, the peer %s", (int)size, broken, ours ? "accept" : err.message,
                     peer ? "accepts" : "refuses");
        peer_free(peer);
    }
    assert_in_range(accepted, 1000, 19000); /* both outcomes occurred often enough */
}

int main(void)
{
    if (!peer_load())
        return 77; /* skipped */
    const struct CMUnitTest tests[] = {
        TEST(test_trees),
        TEST(test_broken_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
