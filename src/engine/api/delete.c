/* Handles DELETE of one object or of a collection. deletion.c decides whether an object is removed
 * or marked as being deleted; this file writes the result. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/api/deletion.h"
#include "engine/api/handlers.h"
#include "engine/api/write.h"
#include "kube/kinds/meta.h"
#include "kube/object.h"
#include "kube/schema/decode.h"
#include "kube/types/types.h"

#include <inttypes.h>
#include <stdlib.h>

/* Returns -ERR_FORBIDDEN for a namespace that must always exist. */
static int check_allowed(struct api_call *call, const char *name, struct err *err)
{
    static const char *const protected_[] = {"default", "kube-public", "kube-system"};
    if (!str_eq(call->route.resource->id.plural, "namespaces"))
        return 0;
    for (size_t i = 0; i < ARRAY_SIZE(protected_); i++)
        if (str_eq(name, protected_[i]))
            return err_set(err, ERR_FORBIDDEN,
                           "namespaces \"%s\" is forbidden: this namespace may not be deleted",
                           name);
    return 0;
}

/* Returns -ERR_CONFLICT for a precondition whose value `wanted` is not the value `stored`. As in
 * Kubernetes, this error names the kind, while other conflicts name the resource. */
static int fail_precondition(struct api_call *call, const char *name, const char *what,
                             const char *wanted, const char *stored, const char *cause,
                             struct err *err)
{
    const struct kube_resource *id = &call->route.resource->id;
    struct kube_kind *about = ARENA_NEW(call->arena, struct kube_kind);
    about->id = *id;
    about->id.plural = id->kind;
    call->about_resource = about;
    call->about_name = name;
    return err_set(err, ERR_CONFLICT,
                   "Operation cannot be fulfilled on %s%s%s \"%s\": the %s in the precondition "
                   "(%.64s) does not match the %s in record (%s). The object might have been %s",
                   id->kind, id->group[0] ? "." : "", id->group, name, what, wanted, what, stored,
                   cause);
}

int api_check_preconditions(struct api_call *call, const struct json *object,
                            const struct deletion_options *options, struct err *err)
{
    const char *name = kube_meta_name(object), *uid = kube_meta_uid(object);
    const char *version = kube_meta_resource_version(object);
    if (options->uid && !str_eq(options->uid, uid))
        return fail_precondition(call, name, "UID", options->uid, uid, "deleted and then recreated",
                                 err);
    if (options->resource_version && !str_eq(options->resource_version, version))
        return fail_precondition(call, name, "ResourceVersion", options->resource_version, version,
                                 "modified", err);
    return 0;
}

/* Decodes the body by the schema of DeleteOptions, so that a value of the wrong type is an error
 * instead of a missing option. */
static int delete_read_options(struct api_call *call, struct deletion_options *ret, struct err *err)
{
    struct json *body;
    int result = api_read_body_as(call, "DeleteOptions", &body, err);
    if (result == 0 && body)
        result =
            schema_decode(call->arena, &TYPE_DELETE_OPTIONS, SCHEMA_FORM_TYPED, body, NULL, err);
    if (result < 0)
        return result;
    result = deletion_options_parse(&call->invalid, body, call->exchange->request->query, ret, err);
    if (call->invalid.count > 0)
        return api_reject_options(call, err);
    if (result == 0 && ret->dry_run)
        call->dry_run = true;
    return result;
}

/* The object to delete. */
struct target {
    struct json *object; /* NULL: nothing to delete */
    int64_t revision;    /* the revision of the stored object */
    /* The stored object cannot be read, and `object` has only its name. False for namespaces, which
     * are not removed at once; see placeholder_target(). */
    bool is_placeholder;
};

/* Returns the target for a stored object that cannot be read. `placeholder` is an object with the
 * name of the stored object. Sets its resourceVersion to the stored revision and its uid to a new
 * uid, so a precondition on the uid fails. Gives a namespace its finalizer again, because the
 * objects in the namespace must be deleted first. */
static struct target placeholder_target(struct api_call *call, struct json *placeholder,
                                        int64_t revision)
{
    const struct kube_kind *resource = call->route.resource;
    meta_prepare_create(call->arena, resource, placeholder,
                        loop_wall_ms(engine_loop(call->engine)));
    json_set(call->arena, json_get(placeholder, "metadata"), "resourceVersion",
             json_stringf(call->arena, "%" PRId64, revision));
    bool is_namespace = str_eq(resource->id.plural, "namespaces");
    if (is_namespace) {
        resource->hooks.defaults(call->arena, placeholder);
        resource->hooks.create(call->arena, placeholder);
    }
    return (struct target){placeholder, revision, !is_namespace};
}

/* Sets *ret to the object that the path names, or to a placeholder if the object cannot be read. */
static int delete_load(struct api_call *call, struct target *ret, struct err *err)
{
    const char *name = call->route.name;
    struct json *object;
    int64_t revision;
    int result = api_load(call, name, &object, &revision, err);
    if (result == 0)
        *ret = (struct target){object, revision, false};
    if (result != -ERR_INTERNAL)
        return result;
    err_clear(err);
    object = kube_object_make(call->arena, &call->route.resource->id, call->route.namespace_, name);
    *ret = placeholder_target(call, object, revision);
    return 0;
}

/* Decides what happens to `object`, which is the target's object or a copy of it, and edits it. A
 * placeholder is removed at once, because its finalizers are unknown. */
static enum deletion_step delete_decide(struct api_call *call, const struct target *target,
                                        struct json *object, const struct deletion_options *options)
{
    if (target->is_placeholder)
        return DELETION_REMOVE;
    const struct registry_hooks *hooks = api_hooks(call);
    int64_t now_ms = loop_wall_ms(engine_loop(call->engine));
    if (hooks->delete_ && !kube_meta_is_deleting(object))
        hooks->delete_(engine_registry(call->engine), call->arena, object, now_ms);
    return deletion_decide(call->arena, call->route.resource, object, options, now_ms);
}

void api_handle_delete(struct api_call *call)
{
    struct err err = ERR_INIT;
    struct deletion_options options;
    struct target target = {0};
    if (delete_read_options(call, &options, &err) < 0 ||
        check_allowed(call, call->route.name, &err) < 0 || delete_load(call, &target, &err) < 0 ||
        api_check_preconditions(call, target.object, &options, &err) < 0) {
        api_respond_error(call, &err);
        return;
    }
    struct json *object = json_clone(call->arena, target.object);
    switch (delete_decide(call, &target, object, &options)) {
    case DELETION_REMOVE:
        api_commit_removal(call, object, target.revision);
        return;
    case DELETION_MARK:
    case DELETION_KEEP:
        api_commit(call, object, target.object, target.revision, 200);
        return;
    }
}

/* ---- Collections ----------------------------------------------------------------------------- */

/* A request that deletes a collection. The response is sent when all its writes are on disk. */
struct sweep {
    struct api_call *call; /* NULL: the client is gone */
    size_t waiting;        /* the writes that are not on disk, plus 1 while the handler runs */
    struct json *items;    /* copies of the objects before the deletion, in the request's arena */
    int64_t revision;      /* the store's revision when the request began */
    struct err err;        /* the first error */
};

static void sweep_canceled(struct http_exchange *exchange)
{
    struct sweep *sweep = exchange->context;
    sweep->call = NULL;
}

/* Responds with the list of the objects as they were before the deletion. */
static void answer_items(struct api_call *call, const struct sweep *sweep)
{
    struct err err = ERR_INIT;
    struct api_formed_list formed;
    struct json *list = json_object(call->arena), *meta = json_object(call->arena);
    json_set(call->arena, meta, "resourceVersion",
             json_stringf(call->arena, "%" PRId64, sweep->revision));
    if (call->table || call->partial) {
        if (api_formed_list_begin(call, meta, &formed, &err) < 0) {
            api_respond_error(call, &err);
            return;
        }
        JSON_EACH (item, sweep->items)
            api_formed_list_add(&formed, item);
        api_respond_json(call, 200, formed.list);
        return;
    }
    json_set_string(call->arena, list, "kind", call->route.resource->list_kind);
    json_set_string(call->arena, list, "apiVersion", api_call_version(call));
    json_set(call->arena, list, "metadata", meta);
    /* The items of a typed list have no kind and apiVersion. */
    JSON_EACH (item, call->route.resource->form == SCHEMA_FORM_TYPED ? sweep->items : NULL) {
        json_remove(item, "kind");
        json_remove(item, "apiVersion");
    }
    json_set(call->arena, list, "items", sweep->items);
    api_respond_json(call, 200, list);
}

/* Counts one write as ended. After the last one, sends the response and frees the sweep. */
static void sweep_end_write(struct sweep *sweep)
{
    if (--sweep->waiting > 0)
        return;
    struct api_call *call = sweep->call;
    if (call) {
        call->exchange->on_cancel = NULL;
        if (sweep->err.code != ERR_NONE)
            api_respond_error(call, &sweep->err);
        else
            answer_items(call, sweep);
    }
    free(sweep);
}

static void sweep_done(void *context, const struct store_object *object, const struct err *err)
{
    struct sweep *sweep = context;
    if (err && sweep->err.code == ERR_NONE)
        sweep->err = *err;
    sweep_end_write(sweep);
}

/* Returns the newest version of the listed object if the selector matches it, otherwise a target
 * without an object. If the request has a selector, an object that cannot be read is not deleted.
 */
static struct target sweep_target(struct sweep *sweep, const struct store_object *listed,
                                  const struct api_filter *filter)
{
    struct api_call *call = sweep->call;
    struct store_object *stored = store_get_pending(engine_store(call->engine), listed->key);
    struct target target = {0};
    if (!stored)
        return target; /* another request has deleted the object */
    if (filter->all && !stored_is_readable(stored))
        target = placeholder_target(
            call, stored_placeholder(call->arena, call->route.resource, stored), stored->revision);
    else if (api_read_stored(call, call->arena, stored, &target.object) &&
             api_filter_matches(filter, target.object))
        target.revision = stored->revision;
    else
        target.object = NULL;
    store_object_unref(stored);
    return target;
}

/* Queues the write that removes or marks one object, if the object is to be deleted. */
static int sweep_one(struct sweep *sweep, const struct store_object *listed,
                     const struct api_filter *filter, const struct deletion_options *options,
                     struct err *err)
{
    struct api_call *call = sweep->call;
    const struct target target = sweep_target(sweep, listed, filter);
    struct json *object = target.object;
    if (!object)
        return 0;
    struct json *item = json_clone(call->arena, object);
    api_convert_out(call, call->arena, item);
    json_append(sweep->items, item);
    enum deletion_step step = delete_decide(call, &target, object, options);
    if (call->dry_run || step == DELETION_KEEP)
        return 0;
    sweep->waiting++;
    int result = step == DELETION_REMOVE
                     ? api_queue_removal(call, object, target.revision, sweep_done, sweep, err)
                     : api_queue_put(call, object, target.revision, sweep_done, sweep, err);
    if (result < 0)
        sweep->waiting--;
    return result;
}

void api_handle_delete_collection(struct api_call *call)
{
    struct err err = ERR_INIT;
    struct deletion_options options;
    struct api_filter filter;
    if (delete_read_options(call, &options, &err) < 0 || api_filter_of(call, &filter, &err) < 0) {
        api_respond_error(call, &err);
        return;
    }
    struct sweep *sweep = mem_zalloc(sizeof(*sweep));
    sweep->call = call;
    sweep->waiting = 1; /* so that the sweep is not freed before the end of this function */
    sweep->items = json_array(call->arena);
    sweep->revision = store_revision(engine_store(call->engine));
    call->exchange->context = sweep;
    call->exchange->on_cancel = sweep_canceled;
    const char *prefix =
        stored_key(call->arena, call->route.resource, call->route.namespace_, NULL);
    struct store_object **objects;
    size_t count = store_list(engine_store(call->engine), prefix, &objects);
    for (size_t i = 0; i < count; i++) {
        if (sweep->err.code == ERR_NONE)
            (void)sweep_one(sweep, objects[i], &filter, &options, &sweep->err);
        store_object_unref(objects[i]);
    }
    free(objects);
    sweep_end_write(sweep);
}
