/* Tests Base64: the test vectors of RFC 4648, and input that must be rejected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base64.h"

#include <string.h>

static const struct {
    const char *plain, *text;
} VECTORS[] = {
    {"", ""},
    {"f", "Zg=="},
    {"fo", "Zm8="},
    {"foo", "Zm9v"},
    {"foob", "Zm9vYg=="},
    {"fooba", "Zm9vYmE="},
    {"foobar", "Zm9vYmFy"},
};

static void encodes_and_decodes(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    for (size_t i = 0; i < sizeof(VECTORS) / sizeof(VECTORS[0]); i++) {
        size_t size = strlen(VECTORS[i].plain);
        assert_string_equal(base64_encode(arena, VECTORS[i].plain, size), VECTORS[i].text);
        char *back = NULL;
        size_t back_size = 99;
        assert_int_equal(base64_decode(arena, VECTORS[i].text, &back, &back_size, NULL), 0);
        assert_int_equal(back_size, size);
        assert_string_equal(back, VECTORS[i].plain);
    }
}

static void url_form_rejects_other_spellings(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    char *back = NULL;
    size_t size = 0;
    assert_string_equal(base64_encode_url(arena, "\xfb\xff\xfe!", 4), "-__-IQ");
    assert_int_equal(base64_decode_url(arena, "-__-IQ", &back, &size, NULL), 0);
    assert_int_equal(size, 4);
    assert_memory_equal(back, "\xfb\xff\xfe!", 4);
    static const char *const refused[] = {"-__-IQ==", "-__-IR", "+//+IQ", "-__-I", "-_ _-IQ", "="};
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        assert_int_not_equal(base64_decode_url(arena, refused[i], &back, &size, NULL), 0);
}

static void keeps_every_byte(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    char all[256], *back;
    size_t size;
    for (size_t i = 0; i < sizeof(all); i++)
        all[i] = (char)i;
    assert_int_equal(
        base64_decode(arena, base64_encode(arena, all, sizeof(all)), &back, &size, NULL), 0);
    assert_int_equal(size, sizeof(all));
    assert_memory_equal(back, all, sizeof(all));
}

static void skips_white_space(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    char *back;
    assert_int_equal(base64_decode(arena, " Zm9v\nYmFy\r\n", &back, NULL, NULL), 0);
    assert_string_equal(back, "foobar");
}

static void rejects_invalid_base64(void **state)
{
    static const char *const BAD[] = {"Z", "Zg=", "Zg===", "Z*==", "Zg==Zg==", "====", "-_8="};
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        char *back = NULL;
        assert_int_equal(base64_decode(arena, BAD[i], &back, NULL, NULL), -ERR_BAD_REQUEST);
        assert_null(back);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encodes_and_decodes),
        cmocka_unit_test(url_form_rejects_other_spellings),
        cmocka_unit_test(keeps_every_byte),
        cmocka_unit_test(skips_white_space),
        cmocka_unit_test(rejects_invalid_base64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
