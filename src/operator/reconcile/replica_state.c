/* Assigns pods to replicas and decides the state of each replica; see replica_state.h. restarts.c,
 * outcome.c and progress.c decide the consequences of a state. */
#include "operator/reconcile/replica_state.h"

#include "operator/reconcile/conditions.h"

#include "base/str.h"
#include "kube/object.h"

#include <stdio.h>
#include <string.h>

void training_replicas_init(struct training_replicas *replicas, struct arena *arena,
                            const struct training_job *job)
{
    size_t position = 0;

    replicas->count = (size_t)training_job_total_replicas(job);
    replicas->items = ARENA_ARRAY(arena, struct training_replica, replicas->count);
    for (int type = 0; type < TRAINING_REPLICA_TYPES; type++) {
        replicas->offsets[type] = position;
        for (int index = 0; index < job->replicas[type].replicas; index++) {
            replicas->items[position].type = (enum training_replica_type)type;
            replicas->items[position].index = index;
            position++;
        }
    }
}

struct training_replica *training_replicas_get(const struct training_replicas *replicas,
                                               const struct training_job *job,
                                               enum training_replica_type type, int64_t index)
{
    if (index < 0 || index >= job->replicas[type].replicas)
        return NULL;
    return &replicas->items[replicas->offsets[type] + (size_t)index];
}

bool training_job_matches(const struct training_job *job, const struct json *object,
                          enum training_replica_type *ret_type, int64_t *ret_index)
{
    char name[TRAINING_POD_NAME_MAX + 1];

    if (!str_eq(kube_meta_label(object, TRAINING_OPERATOR_LABEL), job->kind->controller_name) ||
        !str_eq(kube_meta_label(object, TRAINING_NAME_LABEL), job->name))
        return false;
    if (!training_replica_type_parse(job->kind, kube_meta_label(object, TRAINING_TYPE_LABEL),
                                     ret_type))
        return false;
    if (str_to_int64(kube_meta_label(object, TRAINING_INDEX_LABEL), 0, TRAINING_REPLICAS_MAX,
                     ret_index, NULL) < 0)
        return false;
    snprintf(name, sizeof(name), "%s-%s-%d", job->name, training_replica_type_lower(*ret_type),
             (int)*ret_index);
    return str_eq(kube_meta_name(object), name);
}

struct training_replica *training_replicas_find(const struct training_replicas *replicas,
                                                const struct training_job *job,
                                                const struct json *object)
{
    enum training_replica_type type;
    int64_t index;

    return training_job_matches(job, object, &type, &index)
               ? training_replicas_get(replicas, job, type, index)
               : NULL;
}

struct training_replica *training_replicas_of_key(const struct training_replicas *replicas,
                                                  const struct training_job *job, const char *key)
{
    const char *dash = key ? strrchr(key, '-') : NULL;
    enum training_replica_type type;
    char type_text[32];
    int64_t index;

    if (!dash || (size_t)(dash - key) >= sizeof(type_text))
        return NULL;
    snprintf(type_text, sizeof(type_text), "%.*s", (int)(dash - key), key);
    if (!training_replica_type_parse(job->kind, type_text, &type) ||
        str_to_int64(dash + 1, 0, TRAINING_REPLICAS_MAX, &index, NULL) < 0)
        return NULL;
    return training_replicas_get(replicas, job, type, index);
}

struct training_replica *training_replicas_named(const struct training_replicas *replicas,
                                                 const struct training_job *job, const char *name)
{
    size_t length = strlen(job->name);

    if (!str_has_prefix(name, job->name) || name[length] != '-')
        return NULL;
    return training_replicas_of_key(replicas, job, name + length + 1);
}

bool training_replica_is_handled(const struct training_replica *replica)
{
    return !str_is_empty(replica->pod.uid) && !str_is_empty(replica->handled_uid) &&
           str_has_prefix(replica->pod.uid, replica->handled_uid);
}

static enum training_replica_state replica_state_of_pod(const struct training_replica *replica,
                                                        bool exists)
{
    const struct training_pod *pod = &replica->pod;
    bool is_ending = !exists || pod->deleting_ms > 0;

    /* The restart is counted already. A new pod is created when this one is gone. */
    if (training_replica_is_handled(replica))
        return exists ? TRAINING_REPLICA_LEAVING : TRAINING_REPLICA_MISSING;

    switch (pod->phase) {
    case TRAINING_POD_SUCCEEDED:
        return TRAINING_REPLICA_SUCCEEDED;
    case TRAINING_POD_FAILED:
        return TRAINING_REPLICA_FAILED;
    case TRAINING_POD_RUNNING:
        return is_ending ? TRAINING_REPLICA_LOST : TRAINING_REPLICA_ACTIVE;
    case TRAINING_POD_PENDING:
        break;
    }
    /* a vanished pod that never ran does not count as lost */
    if (!exists)
        return TRAINING_REPLICA_MISSING;
    return is_ending ? TRAINING_REPLICA_LEAVING : TRAINING_REPLICA_PENDING;
}

static void observe_pod(struct training_replica *replica, const struct training_job *job,
                        const struct json *json)
{
    training_pod_read(job->kind, json, &replica->pod);
    replica->has_pod = true;
    if (kube_meta_is_controlled_by(json, job->uid))
        replica->state = replica_state_of_pod(replica, true);
    else
        replica->state = TRAINING_REPLICA_BLOCKED;
}

/* Handles a pod of the job without the job's labels. It has the name that a new pod needs, so the
 * replica is blocked. */
static void observe_unmatched(struct training_replica *replica, const struct training_job *job,
                              const struct json *json)
{
    if (replica->has_pod || !kube_meta_is_controlled_by(json, job->uid))
        return;
    training_pod_read(job->kind, json, &replica->pod);
    replica->has_pod = true;
    replica->state = TRAINING_REPLICA_BLOCKED;
}

static void observe_gone(struct training_replica *replica, const struct training_job *job,
                         const struct json *json)
{
    if (replica->has_pod || !kube_meta_is_controlled_by(json, job->uid))
        return;
    training_pod_read(job->kind, json, &replica->pod);
    replica->state = replica_state_of_pod(replica, false);
}

void training_replicas_observe(struct training_replicas *replicas, const struct training_job *job,
                               const struct training_observed *observed)
{
    /* A pod that vanishes during suspension was deleted by the operator, so it does not count as
     * lost for the resumed job. */
    bool suspended = training_condition_is_true(json_get(job->json, "status"), TRAINING_SUSPENDED);
    struct training_replica *replica;

    for (size_t i = 0; i < observed->pod_count; i++) {
        replica = training_replicas_find(replicas, job, observed->pods[i]);
        if (replica)
            observe_pod(replica, job, observed->pods[i]);
    }
    for (size_t i = 0; i < observed->unmatched_count; i++) {
        replica = training_replicas_named(replicas, job, kube_meta_name(observed->unmatched[i]));
        if (replica)
            observe_unmatched(replica, job, observed->unmatched[i]);
    }
    for (size_t i = 0; i < observed->gone_count && !suspended; i++) {
        replica = training_replicas_find(replicas, job, observed->gone[i]);
        if (replica)
            observe_gone(replica, job, observed->gone[i]);
    }
    for (size_t i = 0; i < observed->service_count; i++) {
        replica = training_replicas_find(replicas, job, observed->services[i]);
        if (!replica)
            continue;
        replica->service = observed->services[i];
        replica->service_blocked = !kube_meta_is_controlled_by(observed->services[i], job->uid);
    }
    for (size_t i = 0; i < replicas->count; i++) {
        replica = &replicas->items[i];
        if (replica->finished && replica->state == TRAINING_REPLICA_MISSING)
            replica->state = TRAINING_REPLICA_SUCCEEDED;
    }
}

struct training_replica_counts training_replicas_count(const struct training_replicas *replicas,
                                                       enum training_replica_type type)
{
    struct training_replica_counts counted = {0};

    for (size_t i = 0; i < replicas->count; i++) {
        const struct training_replica *replica = &replicas->items[i];

        if (replica->type != type)
            continue;
        switch (replica->state) {
        case TRAINING_REPLICA_ACTIVE:
            counted.active++;
            break;
        case TRAINING_REPLICA_SUCCEEDED:
            counted.succeeded++;
            break;
        case TRAINING_REPLICA_FAILED:
        case TRAINING_REPLICA_LOST:
            counted.failed++;
            break;
        case TRAINING_REPLICA_LEAVING:
            counted.failed += replica->pod.phase == TRAINING_POD_FAILED;
            break;
        case TRAINING_REPLICA_MISSING:
        case TRAINING_REPLICA_BLOCKED:
        case TRAINING_REPLICA_PENDING:
            break;
        }
    }
    return counted;
}
