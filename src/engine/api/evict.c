/* Handles POST pods/NAME/eviction, which `kubectl drain` sends. PodDisruptionBudgets are not
 * supported, so an eviction is a deletion that also sets the condition DisruptionTarget. */
#include "base/str.h"
#include "engine/api/deletion.h"
#include "engine/api/handlers.h"
#include "engine/api/write.h"
#include "kube/condition.h"
#include "kube/kinds/meta.h"
#include "kube/object.h"
#include "kube/status.h"

/* Sets the condition DisruptionTarget. The operator of training jobs does not count a pod with this
 * condition as a failure of the program. */
static void evict_set_condition(struct arena *arena, struct json *pod, int64_t now_ms)
{
    const struct kube_condition evicting = {.type = "DisruptionTarget",
                                            .status = "True",
                                            .reason = "EvictionByEvictionAPI",
                                            .message = "Eviction API: evicting",
                                            .now_ms = now_ms};
    struct json *status = json_ensure_object(arena, pod, "status");
    kube_condition_set(arena, json_ensure_array(arena, status, "conditions"), &evicting,
                       KUBE_CONDITION_RESET_TRANSITION);
}

static int read_eviction(struct api_call *call, struct deletion_options *ret, struct err *err)
{
    struct json *body;
    int result = api_read_body_as(call, "Eviction", &body, err);
    if (result < 0)
        return result;
    const char *kind = json_get_string(body, "kind", "Eviction");
    const char *name = kube_meta_name(body);
    if (!str_eq(kind, "Eviction"))
        return err_set(err, ERR_BAD_REQUEST, "%.100s cannot be handled as an Eviction", kind);
    if (name[0] && !str_eq(name, call->route.name))
        return err_set(err, ERR_BAD_REQUEST, "name in URL does not match name in Eviction object");
    result = deletion_options_parse(&call->invalid, json_get(body, "deleteOptions"), "", ret, err);
    if (result == 0 && ret->dry_run)
        call->dry_run = true;
    return result;
}

void api_handle_evict(struct api_call *call)
{
    struct err err = ERR_INIT;
    struct deletion_options options;
    struct json *old;
    int64_t revision, now_ms = loop_wall_ms(engine_loop(call->engine));
    if (read_eviction(call, &options, &err) < 0 ||
        api_load(call, call->route.name, &old, &revision, &err) < 0 ||
        api_check_preconditions(call, old, &options, &err) < 0) {
        api_respond_error(call, &err);
        return;
    }
    struct json *pod = json_clone(call->arena, old);
    evict_set_condition(call->arena, pod, now_ms);
    switch (deletion_decide(call->arena, call->route.resource, pod, &options, now_ms)) {
    case DELETION_REMOVE:
        api_commit_removal(call, pod, revision);
        return;
    case DELETION_MARK:
        api_commit_answer(call, pod, revision, 201, kube_status_success(call->arena, NULL));
        return;
    case DELETION_KEEP: /* the pod is being deleted already */
        api_respond_json(call, 201, kube_status_success(call->arena, NULL));
        return;
    }
}
