/* Tests merge patches (the table of RFC 7386) and JSON patches (the examples of RFC 6902). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json/json_list.h"
#include "kube/patch/patch.h"
#include "kube/types/types.h"
#include "read_json.h"

#include <stdio.h>
#include <string.h>

static void merge_patches_match_rfc_7386(void **state)
{
    static const struct {
        const char *current, *patch, *result;
    } CASES[] = {
        {"{'a':'b'}", "{'a':'c'}", "{'a':'c'}"},
        {"{'a':'b'}", "{'b':'c'}", "{'a':'b','b':'c'}"},
        {"{'a':'b'}", "{'a':null}", "{}"},
        {"{'a':'b','b':'c'}", "{'a':null}", "{'b':'c'}"},
        {"{'a':['b']}", "{'a':'c'}", "{'a':'c'}"},
        {"{'a':'c'}", "{'a':['b']}", "{'a':['b']}"},
        {"{'a':{'b':'c'}}", "{'a':{'b':'d','c':null}}", "{'a':{'b':'d'}}"},
        {"{'a':[{'b':'c'}]}", "{'a':[1]}", "{'a':[1]}"},
        {"['a','b']", "['c','d']", "['c','d']"},
        {"{'a':'b'}", "['c']", "['c']"},
        {"{'a':'foo'}", "null", "null"},
        {"{'a':'foo'}", "'bar'", "'bar'"},
        {"{'e':null}", "{'a':1}", "{'e':null,'a':1}"},
        {"[1,2]", "{'a':'b','c':null}", "{'a':'b'}"},
        {"{}", "{'a':{'bb':{'ccc':null}}}", "{'a':{'bb':{}}}"},
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct json *current = read_json(arena, CASES[i].current);
        struct json *before = json_clone(arena, current);
        struct json *result = kube_patch_merge(arena, current, read_json(arena, CASES[i].patch));
        if (!json_equal(result, read_json(arena, CASES[i].result)))
            fail_msg("%s with %s: %s", CASES[i].current, CASES[i].patch,
                     json_to_string(arena, result));
        assert_true(json_equal(current, before));
    }
}

static void json_patches_match_rfc_6902(void **state)
{
    static const struct {
        const char *current, *patch, *result;
    } CASES[] = {
        {"{'foo':'bar'}", "[{'op':'add','path':'/baz','value':'qux'}]",
         "{'baz':'qux','foo':'bar'}"},
        {"{'foo':['bar','baz']}", "[{'op':'add','path':'/foo/1','value':'qux'}]",
         "{'foo':['bar','qux','baz']}"},
        {"{'foo':['bar','baz']}", "[{'op':'add','path':'/foo/0','value':'qux'}]",
         "{'foo':['qux','bar','baz']}"},
        {"{'baz':'qux','foo':'bar'}", "[{'op':'remove','path':'/baz'}]", "{'foo':'bar'}"},
        {"{'foo':['bar','qux','baz']}", "[{'op':'remove','path':'/foo/1'}]",
         "{'foo':['bar','baz']}"},
        {"{'baz':'qux','foo':'bar'}", "[{'op':'replace','path':'/baz','value':'boo'}]",
         "{'baz':'boo','foo':'bar'}"},
        {"{'foo':{'bar':'baz','waldo':'fred'},'qux':{'corge':'grault'}}",
         "[{'op':'move','from':'/foo/waldo','path':'/qux/thud'}]",
         "{'foo':{'bar':'baz'},'qux':{'corge':'grault','thud':'fred'}}"},
        {"{'foo':['all','grass','cows','eat']}", "[{'op':'move','from':'/foo/1','path':'/foo/3'}]",
         "{'foo':['all','cows','eat','grass']}"},
        {"{'baz':'qux','foo':['a',2,'c']}",
         "[{'op':'test','path':'/baz','value':'qux'},{'op':'test','path':'/foo/1','value':2}]",
         "{'baz':'qux','foo':['a',2,'c']}"},
        {"{'foo':'bar'}", "[{'op':'add','path':'/child','value':{'grandchild':{}}}]",
         "{'foo':'bar','child':{'grandchild':{}}}"},
        {"{'foo':'bar'}", "[{'op':'add','path':'/baz','value':'qux','xyz':123}]",
         "{'foo':'bar','baz':'qux'}"},
        {"{'/':9,'~1':10}", "[{'op':'test','path':'/~01','value':10}]", "{'/':9,'~1':10}"},
        {"{'/':9}", "[{'op':'replace','path':'/~1','value':1}]", "{'/':1}"},
        {"{'foo':['bar']}", "[{'op':'add','path':'/foo/-','value':['abc','def']}]",
         "{'foo':['bar',['abc','def']]}"},
        {"{'a':[1,2,3]}", "[{'op':'replace','path':'/a/2','value':9}]", "{'a':[1,2,9]}"},
        {"{'a':[1,2,3]}", "[{'op':'replace','path':'/a/0','value':9}]", "{'a':[9,2,3]}"},
        {"{'a':{'b':1}}", "[{'op':'copy','from':'/a','path':'/c'}]", "{'a':{'b':1},'c':{'b':1}}"},
        {"{'a':{'b':1}}", "[{'op':'copy','from':'','path':'/c'}]",
         "{'a':{'b':1},'c':{'a':{'b':1}}}"},
        {"{'a':1}", "[{'op':'replace','path':'','value':{'b':2}}]", "{'b':2}"},
        {"{'a':1}", "[{'op':'add','path':'','value':{'b':2}},{'op':'add','path':'/c','value':3}]",
         "{'b':2,'c':3}"},
        {"{'':1}", "[{'op':'remove','path':'/'}]", "{}"},
        {"{'a':1}", "[{'op':'test','path':'/b','value':null}]", "{'a':1}"},
        {"{'a':1}", "[{'op':'move','from':'/a','path':'/a'}]", "{'a':1}"},
        {"{'a':1}", "[]", "{'a':1}"},
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct json *current = read_json(arena, CASES[i].current), *result = NULL;
        struct json *before = json_clone(arena, current);
        struct err err = ERR_INIT;
        if (kube_patch_json(arena, current, read_json(arena, CASES[i].patch), &result, &err) < 0)
            fail_msg("%s: %s", CASES[i].patch, err.message);
        if (!json_equal(result, read_json(arena, CASES[i].result)))
            fail_msg("%s with %s: %s", CASES[i].current, CASES[i].patch,
                     json_to_string(arena, result));
        assert_true(json_equal(current, before));
    }
}

static void invalid_json_patches_are_rejected(void **state)
{
    static const struct {
        const char *patch;
        enum err_code code;
    } CASES[] = {
        {"{}", ERR_BAD_REQUEST},
        {"[5]", ERR_BAD_REQUEST},
        {"[{}]", ERR_BAD_REQUEST},
        {"[{'op':'increase','path':'/a'}]", ERR_BAD_REQUEST},
        {"[{'op':'add','path':'/a'}]", ERR_BAD_REQUEST},
        {"[{'op':'add','value':1}]", ERR_BAD_REQUEST},
        {"[{'op':'move','path':'/x'}]", ERR_BAD_REQUEST},
        {"[{'op':'add','path':'a','value':1}]", ERR_BAD_REQUEST},
        {"[{'op':'add','path':'/x/y','value':1}]", ERR_INVALID},
        {"[{'op':'add','path':'/a/b','value':1}]", ERR_INVALID},
        {"[{'op':'add','path':'/l/3','value':1}]", ERR_INVALID},
        {"[{'op':'add','path':'/l/01','value':1}]", ERR_INVALID},
        {"[{'op':'add','path':'/l/-1','value':1}]", ERR_INVALID},
        {"[{'op':'add','path':'/l/x','value':1}]", ERR_INVALID},
        {"[{'op':'add','path':'/l/99999999999999999999','value':1}]", ERR_INVALID},
        {"[{'op':'add','path':'/~2','value':1}]", ERR_INVALID},
        {"[{'op':'add','path':'/~','value':1}]", ERR_INVALID},
        {"[{'op':'remove','path':'/x'}]", ERR_INVALID},
        {"[{'op':'remove','path':'/l/2'}]", ERR_INVALID},
        {"[{'op':'remove','path':'/l/-'}]", ERR_INVALID},
        {"[{'op':'remove','path':''}]", ERR_INVALID},
        {"[{'op':'replace','path':'/x','value':1}]", ERR_INVALID},
        {"[{'op':'move','from':'/o','path':'/o/x'}]", ERR_INVALID},
        {"[{'op':'copy','from':'/x','path':'/y'}]", ERR_INVALID},
        {"[{'op':'test','path':'/a','value':2}]", ERR_INVALID},
        {"[{'op':'test','path':'/a','value':'1'}]", ERR_INVALID},
        {"[{'op':'replace','path':'','value':5}]", ERR_INVALID},
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *current = read_json(arena, "{'a': 1, 'l': [1, 2], 'o': {'p': {}}}");
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct json *result = NULL;
        if (kube_patch_apply(arena, KUBE_PATCH_JSON, current, read_json(arena, CASES[i].patch),
                             &TYPE_POD, &result, NULL) != -(int)CASES[i].code)
            fail_msg("%s", CASES[i].patch);
        assert_null(result);
    }
}

/* Each copy doubles the object: thirty copies would make a billion nodes, or as many levels. */
static void the_size_of_copies_is_limited(void **state)
{
    static const char *const DOUBLING[] = {"{'op':'copy','from':'','path':'/%zu'}",
                                           "{'op':'copy','from':'/l','path':'/l/-'}"};
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *current = read_json(arena, "{'l': ['text', 'text', 'text']}");
    for (size_t kind = 0; kind < 2; kind++) {
        struct json *operations = json_array(arena), *result = NULL;
        for (size_t i = 0; i < 200; i++) {
            struct json *operation = read_json(arena, DOUBLING[kind]);
            if (kind == 0)
                json_set(arena, operation, "path", json_stringf(arena, "/%zu", i));
            json_append(operations, operation);
        }
        assert_true(kube_patch_json(arena, current, operations, &result, NULL) < 0);
        assert_null(result);
    }
}

static int apply_many(struct arena *arena, const struct json *current, const char *operation,
                      size_t count)
{
    struct json *operations = json_array(arena), *result = NULL;
    for (size_t i = 0; i < count; i++)
        json_append(operations, read_json(arena, operation));
    return kube_patch_json(arena, current, operations, &result, NULL);
}

/* Makes an object of `count` members: {'0':'', '1':'', …}, or in descending order. */
static struct json *large_object(struct arena *arena, size_t count, bool backwards)
{
    struct json *object = json_object(arena);
    for (size_t i = 0; i < count; i++) {
        struct json *member = json_string(arena, "");
        member->name = arena_printf(arena, "%zu", backwards ? count - 1 - i : i);
        json_list_append(object, member);
    }
    return object;
}

/* Each limit and one past it. */
static void limits_hold_at_the_last_one(void **state)
{
    static const char SAME[] = "{'op':'test','path':'/a','value':1}";
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *current = read_json(arena, "{'a': 1, 'o': {}}");
    assert_int_equal(apply_many(arena, current, SAME, KUBE_PATCH_OPERATIONS_MAX), 0);
    assert_int_equal(apply_many(arena, current, SAME, KUBE_PATCH_OPERATIONS_MAX + 1),
                     -ERR_TOO_LARGE);
    /* The depth of the object, and of a value that is put into it. */
    for (size_t more = 0; more <= 1; more++) {
        char value[2 * KUBE_PATCH_DEPTH_MAX + 8] = "", patch[sizeof(value) + 64];
        size_t depth = KUBE_PATCH_DEPTH_MAX - 1;
        memset(value, '[', depth);
        memset(value + depth, ']', depth);
        snprintf(patch, sizeof(patch), "{'op':'add','path':'%s','value':%s}", more ? "/o/x" : "/a",
                 value);
        assert_int_equal(apply_many(arena, current, patch, 1), more ? -ERR_INVALID : 0);
    }
    /* Copied bytes: four pieces of a quarter of the limit. */
    size_t quarter = KUBE_PATCH_COPIED_MAX / 4 - sizeof(struct json) - strlen("t");
    char *text = arena_alloc(arena, quarter + 2);
    memset(text, 'x', quarter + 1);
    for (size_t more = 0; more <= 1; more++) {
        text[quarter] = more ? 'x' : '\0';
        text[quarter + 1] = '\0';
        struct json *large = json_object(arena);
        json_set_string(arena, large, "t", text);
        assert_int_equal(apply_many(arena, large, "{'op':'copy','from':'/t','path':'/u'}", 4),
                         more ? -ERR_TOO_LARGE : 0);
    }
    /* Members that paths pass by. */
    size_t count = KUBE_PATCH_SCANNED_MAX / KUBE_PATCH_OPERATIONS_MAX;
    static const char FIRST[] = "{'op':'test','path':'/0','value':''}";
    assert_int_equal(
        apply_many(arena, large_object(arena, count, false), FIRST, KUBE_PATCH_OPERATIONS_MAX), 0);
    assert_int_equal(
        apply_many(arena, large_object(arena, count + 1, false), FIRST, KUBE_PATCH_OPERATIONS_MAX),
        -ERR_TOO_LARGE);
}

/* The work must grow linearly with the members. Quadratic work would take minutes. */
static void large_objects_are_merged_in_linear_time(void **state)
{
    enum { COUNT = 200 * 1000 };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *current = json_object(arena), *patch = json_object(arena), *result = NULL;
    json_set(arena, current, "data", large_object(arena, COUNT, false));
    json_set(arena, patch, "data", large_object(arena, COUNT + 1, true));
    json_at(patch, "data", "7", NULL)->type = JSON_NULL;
    for (int strategic = 0; strategic <= 1; strategic++) {
        assert_int_equal(kube_patch_apply(arena,
                                          strategic ? KUBE_PATCH_STRATEGIC : KUBE_PATCH_MERGE,
                                          current, patch, &TYPE_CONFIG_MAP, &result, NULL),
                         0);
        const struct json *data = json_get(result, "data");
        assert_int_equal(json_count(data), COUNT);
        assert_null(json_get(data, "7"));
        assert_string_equal(data->first->name, "0");
        assert_string_equal(data->last->name, "200000");
        assert_string_equal(data->last->text, "");
    }
    assert_true(json_equal(large_object(arena, COUNT, false), large_object(arena, COUNT, true)));
}

static void patch_types_have_a_content_type(void **state)
{
    enum kube_patch_type type;
    assert_int_equal(kube_patch_type_parse("application/json-patch+json", &type, NULL), 0);
    assert_int_equal(type, KUBE_PATCH_JSON);
    assert_int_equal(
        kube_patch_type_parse("application/merge-patch+json; charset=utf-8", &type, NULL), 0);
    assert_int_equal(type, KUBE_PATCH_MERGE);
    assert_int_equal(kube_patch_type_parse("Application/Strategic-Merge-Patch+json", &type, NULL),
                     0);
    assert_int_equal(type, KUBE_PATCH_STRATEGIC);
    assert_int_equal(kube_patch_type_parse("application/json", &type, NULL), -ERR_MEDIA_TYPE);
    assert_int_equal(kube_patch_type_parse("", &type, NULL), -ERR_MEDIA_TYPE);
    assert_int_equal(kube_patch_type_parse(NULL, &type, NULL), -ERR_MEDIA_TYPE);
}

static void the_result_must_be_an_object(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *current = read_json(arena, "{'a': 1}"), *result = NULL;
    assert_int_equal(kube_patch_apply(arena, KUBE_PATCH_MERGE, current, read_json(arena, "[1]"),
                                      &TYPE_POD, &result, NULL),
                     -ERR_BAD_REQUEST);
    assert_int_equal(kube_patch_apply(arena, KUBE_PATCH_STRATEGIC, current, read_json(arena, "'x'"),
                                      &TYPE_POD, &result, NULL),
                     -ERR_BAD_REQUEST);
    assert_null(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merge_patches_match_rfc_7386),
        cmocka_unit_test(json_patches_match_rfc_6902),
        cmocka_unit_test(invalid_json_patches_are_rejected),
        cmocka_unit_test(the_size_of_copies_is_limited),
        cmocka_unit_test(limits_hold_at_the_last_one),
        cmocka_unit_test(large_objects_are_merged_in_linear_time),
        cmocka_unit_test(patch_types_have_a_content_type),
        cmocka_unit_test(the_result_must_be_an_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
