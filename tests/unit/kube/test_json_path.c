/* Tests JSON paths and the values that they find. */
#include "kube/json_path.h"

#include "base/mem.h"
#include "base/str.h"
#include "read_json.h"

static const char OBJECT[] =
    "{'spec':{'replicas':3,'image':'a','ports':[{'name':'x','n':1},{'name':'y','n':2},{'n':3}]},"
    "'metadata':{'labels':{'a.b/c':'v'}},"
    "'status':{'conditions':[{'type':'Ready','status':'True'},{'type':'Done','status':'False'}],"
    "'empty':[],'inner':{'image':'b'}}}";

static void test_matches(void **state)
{
    static const struct {
        const char *path, *found; /* as JSON, separated by a space */
    } rows[] = {
        {".spec.replicas", "3"},
        {"$.spec.replicas", "3"},
        {".spec.nothing.below", ""},
        {".spec.replicas.below", ""},
        {".metadata.labels['a.b/c']", "\"v\""},
        {".metadata.labels[\"a.b/c\"]", "\"v\""},
        {".metadata.labels.a\\.b/c", "\"v\""},
        {".spec.ports[0].name", "\"x\""},
        {".spec.ports[-1].n", "3"},
        {".spec.ports[-1:].n", "3"},
        {".spec.ports[7].n", ""},
        {".spec.ports[-7].n", ""},
        {".spec.ports[1:].n", "2 3"},
        {".spec.ports[:2].n", "1 2"},
        {".spec.ports[0:3:2].n", "1 3"},
        {".spec.ports[*].name", "\"x\" \"y\""},
        {".spec.ports.*.n", "1 2 3"},
        {".status.empty[0]", ""},
        {".status.conditions[?(@.type==\"Ready\")].status", "\"True\""},
        {".status.conditions[?(@.type=='Done')].status", "\"False\""},
        {".status.conditions[?(@.type == 'No')].status", ""},
        {".status.conditions[?(@.type!='Done')].type", "\"Ready\""},
        {".spec.ports[?(@.n>=2)].n", "2 3"},
        {".spec.ports[?(@.n<2)].n", "1"},
        {".spec.ports[?(@.name)].n", "1 2"},
        {".spec.ports[?(@.name>1)].n", ""},
        {"..image", "\"a\" \"b\""},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct arena *arena = arena_new();
        const struct json_path *path;
        struct err err = ERR_INIT;
        if (json_path_parse(arena, rows[i].path, &path, &err) < 0)
            fail_msg("%s: %s", rows[i].path, err.message);
        const char *text = "";
        const struct json *const *found = json_path_find(arena, path, read_json(arena, OBJECT));
        for (; *found; found++)
            text = arena_printf(arena, "%s%s%s", text, *text ? " " : "",
                                json_to_string(arena, *found));
        if (!str_eq(text, rows[i].found))
            fail_msg("%s: %s, not %s", rows[i].path, text, rows[i].found);
        arena_free(arena);
    }
}

static void test_one_value(void **state)
{
    static const struct {
        const char *path, *found; /* NULL: rejected */
    } rows[] = {
        {"{.spec.image}", "a"},
        {".spec.image", "a"},
        {"spec.image", "a"},
        {"{$.spec.image}", "a"},
        {"{.metadata.labels['a.b/c']}", "v"},
        {"{.metadata.labels[\"a.b/c\"]}", "v"},
        {"{.spec.ports[1].n}", "2"},
        {"{.spec.ports.1.n}", "2"},
        {"{.spec.ports[0]}", "{\"name\":\"x\",\"n\":1}"},
        {"{.spec.ports[7].n}", "none"},
        {"{.spec.image[0]}", "none"},
        {"{.spec.nothing.below}", "none"},
        {"{.status.empty}", "[]"},
        {"{.spec.ports[*].n}", NULL},
        {"{.spec.ports[-1].n}", NULL},
        {"{.spec.ports[0:1].n}", NULL},
        {"{.spec..n}", NULL},
        {"{.spec.ports[?(@.n==2)].n}", NULL},
        {"{.spec.ports[", NULL},
        {"{.spec.ports[1000001]}", NULL},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct arena *arena = arena_new();
        const struct json *value = NULL;
        struct err err = ERR_INIT;
        int result =
            json_path_find_one(arena, rows[i].path, read_json(arena, OBJECT), &value, &err);
        const char *text = result < 0 ? NULL : value ? json_path_print(arena, value) : "none";
        if (!str_eq(text, rows[i].found))
            fail_msg("%s: %s (%s)", rows[i].path, text ? text : "refused", err.message);
        if (result < 0)
            assert_int_equal(result, -ERR_UNSUPPORTED);
        arena_free(arena);
    }
    struct arena *arena = arena_new();
    struct json *object = read_json(arena, OBJECT);
    const struct json *value;
    assert_int_equal(json_path_find_one(arena, "{}", object, &value, NULL), 0);
    assert_ptr_equal(value, object);
    arena_free(arena);
}

static void test_dotted(void **state)
{
    static const struct {
        const char *path, *found; /* NULL: no value is found */
    } rows[] = {
        {"status.conditions.0.type", "Ready"},
        {".spec.replicas", "3"},
        {"spec.ports.7.n", NULL},
        {"spec.nothing", NULL},
        {"spec.ports.x", NULL},
        {"spec.ports.-1", NULL},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct arena *arena = arena_new();
        const struct json *value =
            json_path_find_dotted(arena, rows[i].path, read_json(arena, OBJECT));
        const char *text = json_path_print(arena, value);
        if (!str_eq(text, rows[i].found))
            fail_msg("%s: %s", rows[i].path, text ? text : "nothing");
        arena_free(arena);
    }
}

static void test_refused(void **state)
{
    static const char *const paths[] = {
        "spec",
        ".spec.",
        ".a[",
        ".a[x]",
        ".a[0",
        ".a['x]",
        ".a[?(b)]",
        ".a[?(@.b==)]",
        ".a[?(@.b=='c'",
        ".a{",
        ".a[::0]",
        ".a b",
        "..*", /* as kubectl does */
        "$..*.name",
        ".a[99999999999999999999]",
        ".a[?(@[?(@[?(@[?(@[?(@.a)])])])])]",
    };
    for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
        struct arena *arena = arena_new();
        const struct json_path *path;
        struct err err = ERR_INIT;
        if (json_path_parse(arena, paths[i], &path, &err) == 0)
            fail_msg("%s was taken", paths[i]);
        arena_free(arena);
    }
}

static void test_limits(void **state)
{
    struct arena *arena = arena_new();
    const struct json_path *path;
    char text[2 * JSON_PATH_STEPS_MAX + 3];
    for (size_t steps = JSON_PATH_STEPS_MAX; steps <= JSON_PATH_STEPS_MAX + 1; steps++) {
        for (size_t i = 0; i < steps; i++)
            memcpy(text + 2 * i, ".a", 3);
        assert_int_equal(json_path_parse(arena, text, &path, NULL),
                         steps > JSON_PATH_STEPS_MAX ? -ERR_BAD_REQUEST : 0);
    }
    struct json *list = json_array(arena);
    for (int i = 0; i <= JSON_PATH_FOUND_MAX; i++)
        json_append(list, json_int(arena, i));
    assert_int_equal(json_path_parse(arena, "[*]", &path, NULL), 0);
    size_t count = 0;
    for (const struct json *const *found = json_path_find(arena, path, list); *found; found++)
        count++;
    assert_int_equal(count, JSON_PATH_FOUND_MAX);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matches), cmocka_unit_test(test_one_value),
        cmocka_unit_test(test_dotted),  cmocka_unit_test(test_refused),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
