/* Tests the messages of Go's decoder for invalid JSON. Each message was recorded from Go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "kube/schema/json_syntax_error.h"

static void messages_match_those_of_go(void **state)
{
    static const struct {
        const char *text, *complaint;
    } CASES[] = {
        {"", "unexpected end of JSON input"},
        {" ", "unexpected end of JSON input"},
        {"{", "unexpected end of JSON input"},
        {"{\"a\"", "unexpected end of JSON input"},
        {"{\"a\":", "unexpected end of JSON input"},
        {"[1,", "unexpected end of JSON input"},
        {"\"abc", "unexpected end of JSON input"},
        {"tru", "invalid character ' ' in literal true (expecting 'e')"},
        {"-", "invalid character ' ' in numeric literal"},
        {"\"\\", "invalid character ' ' in string escape code"},
        {"not json", "invalid character 'o' in literal null (expecting 'u')"},
        {"trUe", "invalid character 'U' in literal true (expecting 'u')"},
        {"falsy", "invalid character 'y' in literal false (expecting 'e')"},
        {"hello", "invalid character 'h' looking for beginning of value"},
        {"[,]", "invalid character ',' looking for beginning of value"},
        {"[1,]", "invalid character ']' looking for beginning of value"},
        {"{a:1}", "invalid character 'a' looking for beginning of object key string"},
        {"{\"a\":1,}", "invalid character '}' looking for beginning of object key string"},
        {"{\"a\" 1}", "invalid character '1' after object key"},
        {"{\"a\":1 \"b\"}", "invalid character '\"' after object key:value pair"},
        {"[1 2]", "invalid character '2' after array element"},
        {"{} x", "invalid character 'x' after top-level value"},
        {"\"a\nb\"", "invalid character '\\n' in string literal"},
        {"\"\\x\"", "invalid character 'x' in string escape code"},
        {"\"\\u12G4\"", "invalid character 'G' in \\u hexadecimal character escape"},
        {"-x", "invalid character 'x' in numeric literal"},
        {"1.x", "invalid character 'x' after decimal point in numeric literal"},
        {"1ex", "invalid character 'x' in exponent of numeric literal"},
        {"012", "invalid character '1' after top-level value"},
        {"'a'", "invalid character '\\'' looking for beginning of value"},
        {"\\", "invalid character '\\\\' looking for beginning of value"},
        {"\x01", "invalid character '\\x01' looking for beginning of value"},
        {"\xc3\xa4", "invalid character '\xc3\x83' looking for beginning of value"},
        {"{\"a\":[1,-2.5e+3,true,false,null,\"\\u00e4\\n\"]}", NULL},
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        const char *complaint = kube_json_syntax_error(arena, CASES[i].text, strlen(CASES[i].text));
        if (CASES[i].complaint)
            assert_string_equal(complaint, CASES[i].complaint);
        else
            assert_null(complaint);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(messages_match_those_of_go)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
