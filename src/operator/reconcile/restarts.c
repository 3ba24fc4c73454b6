/* Implements the rules of restarts and their annotations; see restarts.h. Pure. */
#include "operator/reconcile/restarts.h"

#include "base/moment.h"
#include "base/str.h"
#include "kube/object.h"

#include <string.h>

enum {
    ANNOTATION_MAX = 1024 * 1024, /* limit in bytes; the API allows a quarter of it */
    UID_PREFIX = 8, /* the first characters of a uid, which identify a pod of a replica */
    BACKOFF_MS = 10 * 1000,
    BACKOFF_MAX_MS = 300 * 1000,
};

/* The key for the restarts of all replicas that the spec does not have any more. No replica has
 * this key. */
#define PAST "past"

enum training_verdict training_replica_judge(const struct training_replica *replica,
                                             enum training_restart_policy policy)
{
    const struct training_pod *pod = &replica->pod;

    if (replica->state != TRAINING_REPLICA_FAILED && replica->state != TRAINING_REPLICA_LOST)
        return TRAINING_VERDICT_NONE;

    switch (policy) {
    case TRAINING_RESTART_NEVER:
        return TRAINING_VERDICT_FAIL;
    case TRAINING_RESTART_ALWAYS:
    case TRAINING_RESTART_ON_FAILURE:
        return TRAINING_VERDICT_RESTART;
    case TRAINING_RESTART_EXIT_CODE:
        break;
    }
    /* If the pod was deleted or disrupted, the exit code tells nothing about the program. */
    if (replica->state == TRAINING_REPLICA_LOST || pod->deleting_ms > 0 || pod->disrupted)
        return TRAINING_VERDICT_RESTART;
    return pod->exit_code >= TRAINING_EXIT_CODE_RETRYABLE ? TRAINING_VERDICT_RESTART
                                                          : TRAINING_VERDICT_FAIL;
}

static const char *replica_key(struct arena *arena, const struct training_replica *replica)
{
    return arena_printf(arena, "%s-%d", training_replica_type_lower(replica->type), replica->index);
}

static const struct json *parse_annotation(const struct training_job *job, struct arena *arena,
                                           const char *name)
{
    static const struct json_limits limits = {.depth = 4};
    const char *text = kube_meta_annotation(job->json, name);
    struct json *json;

    if (!text || strlen(text) > ANNOTATION_MAX)
        return NULL;
    if (json_parse(arena, text, strlen(text), &limits, &json, NULL) < 0)
        return NULL;
    return json;
}

/* Limits a count, so that edited values can be added without overflow. */
static int64_t bound_count(int64_t count)
{
    return count < 0 ? 0 : count < INT32_MAX ? count : INT32_MAX;
}

void training_restarts_read(struct training_replicas *replicas, const struct training_job *job,
                            struct arena *arena)
{
    JSON_EACH (entry, parse_annotation(job, arena, TRAINING_RESTARTS_ANNOTATION)) {
        struct training_replica *replica = training_replicas_of_key(replicas, job, entry->name);
        int64_t count = bound_count(json_get_int(entry, "count", 0));

        /* The restarts still count if the spec does not have the replica any more. */
        if (!replica) {
            replicas->past_restarts = bound_count(replicas->past_restarts + count);
            continue;
        }
        replica->restarts = count;
        replica->handled_uid =
            entry->type == JSON_STRING ? json_text(entry) : json_get_string(entry, "uid", NULL);
        if (json_get(entry, "after") &&
            moment_parse(json_get_string(entry, "after", ""), &replica->retry_ms, NULL) < 0)
            replica->retry_ms = 0;
    }
    JSON_EACH (entry, parse_annotation(job, arena, TRAINING_FINISHED_ANNOTATION)) {
        struct training_replica *replica =
            training_replicas_of_key(replicas, job, json_text(entry));

        if (replica)
            replica->finished = true;
    }
}

static void write_annotation(const struct training_job *job, struct training_plan *plan,
                             const char *name, const struct json *value)
{
    training_plan_annotate(plan, job->json, name,
                           json_count(value) ? json_to_string(plan->arena, value) : NULL);
}

/* Returns the entry of a pod that the operator deleted, without a count. It is short, because there
 * may be thousands at once, and the annotations of an object are limited to 256 KiB. */
static struct json *deleted_pod_entry(struct arena *arena, const char *uid)
{
    return json_stringf(arena, "%.*s", (int)UID_PREFIX, uid);
}

/* Records the pods of replicas that the spec does not have any more; they are being deleted. */
static void record_surplus_pods(const struct training_replicas *replicas,
                                const struct training_job *job,
                                const struct training_observed *observed, struct arena *arena,
                                struct json *restarts)
{
    for (size_t i = 0; i < observed->pod_count; i++) {
        const struct json *pod = observed->pods[i];
        enum training_replica_type type;
        int64_t index;

        if (kube_meta_is_controlled_by(pod, job->uid) &&
            training_job_matches(job, pod, &type, &index) &&
            !training_replicas_get(replicas, job, type, index))
            json_set(arena, restarts,
                     arena_printf(arena, "%s-%d", training_replica_type_lower(type), (int)index),
                     deleted_pod_entry(arena, kube_meta_uid(pod)));
    }
}

static struct json *restart_entry(struct arena *arena, const struct training_replica *replica)
{
    if (replica->restarts == 0 && replica->retry_ms == 0)
        return deleted_pod_entry(arena, replica->handled_uid);
    struct json *entry = json_object(arena);
    json_set_int(arena, entry, "count", replica->restarts);
    json_set_string(arena, entry, "uid", replica->handled_uid);
    if (replica->retry_ms > 0) {
        char after[MOMENT_TEXT_MAX];

        moment_format(replica->retry_ms, after);
        json_set_string(arena, entry, "after", after);
    }
    return entry;
}

void training_restarts_write(const struct training_replicas *replicas,
                             const struct training_job *job,
                             const struct training_observed *observed, struct training_plan *plan)
{
    struct arena *arena = plan->arena;
    struct json *restarts = json_object(arena);
    struct json *finished = json_array(arena);

    for (size_t i = 0; i < replicas->count; i++) {
        const struct training_replica *replica = &replicas->items[i];

        /* The entry of a pod that was only deleted is dropped as soon as the pod is gone. */
        if (replica->restarts > 0 || replica->retry_ms > 0 || training_replica_is_handled(replica))
            json_set(arena, restarts, replica_key(arena, replica), restart_entry(arena, replica));
        if (replica->finished)
            json_append(finished, json_string(arena, replica_key(arena, replica)));
    }
    if (replicas->past_restarts > 0)
        json_set_int(arena, json_ensure_object(arena, restarts, PAST), "count",
                     replicas->past_restarts);
    record_surplus_pods(replicas, job, observed, arena, restarts);
    write_annotation(job, plan, TRAINING_RESTARTS_ANNOTATION, restarts);
    write_annotation(job, plan, TRAINING_FINISHED_ANNOTATION, finished);
}

/* Returns the minimum time between the creation of a failed pod and that of the next pod. */
static int64_t backoff_ms(int64_t restarts)
{
    int64_t backoff = BACKOFF_MS;

    if (restarts < 2)
        return 0;
    for (int64_t i = 2; i < restarts && backoff < BACKOFF_MAX_MS; i++)
        backoff *= 2;
    return backoff < BACKOFF_MAX_MS ? backoff : BACKOFF_MAX_MS;
}

void training_replica_count_restart(struct training_replica *replica)
{
    const struct training_pod *pod = &replica->pod;
    bool program_failed =
        replica->state == TRAINING_REPLICA_FAILED && pod->deleting_ms == 0 && !pod->disrupted;
    int64_t created_ms = kube_meta_created_ms(pod->json);

    replica->restarts += 1 + pod->restarts;
    replica->handled_uid = pod->uid;
    replica->retry_ms = 0;
    if (program_failed && created_ms > 0 && backoff_ms(replica->restarts) > 0)
        replica->retry_ms = created_ms + backoff_ms(replica->restarts);
}

void training_replica_mark_deleted(struct training_replica *replica)
{
    replica->restarts += replica->pod.restarts;
    replica->handled_uid = replica->pod.uid;
}

void training_replicas_restarts(const struct training_replicas *replicas,
                                const struct training_job *job, int64_t *ret_stored,
                                int64_t *ret_in_place)
{
    *ret_stored = replicas->past_restarts;
    *ret_in_place = 0;
    for (size_t i = 0; i < replicas->count; i++) {
        const struct training_replica *replica = &replicas->items[i];

        *ret_stored += replica->restarts;
        if (job->replicas[replica->type].restart_policy == TRAINING_RESTART_NEVER)
            continue;
        if (replica->state == TRAINING_REPLICA_ACTIVE || replica->state == TRAINING_REPLICA_PENDING)
            *ret_in_place += replica->pod.restarts;
    }
}
