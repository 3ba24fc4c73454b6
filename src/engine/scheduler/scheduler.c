/* Implements the choice of a node and the message for a pod that fits on none; see scheduler.h. */
#include "engine/scheduler/scheduler.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "engine/scheduler/advice.h"
#include "engine/scheduler/node_affinity.h"
#include "engine/scheduler/overcommit.h"
#include "engine/scheduler/pod_affinity.h"
#include "engine/scheduler/score.h"
#include "engine/scheduler/taints.h"
#include "engine/scheduler/topology_spread.h"
#include "kube/condition.h"
#include "kube/devices.h"
#include "kube/object.h"

#include <stdlib.h>
#include <string.h>

enum { MESSAGE_MAX = 4096 };

bool scheduler_is_responsible(const struct json *pod)
{
    const struct json *spec = json_get(pod, "spec");
    const char *phase = json_get_string(json_get(pod, "status"), "phase", "Pending");
    const char *scheduler = json_get_string(spec, "schedulerName", "default-scheduler");
    return str_is_empty(json_get_string(spec, "nodeName", "")) && !kube_meta_is_deleting(pod) &&
           str_eq(phase, "Pending") && json_count(json_get(spec, "schedulingGates")) == 0 &&
           (str_eq(scheduler, "default-scheduler") ||
            str_eq(scheduler, "scheduler-plugins-scheduler"));
}

bool scheduler_depends_on_pods(const struct json *pod)
{
    return pod_affinity_is_given(pod) ||
           json_count(json_at(pod, "spec", "topologySpreadConstraints", NULL)) > 0;
}

/* ---- Rejections ------------------------------------------------------------------------------ */

void scheduler_reject(struct scheduler_rejection *rejection, const char *reason, bool permanent)
{
    rejection->permanent |= permanent;
    if (rejection->count < ARRAY_SIZE(rejection->reasons))
        rejection->reasons[rejection->count++] = reason;
}

/* Returns Kubernetes' message for a node that does not match the pod's node affinity, with the
 * labels that the node lacks. */
static const char *affinity_rejection(struct arena *arena, const struct json *pod,
                                      const struct json *node)
{
    const char *missing = node_affinity_missing(arena, pod, node);
    return arena_printf(arena, "node(s) didn't match Pod's node affinity/selector%s%s%s",
                        missing[0] ? " (the pod wants " : "", missing, missing[0] ? ")" : "");
}

bool scheduler_check_node(struct arena *arena, const struct json *pod, const struct json *node,
                          struct scheduler_rejection *ret)
{
    const struct json *ready = kube_condition_get(node, "Ready");
    const struct json *taint = taints_untolerated(pod, node);
    if (json_get_bool(json_get(node, "spec"), "unschedulable", false) &&
        !taints_tolerates_cordon(pod))
        scheduler_reject(ret, "node(s) were unschedulable", true);
    else if (kube_meta_is_deleting(node) ||
             (!taint && ready && !str_eq(json_get_string(ready, "status", ""), "True")))
        scheduler_reject(ret, "node(s) were not ready", true);
    else if (taint)
        scheduler_reject(ret,
                         arena_printf(arena, "node(s) had untolerated taint {%s: %s}",
                                      json_get_string(taint, "key", ""),
                                      json_get_string(taint, "value", "")),
                         true);
    else if (!node_affinity_matches(arena, pod, node))
        scheduler_reject(ret, affinity_rejection(arena, pod, node), true);
    return ret->count > 0;
}

/* Returns whether another pod uses a port of the machine that this pod requests. Pods without their
 * own network namespace share the ports of the machine, even if they are on different nodes of it.
 */
static bool shared_port_is_taken(const struct scheduler_view *view, size_t node,
                                 const struct node_usage *requests)
{
    const struct json *here = view->nodes[node].node;
    if (!node_usage_shares_ports(here))
        return false;
    for (size_t i = 0; i < view->count; i++)
        if (overcommit_is_one_machine(view->nodes[i].node, here) &&
            node_usage_ports_clash(view->nodes[i].used, requests))
            return true;
    return false;
}

bool scheduler_check_room(struct arena *arena, const struct scheduler_view *view, size_t node,
                          const struct node_usage *requests, struct scheduler_rejection *ret)
{
    const struct scheduler_node *at = &view->nodes[node];
    struct node_shortage shortage = {0};
    int64_t gpus = node_usage_extra(requests, KUBE_DEVICES_RESOURCE);
    if (!node_usage_fits(arena, at->node, at->used, requests, &shortage))
        for (size_t i = 0; i < shortage.count; i++)
            scheduler_reject(ret, shortage.reasons[i], shortage.permanent);
    if (ret->count == 0 && shared_port_is_taken(view, node, requests))
        scheduler_reject(ret,
                         "node(s) didn't have free ports for the requested pod ports (pods share "
                         "the ports of this machine, because it forbids network namespaces)",
                         false);
    /* Unlike cpu time, the devices of a machine cannot be shared by its nodes. */
    if (ret->count == 0 && gpus > 0) {
        for (size_t i = 0; i < view->count; i++)
            if (i != node && overcommit_is_one_machine(view->nodes[i].node, at->node))
                gpus += node_usage_extra(view->nodes[i].used, KUBE_DEVICES_RESOURCE);
        if (!node_usage_has_extra(at->node, at->used, KUBE_DEVICES_RESOURCE, gpus))
            scheduler_reject(ret, "Insufficient " KUBE_DEVICES_RESOURCE, false);
    }
    return ret->count > 0;
}

void scheduler_check_neighbours(struct arena *arena, const struct json *pod,
                                const struct scheduler_view *view,
                                struct scheduler_rejection *rejections)
{
    topology_spread_reject(arena, pod, view, rejections);
    pod_affinity_reject(arena, pod, view, rejections);
}

static int compare_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Counts the nodes per reason. Sets *ret to texts such as "2 Insufficient cpu" and returns their
 * number. */
static size_t count_reasons(struct arena *arena, const struct scheduler_rejection *rejections,
                            size_t count, const char ***ret)
{
    const char **given = ARENA_ARRAY(arena, const char *, 4 * count + 1);
    size_t total = 0, distinct = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t at = 0; at < rejections[i].count; at++)
            given[total++] = rejections[i].reasons[at];
    qsort(given, total, sizeof(*given), compare_text);
    for (size_t i = 0; i < total;) {
        size_t same = 1;
        while (i + same < total && str_eq(given[i], given[i + same]))
            same++;
        const char *text = arena_printf(arena, "%zu %s", same, given[i]);
        i += same;
        given[distinct++] = text;
    }
    qsort(given, distinct, sizeof(*given), compare_text);
    *ret = given;
    return distinct;
}

const char *scheduler_explain(struct arena *arena, const struct scheduler_rejection *rejections,
                              size_t count)
{
    if (count == 0)
        return "no nodes available to schedule pods";
    const char **reasons;
    size_t distinct = count_reasons(arena, rejections, count, &reasons);
    _cleanup_buf_ struct buf text;
    buf_init(&text, MESSAGE_MAX);
    buf_printf(&text, "0/%zu nodes are available:", count);
    for (size_t i = 0; i < distinct; i++)
        buf_printf(&text, "%s %s", i ? "," : "", reasons[i]);
    buf_append_char(&text, '.');
    return arena_strdup(arena, text.data);
}

/* ---- The choice ------------------------------------------------------------------------------ */

static bool scheduler_is_better(const struct scheduler_view *view, const int64_t *scores,
                                const struct node_usage *requests, size_t a, size_t b)
{
    const struct scheduler_node *x = &view->nodes[a], *y = &view->nodes[b];
    if (scores[a] != scores[b])
        return scores[a] > scores[b];
    int left_x = node_usage_percent_left(x->node, x->used, requests);
    int left_y = node_usage_percent_left(y->node, y->used, requests);
    if (left_x != left_y)
        return left_x > left_y;
    if (x->used->pods != y->used->pods)
        return x->used->pods < y->used->pods;
    return strcmp(x->name, y->name) < 0;
}

void scheduler_pick(struct arena *arena, const struct json *pod, const struct scheduler_view *view,
                    struct scheduler_choice *ret)
{
    struct scheduler_rejection *rejections =
        ARENA_ARRAY(arena, struct scheduler_rejection, view->count + 1);
    bool *open = ARENA_ARRAY(arena, bool, view->count + 1);
    const struct scheduler_node *best = NULL;
    struct node_usage requests;
    node_usage_of_pod(pod, &requests);
    for (size_t i = 0; i < view->count; i++)
        if (!scheduler_check_node(arena, pod, view->nodes[i].node, &rejections[i]))
            scheduler_check_room(arena, view, i, &requests, &rejections[i]);
    scheduler_check_neighbours(arena, pod, view, rejections);
    for (size_t i = 0; i < view->count; i++)
        open[i] = rejections[i].count == 0;
    const int64_t *scores = scheduler_scores(arena, pod, view, open);
    for (size_t i = 0; i < view->count; i++)
        if (open[i] && (!best || scheduler_is_better(view, scores, &requests, i,
                                                     (size_t)(best - view->nodes))))
            best = &view->nodes[i];
    *ret = (struct scheduler_choice){.node = best ? best->name : NULL, .rejections = rejections};
    if (!best) {
        ret->message = scheduler_explain(arena, rejections, view->count);
        ret->advice = scheduler_advice(arena, view, &requests, 1);
    }
    node_usage_release(&requests);
}
