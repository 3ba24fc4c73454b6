/* Tests label selectors: the grammar, the matching, and the objects they are made from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "kube/selector.h"
#include "read_json.h"

static void matches_labels(void **state)
{
    static const struct {
        const char *selector, *labels;
        bool match;
    } CASES[] = {
        {"", "{}", true},
        {" ", "{}", true},
        {"a=b", "{'a': 'b'}", true},
        {"a=b", "{'a': 'c'}", false},
        {"a=b", "{}", false},
        {"a==b", "{'a': 'b'}", true},
        {"a = b , c = d", "{'a': 'b', 'c': 'd'}", true},
        {"a=b,c=d", "{'a': 'b'}", false},
        {"a=", "{'a': ''}", true},
        {"a=", "{}", false},
        {"a!=b", "{'a': 'c'}", true},
        {"a!=b", "{}", true},
        {"a!=b", "{'a': 'b'}", false},
        {"a", "{'a': ''}", true},
        {"a", "{}", false},
        {"!a", "{}", true},
        {"! a", "{'a': 'x'}", false},
        {"a in (b)", "{'a': 'b'}", true},
        {"a in (b,c)", "{'a': 'c'}", true},
        {"a in ( b , c )", "{'a': 'd'}", false},
        {"a in (,c)", "{'a': ''}", true},
        {"a in ()", "{'a': ''}", true},
        {"a in(b)", "{'a': 'b'}", true},
        {"a notin (b,c)", "{'a': 'd'}", true},
        {"a notin (b,c)", "{}", true},
        {"a notin (b,c)", "{'a': 'b'}", false},
        {"in=notin", "{'in': 'notin'}", true},
        {"in in (in)", "{'in': 'in'}", true},
        {"notin", "{'notin': '1'}", true},
        {"a>5", "{'a': '6'}", true},
        {"a>5", "{'a': '5'}", false},
        {"a<5", "{'a': '-7'}", true},
        {"a<5", "{'a': 'x'}", false},
        {"a<5", "{}", false},
        {"example.com/name=x", "{'example.com/name': 'x'}", true},
        {"training.kubeflow.org/job-name=j,!skip,tier in (a,b)",
         "{'training.kubeflow.org/job-name': 'j', 'tier': 'b'}", true},
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct kube_selector selector, again;
        struct err err = ERR_INIT;
        if (kube_selector_parse(arena, CASES[i].selector, &selector, &err) < 0)
            fail_msg("'%s': %s", CASES[i].selector, err.message);
        struct json *labels = read_json(arena, CASES[i].labels);
        if (kube_selector_matches(&selector, labels) != CASES[i].match)
            fail_msg("'%s' on %s", CASES[i].selector, CASES[i].labels);
        const char *text = kube_selector_text(arena, &selector);
        if (kube_selector_parse(arena, text, &again, &err) < 0)
            fail_msg("'%s' written as '%s': %s", CASES[i].selector, text, err.message);
        assert_int_equal(kube_selector_matches(&again, labels), CASES[i].match);
        assert_string_equal(kube_selector_text(arena, &again), text);
    }
}

/* A selector from JSON has no maximum number of values; its text must have them all. */
static void the_text_of_a_large_selector_is_complete(void **state)
{
    enum { VALUES = 2000 };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *object =
        read_json(arena, "{'matchExpressions': [{'key': 'a', 'operator': 'In', 'values': []}]}");
    struct json *values = json_get(json_first(json_get(object, "matchExpressions")), "values");
    for (int i = 0; i < VALUES; i++)
        json_append(values, json_stringf(arena, "%063d", i));
    struct kube_selector selector;
    assert_int_equal(kube_selector_from_json(arena, object, &selector, NULL), 0);
    const char *text = kube_selector_text(arena, &selector);
    assert_int_equal(strlen(text), strlen("a in ()") + VALUES * 64 - 1);
    assert_true(str_has_suffix(text, "1999)"));
}

static void rejects_invalid_selectors(void **state)
{
    static const char *const BAD[] = {
        ",",      "a,",      ",a",      "a,,b",  "=b",         "a=b=c", "a in b",
        "a in (", "a in (b", "a in b)", "a (b)", "!a=b",       "!",     "a b",
        "a>x",    "-a=b",    "a=-b",    "a/b/c", "/a",         "a/",    "A.B!/x=1",
        "a=b c",  "a notin", "a=b)",    "(a)",   "a in (b c)", "a=b,!", "!!a",
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        struct kube_selector selector;
        if (kube_selector_parse(arena, BAD[i], &selector, NULL) != -ERR_BAD_REQUEST)
            fail_msg("'%s' was taken", BAD[i]);
    }
}

/* Each limit and one past it: the text, its terms, the values of one term, the parts of a name. */
static void limits_hold_at_the_last_one(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    for (size_t more = 0; more <= 1; more++) {
        int refused = more ? -ERR_BAD_REQUEST : 0;
        struct kube_selector selector;
        char *text = arena_alloc(arena, KUBE_SELECTOR_MAX + 2);
        memset(text, ' ', KUBE_SELECTOR_MAX + more);
        text[0] = 'a';
        text[KUBE_SELECTOR_MAX + more] = '\0';
        assert_int_equal(kube_selector_parse(arena, text, &selector, NULL), refused);

        _cleanup_buf_ struct buf terms, values, name;
        buf_init(&terms, KUBE_SELECTOR_MAX);
        buf_init(&values, KUBE_SELECTOR_MAX);
        buf_init(&name, KUBE_SELECTOR_MAX);
        buf_append_str(&values, "a in (b");
        for (size_t i = 0; i < KUBE_SELECTOR_TERMS_MAX + more; i++)
            buf_append_str(&terms, i ? ",a" : "a");
        for (size_t i = 1; i < KUBE_SELECTOR_TERMS_MAX + more; i++)
            buf_append_str(&values, ",b");
        buf_append_char(&values, ')');
        assert_int_equal(kube_selector_parse(arena, terms.data, &selector, NULL), refused);
        assert_int_equal(kube_selector_parse(arena, values.data, &selector, NULL), refused);
        for (size_t i = 0; i < 63 + more; i++)
            buf_append_char(&name, 'n');
        assert_int_equal(kube_selector_parse(arena, name.data, &selector, NULL), refused);
        struct json *labels = json_object(arena), *object = json_object(arena);
        for (size_t i = 0; i < KUBE_SELECTOR_TERMS_MAX + more; i++)
            json_set_string(arena, labels, arena_printf(arena, "n%zu", i), "v");
        json_set(arena, object, "matchLabels", labels);
        assert_int_equal(kube_selector_from_json(arena, object, &selector, NULL),
                         more ? -ERR_INVALID : 0);
    }
}

static void is_read_from_json(void **state)
{
    static const struct {
        const char *selector, *labels;
        bool match;
    } CASES[] = {
        {"{}", "{}", true},
        {"null", "{}", false},
        {"{'matchLabels': {'a': 'b'}}", "{'a': 'b'}", true},
        {"{'matchLabels': {'a': 'b'}}", "{'a': 'c'}", false},
        {"{'matchLabels': {'a': 'b'}, 'matchExpressions': [{'key': 'c', 'operator': 'Exists'}]}",
         "{'a': 'b'}", false},
        {"{'matchExpressions': [{'key': 'c', 'operator': 'DoesNotExist'}]}", "{}", true},
        {"{'matchExpressions': [{'key': 'c', 'operator': 'In', 'values': ['x', 'y']}]}",
         "{'c': 'y'}", true},
        {"{'matchExpressions': [{'key': 'c', 'operator': 'NotIn', 'values': ['x', 'y']}]}",
         "{'c': 'y'}", false},
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct kube_selector selector;
        assert_int_equal(
            kube_selector_from_json(arena, read_json(arena, CASES[i].selector), &selector, NULL),
            0);
        if (kube_selector_matches(&selector, read_json(arena, CASES[i].labels)) != CASES[i].match)
            fail_msg("%s on %s", CASES[i].selector, CASES[i].labels);
    }
    static const char *const BAD[] = {
        "{'matchLabels': {'a': 5}}",
        "{'matchExpressions': [{'operator': 'Exists'}]}",
        "{'matchExpressions': [{'key': 'a', 'operator': 'Like'}]}",
        "{'matchExpressions': [{'key': 'a'}]}",
        "{'matchExpressions': [{'key': 'a', 'operator': 'In'}]}",
        "{'matchExpressions': [{'key': 'a', 'operator': 'Exists', 'values': ['b']}]}",
        "{'matchExpressions': [{'key': 'a', 'operator': 'In', 'values': [5]}]}",
        "{'matchExpressions': [{'key': 'a', 'operator': 'Gt', 'values': ['5']}]}",
    };
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        struct kube_selector selector;
        assert_int_equal(kube_selector_from_json(arena, read_json(arena, BAD[i]), &selector, NULL),
                         -ERR_INVALID);
    }
}

static void services_and_affinity(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct kube_selector selector;
    assert_int_equal(kube_selector_from_map(arena, NULL, &selector, NULL), 0);
    assert_false(kube_selector_matches(&selector, read_json(arena, "{'a': 'b'}")));
    assert_int_equal(kube_selector_from_map(arena, read_json(arena, "{'a': 'b'}"), &selector, NULL),
                     0);
    assert_true(kube_selector_matches(&selector, read_json(arena, "{'a': 'b'}")));
    assert_int_equal(kube_selector_from_expressions(
                         arena,
                         read_json(arena, "[{'key': 'a', 'operator': 'Gt', 'values': ['5']}]"),
                         &selector, NULL),
                     0);
    assert_true(kube_selector_matches(&selector, read_json(arena, "{'a': '6'}")));
    assert_false(kube_selector_matches(&selector, read_json(arena, "{'a': '5'}")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_labels),
        cmocka_unit_test(the_text_of_a_large_selector_is_complete),
        cmocka_unit_test(rejects_invalid_selectors),
        cmocka_unit_test(limits_hold_at_the_last_one),
        cmocka_unit_test(is_read_from_json),
        cmocka_unit_test(services_and_affinity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
