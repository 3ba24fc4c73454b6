/* Tests the restart policy: which container restarts, and when. */
#include "node_test.h"

#include "node/pod/restart.h"

static void restart_follows_the_policy(void **state)
{
    static const struct {
        enum restart_policy policy;
        bool init;
        int exit_code;
        bool restart;
    } ROWS[] = {
        {RESTART_ALWAYS, false, 0, true},      {RESTART_ALWAYS, false, 1, true},
        {RESTART_ALWAYS, true, 0, false},      {RESTART_ALWAYS, true, 1, true},
        {RESTART_ON_FAILURE, false, 0, false}, {RESTART_ON_FAILURE, false, 137, true},
        {RESTART_ON_FAILURE, true, 0, false},  {RESTART_ON_FAILURE, true, 2, true},
        {RESTART_NEVER, false, 0, false},      {RESTART_NEVER, false, 1, false},
        {RESTART_NEVER, true, 1, false},
    };
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        struct restart_decision decision =
            restart_decide(ROWS[i].policy, NULL, ROWS[i].init, ROWS[i].exit_code, 0, 0);
        if (decision.restart != ROWS[i].restart)
            fail_msg("row %zu", i);
    }
}

/* A rule can only request a restart. If no rule does, the policy decides. */
static void restart_rules_override_the_policy(void **state)
{
    static const struct {
        const char *rule;
        enum restart_policy policy;
        bool init;
        int exit_code;
        bool restart;
    } ROWS[] = {
        {"In 42 7", RESTART_NEVER, false, 42, true},
        {"In 42 7", RESTART_NEVER, false, 7, true},
        {"In 42 7", RESTART_NEVER, false, 4, false},
        {"In 42", RESTART_ON_FAILURE, false, 4, true},
        {"In 0", RESTART_NEVER, false, 0, true},
        {"NotIn 0", RESTART_NEVER, false, 137, true},
        {"NotIn 0", RESTART_NEVER, false, 0, false},
        {"NotIn 42", RESTART_NEVER, true, 0, false}, /* an init container that has completed */
        {"NotIn 42", RESTART_NEVER, true, 1, true},
        {"NotIn 42", RESTART_NEVER, false, 42, false},
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        struct restart_rule rule;
        assert_int_equal(restart_rule_parse(arena, ROWS[i].rule, &rule, NULL), 0);
        const struct restart_rules rules = {.items = &rule, .count = 1};
        if (restart_decide(ROWS[i].policy, &rules, ROWS[i].init, ROWS[i].exit_code, 0, 0).restart !=
            ROWS[i].restart)
            fail_msg("row %zu", i);
        _cleanup_buf_ struct buf text;
        buf_init(&text, 100);
        restart_rule_write(&rule, &text);
        assert_string_equal(text.data, ROWS[i].rule);
    }
    struct restart_rule rule;
    struct err err;
    assert_int_equal(restart_rule_parse(arena, "Between 1 2", &rule, &err), -ERR_INVALID);
    assert_non_null(strstr(err.message, "'Between'"));
    assert_true(restart_rule_parse(arena, "In one", &rule, &err) < 0);
}

static void backoff_doubles_up_to_its_limit(void **state)
{
    static const int64_t DELAYS[] = {0, 10000, 20000, 40000, 80000, 160000, 300000, 300000, 300000};
    int level = 0;
    for (size_t i = 0; i < ARRAY_SIZE(DELAYS); i++) {
        struct restart_decision decision =
            restart_decide(RESTART_ALWAYS, NULL, false, 1, level, 1000);
        assert_true(decision.restart);
        assert_int_equal(decision.delay_ms, DELAYS[i]);
        level = decision.level;
    }
    assert_int_equal(restart_decide(RESTART_ALWAYS, NULL, false, 1, 1000000, 0).delay_ms, 300000);
}

static void long_run_resets_the_backoff(void **state)
{
    struct restart_decision decision =
        restart_decide(RESTART_ALWAYS, NULL, false, 1, 7, RESTART_BACKOFF_RESET_MS);
    assert_int_equal(decision.delay_ms, 0);
    assert_int_equal(decision.level, 1);
}

static void policy_names_are_parsed(void **state)
{
    enum restart_policy policy;
    struct err err;
    assert_int_equal(restart_policy_parse("OnFailure", &policy, &err), 0);
    assert_int_equal(policy, RESTART_ON_FAILURE);
    assert_string_equal(restart_policy_name(policy), "OnFailure");
    assert_int_equal(restart_policy_parse("sometimes", &policy, &err), -ERR_INVALID);
    assert_non_null(strstr(err.message, "'sometimes'"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(restart_follows_the_policy),
        cmocka_unit_test(restart_rules_override_the_policy),
        cmocka_unit_test(backoff_doubles_up_to_its_limit),
        cmocka_unit_test(long_run_resets_the_backoff),
        cmocka_unit_test(policy_names_are_parsed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
