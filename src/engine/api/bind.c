/* POST pods/NAME/binding: the scheduler's word on which node runs a pod. */
#include "base/str.h"
#include "engine/api/rest.h"
#include "kube/kinds/meta.h"
#include "kube/object.h"
#include "kube/status.h"

static void set_scheduled(struct arena *arena, struct json *pod, int64_t now_ms)
{
    struct json *condition = kube_condition_ensure(arena, pod, "PodScheduled");
    json_set_string(arena, condition, "status", "True");
    json_set(arena, condition, "lastProbeTime", json_null(arena));
    meta_set_time(arena, condition, "lastTransitionTime", now_ms);
    json_remove(condition, "reason");
    json_remove(condition, "message");
}

static int bind(struct rest *rest, struct json *pod, const struct json *binding, struct err *err)
{
    const char *name = rest->route.name;
    const char *node = json_get_string(json_get(binding, "target"), "name", "");
    struct json *spec = json_ensure_object(rest->arena, pod, "spec");
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
    json_set_string(rest->arena, spec, "nodeName", node);
    JSON_EACH (annotation, json_at(binding, "metadata", "annotations", NULL))
        kube_meta_set_annotation(rest->arena, pod, annotation->name, json_text(annotation));
    json_remove(json_get(pod, "status"), "nominatedNodeName");
    set_scheduled(rest->arena, pod, loop_wall_ms(engine_loop(rest->engine)));
    return 0;
}

void rest_bind(struct rest *rest)
{
    struct err err = ERR_INIT;
    struct json *binding, *old;
    int64_t revision;
    if (rest_read_any(rest, "Binding", &binding, &err) < 0 ||
        rest_load(rest, rest->route.name, &old, &revision, &err) < 0) {
        rest_respond_error(rest, &err);
        return;
    }
    struct json *pod = json_clone(rest->arena, old);
    if (bind(rest, pod, binding, &err) < 0) {
        rest_respond_error(rest, &err);
        return;
    }
    rest_commit_answer(rest, pod, revision, 201, kube_status_success(rest->arena, NULL));
}
