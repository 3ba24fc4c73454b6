/* Builds a plan; see plan.h. Pure. */
#include "operator/reconcile/plan.h"

#include "operator/kind/training_job.h"
#include "operator/reconcile/gang.h"
#include "operator/reconcile/pod_template.h"

#include "base/str.h"
#include "kube/object.h"

#include <string.h>

void training_plan_init(struct training_plan *plan, struct arena *arena)
{
    *plan = (struct training_plan){.arena = arena, .requeue_ms = -1};
}

/* Adds an entry to a growing array and returns it. The array is in the arena. When the array grows,
 * the old copy stays in the arena until the arena is freed. */
static void *array_next_entry(struct arena *arena, void **items, size_t *count, size_t *capacity,
                              size_t size)
{
    if (*count == *capacity) {
        size_t grown = *capacity ? *capacity * 2 : 8;
        void *more = arena_zalloc(arena, grown * size);

        if (*count > 0)
            memcpy(more, *items, *count * size);
        *items = more;
        *capacity = grown;
    }
    return (char *)*items + (*count)++ * size;
}

static struct training_action *add_action(struct training_plan *plan)
{
    void *items = plan->actions;
    struct training_action *action = array_next_entry(plan->arena, &items, &plan->action_count,
                                                      &plan->action_capacity, sizeof(*action));

    plan->actions = items;
    return action;
}

void training_plan_add(struct training_plan *plan, enum training_action_type type,
                       const struct json *object)
{
    *add_action(plan) = (struct training_action){.type = type,
                                                 .name = kube_meta_name(object),
                                                 .uid = kube_meta_uid(object),
                                                 .object = object};
}

static void plan_prepare_builder(const struct training_plan *plan)
{
    struct training_builder *builder = plan->builder;

    if (builder->prepared || !builder->job->kind->prepare)
        return;
    builder->job->kind->prepare(plan->arena, builder->job, builder->cluster_domain);
    builder->prepared = true;
}

void training_plan_create_part(struct training_plan *plan, enum training_action_type type,
                               enum training_replica_type replica_type, int replica_index)
{
    if (type == TRAINING_CREATE_POD)
        plan_prepare_builder(plan);
    *add_action(plan) = (struct training_action){
        .type = type,
        .name = training_replica_name(plan->arena, plan->builder->job, replica_type, replica_index),
        .replica_type = replica_type,
        .replica_index = replica_index,
    };
}

const struct json *training_plan_object(const struct training_plan *plan,
                                        const struct training_action *action, struct arena *arena)
{
    const struct training_builder *builder = plan->builder;

    if (action->object)
        return action->object;
    if (action->type == TRAINING_CREATE_SERVICE)
        return training_service_new(arena, builder->job, action->replica_type,
                                    action->replica_index);
    struct json *pod = training_pod_new(arena, builder->job, action->replica_type,
                                        action->replica_index, builder->cluster_domain);
    if (builder->gang)
        training_gang_mark_pod(arena, builder->gang, builder->job, action->replica_type, pod);
    return pod;
}

void training_plan_delete(struct training_plan *plan, enum training_action_type type,
                          const struct json *object, bool force)
{
    *add_action(plan) = (struct training_action){
        .type = type,
        .name = kube_meta_name(object),
        .uid = kube_meta_uid(object),
        .force = force,
    };
}

struct training_event *training_plan_event(struct training_plan *plan, bool warning,
                                           const char *reason, const char *format, ...)
{
    void *items = plan->events;
    struct training_event *event = array_next_entry(plan->arena, &items, &plan->event_count,
                                                    &plan->event_capacity, sizeof(*event));
    va_list args;

    plan->events = items;
    va_start(args, format);
    *event = (struct training_event){
        .warning = warning,
        .reason = arena_strdup(plan->arena, reason),
        .message = arena_vprintf(plan->arena, format, args),
    };
    va_end(args);
    return event;
}

void training_plan_annotate(struct training_plan *plan, const struct json *job, const char *name,
                            const char *text)
{
    if (str_eq(kube_meta_annotation(job, name), text))
        return;
    if (!plan->annotations)
        plan->annotations = json_object(plan->arena);
    json_set_string(plan->arena, plan->annotations, name, text);
}

void training_plan_requeue(struct training_plan *plan, int64_t delay_ms)
{
    if (delay_ms < 0)
        delay_ms = 0;
    if (plan->requeue_ms < 0 || delay_ms < plan->requeue_ms)
        plan->requeue_ms = delay_ms;
}
