/* Handles POST pods/NAME/binding: sets the node of a pod. The scheduler sends this request. */
#include "base/str.h"
#include "engine/api/handlers.h"
#include "engine/api/write.h"
#include "kube/condition.h"
#include "kube/kinds/meta.h"
#include "kube/object.h"
#include "kube/status.h"

static void set_scheduled(struct arena *arena, struct json *pod, int64_t now_ms)
{
    const struct kube_condition scheduled = {
        .type = "PodScheduled", .status = "True", .now_ms = now_ms};
    struct json *status = json_ensure_object(arena, pod, "status");
    struct json *condition =
        kube_condition_set(arena, json_ensure_array(arena, status, "conditions"), &scheduled,
                           KUBE_CONDITION_RESET_TRANSITION);
    json_set(arena, condition, "lastProbeTime", json_null(arena));
}

static int bind_pod(struct api_call *call, struct json *pod, const struct json *binding,
                    struct err *err)
{
    const char *name = call->route.name;
    const char *node = json_get_string(json_get(binding, "target"), "name", "");
    struct json *spec = json_ensure_object(call->arena, pod, "spec");
    const char *bound = json_get_string(spec, "nodeName", "");
    if (node[0] == '\0')
        return err_set(err, ERR_INVALID, "Binding \"%s\" is invalid: target.name: Required value",
                       name);
    const char *uid = kube_meta_uid(binding);
    if (uid[0] != '\0' && !str_eq(uid, kube_meta_uid(pod)))
        return err_set(err, ERR_CONFLICT,
                       "Operation cannot be fulfilled on pods/binding \"%s\": Precondition failed: "
                       "UID in precondition: %.64s, UID in object meta: %s",
                       name, uid, kube_meta_uid(pod));
    if (kube_meta_is_deleting(pod))
        return err_set(err, ERR_CONFLICT,
                       "Operation cannot be fulfilled on pods/binding \"%s\": pod %s is being "
                       "deleted, cannot be assigned to a host",
                       name, name);
    if (bound[0] != '\0')
        return err_set(err, ERR_CONFLICT,
                       "Operation cannot be fulfilled on pods/binding \"%s\": pod %s is already "
                       "assigned to node \"%s\"",
                       name, name, bound);
    if (json_count(json_get(spec, "schedulingGates")) > 0)
        return err_set(err, ERR_CONFLICT,
                       "Operation cannot be fulfilled on pods/binding \"%s\": pod %s has non-empty "
                       ".spec.schedulingGates",
                       name, name);
    json_set_string(call->arena, spec, "nodeName", node);
    JSON_EACH (annotation, json_at(binding, "metadata", "annotations", NULL))
        kube_meta_set_annotation(call->arena, pod, annotation->name, json_text(annotation));
    json_remove(json_get(pod, "status"), "nominatedNodeName");
    set_scheduled(call->arena, pod, loop_wall_ms(engine_loop(call->engine)));
    return 0;
}

void api_handle_bind(struct api_call *call)
{
    struct err err = ERR_INIT;
    struct json *binding, *old;
    int64_t revision;
    if (api_read_body_as(call, "Binding", &binding, &err) < 0 ||
        api_load(call, call->route.name, &old, &revision, &err) < 0) {
        api_respond_error(call, &err);
        return;
    }
    struct json *pod = json_clone(call->arena, old);
    if (bind_pod(call, pod, binding, &err) < 0) {
        api_respond_error(call, &err);
        return;
    }
    api_commit_answer(call, pod, revision, 201, kube_status_success(call->arena, NULL));
}
