/* The scheduler's choice; see scheduler.h. */
#include "engine/scheduler.h"

#include "base/buf.h"
#include "base/str.h"
#include "kube/object.h"
#include "kube/selector.h"

#include <stdlib.h>
#include <string.h>

enum { MESSAGE_MAX = 4096 };

bool scheduler_wants(const struct json *pod)
{
    const struct json *spec = json_get(pod, "spec");
    const char *phase = json_get_string(json_get(pod, "status"), "phase", "Pending");
    const char *scheduler = json_get_string(spec, "schedulerName", "default-scheduler");
    return str_is_empty(json_get_string(spec, "nodeName", "")) && !kube_meta_is_deleting(pod) &&
           str_eq(phase, "Pending") &&
           (str_eq(scheduler, "default-scheduler") ||
            str_eq(scheduler, "scheduler-plugins-scheduler"));
}

/* ---- Selectors and affinity ------------------------------------------------------------------ */

static bool matches_node_selector(const struct json *pod, const struct json *node)
{
    JSON_EACH (wanted, json_at(pod, "spec", "nodeSelector", NULL)) {
        const char *has = kube_meta_label(node, wanted->name);
        if (!has || !str_eq(has, json_text(wanted)))
            return false;
    }
    return true;
}

/* matchFields know one field, the node's name; it is matched as if it were a label. */
static bool matches_fields(struct arena *arena, const struct json *fields, const struct json *node)
{
    struct json *as_labels = json_object(arena);
    struct kube_selector selector;
    json_set_string(arena, as_labels, "metadata.name", kube_meta_name(node));
    return !fields || (kube_selector_from_expressions(arena, fields, &selector, NULL) == 0 &&
                       kube_selector_matches(&selector, as_labels));
}

/* One of the terms must hold; of a term, everything. A term that says nothing matches nothing. */
static bool matches_affinity(struct arena *arena, const struct json *pod, const struct json *node)
{
    const struct json *required = json_at(pod, "spec", "affinity", "nodeAffinity",
                                          "requiredDuringSchedulingIgnoredDuringExecution", NULL);
    if (!required || required->type != JSON_OBJECT)
        return true;
    JSON_EACH (term, json_get(required, "nodeSelectorTerms")) {
        const struct json *expressions = json_get(term, "matchExpressions");
        const struct json *fields = json_get(term, "matchFields");
        struct kube_selector selector;
        if (json_count(expressions) == 0 && json_count(fields) == 0)
            continue;
        bool labels_match =
            json_count(expressions) == 0 ||
            (kube_selector_from_expressions(arena, expressions, &selector, NULL) == 0 &&
             kube_selector_matches(&selector, kube_meta_labels(node)));
        if (labels_match && matches_fields(arena, fields, node))
            return true;
    }
    return false;
}

/* ---- Taints ---------------------------------------------------------------------------------- */

static bool tolerates(const struct json *toleration, const struct json *taint)
{
    const char *effect = json_get_string(toleration, "effect", "");
    const char *key = json_get_string(toleration, "key", "");
    const char *operator_ = json_get_string(toleration, "operator", "Equal");
    if (effect[0] && !str_eq(effect, json_get_string(taint, "effect", "")))
        return false;
    if (key[0] && !str_eq(key, json_get_string(taint, "key", "")))
        return false;
    if (str_eq(operator_, "Exists"))
        return true;
    return key[0] &&
           str_eq(json_get_string(toleration, "value", ""), json_get_string(taint, "value", ""));
}

/* The first taint that keeps the pod away, or NULL. */
static const struct json *untolerated_taint(const struct json *pod, const struct json *node)
{
    JSON_EACH (taint, json_at(node, "spec", "taints", NULL)) {
        const char *effect = json_get_string(taint, "effect", "");
        bool tolerated = !str_eq(effect, "NoSchedule") && !str_eq(effect, "NoExecute");
        JSON_EACH (toleration, json_at(pod, "spec", "tolerations", NULL)) {
            tolerated = tolerated || tolerates(toleration, taint);
        }
        if (!tolerated)
            return taint;
    }
    return NULL;
}

/* Cordoned nodes may be tolerated like any other taint. */
static bool tolerates_cordon(struct arena *arena, const struct json *pod)
{
    struct json *taint = json_object(arena);
    json_set_string(arena, taint, "key", "node.kubernetes.io/unschedulable");
    json_set_string(arena, taint, "effect", "NoSchedule");
    JSON_EACH (toleration, json_at(pod, "spec", "tolerations", NULL)) {
        if (tolerates(toleration, taint))
            return true;
    }
    return false;
}

/* ---- The choice ------------------------------------------------------------------------------ */

const char *scheduler_objection(struct arena *arena, const struct json *pod,
                                const struct json *node)
{
    const struct json *ready = kube_condition_get(node, "Ready");
    if (json_get_bool(json_get(node, "spec"), "unschedulable", false) &&
        !tolerates_cordon(arena, pod))
        return "node(s) were unschedulable";
    if (kube_meta_is_deleting(node) ||
        (ready && !str_eq(json_get_string(ready, "status", ""), "True")))
        return "node(s) were not ready";
    if (!matches_node_selector(pod, node) || !matches_affinity(arena, pod, node))
        return "node(s) didn't match Pod's node affinity/selector";
    const struct json *taint = untolerated_taint(pod, node);
    if (taint)
        return arena_printf(arena, "node(s) had untolerated taint {%s: %s}",
                            json_get_string(taint, "key", ""), json_get_string(taint, "value", ""));
    return NULL;
}

static int compare_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) …." */
const char *scheduler_explain(struct arena *arena, const char **objections, size_t count)
{
    if (count == 0)
        return "no nodes available to schedule pods";
    _cleanup_buf_ struct buf text;
    buf_init(&text, MESSAGE_MAX);
    buf_printf(&text, "0/%zu nodes are available:", count);
    qsort(objections, count, sizeof(*objections), compare_text);
    for (size_t i = 0; i < count;) {
        size_t same = 1;
        while (i + same < count && str_eq(objections[i], objections[i + same]))
            same++;
        buf_printf(&text, "%s %zu %s", i ? "," : "", same, objections[i]);
        i += same;
    }
    buf_append_char(&text, '.');
    return arena_strdup(arena, text.data);
}

void scheduler_pick(struct arena *arena, const struct json *pod, const struct scheduler_node *nodes,
                    size_t count, struct scheduler_choice *ret)
{
    const struct scheduler_node *best = NULL;
    const char **objections = ARENA_ARRAY(arena, const char *, count + 1);
    size_t refused = 0;
    struct node_usage asked;
    node_usage_of_pod(pod, &asked);
    for (size_t i = 0; i < count; i++) {
        const char *why = scheduler_objection(arena, pod, nodes[i].node);
        if (!why)
            why = node_usage_shortage(nodes[i].node, nodes[i].used, &asked);
        if (why) {
            objections[refused++] = why;
            continue;
        }
        if (!best || nodes[i].used->pods < best->used->pods ||
            (nodes[i].used->pods == best->used->pods && strcmp(nodes[i].name, best->name) < 0))
            best = &nodes[i];
    }
    node_usage_release(&asked);
    *ret = (struct scheduler_choice){.node = best ? best->name : NULL};
    if (!best)
        ret->message = scheduler_explain(arena, objections, refused);
}
