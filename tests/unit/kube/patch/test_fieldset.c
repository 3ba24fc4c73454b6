/* Tests sets of paths: reading and writing FieldsV1, and the set operations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kube/patch/fieldset.h"
#include "read_json.h"

#include <string.h>

static struct fieldset read_set(struct arena *arena, const char *text)
{
    struct fieldset set;
    struct err err = ERR_INIT;
    if (fieldset_from_json(arena, read_json(arena, text), &set, &err) < 0)
        fail_msg("%s: %s", text, err.message);
    return set;
}

static const char *text_of(struct arena *arena, struct fieldset set)
{
    return json_to_string(arena, fieldset_to_json(arena, set));
}

static void writes_in_the_order_of_kubernetes(void **state)
{
    static const struct {
        const char *text, *canonical; /* NULL: the same text */
    } SAMPLES[] = {
        {"{}", NULL},
        {"{'f:a':{},'f:b':{'.':{},'f:c':{}}}", NULL},
        /* sorted by name, "." first */
        {"{'f:b':{'f:c':{},'.':{}},'f:a':{}}", "{'f:a':{},'f:b':{'.':{},'f:c':{}}}"},
        /* fields, then keys, values, indexes */
        {"{'i:0':{},'v:1':{},'k:{\\\"a\\\":1}':{},'f:z':{}}",
         "{'f:z':{},'k:{\\\"a\\\":1}':{},'v:1':{},'i:0':{}}"},
        /* numbers by value, before texts, before booleans, before null */
        {"{'v:null':{},'v:true':{},'v:false':{},'v:\\\"1\\\"':{},'v:10':{},'v:9':{},'v:9.5':{}}",
         "{'v:9':{},'v:9.5':{},'v:10':{},'v:\\\"1\\\"':{},'v:false':{},'v:true':{},'v:null':{}}"},
        {"{'k:{\\\"port\\\":443}':{},'k:{\\\"port\\\":80}':{}}",
         "{'k:{\\\"port\\\":80}':{},'k:{\\\"port\\\":443}':{}}"},
        /* the fields of a key are sorted, so two keys may become one */
        {"{'k:{ \\\"b\\\": 2, \\\"a\\\":1}':{'f:x':{}},'k:{\\\"a\\\":1,\\\"b\\\":2}':{'f:y':{}}}",
         "{'k:{\\\"a\\\":1,\\\"b\\\":2}':{'f:x':{},'f:y':{}}}"},
        {"{'k:{\\\"b\\\":2,\\\"a\\\":1}':{'f:x':{}},'k:{\\\"a\\\":1,\\\"b\\\":2}':{}}",
         "{'k:{\\\"a\\\":1,\\\"b\\\":2}':{'.':{},'f:x':{}}}"},
        /* unknown entries are left out; a parent with nothing else below it becomes a member */
        {"{'f:a':{'z:future':{'f:b':{}}},'q:x':{}}", "{'f:a':{}}"},
        {"{'f:a':{'.':{}}}", "{'f:a':{}}"},
        {"{'f:':{},'f:f:x':{}}", NULL},
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    (void)state;
    for (size_t i = 0; i < sizeof(SAMPLES) / sizeof(SAMPLES[0]); i++) {
        const char *canonical = SAMPLES[i].canonical ? SAMPLES[i].canonical : SAMPLES[i].text;
        assert_string_equal(text_of(arena, read_set(arena, SAMPLES[i].text)),
                            quoted(arena, canonical));
    }
}

static void rejects_invalid_field_sets(void **state)
{
    static const char *const SAMPLES[] = {
        "[]",
        "{'a':{}}",
        "{'':{}}",
        "{'fx':{}}",
        "{'f:a':1}",
        "{'f:a':{'f:b':[]}}",
        "{'k:':{}}",
        "{'k:{}':{}}",
        "{'k:[1]':{}}",
        "{'k:{\\\"a\\\":{}}':{}}",
        "{'k:{\\\"a\\\":1} ,':{}}",
        "{'v:':{}}",
        "{'v:[]':{}}",
        "{'v:1 2':{}}",
        "{'i:x':{}}",
        "{'i:99999999999999999999':{}}",
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    (void)state;
    for (size_t i = 0; i < sizeof(SAMPLES) / sizeof(SAMPLES[0]); i++) {
        struct fieldset set;
        struct err err = ERR_INIT;
        if (fieldset_from_json(arena, read_json(arena, SAMPLES[i]), &set, &err) == 0)
            fail_msg("%s was read", SAMPLES[i]);
        assert_int_equal(err.code, ERR_BAD_REQUEST);
    }
}

typedef struct fieldset combination(struct arena *arena, struct fieldset a, struct fieldset b);

static void combines_field_sets(void **state)
{
    static const struct {
        combination *combine;
        const char *a, *b, *result;
    } SAMPLES[] = {
        {fieldset_union, "{'f:a':{},'f:c':{'f:d':{}}}", "{'f:b':{},'f:c':{'.':{},'f:e':{}}}",
         "{'f:a':{},'f:b':{},'f:c':{'.':{},'f:d':{},'f:e':{}}}"},
        {fieldset_union, "{}", "{'f:b':{}}", "{'f:b':{}}"},
        {fieldset_union, "{'f:a':{'f:b':{}}}", "{'f:a':{}}", "{'f:a':{'.':{},'f:b':{}}}"},
        {fieldset_intersection, "{'f:a':{},'f:c':{'.':{},'f:d':{},'f:e':{}},'f:z':{}}",
         "{'f:c':{'f:e':{}},'f:z':{'f:y':{}}}", "{'f:c':{'f:e':{}}}"},
        {fieldset_intersection, "{'f:a':{'f:b':{}}}", "{'f:a':{'f:c':{}}}", "{}"},
        {fieldset_difference, "{'f:a':{},'f:c':{'.':{},'f:d':{},'f:e':{}}}",
         "{'f:c':{'f:d':{}},'f:x':{}}", "{'f:a':{},'f:c':{'.':{},'f:e':{}}}"},
        /* Members below stay. */
        {fieldset_difference, "{'f:c':{'.':{},'f:d':{}}}", "{'f:c':{}}", "{'f:c':{'f:d':{}}}"},
        {fieldset_difference, "{'f:c':{'f:d':{}}}", "{'f:c':{'f:d':{}}}", "{}"},
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    (void)state;
    for (size_t i = 0; i < sizeof(SAMPLES) / sizeof(SAMPLES[0]); i++) {
        struct fieldset a = read_set(arena, SAMPLES[i].a), b = read_set(arena, SAMPLES[i].b);
        struct fieldset result = SAMPLES[i].combine(arena, a, b);
        assert_string_equal(text_of(arena, result), quoted(arena, SAMPLES[i].result));
        /* The operations do not change their arguments. */
        assert_true(fieldset_equal(a, read_set(arena, SAMPLES[i].a)));
        assert_true(fieldset_equal(b, read_set(arena, SAMPLES[i].b)));
        assert_int_equal(fieldset_is_empty(result), strcmp(SAMPLES[i].result, "{}") == 0);
    }
}

static void sets_with_the_same_paths_are_equal(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    (void)state;
    struct fieldset set = read_set(arena, "{'f:a':{},'f:b':{'f:c':{}}}");
    assert_true(fieldset_equal(set, read_set(arena, "{'f:b':{'f:c':{}},'f:a':{}}")));
    assert_false(fieldset_equal(set, read_set(arena, "{'f:a':{},'f:b':{'.':{},'f:c':{}}}")));
    assert_false(fieldset_equal(set, read_set(arena, "{'f:a':{}}")));
    assert_false(fieldset_equal(set, read_set(arena, "{'f:a':{},'f:b':{}}")));
    assert_true(fieldset_equal(fieldset_of_path(arena, (const char *const[]){"b", "c", NULL}),
                               read_set(arena, "{'f:b':{'f:c':{}}}")));
}

struct paths {
    struct arena *arena;
    const char *text;
};

static void note(void *context, const char *path)
{
    struct paths *paths = context;
    paths->text = arena_printf(paths->arena, "%s%s ", paths->text, path);
}

static void visits_paths_level_by_level(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct paths paths = {.arena = arena, .text = ""};
    (void)state;
    fieldset_visit(arena,
                   read_set(arena, "{'f:a':{'f:b':{}},'f:c':{},'f:l':{"
                                   "'k:{\\\"n\\\":\\\"x\\\",\\\"p\\\":1}':{'.':{},'f:y':{}},"
                                   "'v:\\\"s\\\"':{},'i:3':{}}}"),
                   note, &paths);
    assert_string_equal(paths.text, ".c .a.b .l[n=\"x\",p=1] .l[=\"s\"] .l[3] "
                                    ".l[n=\"x\",p=1].y ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_in_the_order_of_kubernetes),
        cmocka_unit_test(rejects_invalid_field_sets),
        cmocka_unit_test(combines_field_sets),
        cmocka_unit_test(sets_with_the_same_paths_are_equal),
        cmocka_unit_test(visits_paths_level_by_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
