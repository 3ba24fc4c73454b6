/* Handles GET, PUT and PATCH of NAME/scale: shows and changes the number of replicas of an object
 * as an autoscaling/v1 Scale, so that clients such as `kubectl scale` do not depend on the kind.
 * This file does not depend on the kind either, because struct kube_scale_paths has the path to the
 * number. */
#include "kube/kinds/scale.h"
#include "base/mem.h"
#include "base/str.h"
#include "engine/api/handlers.h"
#include "engine/api/write.h"
#include "kube/kinds/meta.h"
#include "kube/object.h"
#include "kube/patch/apply.h"
#include "kube/schema/validate.h"
#include "kube/types/types.h"

#include <inttypes.h>
#include <string.h>

/* An error about the number of replicas names the Scale instead of the scaled object. */
static const struct kube_kind SCALE = {
    .id = {.group = "autoscaling",
           .version = "v1",
           .plural = "scales",
           .kind = "Scale",
           .namespaced = true},
    .api_version = "autoscaling/v1",
};

/* Returns the paths of the kind of the request. */
static const struct kube_scale_paths *scale_paths_of(const struct api_call *call)
{
    return kube_subresource(call->route.resource, "scale")->scale;
}

/* ---- The number in the object ---------------------------------------------------------------- */

/* Returns the member with this name, or NULL. With `any_case`, the case does not matter if no
 * member has exactly this name. */
static struct json *scale_find_member(const struct json *object, const char *name, bool any_case)
{
    struct json *found = json_get(object, name);
    JSON_EACH (member, object) {
        if (!found && any_case && member->name && str_eq_nocase(member->name, name))
            found = member;
    }
    return found;
}

/* Returns the value at a path like "spec.replicas", or NULL. If `ret_parent` is not NULL, sets
 * *ret_parent to the object that contains the value or would contain it, or to NULL if that object
 * is missing. */
static struct json *scale_find(struct api_call *call, const struct json *object, const char *path,
                               struct json **ret_parent)
{
    size_t count;
    char **names = str_split(call->arena, path, '.', &count);
    struct json *at = (struct json *)object;
    if (ret_parent)
        *ret_parent = NULL;
    for (size_t i = 0; i < count; i++) {
        if (ret_parent)
            *ret_parent = at && at->type == JSON_OBJECT ? at : NULL;
        at = scale_find_member(at, names[i], str_eq(names[i], scale_paths_of(call)->any_case));
    }
    return at;
}

/* Returns the names of the members that exist beside the missing object, for an error message: for
 * "spec.tfReplicaSpecs.Worker.replicas", the members of spec.tfReplicaSpecs. */
static const char *scale_alternatives(struct api_call *call, const struct json *object,
                                      const char *path)
{
    const char *last = strrchr(path, '.');
    const char *parent = last ? arena_strndup(call->arena, path, (size_t)(last - path)) : path;
    const char *text = "";
    last = strrchr(parent, '.');
    parent = last ? arena_strndup(call->arena, parent, (size_t)(last - parent)) : parent;
    JSON_EACH (member, scale_find(call, object, parent, NULL)) {
        if (member->name)
            text = arena_printf(call->arena, "%s%s%s", text, *text ? ", " : "", member->name);
    }
    return *text ? text : "nothing";
}

/* Creates the missing objects on the path to the number. Returns the object that contains the
 * number. */
static struct json *make_parent(struct api_call *call, struct json *object, const char *path)
{
    size_t count;
    char **names = str_split(call->arena, path, '.', &count);
    for (size_t i = 0; i + 1 < count; i++)
        object = json_ensure_object(call->arena, object, names[i]);
    return object;
}

/* Finds the number of replicas and the JSON object that contains it. *ret_number is NULL if the
 * number is missing. If that JSON object is missing, creates it if a CustomResourceDefinition
 * has added the kind. Otherwise returns -ERR_BAD_REQUEST, for example for a TFJob that has only PS
 * replicas. */
static int find_replicas(struct api_call *call, struct json *object, struct json **ret_parent,
                         const struct json **ret_number, struct err *err)
{
    const char *path = scale_paths_of(call)->spec_path;
    const struct json *number = scale_find(call, object, path, ret_parent);
    if (!*ret_parent && scale_paths_of(call)->makes_spec)
        *ret_parent = make_parent(call, object, path);
    if (!*ret_parent)
        return err_set(err, ERR_BAD_REQUEST,
                       "%s \"%s\" cannot be scaled: it has no %s, only %s; change the replicas in "
                       "the object itself",
                       call->route.resource->singular, call->route.name, path,
                       scale_alternatives(call, object, path));
    *ret_number = number && number->type == JSON_INT ? number : NULL;
    return 0;
}

/* ---- The Scale ------------------------------------------------------------------------------- */

/* Returns the selector as text. `value` is a string, or an object as in a Deployment. */
static const char *selector_text(struct api_call *call, const struct json *value)
{
    struct kube_selector selector;
    if (value && value->type == JSON_OBJECT &&
        kube_selector_from_json(call->arena, value, &selector, NULL) == 0)
        return kube_selector_text(call->arena, &selector);
    return json_text(value);
}

/* Sets *ret to the Scale of an object. If the object has no number, the Scale has 0 replicas if a
 * CustomResourceDefinition has added the kind, and 1 otherwise. */
static int make_scale(struct api_call *call, struct json *object, struct json **ret,
                      struct err *err)
{
    static const char *const copied[] = {"name", "namespace", "uid", "resourceVersion",
                                         "creationTimestamp"};
    const struct kube_scale_paths *scale = scale_paths_of(call);
    struct arena *arena = call->arena;
    struct json *parent;
    const struct json *number;
    int result = find_replicas(call, object, &parent, &number, err);
    if (result < 0)
        return result;
    struct json *made = json_object(arena);
    json_set_string(arena, made, "kind", KUBE_SCALES.kind);
    json_set_string(arena, made, "apiVersion", SCALE.api_version);
    struct json *meta = json_ensure_object(arena, made, "metadata");
    for (size_t i = 0; i < ARRAY_SIZE(copied); i++) {
        const struct json *value = json_get(json_get(object, "metadata"), copied[i]);
        if (value)
            json_set(arena, meta, copied[i], json_clone(arena, value));
    }
    struct json *spec = json_ensure_object(arena, made, "spec");
    int64_t replicas = number ? number->integer : scale->makes_spec ? 0 : 1;
    if (replicas != 0) /* Go clients decode a missing number as 0 */
        json_set_int(arena, spec, "replicas", replicas);
    struct json *status = json_ensure_object(arena, made, "status");
    const struct json *active = scale_find(call, object, scale->status_path, NULL);
    json_set_int(arena, status, "replicas",
                 active && active->type == JSON_INT ? active->integer : 0);
    const char *selector =
        scale->selector_path
            ? selector_text(call, scale_find(call, object, scale->selector_path, NULL))
            : NULL;
    if (!str_is_empty(selector))
        json_set_string(arena, status, "selector", selector);
    *ret = made;
    return 0;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static int scale_check_kind(const struct json *scale, bool applies, struct err *err)
{
    if (applies && (!json_get(scale, "kind") || !json_get(scale, "apiVersion")))
        return err_set(err, ERR_BAD_REQUEST,
                       "the applied Scale must have apiVersion \"%s\" and kind \"%s\"",
                       SCALE.api_version, KUBE_SCALES.kind);
    const char *kind = json_get_string(scale, "kind", KUBE_SCALES.kind);
    const char *version = json_get_string(scale, "apiVersion", SCALE.api_version);
    if (!str_eq(kind, KUBE_SCALES.kind) || !str_eq(version, SCALE.api_version))
        return err_set(
            err, ERR_BAD_REQUEST,
            "%.100s in version \"%.100s\" cannot be handled as a Scale of version \"%s\"", kind,
            version, SCALE.api_version);
    return 0;
}

/* Sets *ret to the new Scale: the body of the request, or the present Scale with the patch applied.
 * The body of a server-side apply must have kind and apiVersion. */
static int scale_read_desired(struct api_call *call, const struct json *present, bool applies,
                              struct json **ret, struct err *err)
{
    int result;
    if (applies) {
        result = api_parse_yaml(call, ret, err);
    } else if (call->route.verb == VERB_PATCH) {
        result = api_patch_object(call, present, &TYPE_SCALE, ret, err);
    } else {
        *ret = NULL;
        result = api_read_body_as(call, "Scale", ret, err);
        if (result == 0 && !*ret)
            result = err_set(err, ERR_BAD_REQUEST, "the request has no body; it must be a Scale");
    }
    if (result < 0)
        return result;
    result = scale_check_kind(*ret, applies, err);
    if (result < 0)
        return result;
    result = schema_decode(call->arena, &TYPE_SCALE, SCHEMA_FORM_TYPED, *ret, NULL, err);
    if (result < 0)
        return err_wrap(err, "Scale in version \"v1\" cannot be handled as a Scale");
    return api_check_identity(call, *ret, present, err);
}

/* Sets *ret to the number of replicas in the Scale. A missing number means 0, because Go clients
 * leave out a number that is 0. */
static int scale_read_number(struct api_call *call, const struct json *scale, int64_t *ret,
                             struct err *err)
{
    const struct json *number = json_at(scale, "spec", "replicas", NULL);
    if (number && number->integer < 0)
        field_invalid(&call->invalid, "spec.replicas", number,
                      "must be greater than or equal to 0");
    if (call->invalid.count > 0) {
        call->about_resource = &SCALE;
        return err_set(err, ERR_INVALID, "Scale is invalid");
    }
    *ret = number ? number->integer : 0;
    return 0;
}

/* Returns the path to the number. Each member name has the capitalization that this object uses
 * ("Worker" or "worker"). */
static char **scale_path_of(struct api_call *call, const struct json *object, size_t *ret_count)
{
    const struct kube_scale_paths *scale = scale_paths_of(call);
    char **names = str_split(call->arena, scale->spec_path, '.', ret_count);
    for (size_t i = 0; i < *ret_count && object; i++) {
        object = scale_find_member(object, names[i], str_eq(names[i], scale->any_case));
        if (object)
            names[i] = arena_strdup(call->arena, object->name);
    }
    return names;
}

/* Makes the client the owner of the number in managedFields. */
static void scale_track_fields(struct api_call *call, struct json *object)
{
    const struct managed_write write = api_managed_write(call);
    size_t count;
    char **names = scale_path_of(call, object, &count);
    managed_fields_move(call->arena, &write, object, (const char *const *)names);
}

/* Checks the scaled object as on an update: by the validation and the `admit` hook of its kind. */
static int check_object(struct api_call *call, struct json *object, const struct json *old,
                        struct err *err)
{
    const struct kube_kind *resource = call->route.resource;
    const struct registry_hooks *hooks = api_hooks(call);
    meta_prepare_update(call->arena, resource, object, old);
    if (resource->hooks.validate)
        resource->hooks.validate(&call->invalid, object, old);
    if (resource->whole)
        schema_validate_value(&call->invalid, resource->whole, "", object);
    if (call->invalid.count > 0)
        return err_set(err, ERR_INVALID, "%s is invalid", resource->id.kind);
    return hooks->admit ? hooks->admit(call, object, old, err) : 0;
}

/* Sets the number of replicas in the object. */
static int scale_set_number(struct api_call *call, struct json *object, int64_t replicas,
                            struct err *err)
{
    struct json *parent;
    const struct json *number;
    int result = find_replicas(call, object, &parent, &number, err);
    if (result < 0)
        return result;
    const char *path = scale_paths_of(call)->spec_path;
    const char *name = strrchr(path, '.');
    bool changes = !number || number->integer != replicas;
    json_set_int(call->arena, parent, name ? name + 1 : path, replicas);
    if (changes)
        scale_track_fields(call, object);
    return 0;
}

/* Handles a server-side apply of a Scale as an apply of the number to the scaled object. */
static int apply_number(struct api_call *call, const struct json *old, int64_t replicas,
                        struct json **ret, struct apply_conflicts *ret_conflicts, struct err *err)
{
    struct arena *arena = call->arena;
    struct json *config = json_object(arena), *at = config;
    size_t count;
    char **names = scale_path_of(call, old, &count);
    for (size_t i = 0; i + 1 < count; i++)
        at = json_ensure_object(arena, at, names[i]);
    json_set_int(arena, at, names[count - 1], replicas);
    const struct managed_write write = api_managed_write(call);
    bool force = http_query_flag(call->exchange->request->query, "force");
    return apply_config(arena, &write, old, config, force, ret, ret_conflicts, err);
}

/* Sets *ret to the object with the new number of replicas, which it reads from the request. Sets
 * *ret_conflicts if a server-side apply fails because of conflicts. */
static int scale_change(struct api_call *call, const struct json *old, const struct json *present,
                        struct json **ret, struct apply_conflicts *ret_conflicts, struct err *err)
{
    bool applies = call->route.verb == VERB_PATCH && api_is_apply(call);
    struct json *wanted;
    int64_t replicas = 0;
    int result = api_check_field_manager(call, applies, err);
    if (result == 0)
        result = scale_read_desired(call, present, applies, &wanted, err);
    if (result == 0)
        result = scale_read_number(call, wanted, &replicas, err);
    if (result < 0)
        return result;
    *ret = json_clone(call->arena, old);
    result = applies ? apply_number(call, old, replicas, ret, ret_conflicts, err)
                     : scale_set_number(call, *ret, replicas, err);
    return result < 0 ? result : check_object(call, *ret, old, err);
}

/* Loads the scaled object. For a GET, this is the version on disk. For a write, it is the newest
 * version, pending writes included. */
static int scale_load(struct api_call *call, struct json **ret, int64_t *ret_revision,
                      struct err *err)
{
    if (call->route.verb != VERB_GET)
        return api_load(call, call->route.name, ret, ret_revision, err);
    const char *key =
        stored_key(call->arena, call->route.resource, call->route.namespace_, call->route.name);
    struct store_object *stored = store_get(engine_store(call->engine), key);
    if (!stored)
        return api_not_found(call, call->route.name, err);
    int result = stored_read(call->arena, stored, ret, err);
    *ret_revision = stored->revision;
    store_object_unref(stored);
    return result;
}

/* Queues a write of the object. Responds with the object's new Scale when the object is on disk. */
static void scale_commit(struct api_call *call, struct json *object, int64_t revision)
{
    struct store *store = engine_store(call->engine);
    struct err err = ERR_INIT;
    struct json *answer;
    if (!call->dry_run)
        json_set(call->arena, json_get(object, "metadata"), "resourceVersion",
                 json_stringf(call->arena, "%" PRId64, store_next_revision(store)));
    if (make_scale(call, object, &answer, &err) < 0)
        api_respond_error(call, &err);
    else
        api_commit_answer(call, object, revision, 200, answer);
}

void api_handle_scale(struct api_call *call)
{
    struct err err = ERR_INIT;
    struct json *old = NULL, *present = NULL;
    int64_t revision = 0;
    if (scale_load(call, &old, &revision, &err) < 0 ||
        make_scale(call, json_clone(call->arena, old), &present, &err) < 0) {
        api_respond_error(call, &err);
        return;
    }
    if (call->route.verb == VERB_GET) {
        api_respond_json(call, 200, present);
        return;
    }
    struct json *object;
    struct apply_conflicts conflicts = {0};
    int result = scale_change(call, old, present, &object, &conflicts, &err);
    if (conflicts.causes)
        api_respond_conflicts(call, &err, &conflicts);
    else if (result < 0)
        api_respond_error(call, &err);
    else if (json_equal(object, old) && revision <= store_revision(engine_store(call->engine)))
        api_respond_json(call, 200, present); /* nothing changes, so nothing is written */
    else
        scale_commit(call, object, revision);
}
