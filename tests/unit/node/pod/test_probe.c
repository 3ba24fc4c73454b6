/* Tests the effect of probe results: thresholds, delays, and which probe waits for which. */
#include "node_test.h"

#include "node/pod/probe.h"

static struct probe_settings none, every_ten = {.given = true,
                                                .period_ms = 10000,
                                                .timeout_ms = 1000,
                                                .success_threshold = 1,
                                                .failure_threshold = 3,
                                                .grace_ms = -1};

static struct probe_set make_probe_set(const struct probe_settings *startup,
                                       const struct probe_settings *liveness,
                                       const struct probe_settings *readiness)
{
    struct probe_set set = {.settings = {startup, liveness, readiness}};
    probe_set_begin(&set, 1000);
    return set;
}

static void container_without_probes_is_ready(void **state)
{
    struct probe_set set = make_probe_set(&none, &none, &none);
    assert_true(probe_set_is_started(&set));
    assert_true(probe_set_is_ready(&set));
    for (int kind = 0; kind < PROBE_KINDS; kind++)
        assert_int_equal(probe_set_next(&set, kind), INT64_MAX);
}

static void first_try_respects_the_delays(void **state)
{
    struct probe_settings delayed = every_ten;
    delayed.initial_delay_ms = 5000;
    struct probe_set set = make_probe_set(&every_ten, &every_ten, &every_ten);
    assert_int_equal(probe_set_next(&set, PROBE_STARTUP), 2000);
    /* The other probes wait until the startup probe has succeeded. */
    assert_int_equal(probe_set_next(&set, PROBE_LIVENESS), INT64_MAX);
    assert_int_equal(probe_set_next(&set, PROBE_READINESS), INT64_MAX);
    set = make_probe_set(&none, &every_ten, &every_ten);
    assert_int_equal(probe_set_next(&set, PROBE_LIVENESS), 11000);
    assert_int_equal(probe_set_next(&set, PROBE_READINESS), 1000);
    set = make_probe_set(&none, &delayed, &delayed);
    assert_int_equal(probe_set_next(&set, PROBE_LIVENESS), 6000);
    assert_int_equal(probe_set_next(&set, PROBE_READINESS), 6000);
}

/* One letter per try, and whether the container is ready after it. */
static void readiness_needs_consecutive_results(void **state)
{
    static const struct {
        int success, failure;
        const char *tries, *ready;
    } ROWS[] = {
        {1, 3, "-+--+---+", ".rrrrrr.r"},
        {2, 1, "++-+-++",
         ".r...."
         "r"},
        {1, 1, "+-+", "r.r"},
        {3, 2, "+++-+--+++", "..rrrr...r"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        struct probe_settings settings = every_ten;
        settings.success_threshold = ROWS[i].success;
        settings.failure_threshold = ROWS[i].failure;
        struct probe_set set = make_probe_set(&none, &none, &settings);
        assert_false(probe_set_is_ready(&set));
        for (size_t k = 0; ROWS[i].tries[k]; k++) {
            bool ends = probe_set_take(&set, PROBE_READINESS, ROWS[i].tries[k] == '+', 2000);
            if (ends || probe_set_is_ready(&set) != (ROWS[i].ready[k] == 'r'))
                fail_msg("row %zu, try %zu", i, k);
        }
    }
}

static void failed_liveness_is_reported_once(void **state)
{
    struct probe_set set = make_probe_set(&none, &every_ten, &none);
    assert_false(probe_set_take(&set, PROBE_LIVENESS, false, 0));
    assert_false(probe_set_take(&set, PROBE_LIVENESS, false, 0));
    assert_false(probe_set_take(&set, PROBE_LIVENESS, true, 0)); /* a success resets the count */
    assert_false(probe_set_take(&set, PROBE_LIVENESS, false, 0));
    assert_false(probe_set_take(&set, PROBE_LIVENESS, false, 0));
    assert_true(probe_set_take(&set, PROBE_LIVENESS, false, 0));
    assert_int_equal(probe_set_next(&set, PROBE_LIVENESS), INT64_MAX);
    probe_set_begin(&set, 5000); /* the next run */
    assert_int_equal(probe_set_next(&set, PROBE_LIVENESS), 15000);
    assert_false(probe_set_take(&set, PROBE_LIVENESS, false, 0));
}

static void startup_probe_delays_the_other_probes(void **state)
{
    struct probe_set set = make_probe_set(&every_ten, &every_ten, &none);
    assert_false(probe_set_is_started(&set));
    assert_false(probe_set_is_ready(&set));
    assert_false(probe_set_take(&set, PROBE_STARTUP, false, 12000));
    assert_int_equal(probe_set_next(&set, PROBE_LIVENESS), INT64_MAX);
    assert_false(probe_set_take(&set, PROBE_STARTUP, true, 22000));
    assert_true(probe_set_is_started(&set));
    assert_true(probe_set_is_ready(&set));
    assert_int_equal(probe_set_next(&set, PROBE_STARTUP), INT64_MAX);
    /* The initial delay of the liveness probe is over already. */
    assert_int_equal(probe_set_next(&set, PROBE_LIVENESS), 22000);

    set = make_probe_set(&every_ten, &none, &none);
    assert_false(probe_set_take(&set, PROBE_STARTUP, false, 0));
    assert_false(probe_set_take(&set, PROBE_STARTUP, false, 0));
    assert_true(probe_set_take(&set, PROBE_STARTUP, false, 0));
}

/* After tries were missed because the machine was busy, only one try follows at once. */
static void missed_tries_are_not_repeated(void **state)
{
    struct probe_set set = make_probe_set(&none, &every_ten, &none);
    probe_set_tried(&set, PROBE_LIVENESS, 11500);
    assert_int_equal(probe_set_next(&set, PROBE_LIVENESS), 21000);
    probe_set_tried(&set, PROBE_LIVENESS, 500000);
    assert_int_equal(probe_set_next(&set, PROBE_LIVENESS), 510000);
}

/* Until a container was ready once, it is probed more often. After that its period applies. */
static void first_readiness_is_probed_more_often(void **state)
{
    static const int64_t STEPS[] = {1000, 2000, 4000, 8000, 10000, 10000};
    struct probe_set set = make_probe_set(&none, &none, &every_ten);
    int64_t due = 1000;
    for (size_t i = 0; i < ARRAY_SIZE(STEPS); i++) {
        assert_int_equal(probe_set_next(&set, PROBE_READINESS), due);
        probe_set_tried(&set, PROBE_READINESS, due);
        probe_set_take(&set, PROBE_READINESS, false, due);
        due += STEPS[i];
    }
    probe_set_take(&set, PROBE_READINESS, true, due);
    probe_set_tried(&set, PROBE_READINESS, due);
    assert_int_equal(probe_set_next(&set, PROBE_READINESS), due + 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(container_without_probes_is_ready),
        cmocka_unit_test(first_try_respects_the_delays),
        cmocka_unit_test(readiness_needs_consecutive_results),
        cmocka_unit_test(failed_liveness_is_reported_once),
        cmocka_unit_test(startup_probe_delays_the_other_probes),
        cmocka_unit_test(missed_tries_are_not_repeated),
        cmocka_unit_test(first_readiness_is_probed_more_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
