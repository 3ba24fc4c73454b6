/* Tests which of its own writes the controller still waits to see, and how long it pauses a job
 * while the server does not answer. */
#include "operator/controller/job_cache.h"

#include "base/arena.h"
#include "kube/object.h"
#include "read_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void on_changed(void *context, const char *key)
{
    (*(size_t *)context)++;
}

/* The answer to a create may come before the watch shows the pod, after it, or when the pod is gone
 * again. In the last case the controller must not wait, or the next pass would be seconds late. */
static void test_created_pod_is_expected_until_seen(void **state)
{
    static const struct {
        bool shown, gone, awaited;
    } rows[] = {{false, false, true}, {true, false, false}, {true, true, false}};
    struct arena *arena = arena_new();
    struct json *pod =
        read_json(arena, "{'metadata': {'namespace': 'default', 'name': 'mnist-worker-0', 'uid': "
                         "'u', 'labels': {'training.kubeflow.org/job-name': 'mnist'}}}");
    struct json *job = read_json(arena, "{'metadata': {'resourceVersion': '9'}}");

    for (size_t i = 0; i < 3; i++) {
        struct job_cache cache;
        size_t changes = 0;
        struct kube_object *object = kube_object_new(pod);

        job_cache_init(&cache, on_changed, &changes);
        if (rows[i].shown)
            job_cache_change(&cache, JOB_PODS, NULL, object);
        if (rows[i].gone)
            job_cache_change(&cache, JOB_PODS, object, NULL);
        assert_int_equal(changes, rows[i].shown + rows[i].gone);
        struct job_entry *entry = job_cache_get(&cache, "default/mnist");
        job_entry_await_object(entry, JOB_PODS, pod, 1000);
        assert_int_equal(kube_own_writes_wait_ms(&entry->writes, job, 1000) > 0, rows[i].awaited);
        kube_object_unref(object);
        job_cache_release(&cache);
    }
    arena_free(arena);
}

/* Each time the server does not answer, the pause of a job doubles, up to five seconds. */
static void test_pause_doubles_while_the_server_is_down(void **state)
{
    static const int64_t expected[] = {50, 100, 200, 400, 800, 1600, 3200, 5000, 5000};
    struct job_entry entry = {0};
    for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
        job_entry_note_server(&entry, false, 1000);
        assert_int_equal(entry.wait_until_ms, 1000 + expected[i]);
    }
    job_entry_note_server(&entry, true, 1000);
    assert_int_equal(entry.wait_until_ms, 0);
    job_entry_note_server(&entry, false, 1000);
    assert_int_equal(entry.wait_until_ms, 1050);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_created_pod_is_expected_until_seen),
        cmocka_unit_test(test_pause_doubles_while_the_server_is_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
