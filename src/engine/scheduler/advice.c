/* Computes the options of `trainyard up` that make room for pods; see advice.h. */
#include "engine/scheduler/advice.h"

#include "base/str.h"
#include "kube/condition.h"
#include "kube/devices.h"

#include <inttypes.h>
#include <stdlib.h>

/* The largest numbers that `trainyard up` accepts for --nodes and --fake-gpus. */
enum { NODES_MAX = 64, FAKE_GPUS_MAX = 16 };

struct node_capacity {
    int64_t cpu_milli, memory_bytes;
};

static bool capacity_fits(const struct node_capacity *free_, const struct node_usage *requests)
{
    return requests->cpu_milli <= free_->cpu_milli && requests->memory_bytes <= free_->memory_bytes;
}

static int64_t advice_larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Returns the largest cpu and the largest memory that a node offers. The two values may be of
 * different nodes. */
static struct node_capacity largest_node(const struct scheduler_view *view)
{
    static const struct node_usage nothing = {0};
    struct node_capacity largest = {0}, offered;
    for (size_t i = 0; i < view->count; i++) {
        node_usage_left(view->nodes[i].node, &nothing, &offered.cpu_milli, &offered.memory_bytes);
        largest.cpu_milli = advice_larger(largest.cpu_milli, offered.cpu_milli);
        largest.memory_bytes = advice_larger(largest.memory_bytes, offered.memory_bytes);
    }
    return largest;
}

static int compare_largest_first(const void *a, const void *b)
{
    const struct node_usage *const *x = a, *const *y = b;
    if ((*x)->cpu_milli != (*y)->cpu_milli)
        return (*x)->cpu_milli > (*y)->cpu_milli ? -1 : 1;
    if ((*x)->memory_bytes != (*y)->memory_bytes)
        return (*x)->memory_bytes > (*y)->memory_bytes ? -1 : 1;
    return 0;
}

/* Returns how many empty nodes of this size the pods need. Each pod must fit on a node of this
 * size. Places each pod on the first node with room, large pods first. Returns NODES_MAX + 1 if the
 * pods need more than NODES_MAX nodes. */
static size_t nodes_needed(struct arena *arena, const struct node_capacity *size,
                           const struct node_usage *requests, size_t count)
{
    struct node_capacity capacity_left[NODES_MAX];
    const struct node_usage **sorted = ARENA_ARRAY(arena, const struct node_usage *, count + 1);
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &requests[i];
    qsort(sorted, count, sizeof(const struct node_usage *), compare_largest_first);
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        while (at < used && !capacity_fits(&capacity_left[at], sorted[i]))
            at++;
        if (at == NODES_MAX)
            return NODES_MAX + 1;
        if (at == used)
            capacity_left[used++] = *size;
        capacity_left[at].cpu_milli -= sorted[i]->cpu_milli;
        capacity_left[at].memory_bytes -= sorted[i]->memory_bytes;
    }
    return used;
}

/* Counts the nodes that are ready or do not have the condition Ready. Nodes of an earlier
 * `trainyard up` still exist, but are not ready. */
static size_t count_ready(const struct scheduler_view *view)
{
    size_t count = 0;
    for (size_t i = 0; i < view->count; i++) {
        const struct json *ready = kube_condition_get(view->nodes[i].node, "Ready");
        count += !ready || str_eq(json_get_string(ready, "status", ""), "True");
    }
    return count;
}

/* Returns whether all nodes have names like node-1, which `trainyard up --nodes 3` assigns. The
 * option would replace nodes that a user has named. */
static bool are_numbered(const struct scheduler_view *view)
{
    for (size_t i = 0; i < view->count; i++)
        if (!str_has_prefix(view->nodes[i].name, "node-"))
            return false;
    return true;
}

/* Returns the options that make the pods fit, " --nodes 2 --cpus 4"; "" if they fit already. */
static const char *size_options(struct arena *arena, const struct scheduler_view *view,
                                const struct node_usage *requests, size_t count)
{
    const struct node_capacity offered = largest_node(view);
    struct node_capacity size = offered, sum = {0};
    const char *options = "";
    for (size_t i = 0; i < count; i++) {
        size.cpu_milli = advice_larger(size.cpu_milli, requests[i].cpu_milli);
        size.memory_bytes = advice_larger(size.memory_bytes, requests[i].memory_bytes);
        sum.cpu_milli += requests[i].cpu_milli;
        sum.memory_bytes += requests[i].memory_bytes;
    }
    size_t needed = nodes_needed(arena, &size, requests, count), ready = count_ready(view);
    if (needed > ready && needed <= NODES_MAX && are_numbered(view)) {
        options = arena_printf(arena, " --nodes %zu", needed);
    } else if (needed > ready) { /* no nodes can be added, so one node must hold all pods */
        size.cpu_milli = advice_larger(size.cpu_milli, sum.cpu_milli);
        size.memory_bytes = advice_larger(size.memory_bytes, sum.memory_bytes);
    }
    if (size.cpu_milli > offered.cpu_milli)
        options = arena_printf(arena, "%s --cpus %s", options,
                               node_usage_cpu_text(arena, size.cpu_milli));
    if (size.memory_bytes > offered.memory_bytes)
        options = arena_printf(arena, "%s --memory %s", options,
                               node_usage_memory_text(arena, size.memory_bytes));
    return options;
}

/* Returns how many GPUs the pods request if no node has a GPU; 0 if a node has one, or if the pods
 * request none. */
static int64_t missing_gpus(const struct scheduler_view *view, const struct node_usage *requests,
                            size_t count)
{
    static const struct node_usage nothing = {0};
    int64_t sum = 0;
    for (size_t i = 0; i < view->count; i++)
        if (node_usage_has_extra(view->nodes[i].node, &nothing, KUBE_DEVICES_RESOURCE, 1))
            return 0;
    for (size_t i = 0; i < count; i++)
        sum += node_usage_extra(&requests[i], KUBE_DEVICES_RESOURCE);
    return sum;
}

const char *scheduler_advice(struct arena *arena, const struct scheduler_view *view,
                             const struct node_usage *requests, size_t count)
{
    if (view->count == 0)
        return NULL;
    const char *options = size_options(arena, view, requests, count), *reason = NULL, *note = "";
    int64_t gpus = missing_gpus(view, requests, count);
    if (options[0])
        reason = "The cluster is too small for this even when it is empty";
    if (gpus > 0 && gpus <= FAKE_GPUS_MAX) {
        reason = reason ? "The cluster is too small for this even when it is empty, and has no GPU"
                        : "No node has a GPU";
        options = arena_printf(arena, "%s --fake-gpus %" PRId64, options, gpus);
        note = " (--fake-gpus offers GPUs that do not exist, to try jobs out)";
    }
    if (!reason)
        return NULL;
    return arena_printf(arena, "%s: run 'trainyard down', then 'trainyard up%s'%s", reason, options,
                        note);
}
