/* Tests metrics and their text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/http/prometheus.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

static int setup(void **state)
{
    *state = prometheus_new();
    return 0;
}

static int teardown(void **state)
{
    prometheus_free(*state);
    return 0;
}

static void assert_text(struct prometheus *prometheus, const char *expected)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, 1 << 20);
    prometheus_write(prometheus, &text);
    assert_false(text.overflowed);
    assert_string_equal(text.data, expected);
}

static void metrics_are_sorted_by_name_and_series_by_labels(void **state)
{
    struct prometheus_metric *jobs = prometheus_counter(*state, "jobs_total", "Jobs made", "ns,fw");
    struct prometheus_metric *leader = prometheus_gauge(*state, "a_leader", "1 if it leads", NULL);
    prometheus_add(jobs, 1, "team-b", "pytorch", NULL);
    prometheus_add(jobs, 2, "team-a", "tensorflow", NULL);
    prometheus_add(jobs, 1, "team-a", "pytorch", NULL);
    prometheus_add(jobs, 1, "team-b", "pytorch", NULL);
    prometheus_set(leader, 3, NULL);
    prometheus_set(leader, 1, NULL);
    assert_text(*state, "# HELP a_leader 1 if it leads\n"
                        "# TYPE a_leader gauge\n"
                        "a_leader 1\n"
                        "# HELP jobs_total Jobs made\n"
                        "# TYPE jobs_total counter\n"
                        "jobs_total{ns=\"team-a\",fw=\"pytorch\"} 1\n"
                        "jobs_total{ns=\"team-a\",fw=\"tensorflow\"} 2\n"
                        "jobs_total{ns=\"team-b\",fw=\"pytorch\"} 2\n");
}

static void a_metric_without_labels_starts_at_zero(void **state)
{
    prometheus_counter(*state, "plain_total", "Plain", NULL);
    prometheus_counter(*state, "labelled_total", "Labelled", "code");
    assert_text(*state, "# HELP plain_total Plain\n# TYPE plain_total counter\nplain_total 0\n");
}

static void characters_that_break_a_line_are_escaped(void **state)
{
    struct prometheus_metric *metric = prometheus_gauge(*state, "m", "a\\b\n\"c\"", "l");
    prometheus_set(metric, 0.1, "q\"b\\n\nä", NULL);
    assert_text(*state, "# HELP m a\\\\b\\n\"c\"\n# TYPE m gauge\n"
                        "m{l=\"q\\\"b\\\\n\\nä\"} 0.1\n");
}

static void numbers_round_trip(void **state)
{
    struct prometheus_metric *metric = prometheus_gauge(*state, "m", "h", "l");
    prometheus_set(metric, 1e300 * 1e300, "a", NULL);
    prometheus_set(metric, -1e300 * 1e300, "b", NULL);
    prometheus_set(metric, (1e300 * 1e300) * 0, "c", NULL);
    prometheus_set(metric, 12345678901234, "d", NULL);
    prometheus_set(metric, 1.0 / 3, "e", NULL);
    assert_text(*state, "# HELP m h\n# TYPE m gauge\nm{l=\"a\"} +Inf\nm{l=\"b\"} -Inf\n"
                        "m{l=\"c\"} NaN\nm{l=\"d\"} 12345678901234\n"
                        "m{l=\"e\"} 0.3333333333333333\n");
}

static void a_histogram_adds_up_its_buckets(void **state)
{
    static const double bounds[] = {0.1, 1};
    struct prometheus_metric *metric =
        prometheus_histogram(*state, "t_seconds", "Time", "kind", bounds, ARRAY_SIZE(bounds));
    prometheus_observe(metric, 0.1, "x", NULL); /* a value equal to a bound is in its bucket */
    prometheus_observe(metric, 0.5, "x", NULL);
    prometheus_observe(metric, 7, "x", NULL);
    assert_text(*state, "# HELP t_seconds Time\n# TYPE t_seconds histogram\n"
                        "t_seconds_bucket{kind=\"x\",le=\"0.1\"} 1\n"
                        "t_seconds_bucket{kind=\"x\",le=\"1\"} 2\n"
                        "t_seconds_bucket{kind=\"x\",le=\"+Inf\"} 3\n"
                        "t_seconds_sum{kind=\"x\"} 7.6\n"
                        "t_seconds_count{kind=\"x\"} 3\n");
}

static void a_histogram_may_be_set_from_counts(void **state)
{
    static const double bounds[] = {0.1, 1};
    struct prometheus_metric *metric =
        prometheus_histogram(*state, "t_seconds", "Time", NULL, bounds, ARRAY_SIZE(bounds));
    prometheus_set_buckets(metric, (const uint64_t[]){5, 5, 5}, 9);
    prometheus_set_buckets(metric, (const uint64_t[]){4, 0, 1}, 7.5);
    prometheus_set_buckets(NULL, (const uint64_t[]){4, 0, 1}, 7.5);
    assert_text(*state, "# HELP t_seconds Time\n# TYPE t_seconds histogram\n"
                        "t_seconds_bucket{le=\"0.1\"} 4\n"
                        "t_seconds_bucket{le=\"1\"} 4\n"
                        "t_seconds_bucket{le=\"+Inf\"} 5\n"
                        "t_seconds_sum 7.5\n"
                        "t_seconds_count 5\n");
}

static void the_same_name_is_the_same_metric(void **state)
{
    struct prometheus_metric *metric = prometheus_counter(*state, "m", "h", "a,b");
    assert_ptr_equal(prometheus_counter(*state, "m", "h", "a,b"), metric);
}

static void series_beyond_the_limit_are_combined(void **state)
{
    struct prometheus_metric *metric = prometheus_counter(*state, "m", "h", "l");
    char name[16];
    for (int i = 0; i < PROMETHEUS_SERIES_MAX + 500; i++) {
        snprintf(name, sizeof(name), "ns%d", i);
        prometheus_add(metric, 1, name, NULL);
    }
    prometheus_add(metric, 1, "ns0", NULL); /* known before the limit was reached */
    _cleanup_buf_ struct buf text;
    buf_init(&text, 1 << 20);
    prometheus_write(*state, &text);
    size_t lines = 0;
    for (const char *c = text.data; *c; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 2 + PROMETHEUS_SERIES_MAX);
    assert_non_null(strstr(text.data, "m{l=\"ns0\"} 2\n"));
    assert_non_null(strstr(text.data, "m{l=\"other\"} 501\n"));
}

struct queue {
    struct prometheus_collector collector;
    struct prometheus_metric *gauge;
    int length;
};

static void collect(struct prometheus_collector *collector)
{
    struct queue *queue = CONTAINER_OF(collector, struct queue, collector);
    prometheus_set(queue->gauge, queue->length, NULL);
}

static void collectors_run_before_each_text(void **state)
{
    struct queue queue = {.collector.collect = collect, .length = 4};
    queue.gauge = prometheus_gauge(*state, "q", "h", NULL);
    prometheus_collector_add(*state, &queue.collector);
    assert_text(*state, "# HELP q h\n# TYPE q gauge\nq 4\n");
    queue.length = 9;
    assert_text(*state, "# HELP q h\n# TYPE q gauge\nq 9\n");
    prometheus_collector_remove(*state, &queue.collector);
    prometheus_collector_remove(*state, &queue.collector); /* a second removal is harmless */
    queue.length = 1;
    assert_text(*state, "# HELP q h\n# TYPE q gauge\nq 9\n");
}

static void without_a_registry_nothing_is_counted(void **state)
{
    static const double bounds[] = {1};
    struct prometheus_collector collector = {collect, NULL};
    prometheus_add(prometheus_counter(NULL, "m", "h", "l"), 1, "a", NULL);
    prometheus_set(prometheus_gauge(NULL, "m", "h", NULL), 1, NULL);
    prometheus_observe(prometheus_histogram(NULL, "m", "h", NULL, bounds, 1), 1, NULL);
    prometheus_collector_add(NULL, &collector);
    prometheus_collector_remove(NULL, &collector);
    assert_text(NULL, "");
    assert_null(prometheus_free(NULL));
}

static void wrong_name(struct prometheus *prometheus)
{
    prometheus_counter(prometheus, "jobs-total", "h", NULL);
}

static void wrong_label(struct prometheus *prometheus)
{
    prometheus_counter(prometheus, "jobs_total", "h", "a:b");
}

static void falling_counter(struct prometheus *prometheus)
{
    prometheus_add(prometheus_counter(prometheus, "m", "h", NULL), -1, NULL);
}

static void missing_value(struct prometheus *prometheus)
{
    prometheus_add(prometheus_counter(prometheus, "m", "h", "a,b"), 1, "x", NULL);
}

static void other_labels(struct prometheus *prometheus)
{
    prometheus_counter(prometheus, "m", "h", "a,b");
    prometheus_counter(prometheus, "m", "h", "ab");
}

static void wrong_use_of_a_metric_aborts(void **state)
{
    void (*const defects[])(struct prometheus *) = {wrong_name, wrong_label, falling_counter,
                                                    missing_value, other_labels};
    for (size_t i = 0; i < ARRAY_SIZE(defects); i++) {
        pid_t child = fork();
        if (child == 0) {
            setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
            signal(SIGABRT, SIG_DFL);
            fclose(stderr);
            defects[i](*state);
            _exit(0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(metrics_are_sorted_by_name_and_series_by_labels),
        TEST(a_metric_without_labels_starts_at_zero),
        TEST(characters_that_break_a_line_are_escaped),
        TEST(numbers_round_trip),
        TEST(a_histogram_adds_up_its_buckets),
        TEST(a_histogram_may_be_set_from_counts),
        TEST(the_same_name_is_the_same_metric),
        TEST(series_beyond_the_limit_are_combined),
        TEST(collectors_run_before_each_text),
        TEST(without_a_registry_nothing_is_counted),
        TEST(wrong_use_of_a_metric_aborts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
