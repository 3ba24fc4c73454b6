/* Tests conditions of tasks and of resources. */
#include "pipeline/spec/condition.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum verdict { NO, YES, REFUSED };

static const struct {
    const char *text;
    enum verdict verdict;
} ROWS[] = {
    {"heads == heads", YES},
    {"heads == tails", NO},
    {"heads != tails", YES},
    {"\"heads\" == 'heads'", YES},
    {"\"a == b\" != c", YES},
    {"10 > 9", YES},
    {"10 == 10.0", YES},
    {"9 >= 10", NO},
    {"9 <= 9", YES},
    {"2 < 10", YES},
    {"b > a", YES},
    {"", REFUSED},
    {"true", YES},
    {"false", NO},
    {" true && 1 == 1 ", YES},
    {"true && 1 == 2", NO},
    {"'a && b' == 'a && b'", YES},
    {"== x", NO},
    {"\"\" == ''", YES},
    {"maybe", REFUSED},
    {"a == b || c == d", REFUSED},
    {"a =~ b", REFUSED},
};

static void test_conditions(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct err err = ERR_INIT;
        bool holds = false;
        int result = workflow_condition_eval(arena, ROWS[i].text, &holds, &err);

        if ((result < 0 ? REFUSED : holds ? YES : NO) != ROWS[i].verdict)
            fail_msg("'%s': %d %d %s", ROWS[i].text, result, holds, err.message);
    }
}

static const struct {
    const char *text;
    enum verdict verdict;
} OBJECT_ROWS[] = {
    {"status.phase == Ready", YES},
    {"status.succeeded > 2", YES},
    {"status.succeeded > 3", NO},
    {"status.nothing == ", NO}, /* a missing value is not equal to anything */
    {"status.conditions.0.type == Done", YES},
    {"status.phase == Ready, status.succeeded == 3", YES},
    {"status.phase == Ready, status.succeeded == 4", NO},
    {"status.phase", REFUSED},
};

static void test_conditions_of_objects(void **state)
{
    static const char text[] =
        "{\"status\":{\"phase\":\"Ready\",\"succeeded\":3,\"conditions\":[{\"type\":\"Done\"}]}}";

    for (size_t i = 0; i < ARRAY_SIZE(OBJECT_ROWS); i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct json *object;
        bool holds = false;

        assert_int_equal(json_parse(arena, text, strlen(text), NULL, &object, NULL), 0);
        int result =
            workflow_condition_eval_object(arena, OBJECT_ROWS[i].text, object, &holds, NULL);
        if ((result < 0 ? REFUSED : holds ? YES : NO) != OBJECT_ROWS[i].verdict)
            fail_msg("'%s': %d %d", OBJECT_ROWS[i].text, result, holds);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_conditions),
                                              cmocka_unit_test(test_conditions_of_objects)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
