/* Chooses the node that preemption clears and the victims on it; see preempt.h. */
#include "engine/scheduler/preempt.h"

#include "base/str.h"
#include "kube/object.h"

#include <stdlib.h>
#include <string.h>

int64_t scheduler_priority(const struct json *pod)
{
    return json_get_int(json_get(pod, "spec"), "priority", 0);
}

static const char *start_of(const struct json *pod)
{
    return json_get_string(json_get(pod, "status"), "startTime", "");
}

/* ---- One node -------------------------------------------------------------------------------- */

/* A test of whether the pod fits on a node without some of the node's pods. Has a copy of the view
 * from which pods are removed. */
struct trial {
    struct arena *arena;
    const struct json *pod;
    size_t node;
    struct scheduler_view view;
    struct scheduler_node *nodes;
    struct scheduler_placed *pods;
    struct node_usage used, requests;
};

static void trial_init(struct trial *trial, struct arena *arena, const struct json *pod,
                       const struct scheduler_view *view, size_t node)
{
    *trial = (struct trial){.arena = arena, .pod = pod, .node = node, .view = *view};
    trial->nodes = ARENA_ARRAY(arena, struct scheduler_node, view->count + 1);
    trial->pods = ARENA_ARRAY(arena, struct scheduler_placed, view->pod_count + 1);
    memcpy(trial->nodes, view->nodes, view->count * sizeof(*trial->nodes));
    if (view->pod_count)
        memcpy(trial->pods, view->pods, view->pod_count * sizeof(*trial->pods));
    node_usage_add(&trial->used, view->nodes[node].used);
    node_usage_of_pod(pod, &trial->requests);
    trial->nodes[node].used = &trial->used;
    trial->view.nodes = trial->nodes;
    trial->view.pods = trial->pods;
}

static void trial_release(struct trial *trial)
{
    node_usage_release(&trial->used);
    node_usage_release(&trial->requests);
}

static void trial_remove(struct trial *trial, const struct json *pod)
{
    struct node_usage usage;
    node_usage_of_pod(pod, &usage);
    node_usage_subtract(&trial->used, &usage);
    node_usage_release(&usage);
    for (size_t at = 0; at < trial->view.pod_count; at++) {
        if (trial->pods[at].pod == pod) {
            trial->pods[at] = trial->pods[--trial->view.pod_count];
            return;
        }
    }
}

static void trial_put_back(struct trial *trial, const struct json *pod)
{
    struct node_usage usage;
    node_usage_of_pod(pod, &usage);
    node_usage_add(&trial->used, &usage);
    node_usage_release(&usage);
    trial->pods[trial->view.pod_count++] =
        (struct scheduler_placed){.pod = pod, .node = trial->node};
}

static bool trial_fits(struct trial *trial, struct scheduler_rejection *ret)
{
    *ret = (struct scheduler_rejection){0};
    if (scheduler_check_room(trial->arena, &trial->view, trial->node, &trial->requests, ret))
        return false;
    struct scheduler_rejection *all =
        ARENA_ARRAY(trial->arena, struct scheduler_rejection, trial->view.count + 1);
    scheduler_check_neighbours(trial->arena, trial->pod, &trial->view, all);
    *ret = all[trial->node];
    return ret->count == 0;
}

/* Sorts by priority, the highest first; then by running time, the longest first; then by name. */
static int compare_importance(const void *a, const void *b)
{
    const struct json *x = *(const struct json *const *)a, *y = *(const struct json *const *)b;
    int64_t left = scheduler_priority(x), right = scheduler_priority(y);
    if (left != right)
        return left > right ? -1 : 1;
    int by_start = strcmp(start_of(x), start_of(y));
    return by_start ? by_start : strcmp(kube_meta_name(x), kube_meta_name(y));
}

/* Removes the node's pods with a lower priority from the trial. Stores those that are not being
 * deleted yet in `ret`, sorted by compare_importance(), and returns their number. *ret_leaving is
 * the number of pods that are being deleted already. */
static size_t gather_lower_priority(struct trial *trial, const struct scheduler_view *view,
                                    const struct json **ret, size_t *ret_leaving)
{
    size_t count = 0;
    *ret_leaving = 0;
    for (size_t at = 0; at < view->pod_count; at++) {
        const struct json *other = view->pods[at].pod;
        if (view->pods[at].node != trial->node ||
            scheduler_priority(other) >= scheduler_priority(trial->pod))
            continue;
        if (kube_meta_is_deleting(other))
            ++*ret_leaving;
        else
            ret[count++] = other;
        trial_remove(trial, other);
    }
    qsort(ret, count, sizeof(struct json *), compare_importance);
    return count;
}

/* Returns whether the pod fits on the node after preemption. If so, *ret has the node and the
 * victims. If not, *ret_why has the reasons. */
static bool clear_node(struct arena *arena, const struct json *pod,
                       const struct scheduler_view *view, size_t node,
                       struct scheduler_preemption *ret, struct scheduler_rejection *ret_why)
{
    struct trial trial;
    trial_init(&trial, arena, pod, view, node);
    const struct json **candidates = ARENA_ARRAY(arena, const struct json *, view->pod_count + 1);
    size_t leaving, count = gather_lower_priority(&trial, view, candidates, &leaving);
    bool fits = false;
    if (count + leaving == 0) {
        scheduler_reject(ret_why, "No preemption victims found for incoming pod", true);
    } else if (trial_fits(&trial, ret_why)) {
        struct scheduler_rejection unused;
        fits = true;
        *ret = (struct scheduler_preemption){.node = view->nodes[node].name, .victims = candidates};
        for (size_t i = 0; i < count; i++) {
            trial_put_back(&trial, candidates[i]);
            if (trial_fits(&trial, &unused))
                continue;
            trial_remove(&trial, candidates[i]);
            candidates[ret->count++] = candidates[i];
        }
    }
    trial_release(&trial);
    return fits;
}

/* ---- All nodes ------------------------------------------------------------------------------- */

static int64_t sum_of_priorities(const struct scheduler_preemption *preemption)
{
    int64_t sum = 0;
    for (size_t i = 0; i < preemption->count; i++)
        /* No priority is lower than INT32_MIN, so after the subtraction no victim makes the sum
         * smaller. */
        sum += scheduler_priority(preemption->victims[i]) - INT32_MIN;
    return sum;
}

/* Returns whether preemption `a` is better than `b`. The victims are sorted: the first one has the
 * highest priority. */
static bool preempt_is_better(const struct scheduler_preemption *a,
                              const struct scheduler_preemption *b)
{
    if (!b->node)
        return true;
    if (a->count == 0 || b->count == 0)
        return a->count == b->count ? strcmp(a->node, b->node) < 0 : a->count == 0;
    int64_t x = scheduler_priority(a->victims[0]), y = scheduler_priority(b->victims[0]);
    if (x != y)
        return x < y;
    if (sum_of_priorities(a) != sum_of_priorities(b))
        return sum_of_priorities(a) < sum_of_priorities(b);
    if (a->count != b->count)
        return a->count < b->count;
    int by_start = strcmp(start_of(a->victims[0]), start_of(b->victims[0]));
    return by_start ? by_start > 0 : strcmp(a->node, b->node) < 0;
}

void scheduler_preempt(struct arena *arena, const struct json *pod,
                       const struct scheduler_view *view,
                       const struct scheduler_rejection *rejections,
                       struct scheduler_preemption *ret)
{
    *ret = (struct scheduler_preemption){0};
    if (str_eq(json_get_string(json_get(pod, "spec"), "preemptionPolicy", ""), "Never")) {
        ret->message = "preemption: not eligible due to preemptionPolicy=Never.";
        return;
    }
    struct scheduler_rejection *why =
        ARENA_ARRAY(arena, struct scheduler_rejection, view->count + 1);
    for (size_t node = 0; node < view->count; node++) {
        struct scheduler_preemption made;
        if (rejections[node].permanent)
            scheduler_reject(&why[node], "Preemption is not helpful for scheduling", true);
        else if (clear_node(arena, pod, view, node, &made, &why[node]) &&
                 preempt_is_better(&made, ret))
            *ret = made;
    }
    if (!ret->node)
        ret->message =
            arena_printf(arena, "preemption: %s", scheduler_explain(arena, why, view->count));
}
