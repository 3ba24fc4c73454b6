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
static const char *told(const char *header)
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

static void clauses_are_read(void **state)
{
    (void)state;
    assert_string_equal(told(NULL), "*/*");
    assert_string_equal(told(""), "*/*");
    assert_string_equal(told("application/json"), "application/json");
    assert_string_equal(told("Application/JSON; charset=utf-8"), "application/json");
    assert_string_equal(
        told("application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g="
             "meta.k8s.io, application/json"),
        "application/json Table/meta.k8s.io/v1, application/json Table/meta.k8s.io/v1beta1, "
        "application/json");
}

static void the_most_wanted_is_first(void **state)
{
    (void)state;
    assert_string_equal(told("a/b;q=0.5, c/d, e/f;q=0.9"), "c/d, e/f, a/b");
    assert_string_equal(told("*/*, text/*, text/html, text/plain"),
                        "text/html, text/plain, text/*, */*");
    assert_string_equal(told("a/b;q=0, c/d"), "c/d");
}

static void what_cannot_be_read_does_not_count(void **state)
{
    (void)state;
    assert_string_equal(told("json, a/b, /x, x/, a b/c"), "a/b");
    assert_string_equal(told("a/b;q=x, c/d;q=2, e/f;q=-1, g/h;q=nan"), "");
    assert_string_equal(told(",;,;;,"), "");
    struct accept accept;
    char many[ACCEPT_CLAUSES_MAX * 2 * 4 + 1] = "";
    for (size_t i = 0; i < (size_t)ACCEPT_CLAUSES_MAX * 2; i++)
        strcat(many, "a/b,");
    for (size_t count = ACCEPT_CLAUSES_MAX; count <= ACCEPT_CLAUSES_MAX + 1; count++) {
        accept_parse(arena, many + 4 * (2 * ACCEPT_CLAUSES_MAX - count), &accept);
        assert_int_equal(accept.count, ACCEPT_CLAUSES_MAX); /* the other clauses are not parsed */
    }
}

static void types_are_taken(void **state)
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
        cmocka_unit_test(clauses_are_read),
        cmocka_unit_test(the_most_wanted_is_first),
        cmocka_unit_test(what_cannot_be_read_does_not_count),
        cmocka_unit_test(types_are_taken),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
