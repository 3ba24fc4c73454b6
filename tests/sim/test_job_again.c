/* Tests a job that is deleted and created again at once under the same name. Its pods must be
 * created as soon as the old job's pods are gone, at any moment of the deletion and with late
 * answers and watches. */
#include "training_story.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "loop/sim/sim_loop.h"
#include "operator/kind/training_kind.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { REPLICAS = 3, STEP_MS = 5, SOON_MS = 100, ROUNDS = 60 };

static const char JOB[] =
    "{'tfReplicaSpecs': {'Worker': {'replicas': 3, 'restartPolicy': 'Always', 'template': {'spec': "
    "{'containers': [{'name': 'tensorflow', 'image': 'simulated'}]}}}}}";

static int setup(void **state)
{
    return story_setup(state, &TRAINING_TFJOB);
}

static const char *job_uid(struct story *story)
{
    const struct kube_object *job = kube_informer_get(story->jobs, "default", "mnist");

    return job ? job->uid : "";
}

/* Counts the pods that the job with this uid controls, or those that it does not control. */
static size_t count_pods(struct story *story, const char *uid, bool of_job)
{
    const struct kube_object *pod;
    size_t count = 0;

    for (size_t at = 0; (pod = kube_informer_next(story->pods, NULL, &at));)
        count += kube_meta_is_controlled_by(pod->json, uid) == of_job;
    return count;
}

static void delete_job(struct story *story)
{
    struct kube_delete_options options = {.grace_period_seconds = -1};

    kube_delete(story->cluster.client, &TFJOB_RESOURCE, "default", "mnist", &options,
                sim_must_succeed, NULL);
}

/* Returns the time from the end of the last old pod until the pods of the new job exist. */
static int64_t wait_for_pods(struct story *story, const char *old_uid)
{
    int64_t begin_ms = loop_now_ms(story->cluster.loop), free_ms = begin_ms;

    for (;;) {
        sim_loop_run_for(story->cluster.loop, STEP_MS);
        int64_t now_ms = loop_now_ms(story->cluster.loop);
        const char *uid = job_uid(story);

        if (uid[0] && !str_eq(uid, old_uid)) {
            if (count_pods(story, uid, false) > 0)
                free_ms = now_ms;
            if (count_pods(story, uid, true) == REPLICAS)
                return now_ms - free_ms;
        }
        if (now_ms > begin_ms + 5 * MINUTE_MS)
            fail_msg("the job '%s' (before: '%s') has %zu pods of its own, and %zu others", uid,
                     old_uid, count_pods(story, uid, true), count_pods(story, uid, false));
    }
}

static int64_t recreate_job(struct story *story, int64_t life_ms, int64_t pause_ms)
{
    story_submit(story, JOB);
    sim_loop_run_for(story->cluster.loop, life_ms);
    const char *old_uid = arena_strdup(story->arena, job_uid(story));
    delete_job(story);
    sim_loop_run_for(story->cluster.loop, pause_ms);
    story_submit(story, JOB);
    int64_t late_ms = wait_for_pods(story, old_uid);

    delete_job(story);
    sim_loop_run_for(story->cluster.loop, 2 * MINUTE_MS);
    assert_int_equal(story_count(story->pods), 0);
    return late_ms;
}

static void test_recreated_job_gets_its_pods_soon(void **state)
{
    static const int64_t lives_ms[] = {0, 1, 2, 5, 10, 20, 50, 200, 1000, 20000};
    static const int64_t pauses_ms[] = {0, 0, 1, 5, 20, 100};
    struct story *story = *state;

    for (size_t i = 0; i < ROUNDS; i++) {
        int64_t life_ms = lives_ms[i % ARRAY_SIZE(lives_ms)];
        int64_t pause_ms = pauses_ms[i / ARRAY_SIZE(lives_ms) % ARRAY_SIZE(pauses_ms)];
        int64_t late_ms = recreate_job(story, life_ms, pause_ms);

        if (late_ms > SOON_MS)
            fail_msg("deleted after %" PRId64 " ms, made again after %" PRId64
                     " ms: the pods are %" PRId64 " ms late",
                     life_ms, pause_ms, late_ms);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_recreated_job_gets_its_pods_soon, setup,
                                        story_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
