/* Counts the pods of a job. A pod that has ended is counted exactly once; job.h says how. Pure. */
#include "engine/controllers/job/internal.h"

#include "base/str.h"

enum { UNCOUNTED_MAX = 500 }; /* uids in the status at a time, as in Kubernetes */

static void job_count_release(struct job_pass *pass, const struct job_pod *pod)
{
    if (pod->tracked)
        job_plan_add(pass, JOB_RELEASE_POD, pod->json);
}

/* Adds to *number how many of the uids belong to pods that are gone or have lost the finalizer.
 * Returns the other uids, and plans the removal of the finalizers of their pods again. */
static struct json *job_count_confirmed(struct job_pass *pass, const struct json *uids,
                                        int64_t *number)
{
    struct json *left = json_array(pass->arena);
    JSON_EACH (uid, uids) {
        struct job_pod *pod = json_text(uid) ? map_get(&pass->by_uid, json_text(uid)) : NULL;
        if (pod && pod->tracked) {
            json_append(left, json_clone(pass->arena, uid));
            job_count_release(pass, pod);
        } else {
            (*number)++;
        }
        if (pod) /* the pod is not recorded a second time */
            map_remove(&pass->by_uid, pod->uid);
    }
    return left;
}

/* Records a pod that has ended, and plans the removal of its finalizer. Adds its index to the
 * completed indexes, or else its uid to one of the lists. A failed pod that this controller stopped
 * is not recorded, and only its finalizer is removed. If the uid must be added but the lists are
 * full, plans nothing and sets has_more_to_count. */
static void job_count_record(struct job_pass *pass, const struct job_pod *pod,
                             struct json *succeeded, struct json *failed)
{
    struct json *list = pod->state == JOB_POD_SUCCEEDED ? succeeded : failed;
    if (pod->state == JOB_POD_SUCCEEDED && pass->spec.indexed) {
        if (pod->index >= 0 && pod->index < pass->spec.completions)
            job_indexes_add(&pass->indexes, pod->index);
    } else if (pod->state == JOB_POD_SUCCEEDED || !pod->stopped) {
        if (json_count(succeeded) + json_count(failed) >= UNCOUNTED_MAX) {
            pass->has_more_to_count = true;
            return;
        }
        json_append(list, json_string(pass->arena, pod->uid));
    }
    job_count_release(pass, pod);
}

/* Counts the pods that have not ended. */
static void count_present(struct job_pass *pass)
{
    for (size_t i = 0; i < pass->count; i++) {
        const struct job_pod *pod = &pass->pods[i];
        if (pod->state == JOB_POD_LEAVING) {
            pass->leaving++;
            if (pod->forced_end_ms)
                job_plan_requeue(pass, pod->forced_end_ms - pass->now_ms);
        } else if (pod->state == JOB_POD_ACTIVE) {
            pass->active++;
            pass->ready += pod->ready;
        }
    }
}

static void job_count_set_number(struct job_pass *pass, const char *name, int64_t number)
{
    if (number > 0)
        json_set_int(pass->arena, pass->status, name, number);
    else
        json_remove(pass->status, name);
}

void job_pass_count(struct job_pass *pass)
{
    const struct json *old = json_get(pass->status, "uncountedTerminatedPods");
    int64_t succeeded = json_get_int(pass->status, "succeeded", 0);
    int64_t failed = json_get_int(pass->status, "failed", 0);
    struct json *new_succeeded = job_count_confirmed(pass, json_get(old, "succeeded"), &succeeded);
    struct json *new_failed = job_count_confirmed(pass, json_get(old, "failed"), &failed);

    for (size_t i = 0; i < pass->count; i++) {
        const struct job_pod *pod = &pass->pods[i];
        bool ended = pod->state == JOB_POD_SUCCEEDED || pod->state == JOB_POD_FAILED;
        if (ended && pod->tracked && map_get(&pass->by_uid, pod->uid))
            job_count_record(pass, pod, new_succeeded, new_failed);
    }
    count_present(pass);
    pass->uncounted = json_count(new_succeeded) + json_count(new_failed);
    pass->succeeded = succeeded + (int64_t)json_count(new_succeeded);
    pass->failed = failed + (int64_t)json_count(new_failed);
    if (pass->spec.indexed) {
        pass->succeeded = succeeded = job_indexes_size(&pass->indexes, pass->spec.completions);
        char *text = job_indexes_text(&pass->indexes);
        if (text[0])
            json_set_string(pass->arena, pass->status, "completedIndexes", text);
    }
    job_count_set_number(pass, "succeeded", succeeded);
    job_count_set_number(pass, "failed", failed);
    job_count_set_number(pass, "active", (int64_t)pass->active);
    json_set_int(pass->arena, pass->status, "ready", (int64_t)pass->ready);
    struct json *uncounted = json_object(pass->arena);
    if (json_count(new_succeeded))
        json_set(pass->arena, uncounted, "succeeded", new_succeeded);
    if (json_count(new_failed))
        json_set(pass->arena, uncounted, "failed", new_failed);
    json_set(pass->arena, pass->status, "uncountedTerminatedPods", uncounted);
}
