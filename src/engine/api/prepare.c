/* Handles CREATE and UPDATE. Turns the object that a client sends into the object to store; see
 * write.h. Other handlers that write an object use the same functions. */
#include "base/str.h"
#include "engine/api/handlers.h"
#include "engine/api/write.h"
#include "engine/crd/definition.h"
#include "kube/kinds/meta.h"
#include "kube/object.h"
#include "kube/schema/default.h"
#include "kube/schema/validate.h"

/* ---- CREATE ---------------------------------------------------------------------------------- */

/* Checks that the object's namespace is that of the request, and sets it if it is missing. */
static int check_namespace_field(struct api_call *call, struct json *object, struct err *err)
{
    const char *given = kube_meta_namespace(object);
    bool other = given[0] != '\0' && !str_eq(given, call->route.namespace_);
    if (other && call->route.name)
        return err_set(err, ERR_BAD_REQUEST,
                       "the namespace of the object (%.253s) does not match the namespace on the "
                       "request (%s)",
                       given, call->route.namespace_);
    if (other)
        return err_set(err, ERR_BAD_REQUEST,
                       "the namespace of the provided object does not match the namespace sent on "
                       "the request");
    if (call->route.resource->id.namespaced)
        kube_meta_set_namespace(call->arena, object, call->route.namespace_);
    return 0;
}

/* Returns -ERR_NOT_FOUND if the namespace of the request does not exist, -ERR_FORBIDDEN if it is
 * being deleted, or -ERR_INTERNAL if it cannot be read. */
static int check_namespace_lives(struct api_call *call, const char *name, struct err *err)
{
    if (!call->route.resource->id.namespaced)
        return 0;
    const struct kube_kind *namespaces = &KUBE_NAMESPACE_KIND;
    const char *key = stored_key(call->arena, namespaces, "", call->route.namespace_);
    struct store_object *stored = store_get_pending(engine_store(call->engine), key);
    if (!stored) {
        call->about_resource = namespaces;
        call->about_name = call->route.namespace_;
        return err_set(err, ERR_NOT_FOUND, "namespaces \"%s\" not found", call->route.namespace_);
    }
    struct json *object;
    int result = stored_read(call->arena, stored, &object, err);
    store_object_unref(stored);
    if (result == 0 && kube_meta_is_deleting(object))
        result =
            err_set(err, ERR_FORBIDDEN,
                    "%s \"%s\" is forbidden: unable to create new content in namespace %s because "
                    "it is being terminated",
                    kube_resource_text(call->arena, &call->route.resource->id), name,
                    call->route.namespace_);
    return result;
}

/* Returns -ERR_EXISTS if the store has an object of this name. */
static int check_name_is_free(struct api_call *call, const char *name, struct err *err)
{
    const char *key = stored_key(call->arena, call->route.resource, call->route.namespace_, name);
    struct store_object *stored = store_get_pending(engine_store(call->engine), key);
    if (!stored)
        return 0;
    bool readable = stored_is_readable(stored);
    store_object_unref(stored);
    return err_set(err, ERR_EXISTS, "%s \"%s\" already exists%s",
                   kube_resource_text(call->arena, &call->route.resource->id), name,
                   readable ? "" : " and cannot be read: 'kubectl delete' removes it");
}

/* Sets the name of the object from its generateName, if it has one. If an object of this name
 * exists already, tries again, up to 7 times. On a pool thread this is not checked, and
 * api_prepare_create_stored() later returns an error if the name is taken. */
static void generate_name(struct api_call *call, struct json *object)
{
    const char *base = json_get_string(json_get(object, "metadata"), "generateName", "");
    for (int tries = 0; tries < 8 && base[0] != '\0'; tries++) {
        char *name = meta_generate_name(call->arena, base);
        kube_meta_set_name(call->arena, object, name);
        if (call->is_off_loop || check_name_is_free(call, name, NULL) == 0)
            break;
    }
}

/* Sets the defaults of the schema, and then runs the `defaults` hook of the kind, which may depend
 * on them. */
static void set_defaults(struct api_call *call, struct json *object)
{
    const struct kube_kind *resource = call->route.resource;
    if (resource->form != SCHEMA_FORM_WRITTEN)
        schema_default(call->arena, resource->schema, object);
    if (resource->hooks.defaults)
        resource->hooks.defaults(call->arena, object);
}

/* Validates the metadata, and the rest of the object by the hooks and the schema of its kind or
 * by the schema of its CustomResourceDefinition. Does nothing if call->invalid has errors
 * already. */
static void prepare_validate(struct api_call *call, const struct json *object,
                             const struct json *old)
{
    const struct kube_kind *resource = call->route.resource;
    if (call->invalid.count > 0)
        return;
    meta_validate(&call->invalid, resource, object, old);
    if (resource->hooks.validate)
        resource->hooks.validate(&call->invalid, object, old);
    /* The rules of the kind run first, because their messages are closer to the messages of
     * Kubernetes. */
    if (call->invalid.count == 0 && resource->form == SCHEMA_FORM_TYPED && !resource->definition)
        schema_validate_words(&call->invalid, resource->schema, object);
    if (resource->whole) {
        schema_validate_value(&call->invalid, resource->whole, "", object);
        schema_validate_structure(&call->invalid, resource->whole, "", object);
        const struct kube_subresource *scale = kube_subresource(resource, "scale");
        if (scale)
            definition_check_scale(&call->invalid, scale->scale, object);
    }
}

int api_prepare_create_local(struct api_call *call, struct json *object, struct err *err)
{
    const struct kube_kind *resource = call->route.resource;
    const struct registry_hooks *hooks = api_hooks(call);
    int result = api_decode(call, object, NULL, err);
    if (result < 0)
        return result;
    if (kube_meta_resource_version(object)[0] != '\0')
        return err_set(err, ERR_BAD_REQUEST,
                       "resourceVersion should not be set on objects to be created");
    result = check_namespace_field(call, object, err);
    if (result < 0)
        return result;
    if (kube_meta_name(object)[0] == '\0')
        generate_name(call, object);
    call->about_name = kube_meta_name(object);

    meta_prepare_create(call->arena, resource, object, loop_wall_ms(engine_loop(call->engine)));
    if (resource->definition && kube_kind_has_status(resource))
        json_remove(object, "status"); /* only a write to the subresource can set the status */
    set_defaults(call, object);
    result = api_track_fields(call, object, NULL, err);
    if (result < 0)
        return result;
    if (resource->hooks.create)
        resource->hooks.create(call->arena, object);
    if (hooks->assign)
        hooks->assign(call->engine, &call->invalid, object, NULL);
    prepare_validate(call, object, NULL);
    if (call->invalid.count > 0)
        return err_set(err, ERR_INVALID, "%s is invalid", resource->id.kind);
    return 0;
}

/* Runs the `admit` hook of the kind, checks the size of the object, and runs the `admit` hook that
 * all kinds share. `old` is NULL on create. */
static int prepare_admit(struct api_call *call, struct json *object, const struct json *old,
                         struct err *err)
{
    const struct registry_hooks *hooks = api_hooks(call);
    const struct registry_hooks *common = registry_common_hooks(engine_registry(call->engine));
    int result = hooks->admit ? hooks->admit(call, object, old, err) : 0;
    if (result == 0)
        result = api_measure(call, object, err);
    if (result == 0 && common->admit)
        result = common->admit(call, object, old, err);
    return result;
}

int api_prepare_create_stored(struct api_call *call, struct json *object, struct err *err)
{
    int result = check_namespace_lives(call, call->about_name, err);
    if (result == 0)
        result = check_name_is_free(call, call->about_name, err);
    return result == 0 ? prepare_admit(call, object, NULL, err) : result;
}

int api_prepare_create(struct api_call *call, struct json *object, struct err *err)
{
    int result = api_prepare_create_local(call, object, err);
    return result == 0 ? api_prepare_create_stored(call, object, err) : result;
}

void api_handle_create(struct api_call *call)
{
    struct err err = ERR_INIT;
    struct json *object;
    if (api_create_large(call))
        return;
    if (api_read_body(call, &object, &err) < 0 || api_prepare_create(call, object, &err) < 0) {
        api_respond_error(call, &err);
        return;
    }
    api_commit(call, object, NULL, 0, 201);
}

/* ---- UPDATE ---------------------------------------------------------------------------------- */

/* Checks that the object's name is that of the request. */
static int check_name_field(struct api_call *call, const struct json *object, struct err *err)
{
    const char *name = kube_meta_name(object);
    if (name[0] == '\0')
        return err_set(
            err, ERR_BAD_REQUEST,
            "the name of the object (%s based on URL) was undeterminable: name must be provided",
            call->route.name);
    if (!str_eq(name, call->route.name))
        return err_set(err, ERR_BAD_REQUEST,
                       "the name of the object (%.253s) does not match the name on the URL (%s)",
                       name, call->route.name);
    return 0;
}

/* Returns -ERR_CONFLICT with the message that Kubernetes has for a wrong uid. `stored_uid` is "" if
 * the object does not exist. */
static int uid_conflict(struct api_call *call, const char *wanted, const char *stored_uid,
                        struct err *err)
{
    const struct kube_kind *resource = call->route.resource;
    const char *key = stored_key(call->arena, resource, call->route.namespace_, call->route.name);
    return err_set(
        err, ERR_CONFLICT,
        "Operation cannot be fulfilled on %s \"%s\": StorageError: invalid object, Code: "
        "4, Key: /registry%s, ResourceVersion: 0, AdditionalErrorMsg: Precondition "
        "failed: UID in precondition: %.64s, UID in object meta: %s",
        kube_resource_text(call->arena, &resource->id), call->route.name, key, wanted, stored_uid);
}

int api_check_identity(struct api_call *call, struct json *object, const struct json *old,
                       struct err *err)
{
    const char *uid = kube_meta_uid(object);
    const char *version = kube_meta_resource_version(object);
    int result = check_name_field(call, object, err);
    if (result == 0)
        result = check_namespace_field(call, object, err);
    if (result < 0)
        return result;
    bool other = uid[0] != '\0' && !str_eq(uid, kube_meta_uid(old));
    if (other && call->route.verb == VERB_PATCH) {
        field_invalid(&call->invalid, "metadata.uid", json_get(json_get(object, "metadata"), "uid"),
                      "field is immutable");
        return err_set(err, ERR_INVALID, "%s is invalid", call->route.resource->id.kind);
    }
    if (other)
        return uid_conflict(call, uid, kube_meta_uid(old), err);
    if (version[0] != '\0' && !str_eq(version, kube_meta_resource_version(old)))
        return api_conflict(call, call->route.name, err);
    return 0;
}

/* Copies a member from `source` to `target`. Removes the member from `target` if `source` lacks
 * it. */
static void copy_member(struct arena *arena, struct json *target, const struct json *source,
                        const char *name)
{
    const struct json *value = json_get(source, name);
    if (value)
        json_set(arena, target, name, json_clone(arena, value));
    else
        json_remove(target, name);
}

/* Replaces `object` by a copy of `old` that has only the part of the subresource from `object`: the
 * status, or the finalizers of a namespace's spec. */
static void merge_subresource(struct api_call *call, struct json *object, const struct json *old)
{
    struct json *whole = json_clone(call->arena, old);
    if (call->route.sub == SUB_STATUS)
        copy_member(call->arena, whole, object, "status");
    else
        copy_member(call->arena, json_ensure_object(call->arena, whole, "spec"),
                    json_get(object, "spec"), "finalizers");
    *object = *whole;
}

int api_prepare_update_local(struct api_call *call, struct json *object, const struct json *old,
                             struct err *err)
{
    const struct kube_kind *resource = call->route.resource;
    const struct registry_hooks *hooks = api_hooks(call);
    int result = api_decode(call, object, old, err);
    if (result < 0)
        return result;
    result = api_check_identity(call, object, old, err);
    if (result < 0)
        return result;
    if (call->route.sub != SUB_NONE) {
        merge_subresource(call, object, old);
        if (hooks->status && (result = hooks->status(call, object, err)) < 0)
            return result;
        if (resource->whole)
            prepare_validate(call, object, old);
        if (call->invalid.count > 0)
            return err_set(err, ERR_INVALID, "%s is invalid", resource->id.kind);
        result = api_track_fields(call, object, old, err);
        return result == 0 ? api_measure(call, object, err) : result;
    }
    if (kube_kind_has_status(resource))
        copy_member(call->arena, object, old, "status");
    set_defaults(call, object);
    result = api_track_fields(call, object, old, err);
    if (result < 0)
        return result;
    meta_prepare_update(call->arena, resource, object, old);
    if (hooks->assign)
        hooks->assign(call->engine, &call->invalid, object, old);
    prepare_validate(call, object, old);
    if (call->invalid.count > 0)
        return err_set(err, ERR_INVALID, "%s is invalid", resource->id.kind);
    return 0;
}

int api_prepare_update_stored(struct api_call *call, struct json *object, const struct json *old,
                              struct err *err)
{
    return call->route.sub == SUB_NONE ? prepare_admit(call, object, old, err) : 0;
}

int api_prepare_update(struct api_call *call, struct json *object, const struct json *old,
                       struct err *err)
{
    int result = api_prepare_update_local(call, object, old, err);
    return result == 0 ? api_prepare_update_stored(call, object, old, err) : result;
}

/* Loads the object to update. A wrong name or namespace is reported before a missing object, as
 * in Kubernetes. */
static int load_for_update(struct api_call *call, struct json *object, struct json **ret,
                           int64_t *ret_revision, struct err *err)
{
    int result = check_name_field(call, object, err);
    if (result == 0)
        result = check_namespace_field(call, object, err);
    if (result < 0)
        return result;
    result = api_load(call, call->route.name, ret, ret_revision, err);
    const char *uid = kube_meta_uid(object);
    return result == -ERR_NOT_FOUND && uid[0] ? uid_conflict(call, uid, "", err) : result;
}

void api_handle_update(struct api_call *call)
{
    struct err err = ERR_INIT;
    struct json *object, *old;
    int64_t revision;
    if (api_update_large(call))
        return;
    if (api_read_body(call, &object, &err) < 0 ||
        load_for_update(call, object, &old, &revision, &err) < 0 ||
        api_prepare_update(call, object, old, &err) < 0) {
        api_respond_error(call, &err);
        return;
    }
    api_commit(call, object, old, revision, 200);
}
