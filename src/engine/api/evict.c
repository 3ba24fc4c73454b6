/* POST pods/NAME/eviction: a pod is asked to leave, as `kubectl drain` does. Nothing here limits
 * how many may go at once, so it is a deletion that says why. */
#include "base/str.h"
#include "engine/api/deletion.h"
#include "engine/api/rest.h"
#include "kube/kinds/meta.h"
#include "kube/object.h"
#include "kube/status.h"

/* Controllers that count failures see that this is none. */
static void set_condition(struct arena *arena, struct json *pod, int64_t now_ms)
{
    struct json *condition = kube_condition_ensure(arena, pod, "DisruptionTarget");
    json_set_string(arena, condition, "status", "True");
    meta_set_time(arena, condition, "lastTransitionTime", now_ms);
    json_set_string(arena, condition, "reason", "EvictionByEvictionAPI");
    json_set_string(arena, condition, "message", "Eviction API: evicting");
}

static int read_eviction(struct rest *rest, struct deletion_options *ret, struct err *err)
{
    struct json *body;
    int r = rest_read_any(rest, "Eviction", &body, err);
    if (r < 0)
        return r;
    const char *kind = json_get_string(body, "kind", "Eviction");
    const char *name = kube_meta_name(body);
    if (!str_eq(kind, "Eviction"))
        return err_set(err, ERR_BAD_REQUEST, "%.100s cannot be handled as an Eviction", kind);
    if (name[0] && !str_eq(name, rest->route.name))
        return err_set(err, ERR_BAD_REQUEST, "name in URL does not match name in Eviction object");
    r = deletion_options_parse(&rest->invalid, json_get(body, "deleteOptions"), "", ret, err);
    if (r == 0 && ret->dry_run)
        rest->dry_run = true;
    return r;
}

void rest_evict(struct rest *rest)
{
    struct err err = ERR_INIT;
    struct deletion_options options;
    struct json *old;
    int64_t revision, now_ms = loop_wall_ms(engine_loop(rest->engine));
    if (read_eviction(rest, &options, &err) < 0 ||
        rest_load(rest, rest->route.name, &old, &revision, &err) < 0 ||
        rest_check_preconditions(rest, old, &options, &err) < 0) {
        rest_respond_error(rest, &err);
        return;
    }
    struct json *pod = json_clone(rest->arena, old);
    set_condition(rest->arena, pod, now_ms);
    switch (deletion_decide(rest->arena, rest->route.resource, pod, &options, now_ms)) {
    case DELETION_REMOVE:
        rest_commit_removal(rest, pod, revision);
        return;
    case DELETION_MARK:
        rest_commit_answer(rest, pod, revision, 201, kube_status_success(rest->arena, NULL));
        return;
    case DELETION_KEEP: /* on its way out already */
        rest_respond_json(rest, 201, kube_status_success(rest->arena, NULL));
        return;
    }
}
