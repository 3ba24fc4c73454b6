/* The rules of restarting and their memory; see restarts.h. Pure; called by the reconcile. */
#include "operator/restarts.h"

#include "base/moment.h"
#include "base/str.h"
#include "kube/object.h"

#include <string.h>

enum {
    MEMORY_MAX = 1024 * 1024, /* of one annotation; the API allows a quarter of it */
    DISTANCE_MS = 10 * 1000,
    DISTANCE_MAX_MS = 300 * 1000,
};

enum tfjob_verdict tfjob_replica_judge(const struct tfjob_replica *replica,
                                       enum tfjob_restart_policy policy)
{
    const struct tfjob_pod *pod = &replica->pod;

    if (replica->state != TFJOB_REPLICA_FAILED && replica->state != TFJOB_REPLICA_LOST)
        return TFJOB_VERDICT_NONE;

    switch (policy) {
    case TFJOB_RESTART_NEVER:
        return TFJOB_VERDICT_FAIL;
    case TFJOB_RESTART_ALWAYS:
    case TFJOB_RESTART_ON_FAILURE:
        return TFJOB_VERDICT_RESTART;
    case TFJOB_RESTART_EXIT_CODE:
        break;
    }
    /* The code of a replica that was stopped from outside says nothing about its program. */
    if (replica->state == TFJOB_REPLICA_LOST || pod->deleting_ms > 0 || pod->disrupted)
        return TFJOB_VERDICT_RESTART;
    return pod->exit_code >= TFJOB_EXIT_CODE_RETRYABLE ? TFJOB_VERDICT_RESTART : TFJOB_VERDICT_FAIL;
}

static const char *memory_key(struct arena *arena, const struct tfjob_replica *replica)
{
    return arena_printf(arena, "%s-%d", tfjob_replica_type_lower(replica->type), replica->index);
}

static struct tfjob_replica *replica_of_key(struct tfjob_replicas *replicas,
                                            const struct tfjob *job, struct arena *arena,
                                            const char *key)
{
    const char *dash = key ? strrchr(key, '-') : NULL;
    enum tfjob_replica_type type;
    int64_t index;

    if (!dash || !tfjob_replica_type_parse(arena_strndup(arena, key, (size_t)(dash - key)), &type))
        return NULL;
    if (str_to_int64(dash + 1, 0, TFJOB_REPLICAS_MAX, &index, NULL) < 0)
        return NULL;
    return tfjob_replicas_get(replicas, job, type, index);
}

static const struct json *parse_annotation(const struct tfjob *job, struct arena *arena,
                                           const char *name)
{
    static const struct json_limits limits = {.depth = 4};
    const char *text = kube_meta_annotation(job->json, name);
    struct json *json;

    if (!text || strlen(text) > MEMORY_MAX)
        return NULL;
    if (json_parse(arena, text, strlen(text), &limits, &json, NULL) < 0)
        return NULL;
    return json;
}

void tfjob_memory_read(struct tfjob_replicas *replicas, const struct tfjob *job,
                       struct arena *arena)
{
    JSON_EACH (entry, parse_annotation(job, arena, TFJOB_RESTARTS_ANNOTATION)) {
        struct tfjob_replica *replica =
            entry->name ? replica_of_key(replicas, job, arena, entry->name) : NULL;

        if (!replica)
            continue;
        if (json_get_int(entry, "count", 0) > 0)
            replica->restarts = json_get_int(entry, "count", 0);
        replica->restarted_uid = json_get_string(entry, "uid", NULL);
        if (json_get(entry, "after") &&
            moment_parse(json_get_string(entry, "after", ""), &replica->retry_ms, NULL) < 0)
            replica->retry_ms = 0;
    }
    JSON_EACH (entry, parse_annotation(job, arena, TFJOB_FINISHED_ANNOTATION)) {
        struct tfjob_replica *replica = replica_of_key(replicas, job, arena, json_text(entry));

        if (replica)
            replica->finished = true;
    }
}

static void write_annotation(const struct tfjob *job, struct tfjob_plan *plan, const char *name,
                             const struct json *value)
{
    const char *old = kube_meta_annotation(job->json, name);
    const char *text = json_count(value) ? json_to_string(plan->arena, value) : NULL;

    if (str_eq(old, text))
        return;
    if (!plan->annotations)
        plan->annotations = json_object(plan->arena);
    json_set_string(plan->arena, plan->annotations, name, text);
}

void tfjob_memory_write(const struct tfjob_replicas *replicas, const struct tfjob *job,
                        struct tfjob_plan *plan)
{
    struct arena *arena = plan->arena;
    struct json *restarts = json_object(arena);
    struct json *finished = json_array(arena);

    for (size_t i = 0; i < replicas->count; i++) {
        const struct tfjob_replica *replica = &replicas->items[i];

        if (replica->restarts > 0 || replica->restarted_uid) {
            struct json *entry = json_object(arena);

            json_set_int(arena, entry, "count", replica->restarts);
            json_set_string(arena, entry, "uid", replica->restarted_uid);
            if (replica->retry_ms > 0) {
                char after[MOMENT_TEXT_MAX];

                moment_format(replica->retry_ms, after);
                json_set_string(arena, entry, "after", after);
            }
            json_set(arena, restarts, memory_key(arena, replica), entry);
        }
        if (replica->finished)
            json_append(finished, json_string(arena, memory_key(arena, replica)));
    }
    write_annotation(job, plan, TFJOB_RESTARTS_ANNOTATION, restarts);
    write_annotation(job, plan, TFJOB_FINISHED_ANNOTATION, finished);
}

/* How far apart the next pod must be from the one before. */
static int64_t distance_ms(int64_t restarts)
{
    int64_t distance = DISTANCE_MS;

    if (restarts < 2)
        return 0;
    for (int64_t i = 2; i < restarts && distance < DISTANCE_MAX_MS; i++)
        distance *= 2;
    return distance < DISTANCE_MAX_MS ? distance : DISTANCE_MAX_MS;
}

void tfjob_replica_count_restart(struct tfjob_replica *replica)
{
    const struct tfjob_pod *pod = &replica->pod;
    bool own_fault =
        replica->state == TFJOB_REPLICA_FAILED && pod->deleting_ms == 0 && !pod->disrupted;
    int64_t created_ms = kube_meta_created_ms(pod->json);

    replica->restarts += 1 + pod->restarts;
    replica->restarted_uid = pod->uid;
    replica->retry_ms = 0;
    if (own_fault && created_ms > 0 && distance_ms(replica->restarts) > 0)
        replica->retry_ms = created_ms + distance_ms(replica->restarts);
}

void tfjob_replicas_restarts(const struct tfjob_replicas *replicas, const struct tfjob *job,
                             int64_t *ret_remembered, int64_t *ret_in_place)
{
    *ret_remembered = *ret_in_place = 0;
    for (size_t i = 0; i < replicas->count; i++) {
        const struct tfjob_replica *replica = &replicas->items[i];

        *ret_remembered += replica->restarts;
        if (job->replicas[replica->type].restart_policy == TFJOB_RESTART_NEVER)
            continue;
        if (replica->state == TFJOB_REPLICA_ACTIVE || replica->state == TFJOB_REPLICA_PENDING)
            *ret_in_place += replica->pod.restarts;
    }
}
