/* Records the decisions of a pass over a job (actions, events, conditions, times); see internal.h.
 */
#include "engine/controllers/job/internal.h"

#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "kube/condition.h"

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
    return kube_condition_find(json_get(status, "conditions"), type);
}

bool job_condition_is_true(const struct json *status, const char *type)
{
    return str_eq(json_get_string(job_condition_find(status, type), "status", ""), "True");
}

void job_condition_set(struct job_pass *pass, const char *type, bool is_true, const char *reason,
                       const char *message)
{
    const struct kube_condition wanted = {.type = type,
                                          .status = is_true ? "True" : "False",
                                          .reason = reason,
                                          .message = message,
                                          .time_name = "lastProbeTime",
                                          .now_ms = pass->now_ms};
    kube_condition_set(pass->arena, json_ensure_array(pass->arena, pass->status, "conditions"),
                       &wanted, KUBE_CONDITION_KEEP_STATUS);
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
