/* Tests forms with files: requests of browsers and curl, and input that breaks a careless
 * parser. */
#include "serve/multipart.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct multipart_part *parts;
static size_t count;
static struct err err;

static int parse(struct arena *arena, const char *type, const char *body)
{
    err = ERR_INIT;
    return multipart_parse(arena, type, body, strlen(body), &parts, &count, &err);
}

static void file_and_field_are_parsed(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    (void)state;
    assert_int_equal(
        parse(arena, "multipart/form-data; boundary=\"x y\"",
              "--x y\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a "
              "\\\"b\\\".png\"\r\n"
              "Content-Type: image/png\r\n\r\nab\r\ncd\r\n"
              "--x y\r\ncontent-disposition: form-data; name=name\r\n\r\nAda\r\n--x y--\r\n"),
        0);
    assert_int_equal(count, 2);
    assert_string_equal(parts[0].name, "file");
    assert_string_equal(parts[0].filename, "a \"b\".png");
    assert_string_equal(parts[0].content_type, "image/png");
    assert_int_equal(parts[0].size, 6);
    assert_memory_equal(parts[0].data, "ab\r\ncd", 6);
    assert_string_equal(parts[1].name, "name");
    assert_string_equal(parts[1].filename, "");
    assert_int_equal(parts[1].size, 3);
}

static void empty_part_is_parsed(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    (void)state;
    assert_int_equal(
        parse(
            arena, "multipart/form-data; boundary=b",
            "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"\"\r\n\r\n\r\n--b--"),
        0);
    assert_int_equal(count, 1);
    assert_int_equal(parts[0].size, 0);
}

static void preamble_is_skipped(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    (void)state;
    assert_int_equal(
        parse(arena, "multipart/form-data; boundary=b", "hello\r\n--b\r\n\r\nx\r\n--b--"), 0);
    assert_int_equal(count, 1);
    assert_int_equal(parts[0].size, 1);
}

static void malformed_forms_are_rejected(void **state)
{
    static const struct {
        const char *type, *body, *says;
    } CASES[] = {
        {"application/json", "{}", "send the picture as a form"},
        {"multipart/form-data", "", "boundary is missing"},
        {"multipart/form-data; boundary=", "", "boundary is missing"},
        {"multipart/form-data; boundary=b", "", "does not contain its boundary"},
        {"multipart/form-data; boundary=b", "--b", "ends in the middle"},
        {"multipart/form-data; boundary=b", "--bx\r\n\r\n", "not followed by a line break"},
        {"multipart/form-data; boundary=b", "--b\r\nA: b\r\n", "have no end"},
        {"multipart/form-data; boundary=b", "--b\r\n\r\ndata", "last boundary is missing"},
        {"multipart/form-data; boundary=b", "--b\r\n\r\ndata\r\n--b", "ends in the middle"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        assert_true(parse(arena, CASES[i].type, CASES[i].body) < 0);
        if (!strstr(err.message, CASES[i].says))
            fail_msg("'%s' does not say '%s'", err.message, CASES[i].says);
    }
}

static void too_many_parts_are_rejected(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    (void)state;
    for (int more = 0; more <= 1; more++) {
        char body[1024] = "--b";
        for (int i = 0; i < MULTIPART_PARTS_MAX + more; i++)
            strcat(body, "\r\n\r\nx\r\n--b");
        strcat(body, "--");
        assert_int_equal(parse(arena, "multipart/form-data; boundary=b", body),
                         more ? -ERR_BAD_REQUEST : 0);
    }
    assert_non_null(strstr(err.message, "too many parts"));
}

/* The limit and one past it. */
static void boundary_length_is_limited(void **state)
{
    enum { LONGEST = 70 };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    (void)state;
    for (int size = LONGEST; size <= LONGEST + 1; size++) {
        char boundary[LONGEST + 2] = "";
        memset(boundary, 'b', (size_t)size);
        const char *body = arena_printf(arena, "--%s\r\n\r\nx\r\n--%s--", boundary, boundary);
        assert_int_equal(
            parse(arena, arena_printf(arena, "multipart/form-data; boundary=%s", boundary), body),
            size > LONGEST ? -ERR_BAD_REQUEST : 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_and_field_are_parsed),
        cmocka_unit_test(empty_part_is_parsed),
        cmocka_unit_test(preamble_is_skipped),
        cmocka_unit_test(malformed_forms_are_rejected),
        cmocka_unit_test(too_many_parts_are_rejected),
        cmocka_unit_test(boundary_length_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
