/* DELETE of one object and of many. deletion.c says what becomes of each; here it is done. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/api/deletion.h"
#include "engine/api/rest.h"
#include "kube/kinds/meta.h"
#include "kube/object.h"
#include "kube/schema/decode.h"
#include "kube/types/types.h"

#include <inttypes.h>
#include <stdlib.h>

static int check_allowed(struct rest *rest, const char *name, struct err *err)
{
    static const char *const kept[] = {"default", "kube-public", "kube-system"};
    if (!str_eq(rest->route.resource->id.plural, "namespaces"))
        return 0;
    for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
        if (str_eq(name, kept[i]))
            return err_set(err, ERR_FORBIDDEN,
                           "namespaces \"%s\" is forbidden: this namespace may not be deleted",
                           name);
    return 0;
}

/* About the kind, not about the resource as every other conflict is. */
static int fail_precondition(struct rest *rest, const char *name, const char *what,
                             const char *wanted, const char *there, const char *guess,
                             struct err *err)
{
    const struct kube_resource *id = &rest->route.resource->id;
    struct kube_kind *about = ARENA_NEW(rest->arena, struct kube_kind);
    about->id = *id;
    about->id.plural = id->kind;
    rest->about_resource = about;
    rest->about_name = name;
    return err_set(err, ERR_CONFLICT,
                   "Operation cannot be fulfilled on %s%s%s \"%s\": the %s in the precondition "
                   "(%.64s) does not match the %s in record (%s). The object might have been %s",
                   id->kind, id->group[0] ? "." : "", id->group, name, what, wanted, what, there,
                   guess);
}

int rest_check_preconditions(struct rest *rest, const struct json *object,
                             const struct deletion_options *options, struct err *err)
{
    const char *name = kube_meta_name(object), *uid = kube_meta_uid(object);
    const char *version = kube_meta_resource_version(object);
    if (options->uid && !str_eq(options->uid, uid))
        return fail_precondition(rest, name, "UID", options->uid, uid, "deleted and then recreated",
                                 err);
    if (options->resource_version && !str_eq(options->resource_version, version))
        return fail_precondition(rest, name, "ResourceVersion", options->resource_version, version,
                                 "modified", err);
    return 0;
}

/* Read as the kind it is: a value of the wrong type is no option left out. */
static int read_options(struct rest *rest, struct deletion_options *ret, struct err *err)
{
    struct json *body;
    int r = rest_read_any(rest, "DeleteOptions", &body, err);
    if (r == 0 && body)
        r = schema_decode(rest->arena, &TYPE_DELETE_OPTIONS, SCHEMA_FORM_TYPED, body, NULL, err);
    if (r < 0)
        return r;
    r = deletion_options_parse(&rest->invalid, body, rest->exchange->request->query, ret, err);
    if (rest->invalid.count > 0)
        return rest_refuse_options(rest, err);
    if (r == 0 && ret->dry_run)
        rest->dry_run = true;
    return r;
}

/* What is deleted. */
struct target {
    struct json *object; /* NULL: nothing */
    int64_t revision;
    bool is_placeholder; /* it stands for an object that cannot be read */
};

/* The key says which object it is. Its own version and a uid that nobody knows are what
 * preconditions are compared with. A namespace becomes a whole one again, since its content has to
 * go before it does. */
static struct target placeholder_target(struct rest *rest, struct json *placeholder,
                                        int64_t revision)
{
    const struct kube_kind *resource = rest->route.resource;
    meta_prepare_create(rest->arena, resource, placeholder,
                        loop_wall_ms(engine_loop(rest->engine)));
    json_set(rest->arena, json_get(placeholder, "metadata"), "resourceVersion",
             json_stringf(rest->arena, "%" PRId64, revision));
    bool is_namespace = str_eq(resource->id.plural, "namespaces");
    if (is_namespace) {
        resource->hooks.defaults(rest->arena, placeholder);
        resource->hooks.create(rest->arena, placeholder);
    }
    return (struct target){placeholder, revision, !is_namespace};
}

static int load(struct rest *rest, struct target *ret, struct err *err)
{
    const char *name = rest->route.name;
    struct json *object;
    int64_t revision;
    int r = rest_load(rest, name, &object, &revision, err);
    if (r == 0)
        *ret = (struct target){object, revision, false};
    if (r != -ERR_INTERNAL)
        return r;
    err_clear(err);
    object = kube_object_make(rest->arena, &rest->route.resource->id, rest->route.namespace_, name);
    *ret = placeholder_target(rest, object, revision);
    return 0;
}

/* What cannot be read says of nothing that it has to wait for. */
static enum deletion_step decide(struct rest *rest, const struct target *target,
                                 struct json *object, const struct deletion_options *options)
{
    if (target->is_placeholder)
        return DELETION_REMOVE;
    const struct registry_hooks *hooks = rest_hooks(rest);
    int64_t now_ms = loop_wall_ms(engine_loop(rest->engine));
    if (hooks->delete_ && !kube_meta_is_deleting(object))
        hooks->delete_(engine_registry(rest->engine), rest->arena, object, now_ms);
    return deletion_decide(rest->arena, rest->route.resource, object, options, now_ms);
}

void rest_delete(struct rest *rest)
{
    struct err err = ERR_INIT;
    struct deletion_options options;
    struct target target = {0};
    if (read_options(rest, &options, &err) < 0 || check_allowed(rest, rest->route.name, &err) < 0 ||
        load(rest, &target, &err) < 0 ||
        rest_check_preconditions(rest, target.object, &options, &err) < 0) {
        rest_respond_error(rest, &err);
        return;
    }
    struct json *object = json_clone(rest->arena, target.object);
    switch (decide(rest, &target, object, &options)) {
    case DELETION_REMOVE:
        rest_commit_removal(rest, object, target.revision);
        return;
    case DELETION_MARK:
    case DELETION_KEEP:
        rest_commit(rest, object, target.object, target.revision, 200);
        return;
    }
}

/* ---- Many ------------------------------------------------------------------------------------ */

/* Writes under way for one request; answered when the last is on disk. */
struct sweep {
    struct rest *rest; /* NULL: nobody waits */
    size_t waiting;
    struct json *items; /* what is deleted, as it was; in the request's arena */
    int64_t revision;   /* of the list of it */
    struct err err;     /* of the first that failed */
};

static void sweep_canceled(struct http_exchange *exchange)
{
    struct sweep *sweep = exchange->context;
    sweep->rest = NULL;
}

static void answer_items(struct rest *rest, const struct sweep *sweep)
{
    struct err err = ERR_INIT;
    struct rest_formed formed;
    struct json *list = json_object(rest->arena), *meta = json_object(rest->arena);
    json_set(rest->arena, meta, "resourceVersion",
             json_stringf(rest->arena, "%" PRId64, sweep->revision));
    if (rest->table || rest->partial) {
        if (rest_formed_begin(rest, meta, &formed, &err) < 0) {
            rest_respond_error(rest, &err);
            return;
        }
        JSON_EACH (item, sweep->items)
            rest_formed_add(&formed, item);
        rest_respond_json(rest, 200, formed.list);
        return;
    }
    json_set_string(rest->arena, list, "kind", rest->route.resource->list_kind);
    json_set_string(rest->arena, list, "apiVersion", rest_api_version(rest));
    json_set(rest->arena, list, "metadata", meta);
    /* Elements of a typed list do not say again what the list says. */
    JSON_EACH (item, rest->route.resource->form == SCHEMA_FORM_TYPED ? sweep->items : NULL) {
        json_remove(item, "kind");
        json_remove(item, "apiVersion");
    }
    json_set(rest->arena, list, "items", sweep->items);
    rest_respond_json(rest, 200, list);
}

static void sweep_settle(struct sweep *sweep)
{
    if (--sweep->waiting > 0)
        return;
    struct rest *rest = sweep->rest;
    if (rest) {
        rest->exchange->on_cancel = NULL;
        if (sweep->err.code != ERR_NONE)
            rest_respond_error(rest, &sweep->err);
        else
            answer_items(rest, sweep);
    }
    free(sweep);
}

static void sweep_done(void *context, const struct store_object *object, const struct err *err)
{
    struct sweep *sweep = context;
    if (err && sweep->err.code == ERR_NONE)
        sweep->err = *err;
    sweep_settle(sweep);
}

/* Of the listed object its newest version, if it is meant. What a selector does not let through is
 * not deleted, and neither is what it cannot be asked of. */
static struct target sweep_target(struct sweep *sweep, const struct store_object *listed,
                                  const struct rest_filter *filter)
{
    struct rest *rest = sweep->rest;
    struct store_object *stored = store_get_pending(engine_store(rest->engine), listed->key);
    struct target target = {0};
    if (!stored)
        return target; /* another request was faster */
    if (filter->all && !stored_is_readable(stored))
        target = placeholder_target(
            rest, stored_placeholder(rest->arena, rest->route.resource, stored), stored->revision);
    else if (rest_read_one(rest, rest->arena, stored, &target.object) &&
             rest_filter_matches(filter, target.object))
        target.revision = stored->revision;
    else
        target.object = NULL;
    store_object_unref(stored);
    return target;
}

static int sweep_one(struct sweep *sweep, const struct store_object *listed,
                     const struct rest_filter *filter, const struct deletion_options *options,
                     struct err *err)
{
    struct rest *rest = sweep->rest;
    const struct target target = sweep_target(sweep, listed, filter);
    struct json *object = target.object;
    if (!object)
        return 0;
    struct json *item = json_clone(rest->arena, object);
    rest_convert_out(rest, rest->arena, item);
    json_append(sweep->items, item);
    enum deletion_step step = decide(rest, &target, object, options);
    if (rest->dry_run || step == DELETION_KEEP)
        return 0;
    sweep->waiting++;
    int r = step == DELETION_REMOVE
                ? rest_queue_removal(rest, object, target.revision, sweep_done, sweep, err)
                : rest_queue_put(rest, object, target.revision, sweep_done, sweep, err);
    if (r < 0)
        sweep->waiting--;
    return r;
}

void rest_delete_collection(struct rest *rest)
{
    struct err err = ERR_INIT;
    struct deletion_options options;
    struct rest_filter filter;
    if (read_options(rest, &options, &err) < 0 || rest_filter_of(rest, &filter, &err) < 0) {
        rest_respond_error(rest, &err);
        return;
    }
    struct sweep *sweep = mem_zalloc(sizeof(*sweep));
    sweep->rest = rest;
    sweep->waiting = 1; /* this function itself */
    sweep->items = json_array(rest->arena);
    sweep->revision = store_revision(engine_store(rest->engine));
    rest->exchange->context = sweep;
    rest->exchange->on_cancel = sweep_canceled;
    const char *prefix =
        registry_key(rest->arena, rest->route.resource, rest->route.namespace_, NULL);
    struct store_object **objects;
    size_t count = store_list(engine_store(rest->engine), prefix, &objects);
    for (size_t i = 0; i < count; i++) {
        if (sweep->err.code == ERR_NONE)
            (void)sweep_one(sweep, objects[i], &filter, &options, &sweep->err);
        store_object_unref(objects[i]);
    }
    free(objects);
    sweep_settle(sweep);
}
