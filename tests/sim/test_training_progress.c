/* Tests the progress of running jobs in virtual time. The test plays the chiefs' HTTP servers. */
#include "memory_stream.h"
#include "sim_cluster.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/client/informer.h"
#include "kube/object.h"
#include "loop/sim/sim_loop.h"
#include "operator/controller/controller.h"
#include "operator/kind/training_kind.h"
#include "operator/reconcile/conditions.h"
#include "operator/reconcile/progress_text.h"
#include "read_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SECOND_MS = 1000, MINUTE_MS = 60 * 1000, MANY_JOBS = 50 };

/* How the chiefs answer. */
enum behaviour { ANSWER, ANSWER_THE_SAME, REFUSE, SAY_NOTHING };

struct story {
    struct sim_cluster cluster;
    struct arena *arena;
    struct training_controller *controller;
    struct kube_informer *jobs, *events;
    enum behaviour behaviour;
    size_t dials, open, most_open, job_changes;
    int last_port;
};

/* ---- the dialer ------------------------------------------------------------------------------ */

struct dialing {
    struct story *story;
    struct loop_task task;
    training_dial_done *done;
    void *context;
};

/* A stream that counts as open until it is freed. */
struct line {
    struct story *story;
    struct memory_stream *stream;
    bool closed;
    struct loop_timer timer;
};

static void on_line_timer(struct loop_timer *timer)
{
    struct line *line = CONTAINER_OF(timer, struct line, timer);

    if (!line->closed) {
        loop_timer_start(timer, 10);
        return;
    }
    line->story->open--;
    free(line);
}

static struct stream *open_line(struct story *story)
{
    struct line *line = mem_zalloc(sizeof(*line));

    line->story = story;
    line->stream = memory_stream_new(story->cluster.loop, &line->closed);
    if (++story->open > story->most_open)
        story->most_open = story->open;
    loop_timer_init(story->cluster.loop, &line->timer, on_line_timer);
    loop_timer_start(&line->timer, 10);
    if (story->behaviour != SAY_NOTHING) {
        _cleanup_free_ char *answer =
            mem_printf("HTTP/1.0 200 OK\r\n\r\n{\"step\":%zu,\"total\":1000,\"loss\":0.5}",
                       story->behaviour == ANSWER ? story->dials : 1);

        memory_stream_send(line->stream, answer, strlen(answer));
        memory_stream_send_end(line->stream);
    }
    return &line->stream->stream;
}

static void on_dialed(struct loop_task *task)
{
    struct dialing *dialing = CONTAINER_OF(task, struct dialing, task);
    struct dialing copy = *dialing;
    struct err err = ERR_INIT;

    free(dialing);
    if (copy.story->behaviour == REFUSE) {
        err_set(&err, ERR_UNAVAILABLE, "no server listens there");
        copy.done(copy.context, NULL, &err);
    } else {
        copy.done(copy.context, open_line(copy.story), NULL);
    }
}

static void *open_dial(void *context, const struct json *pod, int port, training_dial_done *done,
                       void *done_context)
{
    struct dialing *dialing = mem_zalloc(sizeof(*dialing));

    *dialing = (struct dialing){.story = context, .done = done, .context = done_context};
    dialing->story->dials++;
    dialing->story->last_port = port;
    dialing->task.callback = on_dialed;
    loop_defer(dialing->story->cluster.loop, &dialing->task);
    return dialing;
}

static void cancel_dial(void *context)
{
    struct dialing *dialing = context;

    loop_defer_cancel(dialing->story->cluster.loop, &dialing->task);
    free(dialing);
}

/* ---- the cluster ----------------------------------------------------------------------------- */

static void on_job(void *context, struct kube_object *old, struct kube_object *new_)
{
    ((struct story *)context)->job_changes++;
}

static void on_any(void *context, struct kube_object *old, struct kube_object *new_)
{
}

static void start_controller(struct story *story)
{
    const struct training_dialer dialer = {
        .open = open_dial, .cancel = cancel_dial, .context = story};
    const struct training_controller_options options = {.dialer = &dialer};

    story->controller = training_controller_new(story->cluster.loop, story->cluster.transport,
                                                &TRAINING_TFJOB, &options);
}

static int setup(void **state)
{
    struct story *story = mem_zalloc(sizeof(*story));

    sim_cluster_init(&story->cluster, 1);
    sim_node_set_failures(story->cluster.node, 0);
    story->arena = arena_new();
    story->jobs =
        kube_informer_new(story->cluster.client, &TFJOB_RESOURCE, NULL, NULL, on_job, story);
    story->events =
        kube_informer_new(story->cluster.client, &KUBE_EVENTS, NULL, NULL, on_any, story);
    start_controller(story);
    *state = story;
    return 0;
}

static int teardown(void **state)
{
    struct story *story = *state;

    training_controller_free(story->controller);
    kube_informer_free(story->jobs);
    kube_informer_free(story->events);
    arena_free(story->arena);
    sim_loop_run_for(story->cluster.loop, SECOND_MS); /* until the connections are closed */
    assert_int_equal(story->open, 0);
    sim_cluster_release(&story->cluster);
    free(story);
    return 0;
}

/* Creates a job that restarts in place forever, with these ports and further replicas. */
static void submit_with(struct story *story, const char *name, const char *ports, const char *more)
{
    struct json *job = kube_object_make(story->arena, &TFJOB_RESOURCE, "default", name);
    const char *spec = arena_printf(
        story->arena,
        "{'tfReplicaSpecs': {'Worker': {'restartPolicy': 'Always', 'template': {'spec': "
        "{'containers': [{'name': 'tensorflow', 'image': 'simulated', 'ports': [%s]}]}}}%s}}",
        ports, more);

    json_set(story->arena, job, "spec", read_json(story->arena, spec));
    kube_create(story->cluster.client, &TFJOB_RESOURCE, "default", job, sim_must_succeed, NULL);
}

static void submit(struct story *story, const char *name, const char *ports)
{
    submit_with(story, name, ports, "");
}

#define PROGRESS_PORT "{'name': 'progress', 'containerPort': 8000}"

static const char *progress_of(struct story *story, const char *name)
{
    struct kube_object *job = kube_informer_get(story->jobs, "default", name);

    return job ? kube_meta_annotation(job->json, TRAINING_PROGRESS_ANNOTATION) : NULL;
}

static const struct json *status_of(struct story *story, const char *name)
{
    struct kube_object *job = kube_informer_get(story->jobs, "default", name);

    return job ? json_get(job->json, "status") : NULL;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void test_progress_is_written_to_the_job(void **state)
{
    struct story *story = *state;
    size_t dials;

    submit(story, "mnist", PROGRESS_PORT);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_true(str_has_prefix(progress_of(story, "mnist"), "step "));
    assert_true(str_has_suffix(progress_of(story, "mnist"), "/1000, loss 0.5"));
    assert_int_equal(story->last_port, 8000);
    assert_in_range(story->dials, 9, 13); /* every five seconds */

    char *before = arena_strdup(story->arena, progress_of(story, "mnist"));
    dials = story->dials;
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_string_not_equal(progress_of(story, "mnist"), before);
    assert_in_range(story->dials - dials, 11, 13);
}

/* Progress that has not changed is not written, and the chief is polled again. */
static void test_unchanged_progress_is_not_written(void **state)
{
    struct story *story = *state;
    size_t dials;

    story->behaviour = ANSWER_THE_SAME;
    submit(story, "mnist", PROGRESS_PORT);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_string_equal(progress_of(story, "mnist"), "step 1/1000, loss 0.5");
    size_t changes = story->job_changes;
    dials = story->dials;
    training_controller_free(story->controller);
    start_controller(story); /* a new controller does not write it again either */
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_true(story->dials > dials + 8);
    assert_int_equal(story->job_changes, changes);
}

static void test_last_progress_stays_after_the_end(void **state)
{
    struct story *story = *state;
    struct json *patch = json_object(story->arena);
    struct json *spec = json_ensure_object(story->arena, patch, "spec");
    size_t dials;

    submit(story, "mnist", PROGRESS_PORT);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    json_set_int(story->arena, json_ensure_object(story->arena, spec, "runPolicy"),
                 "activeDeadlineSeconds", 0);
    kube_patch(story->cluster.client, &TFJOB_RESOURCE, "default", "mnist", NULL, patch,
               sim_must_succeed, NULL);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_true(training_condition_is_true(status_of(story, "mnist"), TRAINING_FAILED));
    char *last = arena_strdup(story->arena, progress_of(story, "mnist"));
    dials = story->dials;
    sim_loop_run_for(story->cluster.loop, 5 * MINUTE_MS);
    assert_string_equal(progress_of(story, "mnist"), last);
    assert_int_equal(story->dials, dials); /* no replica is polled any more */
}

/* The chief of a failed job may run on. The operator must not ask it for progress any more. */
static void test_finished_job_is_not_polled(void **state)
{
    struct story *story = *state;
    size_t dials;

    sim_node_set_failures(story->cluster.node, 100);
    submit_with(story, "mnist", PROGRESS_PORT,
                ", 'Evaluator': {'template': {'spec': {'containers': [{'name': 'tensorflow', "
                "'image': 'simulated'}]}}}");
    for (int i = 0; i < 100 && !training_is_finished(status_of(story, "mnist")); i++)
        sim_loop_run_for(story->cluster.loop, SECOND_MS);
    assert_true(training_is_finished(status_of(story, "mnist")));
    sim_loop_run_for(story->cluster.loop, SECOND_MS);
    dials = story->dials;
    sim_loop_run_for(story->cluster.loop, 5 * MINUTE_MS);
    assert_int_equal(story->dials, dials);
}

static void test_unreachable_chief_is_polled_less_often(void **state)
{
    struct story *story = *state;
    struct kube_object *event;

    story->behaviour = REFUSE;
    submit(story, "mnist", PROGRESS_PORT);
    sim_loop_run_for(story->cluster.loop, 10 * MINUTE_MS);
    assert_in_range(story->dials, 8, 16);
    assert_null(progress_of(story, "mnist"));
    for (size_t i = 0; (event = kube_informer_next(story->events, NULL, &i));)
        assert_null(strstr(json_get_string(event->json, "message", ""), "progress"));

    story->behaviour = ANSWER;
    sim_loop_run_for(story->cluster.loop, 2 * MINUTE_MS);
    assert_non_null(progress_of(story, "mnist"));
}

static void test_chief_without_a_progress_port_is_not_polled(void **state)
{
    struct story *story = *state;

    submit(story, "mnist", "{'name': 'tensorboard', 'containerPort': 6006}");
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_int_equal(story->dials, 0);
}

/* The chiefs of many jobs do not answer. Only some are polled at the same time, and each is polled
 * after a while. */
static void test_number_of_concurrent_polls_is_limited(void **state)
{
    struct story *story = *state;

    story->behaviour = SAY_NOTHING;
    for (int i = 0; i < MANY_JOBS; i++)
        submit(story, arena_printf(story->arena, "job-%d", i), PROGRESS_PORT);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_in_range(story->most_open, 16, 17); /* one may just be closing */
    assert_true(story->dials >= MANY_JOBS);
    story->behaviour = ANSWER;
    sim_loop_run_for(story->cluster.loop, 3 * MINUTE_MS);
    for (int i = 0; i < MANY_JOBS; i++)
        assert_non_null(progress_of(story, arena_printf(story->arena, "job-%d", i)));
    assert_true(story->dials <= 4 * 60 * 10); /* at most ten per second */
}

/* Jobs are deleted and the operator stops while a chief is polled. */
static void test_job_may_be_deleted_during_a_poll(void **state)
{
    struct story *story = *state;
    struct kube_delete_options options = {.grace_period_seconds = -1};

    story->behaviour = SAY_NOTHING;
    submit(story, "one", PROGRESS_PORT);
    submit(story, "two", PROGRESS_PORT);
    for (int i = 0; i < 3000 && story->open < 2; i++)
        sim_loop_run_for(story->cluster.loop, 10);
    assert_int_equal(story->open, 2);
    kube_delete(story->cluster.client, &TFJOB_RESOURCE, "default", "one", &options,
                sim_must_succeed, NULL);
    sim_loop_run_for(story->cluster.loop, SECOND_MS);
    assert_int_equal(story->open, 1);
    story->controller = training_controller_free(story->controller);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_progress_is_written_to_the_job, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unchanged_progress_is_not_written, setup, teardown),
        cmocka_unit_test_setup_teardown(test_last_progress_stays_after_the_end, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unreachable_chief_is_polled_less_often, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_chief_without_a_progress_port_is_not_polled, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_finished_job_is_not_polled, setup, teardown),
        cmocka_unit_test_setup_teardown(test_number_of_concurrent_polls_is_limited, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_job_may_be_deleted_during_a_poll, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
