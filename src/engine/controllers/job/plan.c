/* Records the decisions of a pass: actions, events, conditions, times. */
#include "engine/controllers/job/internal.h"

#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"

#include <string.h>

void job_plan_add(struct job_pass *pass, enum job_action_type type, const struct json *object)
{
    struct job_plan *plan = pass->plan;
    if (plan->action_count == plan->action_capacity) {
        size_t capacity = plan->action_capacity ? 2 * plan->action_capacity : 16;
        struct job_action *grown = ARENA_ARRAY(pass->arena, struct job_action, capacity);
        if (plan->action_count)
            memcpy(grown, plan->actions, plan->action_count * sizeof(*grown));
        plan->actions = grown;
        plan->action_capacity = capacity;
    }
    plan->actions[plan->action_count++] = (struct job_action){.type = type, .object = object};
}

void job_plan_event(struct job_pass *pass, bool warning, const char *reason, const char *message)
{
    struct job_plan *plan = pass->plan;
    if (plan->event_count == ARRAY_SIZE(plan->events))
        mem_panic("more than %zu events in one pass over a job", ARRAY_SIZE(plan->events));
    plan->events[plan->event_count++] =
        (struct job_event){.warning = warning, .reason = reason, .message = message};
}

void job_plan_requeue(struct job_pass *pass, int64_t delay_ms)
{
    if (delay_ms < 0)
        delay_ms = 0;
    if (pass->plan->requeue_ms < 0 || delay_ms < pass->plan->requeue_ms)
        pass->plan->requeue_ms = delay_ms;
}

const struct json *job_condition_find(const struct json *status, const char *type)
{
    JSON_EACH (condition, json_get(status, "conditions")) {
        if (str_eq(json_get_string(condition, "type", ""), type))
            return condition;
    }
    return NULL;
}

bool job_condition_is_true(const struct json *status, const char *type)
{
    return str_eq(json_get_string(job_condition_find(status, type), "status", ""), "True");
}

void job_condition_set(struct job_pass *pass, const char *type, bool is_true, const char *reason,
                       const char *message)
{
    struct arena *arena = pass->arena;
    struct json *conditions = json_ensure_array(arena, pass->status, "conditions");
    struct json *condition = (struct json *)job_condition_find(pass->status, type);
    char now[MOMENT_TEXT_MAX];
    if (condition && job_condition_is_true(pass->status, type) == is_true)
        return;
    if (!condition) {
        condition = json_object(arena);
        json_append(conditions, condition);
    }
    moment_format(pass->now_ms, now);
    json_set_string(arena, condition, "type", type);
    json_set_string(arena, condition, "status", is_true ? "True" : "False");
    json_set_string(arena, condition, "lastProbeTime", now);
    json_set_string(arena, condition, "lastTransitionTime", now);
    json_set_string(arena, condition, "reason", reason);
    json_set_string(arena, condition, "message", message);
}

int64_t job_status_time(const struct json *object, const char *name)
{
    const char *text = json_get_string(object, name, "");
    int64_t at;
    return text[0] && moment_parse(text, &at, NULL) == 0 ? at : -1;
}

void job_status_set_time(struct job_pass *pass, const char *name)
{
    char now[MOMENT_TEXT_MAX];
    moment_format(pass->now_ms, now);
    json_set_string(pass->arena, pass->status, name, now);
}
