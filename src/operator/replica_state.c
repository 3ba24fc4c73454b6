/* Matching pods to replicas and judging what state each is in. Pure; called once a reconcile. It
 * does not decide what follows from a state: reconcile.c and restarts.c do. */
#include "operator/replica_state.h"

#include "base/str.h"
#include "kube/object.h"

#include <stdio.h>

void tfjob_replicas_init(struct tfjob_replicas *replicas, struct arena *arena,
                         const struct tfjob *job)
{
    size_t position = 0;

    replicas->count = (size_t)tfjob_total_replicas(job);
    replicas->items = ARENA_ARRAY(arena, struct tfjob_replica, replicas->count);
    for (int type = 0; type < TFJOB_REPLICA_TYPES; type++) {
        replicas->offsets[type] = position;
        for (int index = 0; index < job->replicas[type].replicas; index++) {
            replicas->items[position].type = (enum tfjob_replica_type)type;
            replicas->items[position].index = index;
            position++;
        }
    }
}

struct tfjob_replica *tfjob_replicas_get(const struct tfjob_replicas *replicas,
                                         const struct tfjob *job, enum tfjob_replica_type type,
                                         int64_t index)
{
    if (index < 0 || index >= job->replicas[type].replicas)
        return NULL;
    return &replicas->items[replicas->offsets[type] + (size_t)index];
}

struct tfjob_replica *tfjob_replicas_find(const struct tfjob_replicas *replicas,
                                          const struct tfjob *job, const struct json *object)
{
    enum tfjob_replica_type type;
    int64_t index;
    char name[TFJOB_POD_NAME_MAX + 1];

    if (!tfjob_replica_type_parse(kube_meta_label(object, TFJOB_TYPE_LABEL), &type))
        return NULL;
    if (str_to_int64(kube_meta_label(object, TFJOB_INDEX_LABEL), 0, TFJOB_REPLICAS_MAX, &index,
                     NULL) < 0)
        return NULL;
    snprintf(name, sizeof(name), "%s-%s-%d", job->name, tfjob_replica_type_lower(type), (int)index);
    if (!str_eq(kube_meta_name(object), name))
        return NULL;
    return tfjob_replicas_get(replicas, job, type, index);
}

static enum tfjob_replica_state judge(const struct tfjob_replica *replica, bool exists)
{
    const struct tfjob_pod *pod = &replica->pod;
    bool going = !exists || pod->deleting_ms > 0;

    /* Its restart is counted already: nothing is left but to see it gone. */
    if (str_eq(pod->uid, replica->restarted_uid))
        return exists ? TFJOB_REPLICA_LEAVING : TFJOB_REPLICA_MISSING;

    switch (pod->phase) {
    case TFJOB_POD_SUCCEEDED:
        return TFJOB_REPLICA_SUCCEEDED;
    case TFJOB_POD_FAILED:
        return TFJOB_REPLICA_FAILED;
    case TFJOB_POD_RUNNING:
        return going ? TFJOB_REPLICA_LOST : TFJOB_REPLICA_ACTIVE;
    case TFJOB_POD_PENDING:
        break;
    }
    /* One that never ran is no loss. */
    if (!exists)
        return TFJOB_REPLICA_MISSING;
    return going ? TFJOB_REPLICA_LEAVING : TFJOB_REPLICA_PENDING;
}

static void observe_pod(struct tfjob_replica *replica, const struct tfjob *job,
                        const struct json *json)
{
    tfjob_pod_read(json, &replica->pod);
    replica->has_pod = true;
    if (kube_meta_is_controlled_by(json, job->uid))
        replica->state = judge(replica, true);
    else
        replica->state = TFJOB_REPLICA_BLOCKED;
}

static void observe_gone(struct tfjob_replica *replica, const struct tfjob *job,
                         const struct json *json)
{
    if (replica->has_pod || !kube_meta_is_controlled_by(json, job->uid))
        return;
    tfjob_pod_read(json, &replica->pod);
    replica->state = judge(replica, false);
}

void tfjob_replicas_observe(struct tfjob_replicas *replicas, const struct tfjob *job,
                            const struct tfjob_observed *observed)
{
    struct tfjob_replica *replica;

    for (size_t i = 0; i < observed->pod_count; i++) {
        replica = tfjob_replicas_find(replicas, job, observed->pods[i]);
        if (replica)
            observe_pod(replica, job, observed->pods[i]);
    }
    for (size_t i = 0; i < observed->gone_count; i++) {
        replica = tfjob_replicas_find(replicas, job, observed->gone[i]);
        if (replica)
            observe_gone(replica, job, observed->gone[i]);
    }
    for (size_t i = 0; i < observed->service_count; i++) {
        replica = tfjob_replicas_find(replicas, job, observed->services[i]);
        if (!replica)
            continue;
        replica->service = observed->services[i];
        replica->service_blocked = !kube_meta_is_controlled_by(observed->services[i], job->uid);
    }
    for (size_t i = 0; i < replicas->count; i++) {
        replica = &replicas->items[i];
        if (replica->finished && replica->state == TFJOB_REPLICA_MISSING)
            replica->state = TFJOB_REPLICA_SUCCEEDED;
    }
}

struct tfjob_tally tfjob_replicas_count(const struct tfjob_replicas *replicas,
                                        enum tfjob_replica_type type)
{
    struct tfjob_tally tally = {0};

    for (size_t i = 0; i < replicas->count; i++) {
        const struct tfjob_replica *replica = &replicas->items[i];

        if (replica->type != type)
            continue;
        switch (replica->state) {
        case TFJOB_REPLICA_ACTIVE:
            tally.active++;
            break;
        case TFJOB_REPLICA_SUCCEEDED:
            tally.succeeded++;
            break;
        case TFJOB_REPLICA_FAILED:
        case TFJOB_REPLICA_LOST:
            tally.failed++;
            break;
        case TFJOB_REPLICA_LEAVING:
            tally.failed += replica->pod.phase == TFJOB_POD_FAILED;
            break;
        case TFJOB_REPLICA_MISSING:
        case TFJOB_REPLICA_BLOCKED:
        case TFJOB_REPLICA_PENDING:
            break;
        }
    }
    return tally;
}
