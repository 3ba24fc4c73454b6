/* Tests the Accept header: the responses that a client accepts. */
#include "net/accept.h"

#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct arena *arena;

/* Returns "type as/group/version, …", in the order of preference. */
static const char *text_of(const char *header)
{
    struct accept accept;
    accept_parse(arena, header, &accept);
    const char *text = "";
    for (size_t i = 0; i < accept.count; i++) {
        const struct accept_clause *clause = &accept.clauses[i];
        text = arena_printf(arena, "%s%s%s", text, i ? ", " : "", clause->type);
        if (clause->as[0])
            text = arena_printf(arena, "%s %s/%s/%s", text, clause->as, clause->group,
                                clause->version);
    }
    return text;
}

static void clauses_are_parsed(void **state)
{
    (void)state;
    assert_string_equal(text_of(NULL), "*/*");
    assert_string_equal(text_of(""), "*/*");
    assert_string_equal(text_of("application/json"), "application/json");
    assert_string_equal(text_of("Application/JSON; charset=utf-8"), "application/json");
    assert_string_equal(
        text_of(
            "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g="
            "meta.k8s.io, application/json"),
        "application/json Table/meta.k8s.io/v1, application/json Table/meta.k8s.io/v1beta1, "
        "application/json");
}

static void clauses_are_sorted_by_preference(void **state)
{
    (void)state;
    assert_string_equal(text_of("a/b;q=0.5, c/d, e/f;q=0.9"), "c/d, e/f, a/b");
    assert_string_equal(text_of("*/*, text/*, text/html, text/plain"),
                        "text/html, text/plain, text/*, */*");
    assert_string_equal(text_of("a/b;q=0, c/d"), "c/d");
}

static void invalid_clauses_are_ignored(void **state)
{
    (void)state;
    assert_string_equal(text_of("json, a/b, /x, x/, a b/c"), "a/b");
    assert_string_equal(text_of("a/b;q=x, c/d;q=2, e/f;q=-1, g/h;q=nan"), "");
    assert_string_equal(text_of(",;,;;,"), "");
    struct accept accept;
    char many[ACCEPT_CLAUSES_MAX * 2 * 4 + 1] = "";
    for (size_t i = 0; i < (size_t)ACCEPT_CLAUSES_MAX * 2; i++)
        strcat(many, "a/b,");
    for (size_t count = ACCEPT_CLAUSES_MAX; count <= ACCEPT_CLAUSES_MAX + 1; count++) {
        accept_parse(arena, many + 4 * (2 * ACCEPT_CLAUSES_MAX - count), &accept);
        assert_int_equal(accept.count, ACCEPT_CLAUSES_MAX); /* the other clauses are not parsed */
    }
}

static void media_types_are_matched(void **state)
{
    (void)state;
    static const struct {
        const char *header, *type;
        bool taken;
    } cases[] = {
        {"*/*", "application/json", true},
        {"application/*", "application/json", true},
        {"text/*", "application/json", false},
        {"application/json", "application/json", true},
        {"application/jso", "application/json", false},
        {"application/json;as=Table;g=meta.k8s.io;v=v1", "application/json", false},
        {"text/html, */*;q=0.1", "application/json", true},
        {"application/yaml", "application/json", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct accept accept;
        accept_parse(arena, cases[i].header, &accept);
        if (accept_matches(&accept, cases[i].type) != cases[i].taken)
            fail_msg("%s: %s", cases[i].header, cases[i].type);
    }
}

static int setup(void **state)
{
    (void)state;
    arena = arena_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena = arena_free(arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clauses_are_parsed),
        cmocka_unit_test(clauses_are_sorted_by_preference),
        cmocka_unit_test(invalid_clauses_are_ignored),
        cmocka_unit_test(media_types_are_matched),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
