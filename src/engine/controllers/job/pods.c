/* Decides which pods a job creates and stops. At most spec.parallelism pods run, each index has at
 * most one pod, and after a failure no pod is created until the backoff is over. Pure. */
#include "engine/controllers/job/internal.h"

#include "kube/object.h"

#include <stdlib.h>
#include <string.h>

enum {
    CREATE_MAX = 500, /* pods created per pass; the next pass continues */
    BACKOFF_FIRST_MS = 10 * 1000,
    BACKOFF_MAX_MS = 360 * 1000,
};

/* ---- Stopping pods --------------------------------------------------------------------------- */

static void job_pods_stop(struct job_pass *pass, struct job_pod *pod, bool as_failure)
{
    if (pod->stopping || pod->state != JOB_POD_ACTIVE)
        return;
    pod->stopping = true;
    if (!as_failure && !pod->stopped)
        job_plan_add(pass, JOB_MARK_POD, pod->json);
    job_plan_add(pass, JOB_DELETE_POD, pod->json);
}

void job_pass_stop_all(struct job_pass *pass, bool as_failures)
{
    for (size_t i = 0; i < pass->count; i++)
        job_pods_stop(pass, &pass->pods[i], as_failures);
}

/* Sorts pods in the order in which they are stopped: not running, not ready, with a high index,
 * young. */
static int compare_value(const void *a, const void *b)
{
    const struct job_pod *x = *(struct job_pod *const *)a, *y = *(struct job_pod *const *)b;
    if (x->running != y->running)
        return x->running ? 1 : -1;
    if (x->ready != y->ready)
        return x->ready ? 1 : -1;
    if (x->index != y->index)
        return x->index > y->index ? -1 : 1;
    if (x->created_ms != y->created_ms)
        return x->created_ms > y->created_ms ? -1 : 1;
    return strcmp(x->uid, y->uid);
}

/* Returns the active pods that this pass does not stop, sorted by compare_value(). */
static struct job_pod **job_pods_rank(struct job_pass *pass, size_t *ret_count)
{
    struct job_pod **ranked = ARENA_ARRAY(pass->arena, struct job_pod *, pass->count + 1);
    size_t count = 0;
    for (size_t i = 0; i < pass->count; i++)
        if (pass->pods[i].state == JOB_POD_ACTIVE && !pass->pods[i].stopping)
            ranked[count++] = &pass->pods[i];
    qsort(ranked, count, sizeof(struct job_pod *), compare_value);
    *ret_count = count;
    return ranked;
}

/* Stops pods that have no index, or whose index is complete, too high or taken by another pod. Adds
 * to `taken` the index of each pod that stays or has not ended yet. */
static void stop_unneeded_pods(struct job_pass *pass, struct job_indexes *taken)
{
    size_t count;
    struct job_pod **ranked = job_pods_rank(pass, &count);
    for (size_t i = 0; i < pass->count; i++)
        if ((pass->pods[i].state == JOB_POD_LEAVING || pass->pods[i].stopping) &&
            pass->pods[i].index >= 0)
            job_indexes_add(taken, pass->pods[i].index);
    while (count-- > 0) {
        struct job_pod *pod = ranked[count];
        if (pod->index < 0 || pod->index >= pass->spec.completions ||
            job_indexes_has(&pass->indexes, pod->index) || job_indexes_has(taken, pod->index))
            job_pods_stop(pass, pod, false);
        else
            job_indexes_add(taken, pod->index);
    }
}

/* ---- Creating pods --------------------------------------------------------------------------- */

/* Returns for how many ms no pod may be created; 0 or less: a pod may be created now. The backoff
 * is 10 s after a failure and doubles with each further failure, up to 6 min. A success resets it.
 * It is computed from the pods that still exist, so a restart of this process does not change it.
 */
static int64_t backoff_left(const struct job_pass *pass)
{
    int64_t success_ms = -1, failure_ms = -1, delay_ms = 0;
    for (size_t i = 0; i < pass->count; i++)
        if (pass->pods[i].state == JOB_POD_SUCCEEDED && pass->pods[i].ended_ms > success_ms)
            success_ms = pass->pods[i].ended_ms;
    for (size_t i = 0; i < pass->count; i++) {
        const struct job_pod *pod = &pass->pods[i];
        if (pod->state != JOB_POD_FAILED || pod->stopped || pod->ended_ms <= success_ms)
            continue;
        delay_ms = delay_ms == 0 ? BACKOFF_FIRST_MS : 2 * delay_ms;
        if (delay_ms > BACKOFF_MAX_MS)
            delay_ms = BACKOFF_MAX_MS;
        if (pod->ended_ms > failure_ms)
            failure_ms = pod->ended_ms;
    }
    return delay_ms == 0 ? 0 : failure_ms + delay_ms - pass->now_ms;
}

static void job_pods_create(struct job_pass *pass, int64_t wanted, struct job_indexes *taken)
{
    int64_t left_ms = backoff_left(pass);
    if (wanted <= 0 || pass->has_more_to_count)
        return;
    if (left_ms > 0) {
        job_plan_requeue(pass, left_ms);
        return;
    }
    if (wanted > CREATE_MAX)
        wanted = CREATE_MAX;
    for (int64_t index = -1; wanted > 0; wanted--) {
        if (pass->spec.indexed) {
            int64_t next;
            index++;
            while ((next = job_indexes_next_missing(
                        taken, job_indexes_next_missing(&pass->indexes, index))) != index)
                index = next;
            if (index >= pass->spec.completions)
                return;
        }
        job_plan_add(pass, JOB_CREATE_POD,
                     job_pod_new(pass->arena, pass->observed->job, &pass->spec, index));
    }
}

/* Returns how many pods may run. A job without completions gets no new pods after one pod has
 * succeeded. */
static int64_t wanted_active(const struct job_pass *pass)
{
    int64_t present = (int64_t)(pass->active + pass->leaving), open;
    if (pass->spec.completions < 0)
        open = pass->succeeded > 0 ? present : pass->spec.parallelism;
    else
        open = pass->spec.completions - pass->succeeded;
    return open < pass->spec.parallelism ? open : pass->spec.parallelism;
}

void job_pass_manage(struct job_pass *pass)
{
    struct job_indexes taken;
    size_t active;
    int64_t wanted = wanted_active(pass);
    job_indexes_init(&taken, pass->arena);
    /* A pod that was marked but not deleted is deleted now. */
    for (size_t i = 0; i < pass->count; i++)
        if (pass->pods[i].stopped)
            job_pods_stop(pass, &pass->pods[i], false);
    if (pass->spec.indexed)
        stop_unneeded_pods(pass, &taken);
    struct job_pod **ranked = job_pods_rank(pass, &active);
    for (size_t i = 0; (int64_t)active > wanted; i++, active--)
        job_pods_stop(pass, ranked[i], false);
    job_pods_create(pass, wanted - (int64_t)(pass->active + pass->leaving), &taken);
}
