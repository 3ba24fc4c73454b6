/* Tests field selectors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kube/selector.h"

#include "read_json.h"
#include <string.h>

static void matches_objects(void **state)
{
    static const struct {
        const char *selector;
        bool match;
    } CASES[] = {
        {"", true},
        {"metadata.name=p", true},
        {"metadata.name==p", true},
        {"metadata.name!=p", false},
        {"metadata.name=q", false},
        {"spec.nodeName=n,status.phase!=Succeeded,status.phase!=Failed", true},
        {"spec.nodeName=n,status.phase!=Running", false},
        {"status.missing=", true},
        {"status.missing.deep=", true},
        {"status.missing!=x", true},
        {"metadata.annotations.odd=a\\,b\\=c\\\\", true},
        {",metadata.name=p,", true},
        {"metadata=", true},
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *pod =
        read_json(arena, "{'metadata': {'name': 'p', 'annotations': {'odd': 'a,b=c\\\\'}},"
                         "'spec': {'nodeName': 'n'}, 'status': {'phase': 'Running'}}");
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct kube_field_selector selector;
        struct err err = ERR_INIT;
        if (kube_field_selector_parse(arena, CASES[i].selector, &selector, &err) < 0)
            fail_msg("'%s': %s", CASES[i].selector, err.message);
        if (kube_field_selector_matches(&selector, pod, kube_field_get) != CASES[i].match)
            fail_msg("'%s'", CASES[i].selector);
    }
}

static void returns_its_terms(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct kube_field_selector selector;
    assert_int_equal(kube_field_selector_parse(arena, "a.b=1,c!=2", &selector, NULL), 0);
    assert_int_equal(selector.count, 2);
    assert_string_equal(selector.terms[0].path, "a.b");
    assert_true(selector.terms[0].equal);
    assert_string_equal(selector.terms[0].value, "1");
    assert_string_equal(selector.terms[1].path, "c");
    assert_false(selector.terms[1].equal);
}

static void rejects_invalid_selectors(void **state)
{
    static const char *const BAD[] = {"a", "=b", "!=b", "a!b", "a=b=c", "a=b\\", "a=\\x", "a!"};
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        struct kube_field_selector selector;
        if (kube_field_selector_parse(arena, BAD[i], &selector, NULL) != -ERR_BAD_REQUEST)
            fail_msg("'%s' was taken", BAD[i]);
    }
}

/* The limit and one past it. */
static void text_has_a_limit(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    for (size_t more = 0; more <= 1; more++) {
        struct kube_field_selector selector;
        char *text = arena_alloc(arena, KUBE_SELECTOR_MAX + 2);
        memset(text, 'v', KUBE_SELECTOR_MAX + more);
        text[1] = '=';
        text[KUBE_SELECTOR_MAX + more] = '\0';
        assert_int_equal(kube_field_selector_parse(arena, text, &selector, NULL),
                         more ? -ERR_BAD_REQUEST : 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_objects),
        cmocka_unit_test(returns_its_terms),
        cmocka_unit_test(rejects_invalid_selectors),
        cmocka_unit_test(text_has_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
