/* Computes the taints of nodes and evaluates tolerations; see taints.h. */
#include "engine/scheduler/taints.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/condition.h"

static const char NO_SCHEDULE[] = "NoSchedule", NO_EXECUTE[] = "NoExecute";

/* The taints for conditions: a node whose condition has the status gets the taint. */
static const struct condition_taint {
    const char *condition, *status, *taint;
} CONDITION_TAINTS[] = {
    {"Ready", "False", TAINT_NOT_READY},
    {"Ready", "Unknown", TAINT_UNREACHABLE},
    {"MemoryPressure", "True", "node.kubernetes.io/memory-pressure"},
    {"DiskPressure", "True", "node.kubernetes.io/disk-pressure"},
    {"NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable"},
    {"PIDPressure", "True", "node.kubernetes.io/pid-pressure"},
};

/* Returns the NoSchedule taint with this key, or NULL. */
static const struct json *find_taint(const struct json *taints, const char *key)
{
    JSON_EACH (taint, taints) {
        if (str_eq(json_get_string(taint, "key", ""), key) &&
            str_eq(json_get_string(taint, "effect", ""), NO_SCHEDULE))
            return taint;
    }
    return NULL;
}

static void add_taint(struct arena *arena, struct json *taints, const char *key)
{
    struct json *taint = json_object(arena);
    json_set_string(arena, taint, "key", key);
    json_set_string(arena, taint, "effect", NO_SCHEDULE);
    json_append(taints, taint);
}

/* Returns whether the condition of the node demands the taint. A node that has not reported yet
 * keeps the taint with which it was created. Kubernetes removes that taint at first, and adds it
 * again if the node does not report in time. */
static bool is_wanted(const struct json *node, const struct condition_taint *entry)
{
    const struct json *condition = kube_condition_get(node, entry->condition);
    if (!condition)
        return str_eq(entry->taint, TAINT_NOT_READY) &&
               find_taint(json_at(node, "spec", "taints", NULL), entry->taint);
    return str_eq(json_get_string(condition, "status", ""), entry->status);
}

/* Returns whether a taint of the node stays as it is. */
static bool is_kept(const struct json *node, const struct json *taint)
{
    const char *key = json_get_string(taint, "key", "");
    if (!str_eq(json_get_string(taint, "effect", ""), NO_SCHEDULE))
        return true;
    if (str_eq(key, TAINT_UNSCHEDULABLE))
        return json_get_bool(json_get(node, "spec"), "unschedulable", false);
    for (size_t i = 0; i < ARRAY_SIZE(CONDITION_TAINTS); i++)
        if (str_eq(key, CONDITION_TAINTS[i].taint))
            return is_wanted(node, &CONDITION_TAINTS[i]);
    return true;
}

struct json *taints_wanted(struct arena *arena, const struct json *node)
{
    const struct json *has = json_at(node, "spec", "taints", NULL);
    struct json *wanted = json_array(arena);
    bool changed = false;
    JSON_EACH (taint, has) {
        bool kept = is_kept(node, taint);
        changed |= !kept;
        if (kept)
            json_append(wanted, json_clone(arena, taint));
    }
    for (size_t i = 0; i < ARRAY_SIZE(CONDITION_TAINTS); i++) {
        if (!is_wanted(node, &CONDITION_TAINTS[i]) || find_taint(wanted, CONDITION_TAINTS[i].taint))
            continue;
        add_taint(arena, wanted, CONDITION_TAINTS[i].taint);
        changed = true;
    }
    if (json_get_bool(json_get(node, "spec"), "unschedulable", false) &&
        !find_taint(wanted, TAINT_UNSCHEDULABLE)) {
        add_taint(arena, wanted, TAINT_UNSCHEDULABLE);
        changed = true;
    }
    return changed ? wanted : NULL;
}

/* ---- Tolerations ----------------------------------------------------------------------------- */

static bool taints_tolerates(const struct json *toleration, const char *key, const char *value,
                             const char *effect)
{
    const char *its_effect = json_get_string(toleration, "effect", "");
    const char *its_key = json_get_string(toleration, "key", "");
    const char *operator_ = json_get_string(toleration, "operator", "Equal");
    if (its_effect[0] && !str_eq(its_effect, effect))
        return false;
    if (its_key[0] && !str_eq(its_key, key))
        return false;
    if (str_eq(operator_, "Exists"))
        return true;
    return its_key[0] && str_eq(json_get_string(toleration, "value", ""), value);
}

/* Returns the first toleration of the pod that matches the taint, or NULL. */
static const struct json *toleration_of(const struct json *pod, const struct json *taint)
{
    JSON_EACH (toleration, json_at(pod, "spec", "tolerations", NULL)) {
        if (taints_tolerates(toleration, json_get_string(taint, "key", ""),
                             json_get_string(taint, "value", ""),
                             json_get_string(taint, "effect", "")))
            return toleration;
    }
    return NULL;
}

static bool has_effect(const struct json *taint, const char *effect)
{
    return str_eq(json_get_string(taint, "effect", ""), effect);
}

const struct json *taints_untolerated(const struct json *pod, const struct json *node)
{
    JSON_EACH (taint, json_at(node, "spec", "taints", NULL)) {
        if ((has_effect(taint, NO_SCHEDULE) || has_effect(taint, NO_EXECUTE)) &&
            !toleration_of(pod, taint))
            return taint;
    }
    return NULL;
}

bool taints_tolerates_cordon(const struct json *pod)
{
    JSON_EACH (toleration, json_at(pod, "spec", "tolerations", NULL)) {
        if (taints_tolerates(toleration, TAINT_UNSCHEDULABLE, "", NO_SCHEDULE))
            return true;
    }
    return false;
}

size_t taints_count_prefer_no_schedule(const struct json *pod, const struct json *node)
{
    size_t count = 0;
    JSON_EACH (taint, json_at(node, "spec", "taints", NULL))
        count += has_effect(taint, "PreferNoSchedule") && !toleration_of(pod, taint);
    return count;
}

int64_t taints_toleration_s(const struct json *pod, const struct json *node)
{
    int64_t least = TAINTS_FOR_EVER;
    JSON_EACH (taint, json_at(node, "spec", "taints", NULL)) {
        if (!has_effect(taint, NO_EXECUTE))
            continue;
        const struct json *toleration = toleration_of(pod, taint);
        if (!toleration)
            return 0;
        const struct json *given = json_get(toleration, "tolerationSeconds");
        if (!given || given->type == JSON_NULL)
            continue;
        int64_t seconds = json_get_int(toleration, "tolerationSeconds", 0);
        seconds = seconds < 0 ? 0 : seconds;
        if (least == TAINTS_FOR_EVER || seconds < least)
            least = seconds;
    }
    return least;
}
