/* Tests the rules of the condition list. */
#include "operator/reconcile/conditions.h"

#include "base/arena.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static int setup(void **state)
{
    *state = arena_new();
    return 0;
}

static int teardown(void **state)
{
    arena_free(*state);
    return 0;
}

static bool set_condition(struct arena *arena, struct json *status, const char *type, bool is_true,
                          const char *reason, int64_t second)
{
    return training_condition_set(arena, status, type, is_true, reason, reason, second * 1000);
}

static char *list_conditions(struct arena *arena, const struct json *status)
{
    struct buf buf;

    buf_init(&buf, 4096);
    JSON_EACH (condition, json_get(status, "conditions"))
        buf_printf(&buf, "%s=%s ", json_get_string(condition, "type", ""),
                   json_get_string(condition, "status", ""));
    char *text = arena_strdup(arena, buf.data);
    buf_release(&buf);
    return text;
}

static void test_same_status_and_reason_change_nothing(void **state)
{
    struct json *status = json_object(*state);

    assert_true(set_condition(*state, status, TRAINING_RUNNING, true, "A", 1));
    assert_false(set_condition(*state, status, TRAINING_RUNNING, true, "A", 2));
    assert_string_equal(
        json_get_string(training_condition_get(status, TRAINING_RUNNING), "lastUpdateTime", ""),
        "1970-01-01T00:00:01Z");
}

static void test_transition_time_changes_only_with_the_status(void **state)
{
    struct json *status = json_object(*state);

    set_condition(*state, status, TRAINING_RUNNING, true, "A", 1);
    assert_true(set_condition(*state, status, TRAINING_RUNNING, true, "B", 2));
    const struct json *condition = training_condition_get(status, TRAINING_RUNNING);
    assert_string_equal(json_get_string(condition, "lastTransitionTime", ""),
                        "1970-01-01T00:00:01Z");
    assert_string_equal(json_get_string(condition, "lastUpdateTime", ""), "1970-01-01T00:00:02Z");
    set_condition(*state, status, TRAINING_RUNNING, false, "B", 3);
    condition = training_condition_get(status, TRAINING_RUNNING);
    assert_string_equal(json_get_string(condition, "lastTransitionTime", ""),
                        "1970-01-01T00:00:03Z");
}

static void test_changed_condition_moves_to_the_end(void **state)
{
    struct json *status = json_object(*state);

    set_condition(*state, status, TRAINING_CREATED, true, "A", 1);
    set_condition(*state, status, TRAINING_SUSPENDED, true, "A", 1);
    set_condition(*state, status, TRAINING_RUNNING, true, "A", 2);
    set_condition(*state, status, TRAINING_SUSPENDED, false, "B", 3);
    assert_string_equal(list_conditions(*state, status),
                        "Created=True Running=True Suspended=False ");
}

static void test_running_and_restarting_replace_each_other(void **state)
{
    struct json *status = json_object(*state);

    set_condition(*state, status, TRAINING_CREATED, true, "A", 1);
    set_condition(*state, status, TRAINING_RUNNING, true, "A", 1);
    set_condition(*state, status, TRAINING_RESTARTING, true, "A", 2);
    assert_string_equal(list_conditions(*state, status), "Created=True Restarting=True ");
    set_condition(*state, status, TRAINING_RUNNING, true, "A", 3);
    assert_string_equal(list_conditions(*state, status), "Created=True Running=True ");
}

static void test_success_clears_running(void **state)
{
    struct json *status = json_object(*state);

    set_condition(*state, status, TRAINING_RUNNING, true, "A", 1);
    set_condition(*state, status, TRAINING_SUCCEEDED, true, "B", 2);
    assert_string_equal(list_conditions(*state, status), "Running=False Succeeded=True ");
    assert_string_equal(
        json_get_string(training_condition_get(status, TRAINING_RUNNING), "reason", ""), "A");
}

static void test_terminal_condition_is_final(void **state)
{
    static const char *const ends[] = {TRAINING_SUCCEEDED, TRAINING_FAILED};

    for (int i = 0; i < 2; i++) {
        struct json *status = json_object(*state);

        set_condition(*state, status, ends[i], true, "A", 1);
        assert_true(training_is_finished(status));
        assert_false(set_condition(*state, status, ends[1 - i], true, "B", 2));
        assert_false(set_condition(*state, status, TRAINING_RUNNING, true, "B", 2));
        assert_false(set_condition(*state, status, ends[i], false, "B", 2));
        assert_int_equal(json_count(json_get(status, "conditions")), 1);
    }
}

static void test_condition_queries(void **state)
{
    static const struct {
        const char *type, *status;
        bool is_true, finished;
    } rows[] = {
        {TRAINING_SUCCEEDED, "True", true, true},    {TRAINING_FAILED, "True", true, true},
        {TRAINING_SUCCEEDED, "False", false, false}, {TRAINING_FAILED, "False", false, false},
        {TRAINING_RUNNING, "True", true, false},     {TRAINING_RUNNING, "False", false, false},
        {TRAINING_SUSPENDED, "True", true, false},   {TRAINING_SUSPENDED, "Unknown", false, false},
        {TRAINING_CREATED, "True", true, false},     {TRAINING_RESTARTING, "True", true, false},
    };

    assert_false(training_is_finished(NULL));
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct json *status = json_object(*state), *condition = json_object(*state);

        json_set_string(*state, condition, "type", rows[i].type);
        json_set_string(*state, condition, "status", rows[i].status);
        json_append(json_ensure_array(*state, status, "conditions"), condition);
        assert_int_equal(training_condition_is_true(status, rows[i].type), rows[i].is_true);
        assert_int_equal(training_is_finished(status), rows[i].finished);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_same_status_and_reason_change_nothing, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_transition_time_changes_only_with_the_status, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_changed_condition_moves_to_the_end, setup, teardown),
        cmocka_unit_test_setup_teardown(test_running_and_restarting_replace_each_other, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_success_clears_running, setup, teardown),
        cmocka_unit_test_setup_teardown(test_condition_queries, setup, teardown),
        cmocka_unit_test_setup_teardown(test_terminal_condition_is_final, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
