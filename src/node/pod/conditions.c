/* Builds the conditions in a pod's status; see pod/conditions.h. */
#include "node/pod/conditions.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/condition.h"

#define DISRUPTED "DisruptionTarget"

struct verdict {
    bool value;
    const char *reason, *message; /* each may be NULL */
};

void pod_health_add_name(struct arena *arena, const char **names, const char *name)
{
    *names = *names ? arena_printf(arena, "%s %s", *names, name) : name;
}

static struct verdict judge_initialized(struct arena *arena, const struct pod_health *health)
{
    if (str_eq(health->phase, "Succeeded"))
        return (struct verdict){true, "PodCompleted", NULL};
    if (health->initialized)
        return (struct verdict){true, NULL, NULL};
    return (struct verdict){
        false, "ContainersNotInitialized",
        arena_printf(arena, "containers with incomplete status: [%s]", health->incomplete)};
}

static struct verdict judge_containers(struct arena *arena, const struct pod_health *health)
{
    if (str_eq(health->phase, "Succeeded"))
        return (struct verdict){false, "PodCompleted", NULL};
    if (str_eq(health->phase, "Failed"))
        return (struct verdict){false, "PodFailed", NULL};
    if (!health->unready)
        return (struct verdict){true, NULL, NULL};
    return (struct verdict){
        false, "ContainersNotReady",
        arena_printf(arena, "containers with unready status: [%s]", health->unready)};
}

/* Decides the condition Ready of a pod whose containers are all ready: each readiness gate, a
 * condition that another controller writes, must be True. */
static struct verdict judge_gates(struct arena *arena, const struct json *pod)
{
    const char *complaints = NULL;
    JSON_EACH (gate, json_at(pod, "spec", "readinessGates", NULL)) {
        const char *type = json_get_string(gate, "conditionType", "");
        const struct json *condition = kube_condition_get(pod, type);
        const char *status = json_get_string(condition, "status", ""), *complaint = NULL;
        if (!condition)
            complaint = arena_printf(
                arena, "corresponding condition of pod readiness gate \"%s\" does not exist.",
                type);
        else if (!str_eq(status, "True"))
            complaint = arena_printf(
                arena, "the status of pod readiness gate \"%s\" is not \"True\", but %s", type,
                status);
        if (complaint)
            complaints =
                complaints ? arena_printf(arena, "%s, %s", complaints, complaint) : complaint;
    }
    return complaints ? (struct verdict){false, "ReadinessGatesNotReady", complaints}
                      : (struct verdict){true, NULL, NULL};
}

static void conditions_add(struct arena *arena, struct json *conditions, const struct json *old,
                           const char *type, const struct verdict *verdict, int64_t now_ms)
{
    const struct json *before = kube_condition_find(old, type);
    const struct kube_condition wanted = {.type = type,
                                          .status = verdict->value ? "True" : "False",
                                          .reason = verdict->reason,
                                          .message = verdict->message,
                                          .now_ms = now_ms};
    if (before)
        json_append(conditions, json_clone(arena, before));
    kube_condition_set(arena, conditions, &wanted, 0);
}

struct json *pod_conditions_make(struct arena *arena, const struct json *pod,
                                 const struct pod_health *health, int64_t now_ms)
{
    const struct json *old = json_at(pod, "status", "conditions", NULL);
    const struct verdict containers = judge_containers(arena, health);
    const struct {
        const char *type;
        struct verdict verdict;
    } OWN_TYPES[] = {
        {"PodReadyToStartContainers", {health->has_sandbox, NULL, NULL}},
        {"Initialized", judge_initialized(arena, health)},
        {"Ready", containers.value ? judge_gates(arena, pod) : containers},
        {"ContainersReady", containers},
        {"PodScheduled", {true, NULL, NULL}},
    };
    const struct verdict evicted = {true, "TerminationByKubelet", health->evicted};
    struct json *conditions = json_array(arena);
    for (size_t i = 0; i < ARRAY_SIZE(OWN_TYPES); i++)
        conditions_add(arena, conditions, old, OWN_TYPES[i].type, &OWN_TYPES[i].verdict, now_ms);
    if (health->evicted)
        conditions_add(arena, conditions, old, DISRUPTED, &evicted, now_ms);
    JSON_EACH (condition, old) {
        bool is_own = health->evicted && str_eq(json_get_string(condition, "type", ""), DISRUPTED);
        for (size_t i = 0; i < ARRAY_SIZE(OWN_TYPES); i++)
            is_own = is_own || str_eq(json_get_string(condition, "type", ""), OWN_TYPES[i].type);
        if (!is_own)
            json_append(conditions, json_clone(arena, condition));
    }
    return conditions;
}
