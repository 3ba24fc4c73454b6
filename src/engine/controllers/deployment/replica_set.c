/* Decides one pass over a ReplicaSet, and builds its pods; see replica_set.h. */
#include "engine/controllers/deployment/replica_set.h"

#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "kube/selector.h"

#include <stdlib.h>
#include <string.h>

enum { BURST = 500 /* pods created or deleted per pass; the next pass continues */ };

/* The part of a pod that decisions depend on. */
struct replica {
    const struct json *pod;
    const char *node;
    bool running, ready;
    int64_t ready_ms;      /* when the pod became ready; 0: unknown */
    int64_t cost;          /* the annotation pod-deletion-cost */
    int64_t ready_on_node; /* the number of the set's ready pods on the same node */
    int64_t restarts;      /* the highest restart count of the pod's containers */
};

/* Returns whether the pod has not ended and is not being deleted. */
static bool is_active(const struct json *pod)
{
    const char *phase = json_get_string(json_get(pod, "status"), "phase", "");
    return !str_eq(phase, "Succeeded") && !str_eq(phase, "Failed") && !kube_meta_is_deleting(pod);
}

static int64_t time_of(const struct json *object, const char *name)
{
    const char *text = json_get_string(object, name, "");
    int64_t at;
    return text[0] && moment_parse(text, &at, NULL) == 0 ? at : 0;
}

static void read_replica(const struct json *pod, struct replica *ret)
{
    const struct json *status = json_get(pod, "status");
    const char *cost = kube_meta_annotation(pod, "controller.kubernetes.io/pod-deletion-cost");
    *ret = (struct replica){
        .pod = pod,
        .node = json_get_string(json_get(pod, "spec"), "nodeName", ""),
        .running = str_eq(json_get_string(status, "phase", ""), "Running"),
        .ready = kube_condition_is_true(pod, "Ready"),
        .ready_ms = time_of(kube_condition_get(pod, "Ready"), "lastTransitionTime"),
    };
    if (!cost || str_to_int64(cost, INT32_MIN, INT32_MAX, &ret->cost, NULL) < 0)
        ret->cost = 0;
    JSON_EACH (container, json_get(status, "containerStatuses")) {
        int64_t restarts = json_get_int(container, "restartCount", 0);
        ret->restarts = restarts > ret->restarts ? restarts : ret->restarts;
    }
}

static void replica_set_add_action(struct replica_plan *plan, enum replica_action_type type,
                                   const struct json *pod)
{
    plan->actions[plan->action_count++] = (struct replica_action){.type = type, .pod = pod};
}

/* Fills in the active pods of the set, including the pods that it adopts now. Plans adoptions and
 * releases. Returns the number of pods. */
static size_t replica_set_claim_pods(struct arena *arena, const struct replica_observed *observed,
                                     struct replica *replicas, struct replica_plan *plan)
{
    const struct json *set = observed->set;
    const char *uid = kube_meta_uid(set);
    struct kube_selector selector = {.nothing = true};
    size_t count = 0;
    (void)kube_selector_from_json(arena, json_at(set, "spec", "selector", NULL), &selector, NULL);
    for (size_t i = 0; i < observed->pod_count; i++) {
        const struct json *pod = observed->pods[i];
        bool ours = kube_meta_is_controlled_by(pod, uid);
        bool matches = kube_selector_matches(&selector, kube_meta_labels(pod));
        if (!is_active(pod) || (!ours && !matches))
            continue;
        if (kube_meta_is_deleting(set)) {
            if (ours && matches)
                read_replica(pod, &replicas[count++]);
            continue;
        }
        if (!matches) {
            replica_set_add_action(plan, REPLICA_RELEASE, pod);
            continue;
        }
        if (!ours)
            replica_set_add_action(plan, REPLICA_ADOPT, pod);
        read_replica(pod, &replicas[count++]);
    }
    return count;
}

/* ---- Numbers of pods ------------------------------------------------------------------------- */

static int replica_set_compare_numbers(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

/* Sorts pods in the order in which they are deleted, as in Kubernetes: without a node, not running,
 * not ready, with a low deletion cost, on a node with many ready pods of the set, ready for a short
 * time, restarted often, young. */
static int compare_value(const void *a, const void *b)
{
    const struct replica *x = a, *y = b;
    int result = replica_set_compare_numbers(x->node[0] != '\0', y->node[0] != '\0');
    if (result == 0)
        result = replica_set_compare_numbers(x->running, y->running);
    if (result == 0)
        result = replica_set_compare_numbers(x->ready, y->ready);
    if (result == 0)
        result = replica_set_compare_numbers(x->cost, y->cost);
    if (result == 0)
        result = replica_set_compare_numbers(y->ready_on_node, x->ready_on_node);
    if (result == 0 && x->ready)
        result = replica_set_compare_numbers(y->ready_ms, x->ready_ms);
    if (result == 0)
        result = replica_set_compare_numbers(y->restarts, x->restarts);
    if (result == 0)
        result =
            replica_set_compare_numbers(kube_meta_created_ms(y->pod), kube_meta_created_ms(x->pod));
    return result ? result : strcmp(kube_meta_uid(x->pod), kube_meta_uid(y->pod));
}

static void count_ready_on_nodes(struct replica *replicas, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            replicas[i].ready_on_node +=
                replicas[j].ready && str_eq(replicas[i].node, replicas[j].node);
}

static void replica_set_manage(const struct json *set, struct replica *replicas, size_t count,
                               struct replica_plan *plan)
{
    int64_t wanted = json_get_int(json_get(set, "spec"), "replicas", 1);
    int64_t have = (int64_t)count;
    if (kube_meta_is_deleting(set))
        return;
    for (int64_t i = have; i < wanted && i < have + BURST; i++)
        replica_set_add_action(plan, REPLICA_CREATE, NULL);
    if (have <= wanted)
        return;
    count_ready_on_nodes(replicas, count);
    qsort(replicas, count, sizeof(*replicas), compare_value);
    for (int64_t i = 0; i < have - wanted && i < BURST; i++)
        replica_set_add_action(plan, REPLICA_DELETE, replicas[i].pod);
}

/* ---- The status ------------------------------------------------------------------------------ */

static bool has_labels(const struct json *pod, const struct json *labels)
{
    JSON_EACH (label, labels) {
        if (!str_eq(kube_meta_label(pod, label->name), json_text(label)))
            return false;
    }
    return true;
}

static void replica_set_set_number(struct arena *arena, struct json *status, const char *name,
                                   int64_t number)
{
    if (number)
        json_set_int(arena, status, name, number);
    else
        json_remove(status, name);
}

static void make_status(struct arena *arena, const struct replica_observed *observed,
                        const struct replica *replicas, size_t count, struct replica_plan *plan)
{
    const struct json *set = observed->set, *spec = json_get(set, "spec");
    const struct json *labels = json_at(spec, "template", "metadata", "labels", NULL);
    int64_t min_ready_ms = json_get_int(spec, "minReadySeconds", 0) * 1000;
    int64_t labelled = 0, ready = 0, available = 0;
    for (size_t i = 0; i < count; i++) {
        const struct replica *replica = &replicas[i];
        int64_t left_ms = min_ready_ms ? replica->ready_ms + min_ready_ms - observed->now_ms : 0;
        labelled += has_labels(replica->pod, labels);
        ready += replica->ready;
        available += replica->ready && left_ms <= 0;
        if (replica->ready && left_ms > 0 && (plan->requeue_ms < 0 || left_ms < plan->requeue_ms))
            plan->requeue_ms = left_ms;
    }
    struct json *status = json_clone_object(arena, json_get(set, "status"));
    json_set_int(arena, status, "replicas", (int64_t)count);
    replica_set_set_number(arena, status, "fullyLabeledReplicas", labelled);
    replica_set_set_number(arena, status, "readyReplicas", ready);
    replica_set_set_number(arena, status, "availableReplicas", available);
    replica_set_set_number(arena, status, "observedGeneration", kube_meta_generation(set));
    plan->status = status;
}

void replica_set_note_failure(struct arena *arena, struct json *status, const char *reason,
                              const char *message, int64_t now_ms)
{
    struct json *conditions = json_get(status, "conditions");
    struct json *condition = kube_condition_find(conditions, "ReplicaFailure");
    if (!reason) {
        if (condition)
            json_remove_element(conditions, condition);
        if (json_count(conditions) == 0)
            json_remove(status, "conditions");
        return;
    }
    if (condition) /* the first failure stays until a pass has none */
        return;
    const struct kube_condition failure = {.type = "ReplicaFailure",
                                           .status = "True",
                                           .reason = reason,
                                           .message = message,
                                           .now_ms = now_ms};
    kube_condition_set(arena, json_ensure_array(arena, status, "conditions"), &failure, 0);
}

void replica_set_reconcile(struct arena *arena, const struct replica_observed *observed,
                           struct replica_plan *ret)
{
    struct replica *replicas = ARENA_ARRAY(arena, struct replica, observed->pod_count + 1);
    *ret = (struct replica_plan){
        /* At most two actions per existing pod, and one per new pod. */
        .actions = ARENA_ARRAY(arena, struct replica_action, 2 * observed->pod_count + BURST),
        .requeue_ms = -1,
    };
    size_t count = replica_set_claim_pods(arena, observed, replicas, ret);
    make_status(arena, observed, replicas, count, ret);
    replica_set_manage(observed->set, replicas, count, ret);
}

/* ---- A pod ----------------------------------------------------------------------------------- */

struct json *replica_set_pod(struct arena *arena, const struct json *set)
{
    static const char *const kept[] = {"labels", "annotations", "finalizers"};
    enum { GENERATE_MAX = 253 - 5 };
    const struct json *template_ = json_at(set, "spec", "template", NULL);
    struct json *pod = kube_object_make(arena, &KUBE_PODS, kube_meta_namespace(set), "");
    struct json *meta = json_get(pod, "metadata");
    json_remove(meta, "name");
    json_set(arena, meta, "generateName",
             json_stringf(arena, "%.*s-", GENERATE_MAX - 1, kube_meta_name(set)));
    for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
        const struct json *value = json_at(template_, "metadata", kept[i], NULL);
        if (value && value->type != JSON_NULL)
            json_set(arena, meta, kept[i], json_clone(arena, value));
    }
    kube_meta_add_owner(arena, pod, kube_owner_reference_new(arena, set, true));
    json_set(arena, pod, "spec", json_clone(arena, json_get(template_, "spec")));
    return pod;
}
