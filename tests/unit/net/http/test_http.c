/* Tests headers, escapes and queries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/http/http.h"
#include "net/http/internal.h"

#include <string.h>

static void headers_are_found_without_case_and_kept_in_order(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct http_header *headers = NULL;
    http_header_add(arena, &headers, "Accept", "a");
    http_header_add(arena, &headers, "accept", "b");
    http_header_add(arena, &headers, "Content-Type", "text/plain");
    assert_string_equal(http_header_get(headers, "ACCEPT"), "a");
    assert_string_equal(http_header_get(headers, "content-type"), "text/plain");
    assert_null(http_header_get(headers, "Content"));
    assert_null(http_header_get(NULL, "Accept"));
    struct http_header *copy = http_headers_copy(arena, headers);
    assert_string_equal(copy->next->value, "b");
    assert_null(copy->next->next->next);
}

static void a_parameter_is_true_unless_its_value_is_false(void **state)
{
    static const char *const on[] = {"f=true", "f=True", "f=1", "f=yes", "f=", "f", "a=0&f=t"};
    static const char *const off[] = {"", "f=false", "f=False", "f=0", "F=true", "ff=true"};
    for (size_t i = 0; i < ARRAY_SIZE(on); i++)
        assert_true(http_query_flag(on[i], "f"));
    for (size_t i = 0; i < ARRAY_SIZE(off); i++)
        assert_false(http_query_flag(off[i], "f"));
    assert_false(http_query_flag(NULL, "f"));
}

static void query_parameters_are_decoded(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const char *query = "command=sh&command=-c&&stdin&labelSelector=a%3Db%2Cc+in+%28d%29&empty=&c"
                        "%6fntainer=x&bad=%zz%4";
    assert_string_equal(http_query_get(arena, query, "labelSelector"), "a=b,c in (d)");
    assert_string_equal(http_query_get(arena, query, "stdin"), "");
    assert_string_equal(http_query_get(arena, query, "empty"), "");
    assert_string_equal(http_query_get(arena, query, "container"), "x");
    assert_string_equal(http_query_get(arena, query, "bad"), "%zz%4");
    assert_string_equal(http_query_get_nth(arena, query, "command", 1), "-c");
    assert_null(http_query_get_nth(arena, query, "command", 2));
    assert_null(http_query_get(arena, query, "comm"));
    assert_null(http_query_get(arena, query, "commands"));
    assert_null(http_query_get(arena, query, ""));
    assert_null(http_query_get(arena, "", "a"));
    assert_null(http_query_get(arena, NULL, "a"));
}

static void an_escaped_nul_never_truncates_a_value(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    assert_string_equal(http_query_get(arena, "a=x%00y", "a"), "x%00y");
}

static void encoding_and_decoding_are_inverse(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    char all[256];
    for (int i = 0; i < 255; i++)
        all[i] = (char)(i + 1);
    all[255] = '\0';
    const char *query = arena_printf(arena, "v=%s", http_query_encode(arena, all));
    assert_string_equal(http_query_get(arena, query, "v"), all);
    const char *path = http_path_encode(arena, all);
    for (const char *c = path; *c; c++)
        assert_true(*c > ' ' && *c < 127 && *c != '?' && *c != '#');
    assert_string_equal(http_percent_decode(arena, path, strlen(path), false), all);
    assert_string_equal(http_path_encode(arena, "/apis/batch/v1"), "/apis/batch/v1");
}

static void a_status_has_a_text(void **state)
{
    assert_string_equal(http_status_text(404), "Not Found");
    assert_string_equal(http_status_text(999), "Unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_are_found_without_case_and_kept_in_order),
        cmocka_unit_test(a_parameter_is_true_unless_its_value_is_false),
        cmocka_unit_test(query_parameters_are_decoded),
        cmocka_unit_test(an_escaped_nul_never_truncates_a_value),
        cmocka_unit_test(encoding_and_decoding_are_inverse),
        cmocka_unit_test(a_status_has_a_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
