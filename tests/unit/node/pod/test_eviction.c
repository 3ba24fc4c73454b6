/* Tests when a pod that uses too much disk is evicted, and when not. The test replaces the
 * functions of the runner that eviction calls. */
#include "node_test.h"
#include "scratch_directory.h"

#include "base/system/file.h"
#include "node/pod/runner_internal.h"

#include <stdlib.h>

static struct loop *loop;
static bool is_running;
static char *why; /* why the pod was stopped, or NULL */

bool pod_runner_is_running(const struct pod_runner *runner)
{
    return is_running;
}

void pod_runner_stop(struct pod_runner *runner, int64_t grace_ms, const char *reason,
                     const char *message)
{
    assert_string_equal(reason, "Evicted");
    free(why);
    why = mem_strdup(message);
    loop_stop(loop);
}

void pod_runner_warn(struct pod_runner *runner, const char *reason, const char *message)
{
    fail_msg("%s: %s", reason, message);
}

struct fixture {
    struct arena *arena;
    struct kube_object object;
    struct pod_host *host;
    struct pod_runner *runner;
};

/* Begins with a pod that has written 300 KiB, with a limit of 200. */
static struct fixture fixture_begin(void)
{
    struct err err = ERR_INIT;
    struct fixture f = {arena_new(),
                        {0},
                        mem_zalloc(sizeof(struct pod_host)),
                        mem_zalloc(sizeof(struct pod_runner))};
    static char text[300 << 10];
    memset(text, 'x', sizeof(text));
    _cleanup_free_ char *volume = mem_printf("%s/volumes/small", directory);
    _cleanup_free_ char *file = mem_printf("%s/file", volume);
    if (loop_new(&loop, &err) < 0 || file_make_dirs(volume, 0755, &err) < 0 ||
        file_write_atomic(file, text, sizeof(text), 0600, &err) < 0)
        fail_msg("%s", err.message);
    f.host->loop = loop;
    f.runner->host = f.host;
    f.runner->directory = directory;
    is_running = true;
    loop_timer_init(loop, &f.runner->measure, pod_runner_on_measure);
    return f;
}

static void set_pod(struct fixture *f, const char *metadata)
{
    f->object.json =
        read_json(f->arena, arena_printf(f->arena,
                                         "{'metadata':{%s},'spec':{'volumes':["
                                         "{'name':'small','emptyDir':{'sizeLimit':'200Ki'}}]}}",
                                         metadata));
    f->runner->object = &f->object;
}

static void fixture_end(struct fixture *f)
{
    free(f->runner);
    free(f->host);
    loop_free(loop);
    free(why);
    why = NULL;
    arena_free(f->arena);
}

static void pod_over_its_storage_limit_is_evicted(void **state)
{
    struct fixture f = fixture_begin();
    set_pod(&f, "");
    pod_runner_begin_measuring(f.runner);
    loop_run(loop);
    assert_string_equal(why, "Usage of EmptyDir volume \"small\" exceeds the limit \"200Ki\". ");
    assert_true(f.runner->measure.running); /* measures again, in case the stop request is lost */
    assert_false(f.host->is_measuring);
    pod_runner_end_measuring(f.runner);
    fixture_end(&f);
}

/* A pod that is deleted, forgotten or has ended during the measurement keeps its own grace period,
 * and is not measured again. */
static void ending_pod_is_not_evicted(void **state)
{
    for (int way = 0; way < 4; way++) {
        struct fixture f = fixture_begin();
        set_pod(&f, "");
        pod_runner_on_measure(&f.runner->measure);
        assert_true(f.host->is_measuring);
        if (way == 0)
            set_pod(&f, "'deletionTimestamp':'2026-01-01T00:00:00Z'");
        else if (way == 1)
            f.runner->forgotten = true;
        else if (way == 2)
            is_running = false;
        else
            str_copy(f.runner->state.reason, sizeof(f.runner->state.reason), "DeadlineExceeded");
        loop_run(loop);
        assert_null(why);
        assert_false(f.host->is_measuring);
        assert_false(f.runner->measure.running);
        fixture_end(&f);
    }
}

/* The node shuts down before the walk has ended. The walk must not use the node any more. */
static void measurement_may_outlive_its_node(void **state)
{
    struct fixture f = fixture_begin();
    set_pod(&f, "");
    pod_runner_on_measure(&f.runner->measure);
    pod_runner_end_measuring(f.runner);
    assert_false(f.host->is_measuring); /* the next pod can be measured */
    free(f.host);
    free(f.runner);
    f.host = NULL;
    f.runner = NULL;
    loop_run(loop);
    assert_null(why);
    fixture_end(&f);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(pod_over_its_storage_limit_is_evicted),
        TEST(ending_pod_is_not_evicted),
        TEST(measurement_may_outlive_its_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
