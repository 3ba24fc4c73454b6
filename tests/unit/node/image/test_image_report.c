/* Tests what a node reports about the images of its machine. */
#include "node_test.h"

#include "node/image/report.h"

static const char *report(struct arena *arena, const char *table)
{
    return json_to_string(arena, image_report(arena, read_json(arena, table)));
}

static void largest_image_is_reported_first(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    assert_string_equal(report(arena, "{}"), "[]");
    assert_string_equal(
        report(arena, "{'old':['/bin/true'],'cmd:1':{'command':['/bin/true']},"
                      "'small:1':{'digest':'sha256:a','size':10},"
                      "'large:1':{'digest':'sha256:b','manifest':'sha256:m','size':30}}"),
        quoted(arena,
               "[{'names':['large@sha256:m','large:1'],'sizeBytes':30},"
               "{'names':['small:1'],'sizeBytes':10},{'names':['cmd:1']},{'names':['old']}]"));
}

static void names_with_one_digest_are_one_image(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    assert_string_equal(report(arena, "{'a:1':{'digest':'sha256:a','size':10},"
                                      "'b':{'digest':'sha256:b','size':20},"
                                      "'c:2':{'digest':'sha256:a','size':10}}"),
                        quoted(arena, "[{'names':['b'],'sizeBytes':20},"
                                      "{'names':['a:1','c:2'],'sizeBytes':10}]"));
}

static void report_has_the_limits_of_the_kubelet(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *table = json_object(arena);
    for (int i = 0; i < IMAGE_REPORT_MAX + 1; i++) {
        struct json *row = json_ensure_object(arena, table, arena_printf(arena, "x%d", i));
        json_set_int(arena, row, "size", 100 + i);
    }
    for (int i = 0; i < IMAGE_REPORT_NAMES_MAX + 1; i++) {
        struct json *row = json_ensure_object(arena, table, arena_printf(arena, "same:%d", i));
        json_set_string(arena, row, "digest", "sha256:a");
        json_set_int(arena, row, "size", 1000);
    }
    const struct json *images = image_report(arena, table), *first = json_first(images);
    assert_int_equal(json_count(images), IMAGE_REPORT_MAX);
    assert_int_equal(json_count(json_get(first, "names")), IMAGE_REPORT_NAMES_MAX);
    JSON_EACH (image, images)
        assert_true(json_get_int(image, "sizeBytes", 0) >= 102); /* the smallest are left out */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(largest_image_is_reported_first),
        cmocka_unit_test(names_with_one_digest_are_one_image),
        cmocka_unit_test(report_has_the_limits_of_the_kubelet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
