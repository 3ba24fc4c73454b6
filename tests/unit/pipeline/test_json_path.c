/* Values by their paths, as kubectl prints them. */
#include "pipeline/json_path.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char OBJECT[] = "{\"metadata\":{\"name\":\"x\",\"labels\":{\"a.b/c\":\"d\"}},"
                             "\"spec\":{\"ports\":[{\"port\":80},{\"port\":81}],\"on\":true}}";

static const struct {
    const char *path, *expected; /* NULL: refused */
} ROWS[] = {
    {"{.metadata.name}", "x"},
    {".metadata.name", "x"},
    {"{$.metadata.name}", "x"},
    {"{.metadata.labels['a.b/c']}", "d"},
    {"{.metadata.labels[\"a.b/c\"]}", "d"},
    {"{.spec.ports[1].port}", "81"},
    {"{.spec.on}", "true"},
    {"{.spec.ports[0]}", "{\"port\":80}"},
    {"{.spec.ports[7].port}", ""},
    {"{.status.capacity.storage}", ""},
    {"{}", OBJECT},
    {"{.spec.ports[*].port}", NULL},
    {"{.spec..port}", NULL},
    {"{.spec.ports[?(@.port==80)].port}", NULL},
    {"{.spec.ports[", NULL},
};

static void test_paths(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct err err = ERR_INIT;
        const char *got = NULL;
        struct json *object;

        assert_int_equal(json_parse(arena, OBJECT, strlen(OBJECT), NULL, &object, NULL), 0);
        int result = workflow_json_path(arena, object, ROWS[i].path, &got, &err);
        if (!ROWS[i].expected) {
            if (result >= 0)
                fail_msg("'%s' is not refused: '%s'", ROWS[i].path, got);
            continue;
        }
        if (result < 0)
            fail_msg("'%s': %s", ROWS[i].path, err.message);
        assert_string_equal(got, ROWS[i].expected);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_paths)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
