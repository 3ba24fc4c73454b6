/* Builds plans; see plan.h. */
#include "pipeline/reconcile/plan.h"

#include <string.h>

void workflow_plan_init(struct workflow_plan *plan, struct arena *arena)
{
    *plan = (struct workflow_plan){.arena = arena, .requeue_ms = -1};
}

static void *plan_grow(struct arena *arena, void *items, size_t count, size_t *capacity,
                       size_t size)
{
    if (count < *capacity)
        return items;
    size_t larger = *capacity ? *capacity * 2 : 16;
    void *moved = arena_zalloc(arena, larger * size);
    if (count)
        memcpy(moved, items, count * size);
    *capacity = larger;
    return moved;
}

struct workflow_action *workflow_plan_add(struct workflow_plan *plan,
                                          enum workflow_action_type type, const char *namespace_,
                                          const char *name)
{
    plan->actions = plan_grow(plan->arena, plan->actions, plan->action_count,
                              &plan->action_capacity, sizeof(*plan->actions));
    struct workflow_action *action = &plan->actions[plan->action_count++];
    *action = (struct workflow_action){.type = type, .namespace_ = namespace_, .name = name};
    return action;
}

void workflow_plan_event(struct workflow_plan *plan, bool warning, const char *reason,
                         const char *format, ...)
{
    va_list args;

    plan->events = plan_grow(plan->arena, plan->events, plan->event_count, &plan->event_capacity,
                             sizeof(*plan->events));
    va_start(args, format);
    plan->events[plan->event_count++] = (struct workflow_event){
        .warning = warning,
        .reason = reason,
        .message = arena_vprintf(plan->arena, format, args),
    };
    va_end(args);
}

void workflow_plan_requeue(struct workflow_plan *plan, int64_t delay_ms)
{
    if (delay_ms < 0)
        delay_ms = 0;
    if (plan->requeue_ms < 0 || delay_ms < plan->requeue_ms)
        plan->requeue_ms = delay_ms;
}
