/* Preempts pods for a pod that fits on no node: the victims of scheduler_preempt() get a condition
 * and are deleted gracefully. The node is nominated to the pod until the pod is assumed on a node,
 * or until preemption no longer helps. If this process dies meanwhile, the next scheduler process
 * reads status.nominatedNodeName. See internal.h. */
#include "engine/scheduler/internal.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/scheduler/disruption.h"
#include "engine/scheduler/preempt.h"
#include "kube/object.h"

#include <stdlib.h>

/* ---- Priorities of placed pods --------------------------------------------------------------- */

void scheduler_count_priority(struct scheduler *scheduler, int64_t priority, bool added)
{
    for (size_t i = 0; i < scheduler->priority_counts.count; i++) {
        struct scheduler_priority_count *count = &scheduler->priority_counts.items[i];
        if (count->priority != priority)
            continue;
        count->pods += added ? 1 : -1;
        if (count->pods == 0)
            vec_remove(&scheduler->priority_counts, i);
        return;
    }
    vec_push(&scheduler->priority_counts, ((struct scheduler_priority_count){priority, 1}));
}

bool scheduler_has_lower_priority(const struct scheduler *scheduler, int64_t priority)
{
    for (size_t i = 0; i < scheduler->priority_counts.count; i++)
        if (scheduler->priority_counts.items[i].priority < priority)
            return true;
    return false;
}

/* ---- Nominees -------------------------------------------------------------------------------- */

static void nominee_free(struct scheduler_nominee *nominee)
{
    if (!nominee)
        return;
    node_usage_release(&nominee->usage);
    free(nominee->node);
    free(nominee);
}

void scheduler_nominate(struct scheduler *scheduler, const char *key, const struct json *pod,
                        const char *node)
{
    struct scheduler_nominee *nominee = mem_zalloc(sizeof(*nominee));
    nominee->node = mem_strdup(node);
    nominee->priority = scheduler_priority(pod);
    node_usage_of_pod(pod, &nominee->usage);
    nominee_free(map_put(&scheduler->nominees, key, nominee));
}

void scheduler_withdraw_nomination(struct scheduler *scheduler, const char *key)
{
    nominee_free(map_remove(&scheduler->nominees, key));
}

void scheduler_preempt_release(struct scheduler *scheduler)
{
    const char *key;
    void *value;
    for (size_t at = 0; map_next(&scheduler->nominees, &at, &key, &value);)
        nominee_free(value);
    map_release(&scheduler->nominees);
    vec_release(&scheduler->priority_counts);
}

/* ---- Victims --------------------------------------------------------------------------------- */

/* The API calls for one victim: its condition is written, then it is deleted. */
struct victim {
    struct hub_task task;
    struct scheduler *scheduler;
    struct kube_object *pod;
};

static void victim_free(struct hub_task *task)
{
    struct victim *victim = CONTAINER_OF(task, struct victim, task);
    kube_object_unref(victim->pod);
    free(victim);
}

/* If the deletion fails, the waiting pod is still unscheduled, and the next decision chooses
 * victims again. */
static void on_preempt_deleted(void *context, struct json *object, const struct err *err)
{
    struct victim *victim = context;
    hub_task_end(&victim->task);
}

/* Deletes the victim even if its condition could not be written. */
static void on_preempt_condition_written(void *context, struct json *object, const struct err *err)
{
    struct victim *victim = context;
    struct kube_delete_options options = {.grace_period_seconds = -1, .uid = victim->pod->uid};
    kube_delete(hub_client(victim->scheduler->hub), &KUBE_PODS, victim->pod->namespace_,
                victim->pod->name, &options, on_preempt_deleted, victim);
}

/* Starts to preempt `pod` on the node, for the pod whose key is `by`. */
static void preempt_start(struct scheduler *scheduler, const char *by, const char *node,
                          const struct json *pod)
{
    struct kube_client *client = hub_client(scheduler->hub);
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct kube_object *object = kube_informer_get(hub_informer(scheduler->hub, "pods"),
                                                   kube_meta_namespace(pod), kube_meta_name(pod));
    if (!object || !str_eq(object->uid, kube_meta_uid(pod)))
        return;
    struct victim *victim = mem_zalloc(sizeof(*victim));
    hub_task_begin(scheduler->hub, &victim->task, victim_free);
    victim->scheduler = scheduler;
    victim->pod = kube_object_ref(object);
    kube_event(client, pod, "default-scheduler", "Normal", "Preempted",
               "Preempted by %s on node %s", by, node);
    kube_patch(
        client, &KUBE_PODS, object->namespace_, object->name, "status",
        disruption_patch(arena, pod, "PreemptionByScheduler",
                         "default-scheduler: preempting to accommodate a higher priority pod",
                         loop_wall_ms(hub_loop(scheduler->hub))),
        on_preempt_condition_written, victim);
}

void scheduler_try_preempt(struct scheduler *scheduler, const char *key, struct kube_object *pod,
                           const char *message)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct scheduler_gathered gathered;
    struct scheduler_choice choice;
    struct scheduler_preemption preemption;
    bool with_pods = scheduler_has_lower_priority(scheduler, scheduler_priority(pod->json));
    scheduler_gather(scheduler, arena, key, pod->json, with_pods, &gathered);
    scheduler_pick(arena, pod->json, &gathered.view, &choice);
    scheduler_preempt(arena, pod->json, &gathered.view, choice.rejections, &preemption);
    if (preemption.node) {
        scheduler_nominate(scheduler, key, pod->json, preemption.node);
        for (size_t i = 0; i < preemption.count; i++)
            preempt_start(scheduler, key, preemption.node, preemption.victims[i]);
        scheduler_report(scheduler, key, pod, message, preemption.node, NULL);
    } else {
        scheduler_withdraw_nomination(scheduler, key);
        scheduler_report(scheduler, key, pod,
                         arena_printf(arena, "%s %s%s%s", message, preemption.message,
                                      choice.advice ? " " : "", choice.advice ? choice.advice : ""),
                         NULL, NULL);
    }
    scheduler_gathered_release(&gathered);
}
